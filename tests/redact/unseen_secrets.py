"""The second thirty families of `held_out_secrets`, to which the same rules apply."""

import base64
import uuid
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
    Plant,
    draw,
    token,
    whole,
)

_LOWER_ALNUM: Final = LOWER + DIGITS
_UPPER_ALNUM: Final = UPPER + DIGITS
_ZBASE32: Final = "ybndrfg8ejkmcpqxot1uwisza345h769"


def _make_uuid(rng: Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def _make_bytes(rng: Random, count: int) -> str:
    return base64.b64encode(rng.randbytes(count)).decode()


def _make_ably(rng: Random) -> str:
    return f"{draw(rng, ALNUM, 6)}.{draw(rng, ALNUM, 6)}:{draw(rng, URL_SAFE, 42)}x"


def _make_astra(rng: Random) -> str:
    return f"Astra{'CS'}:{draw(rng, UPPER + LOWER, 24)}:{draw(rng, HEX, 64)}"


def _make_braintree(rng: Random) -> Plant:
    # Its first part is also in the name of its key.
    secret = f"{draw(rng, _LOWER_ALNUM, 16)}${draw(rng, HEX, 32)}"
    return Plant(f"access_{'token'}$production${secret}", (secret,))


def _make_cloudinary(rng: Random) -> Plant:
    secret = draw(rng, URL_SAFE, 26) + "x"
    key = rng.randint(10**14, 10**15 - 1)
    return Plant(f"cloudinary://{key}:{secret}@d{draw(rng, _LOWER_ALNUM, 8)}", (secret,))


def _make_mailchimp(rng: Random) -> str:
    return f"{draw(rng, HEX, 32)}-u{'s'}{rng.randint(1, 21)}"


def _make_terraform(rng: Random) -> str:
    return f"{draw(rng, ALNUM, 14)}.atlas{'v1'}.{draw(rng, URL_SAFE, 66)}x"


UNSEEN_FAMILIES: Final = (
    Family("ably", "ABLY_API_KEY", whole(_make_ably)),
    Family("astra-db", "ASTRA_DB_APPLICATION_TOKEN", whole(_make_astra)),
    Family("axiom", "AXIOM_TOKEN", whole(lambda rng: f"xa{'at'}-{_make_uuid(rng)}")),
    Family("backblaze", "B2_APPLICATION_KEY", token("K0" + "0", BASE64, 28)),
    Family("braintree", "BRAINTREE_ACCESS_TOKEN", _make_braintree),
    Family("cloudinary", "CLOUDINARY_URL", _make_cloudinary),
    Family("codecov", "CODECOV_TOKEN", whole(_make_uuid), recognisable=False),
    Family("deepl", "DEEPL_AUTH_KEY", whole(lambda rng: f"{_make_uuid(rng)}:f{'x'}")),
    Family("here", "HERE_API_KEY", token("", URL_SAFE, 42, "x"), recognisable=False),
    Family(
        "kraken",
        "KRAKEN_API_SECRET",
        whole(lambda rng: _make_bytes(rng, 64)),
        recognisable=False,
    ),
    Family("laravel", "APP_KEY", whole(lambda rng: f"base{'64'}:{_make_bytes(rng, 32)}")),
    Family(
        "line",
        "LINE_CHANNEL_ACCESS_TOKEN",
        token("", BASE64, 150, "dB04t89/1O" + "/w1cDnyilFU="),
    ),
    Family("mailchimp", "MAILCHIMP_API_KEY", whole(_make_mailchimp)),
    Family("mattermost", "MATTERMOST_TOKEN", token("", _ZBASE32, 26), recognisable=False),
    Family("mistral", "MISTRAL_API_KEY", token("", ALNUM, 32), recognisable=False),
    Family("neon", "NEON_API_KEY", token("na" + "pi_", _LOWER_ALNUM, 64)),
    Family("nuget", "NUGET_API_KEY", token("oy" + "2", _LOWER_ALNUM, 43)),
    Family("nvidia", "NVIDIA_API_KEY", token("nv" + "api-", URL_SAFE, 63, "x")),
    Family("octopus-deploy", "OCTOPUS_API_KEY", token("AP" + "I-", _UPPER_ALNUM, 32)),
    Family("onesignal", "ONESIGNAL_REST_API_KEY", token("os_v2_" + "app_", LOWER + "234567", 103)),
    Family("pagerduty", "PAGERDUTY_TOKEN", token("", URL_SAFE, 19, "x"), recognisable=False),
    Family("pipedrive", "PIPEDRIVE_API_TOKEN", token("", HEX, 40), recognisable=False),
    Family("postmark", "POSTMARK_SERVER_TOKEN", whole(_make_uuid), recognisable=False),
    Family("replicate", "REPLICATE_API_TOKEN", token("r" + "8_", ALNUM, 37)),
    Family("sonarqube", "SONAR_TOKEN", token("sq" + "p_", HEX, 40)),
    Family("square", "SQUARE_ACCESS_TOKEN", token("EA" + "AA", URL_SAFE, 59, "x")),
    Family("tencent", "TENCENTCLOUD_SECRET_KEY", token("", ALNUM, 32), recognisable=False),
    Family("terraform-cloud", "TFE_TOKEN", whole(_make_terraform)),
    Family("vultr", "VULTR_API_KEY", token("", _UPPER_ALNUM, 36), recognisable=False),
    Family(
        "wireguard",
        "WIREGUARD_PRIVATE_KEY",
        whole(lambda rng: _make_bytes(rng, 32)),
        recognisable=False,
    ),
)
