"""Made-up secrets of sixty families that no rule was written for and no rule was tuned on; half of
them are in `unseen_secrets`.

The formats come from the public documentation of the vendors. They were collected after the rules,
by someone who had not seen results for them, and measured once. A rule must not be changed because
of a miss here: such a family has to move to `made_up_secrets` and be replaced by an unseen one.
"""

import base64
import uuid
import zlib
from random import Random
from typing import Final

from tests.redact.made_up_secrets import (
    ALNUM,
    BASE64,
    DIGITS,
    HEX,
    LOWER,
    UPPER,
    URL_SAFE,
    Family,
    draw,
    encode_base62,
    token,
    whole,
)
from tests.redact.unseen_secrets import UNSEEN_FAMILIES

_BASE32: Final = UPPER + "234567"
_BASE58: Final = "".join(each for each in ALNUM if each not in "0OIl")


def _make_adyen(rng: Random) -> str:
    tail = draw(rng, ALNUM + "%^{}[]<=+.,;", 15) + draw(rng, ALNUM, 1)
    return f"AQ{'Ey'}{draw(rng, BASE64, 94)}==-{draw(rng, BASE64, 43)}=-{tail}"


def _make_atlassian(rng: Random) -> str:
    return f"ATATT{'3xFfGF0'}{draw(rng, URL_SAFE, 171)}={draw(rng, DIGITS + 'ABCDEF', 8)}"


def _make_azure_devops(rng: Random) -> str:
    issued = draw(rng, "BC", 1) + draw(rng, "ABCDEFGHIJKL", 1)
    middle = f"JQQJ{'99'}{issued}ACAAAAA{draw(rng, ALNUM, 5)}AAAS"
    return f"{draw(rng, ALNUM, 52)}{middle}AZ{'DO'}{draw(rng, ALNUM, 4)}"


def _make_bitwarden(rng: Random) -> str:
    service = uuid.UUID(int=rng.getrandbits(128), version=4)
    key = base64.b64encode(rng.randbytes(16)).decode()
    return f"0.{service}.{draw(rng, ALNUM, 30)}:{key}"


def _make_brevo(rng: Random) -> str:
    return f"xkey{'sib'}-{draw(rng, HEX, 64)}-{draw(rng, ALNUM, 16)}"


def _make_clickup(rng: Random) -> str:
    return f"p{'k'}_{rng.randint(10**7, 10**8 - 1)}_{draw(rng, UPPER + DIGITS, 32)}"


def _make_cockroach(rng: Random) -> str:
    return f"CC{'DB1'}_{draw(rng, ALNUM, 22)}_{draw(rng, ALNUM, 40)}"


def _make_dynatrace(rng: Random) -> str:
    return f"dt0{'c01'}.{draw(rng, _BASE32, 24)}.{draw(rng, _BASE32, 64)}"


def _make_ghost(rng: Random) -> str:
    return f"{draw(rng, HEX, 24)}:{draw(rng, HEX, 64)}"


def _make_influxdb(rng: Random) -> str:
    return base64.urlsafe_b64encode(rng.randbytes(64)).decode()


def _make_langsmith(rng: Random) -> str:
    return f"ls{'v2_pt'}_{draw(rng, HEX, 32)}_{draw(rng, HEX, 10)}"


def _make_matrix(rng: Random) -> str:
    user = base64.b64encode(draw(rng, LOWER, 7).encode()).decode().rstrip("=")
    body = f"sy{'t'}_{user}_{draw(rng, UPPER + LOWER, 20)}"
    return f"{body}_{encode_base62(zlib.crc32(body.encode()), 6)}"


def _make_maxmind(rng: Random) -> str:
    return f"{draw(rng, ALNUM, 6)}_{draw(rng, ALNUM, 29)}_m{'mk'}"


def _make_pinecone(rng: Random) -> str:
    return f"pc{'sk'}_{draw(rng, ALNUM, 6)}_{draw(rng, ALNUM, 63)}"


def _make_tailscale(rng: Random) -> str:
    key = f"k{draw(rng, _BASE58, 9)}11{'CNTRL'}"
    return f"ts{'key'}-auth-{key}-{draw(rng, _BASE58, 33)}"


def _make_zoho(rng: Random) -> str:
    return f"10{'00'}.{draw(rng, HEX, 32)}.{draw(rng, HEX, 32)}"


_FAMILIES: Final = (
    *UNSEEN_FAMILIES,
    Family("adyen", "ADYEN_API_KEY", whole(_make_adyen)),
    Family("alibaba", "ALIBABA_CLOUD_ACCESS_KEY_SECRET", token("", ALNUM, 30), recognisable=False),
    Family("apify", "APIFY_TOKEN", token("apify_" + "api_", ALNUM, 36)),
    Family("atlassian", "ATLASSIAN_API_TOKEN", whole(_make_atlassian)),
    Family("azure-devops", "AZURE_DEVOPS_EXT_PAT", whole(_make_azure_devops)),
    Family("binance", "BINANCE_API_SECRET", token("", ALNUM, 64), recognisable=False),
    Family("bitwarden", "BWS_ACCESS_TOKEN", whole(_make_bitwarden)),
    Family("brevo", "BREVO_API_KEY", whole(_make_brevo)),
    Family("clickup", "CLICKUP_API_TOKEN", whole(_make_clickup)),
    Family("cloudflare", "CLOUDFLARE_API_TOKEN", token("", URL_SAFE, 39, "x"), recognisable=False),
    Family("cockroachdb", "COCKROACH_API_KEY", whole(_make_cockroach)),
    Family("crates-io", "CARGO_REGISTRY_TOKEN", token("ci" + "o", ALNUM, 32)),
    Family("dingtalk", "DINGTALK_SECRET", token("SE" + "C", HEX, 64)),
    Family("docker-hub", "DOCKERHUB_TOKEN", token("dckr_" + "pat_", URL_SAFE, 26, "x")),
    Family("dynatrace", "DYNATRACE_API_TOKEN", whole(_make_dynatrace)),
    Family("ghost", "GHOST_ADMIN_API_KEY", whole(_make_ghost), recognisable=False),
    Family("groq", "GROQ_API_KEY", token("gs" + "k_", ALNUM, 52)),
    Family("hetzner", "HCLOUD_TOKEN", token("", ALNUM, 64), recognisable=False),
    Family("influxdb", "INFLUX_TOKEN", whole(_make_influxdb), recognisable=False),
    Family("jenkins", "JENKINS_API_TOKEN", token("1" + "1", HEX, 32), recognisable=False),
    Family("langsmith", "LANGSMITH_API_KEY", whole(_make_langsmith)),
    Family("matrix", "MATRIX_ACCESS_TOKEN", whole(_make_matrix)),
    Family("maxmind", "MAXMIND_LICENSE_KEY", whole(_make_maxmind)),
    Family("openweather", "OPENWEATHER_API_KEY", token("", HEX, 32), recognisable=False),
    Family("paypal", "PAYPAL_CLIENT_SECRET", token("E", URL_SAFE, 78, "x"), recognisable=False),
    Family("pinecone", "PINECONE_API_KEY", whole(_make_pinecone)),
    Family("spotify", "SPOTIFY_CLIENT_SECRET", token("", HEX, 32), recognisable=False),
    Family("tailscale", "TS_AUTHKEY", whole(_make_tailscale)),
    Family("wandb", "WANDB_API_KEY", token("", HEX, 40), recognisable=False),
    Family("zoho", "ZOHO_REFRESH_TOKEN", whole(_make_zoho)),
)

_WITH_RULE: Final = frozenset(
    """
    atlassian braintree brevo docker-hub dynatrace groq langsmith mailchimp matrix nvidia replicate
    square terraform-cloud
    """.split()
)
KNOWN_FAMILIES: Final = tuple(each for each in _FAMILIES if each.name in _WITH_RULE)
"""Families that already had a rule, unknown to their author."""
HELD_OUT_FAMILIES: Final = tuple(each for each in _FAMILIES if each.name not in _WITH_RULE)
