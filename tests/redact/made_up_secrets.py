"""Made-up secrets of sixty families, drawn from a random number generator.

No value is in this file: each is put together from a prefix and random characters, with a right
checksum where the family has one. `WITHOUT_RULE` names families that only the general rules find;
those rules were tuned on them and on those of `tuning_secrets`. Their recall for unknown vendors is
measured by `held_out_secrets`.
"""

import base64
import json
import zlib
from collections.abc import Callable, Mapping
from random import Random
from typing import Final, NamedTuple

LOWER: Final = "abcdefghijklmnopqrstuvwxyz"
UPPER: Final = LOWER.upper()
DIGITS: Final = "0123456789"
ALNUM: Final = DIGITS + UPPER + LOWER
HEX: Final = DIGITS + "abcdef"
BASE64: Final = ALNUM + "+/"
URL_SAFE: Final = ALNUM + "_-"

WITHOUT_RULE: Final = frozenset(
    """
    airtable algolia datadog doppler dropbox figma grafana linear mapbox netlify newrelic notion
    planetscale postman pulumi rubygems sentry supabase
    """.split()
)


class Plant(NamedTuple):
    """A text to plant, and the parts of it that must not be readable afterwards."""

    text: str
    secrets: tuple[str, ...]


class Family(NamedTuple):
    """One kind of secret: the name of its variable, and how to make one up."""

    name: str
    key: str
    make: Callable[[Random], Plant]
    recognisable: bool = True
    """Whether a value can be recognised without the name of its key."""
    multiline: bool = False

    @property
    def has_rule(self) -> bool:
        """Return whether a rule was written for this family."""
        return self.name not in WITHOUT_RULE


def draw(rng: Random, alphabet: str, count: int) -> str:
    """Return random characters."""
    return "".join(rng.choices(alphabet, k=count))


def encode_base62(number: int, width: int) -> str:
    """Return a number with the digits 0-9A-Za-z, as the checksums of GitHub and npm are written."""
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = ALNUM[digit] + digits
    return digits.rjust(width, "0")


def _with_crc(prefix: str, body: str) -> str:
    return prefix + body + encode_base62(zlib.crc32(body.encode()), 6)


def whole(make: Callable[[Random], str]) -> Callable[[Random], Plant]:
    """Return a function that plants a text of which every character is secret."""

    def plant(rng: Random) -> Plant:
        text = make(rng)
        return Plant(text, (text,))

    return plant


def token(prefix: str, alphabet: str, count: int, suffix: str = "") -> Callable[[Random], Plant]:
    """Return a function that plants random characters after a prefix."""
    return whole(lambda rng: prefix + draw(rng, alphabet, count) + suffix)


def _encode_json(value: object) -> str:
    text = json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def make_jwt(rng: Random) -> str:
    """Return a JSON web token whose signature is random."""
    header = _encode_json({"alg": "HS256", "typ": "JWT"})
    claims = _encode_json({"sub": draw(rng, DIGITS, 10), "iat": 1_700_000_000})
    return f"{header}.{claims}.{draw(rng, URL_SAFE, 43)}"


def make_password(rng: Random) -> str:
    """Return a password as people choose them: a word, digits, a special character."""
    word = draw(rng, LOWER, rng.randint(4, 8)).capitalize()
    return f"{word}{rng.choice('!#_-.')}{draw(rng, DIGITS, rng.randint(2, 4))}{draw(rng, LOWER, 2)}"


def make_pem(rng: Random, label: str, lines: int = 12, header: str = "") -> Plant:
    """Return a private key with random content."""
    body = [draw(rng, BASE64, 64) for _ in range(lines)] + [draw(rng, BASE64, 34) + "=="]
    text = "\n".join([f"-----BEGIN {label}-----", *([header, ""] if header else []), *body])
    return Plant(f"{text}\n-----END {label}-----", tuple(body))


def _make_service_account(rng: Random) -> Plant:
    key = make_pem(rng, "PRIVATE KEY")
    document = {
        "type": "service_account",
        "project_id": "letterpress-" + draw(rng, DIGITS, 6),
        "private_key": key.text + "\n",
        "client_email": "printer@letterpress.example.org",
    }
    return Plant(json.dumps(document, indent=2), key.secrets)


def _in_url(scheme: str, host: str) -> Callable[[Random], Plant]:
    def plant(rng: Random) -> Plant:
        password = draw(rng, ALNUM, rng.randint(10, 24))
        return Plant(f"{scheme}://mina:{password}@{host}", (password,))

    return plant


def _make_basic(rng: Random) -> Plant:
    pair = f"mina:{make_password(rng)}".encode()
    encoded = base64.b64encode(pair).decode()
    return Plant(f"Basic {encoded}", (encoded,))


def _make_bearer(rng: Random) -> Plant:
    credentials = draw(rng, ALNUM, rng.randint(28, 48))
    return Plant(f"Bearer {credentials}", (credentials,))


def _make_cookie(rng: Random) -> Plant:
    session = draw(rng, ALNUM, 32)
    return Plant(f"theme=dark; sessionid={session}; lang=en", (session,))


def _make_azure_storage(rng: Random) -> Plant:
    key = draw(rng, BASE64, 86) + "=="
    account = draw(rng, LOWER, 8)
    text = f"DefaultEndpointsProtocol=https;AccountName={account};AccountKey={key}"
    return Plant(f"{text};EndpointSuffix=core.example.net", (key,))


def _make_slack_webhook(rng: Random) -> Plant:
    path = f"T{draw(rng, UPPER, 8)}/B{draw(rng, UPPER, 8)}/{draw(rng, ALNUM, 24)}"
    return Plant(f"https://hooks.slack.com/services/{path}", (path,))


def _make_slack_bot(rng: Random) -> str:
    return "-".join(
        ["xo" + "xb", draw(rng, DIGITS, 12), draw(rng, DIGITS, 13), draw(rng, ALNUM, 24)]
    )


def _make_discord(rng: Random) -> str:
    user = base64.b64encode(draw(rng, "123456789", 18).encode()).decode().rstrip("=")
    return f"{user}.{draw(rng, URL_SAFE, 6)}.{draw(rng, URL_SAFE, 38)}"


def _make_mapbox(rng: Random) -> str:
    claims = _encode_json({"u": draw(rng, LOWER, 8), "a": draw(rng, ALNUM, 24)})
    return f"sk.{claims}.{draw(rng, URL_SAFE, 22)}"


def _make_pypi(rng: Random) -> str:
    caveat = base64.b64encode(b"\x02\x01\x08pyp" + b"i.org\x02").decode()[:16]
    return f"pypi-{caveat}{draw(rng, URL_SAFE, 150)}"


def _make_sentry(rng: Random) -> str:
    claims = _encode_json({"iat": 1_700_000_000, "org": draw(rng, LOWER, 8)})
    return f"sntrys_{claims}_{draw(rng, ALNUM, 43)}"


_FAMILIES: Final = (
    Family("aws-key", "AWS_ACCESS_KEY_ID", token("AK" + "IA", UPPER + "234567", 16)),
    Family("aws-secret", "AWS_SECRET_ACCESS_KEY", token("", BASE64, 40), recognisable=False),
    Family("gcp-api-key", "GOOGLE_API_KEY", token("AI" + "za", URL_SAFE, 34, "x")),
    Family("gcp-service-account", "GCP_CREDENTIALS", _make_service_account, multiline=True),
    Family("google-oauth", "GOOGLE_CLIENT_SECRET", token("GOCS" + "PX-", URL_SAFE, 27, "x")),
    Family("google-access", "GOOGLE_ACCESS_TOKEN", token("ya" + "29.a0", URL_SAFE, 120, "x")),
    Family("azure-storage", "AZURE_STORAGE_CONNECTION_STRING", _make_azure_storage),
    Family(
        "azure-client",
        "AZURE_CLIENT_SECRET",
        whole(lambda rng: f"{draw(rng, ALNUM, 3)}8Q~{draw(rng, ALNUM + '_.~-', 33)}x"),
    ),
    Family(
        "github", "GITHUB_TOKEN", whole(lambda rng: _with_crc("gh" + "p_", draw(rng, ALNUM, 30)))
    ),
    Family(
        "github-fine-grained",
        "GH_TOKEN",
        whole(lambda rng: f"github_{'pat'}_{draw(rng, ALNUM, 22)}_{draw(rng, ALNUM, 59)}"),
    ),
    Family("gitlab", "GITLAB_TOKEN", token("gl" + "pat-", URL_SAFE, 19, "x")),
    Family("npm", "NPM_TOKEN", whole(lambda rng: _with_crc("np" + "m_", draw(rng, ALNUM, 30)))),
    Family("pypi", "TWINE_PASSWORD", whole(_make_pypi)),
    Family("slack-bot", "SLACK_BOT_TOKEN", whole(_make_slack_bot)),
    Family("slack-webhook", "SLACK_WEBHOOK_URL", _make_slack_webhook),
    Family("stripe", "STRIPE_SECRET_KEY", token("sk_" + "live_", ALNUM, 24)),
    Family("stripe-webhook", "STRIPE_WEBHOOK_SECRET", token("wh" + "sec_", ALNUM, 32)),
    Family("twilio", "TWILIO_API_KEY", token("S" + "K", HEX, 32)),
    Family(
        "sendgrid",
        "SENDGRID_API_KEY",
        whole(lambda rng: f"S{'G'}.{draw(rng, URL_SAFE, 22)}.{draw(rng, URL_SAFE, 42)}x"),
    ),
    Family("mailgun", "MAILGUN_API_KEY", token("ke" + "y-", HEX, 32)),
    Family(
        "openai",
        "OPENAI_API_KEY",
        whole(
            lambda rng: (
                f"sk-{'proj'}-{draw(rng, URL_SAFE, 74)}T3Blbk{'FJ'}{draw(rng, URL_SAFE, 73)}x"
            )
        ),
    ),
    Family(
        "openai-classic",
        "OPENAI_API_KEY",
        whole(lambda rng: f"sk-{draw(rng, ALNUM, 20)}T3Blbk{'FJ'}{draw(rng, ALNUM, 20)}"),
    ),
    Family("anthropic", "ANTHROPIC_API_KEY", token("sk-" + "ant-api03-", URL_SAFE, 93, "AA")),
    Family("anthropic-oauth", "CLAUDE_TOKEN", token("sk-" + "ant-oat01-", URL_SAFE, 85, "AA")),
    Family("hugging-face", "HF_TOKEN", token("h" + "f_", UPPER + LOWER, 34)),
    Family("digitalocean", "DIGITALOCEAN_TOKEN", token("do" + "p_v1_", HEX, 64)),
    Family(
        "telegram",
        "TELEGRAM_BOT_TOKEN",
        whole(lambda rng: f"{rng.randint(10**8, 10**10 - 1)}:AA{draw(rng, URL_SAFE, 32)}x"),
    ),
    Family("discord", "DISCORD_BOT_TOKEN", whole(_make_discord)),
    Family("jwt", "SESSION_JWT", whole(make_jwt)),
    Family(
        "rsa-key", "DEPLOY_KEY", lambda rng: make_pem(rng, "RSA " + "PRIVATE KEY"), multiline=True
    ),
    Family(
        "openssh-key",
        "SSH_KEY",
        lambda rng: make_pem(rng, "OPENSSH " + "PRIVATE KEY", 6),
        multiline=True,
    ),
    Family(
        "pgp-key",
        "SIGNING_KEY",
        lambda rng: make_pem(rng, "PGP PRIVATE " + "KEY BLOCK", header="Version: GnuPG v2"),
        multiline=True,
    ),
    Family("postgres-url", "DATABASE_URL", _in_url("postgresql", "db.example.org:5432/orders")),
    Family("mongodb-url", "MONGO_URL", _in_url("mongodb+srv", "cluster0.example.net/orders")),
    Family("basic-auth", "Authorization", _make_basic),
    Family("bearer-auth", "Authorization", _make_bearer),
    Family("password", "DB_PASSWORD", whole(make_password), recognisable=False),
    Family("url-password", "REGISTRY", _in_url("https", "registry.example.org/simple")),
    Family("cookie", "Cookie", _make_cookie, recognisable=False),
    Family("shopify", "SHOPIFY_TOKEN", token("shp" + "at_", HEX, 32)),
    Family("databricks", "DATABRICKS_TOKEN", token("da" + "pi", HEX, 32)),
    Family("vault", "VAULT_TOKEN", token("hv" + "s.", URL_SAFE, 89, "x")),
    Family(
        "airtable",
        "AIRTABLE_TOKEN",
        whole(lambda rng: f"pat{draw(rng, ALNUM, 14)}.{draw(rng, HEX, 64)}"),
    ),
    Family("algolia", "ALGOLIA_ADMIN_KEY", token("", HEX, 32), recognisable=False),
    Family("datadog", "DD_API_KEY", token("", HEX, 32), recognisable=False),
    Family("doppler", "DOPPLER_TOKEN", token("dp." + "pt.", ALNUM, 43)),
    Family("dropbox", "DROPBOX_TOKEN", token("sl" + ".", URL_SAFE, 130, "x")),
    Family("figma", "FIGMA_TOKEN", token("fi" + "gd_", URL_SAFE, 39, "x")),
    Family("grafana", "GRAFANA_TOKEN", token("gl" + "sa_", ALNUM, 32, "_0a1b2c3d")),
    Family("linear", "LINEAR_API_KEY", token("lin_" + "api_", ALNUM, 40)),
    Family("mapbox", "MAPBOX_SECRET_TOKEN", whole(_make_mapbox)),
    Family("netlify", "NETLIFY_AUTH_TOKEN", token("nf" + "p_", ALNUM, 36)),
    Family("newrelic", "NEW_RELIC_API_KEY", token("NR" + "AK-", UPPER + DIGITS, 27)),
    Family("notion", "NOTION_TOKEN", token("nt" + "n_", ALNUM, 46)),
    Family("planetscale", "PLANETSCALE_TOKEN", token("pscale_" + "tkn_", URL_SAFE, 42, "x")),
    Family(
        "postman",
        "POSTMAN_API_KEY",
        whole(lambda rng: f"PMA{'K'}-{draw(rng, HEX, 24)}-{draw(rng, HEX, 34)}"),
    ),
    Family("pulumi", "PULUMI_ACCESS_TOKEN", token("pu" + "l-", HEX, 40)),
    Family("rubygems", "GEM_HOST_API_KEY", token("ruby" + "gems_", HEX, 48)),
    Family("sentry", "SENTRY_AUTH_TOKEN", whole(_make_sentry)),
    Family("supabase", "SUPABASE_ACCESS_TOKEN", token("sb" + "p_", HEX, 40)),
)

FAMILIES: Final[Mapping[str, Family]] = {family.name: family for family in _FAMILIES}
OWN: Final = Family("own", "REEF_KEY", token("reef_", LOWER + DIGITS, 20))
"""A kind that only a user knows, by a rule in the config file."""
OWN_RULES: Final = '[redact.patterns]\nreef-key = "reef_[a-z0-9]{20}"\n'
WITH_RULE: Final = tuple(each for each in _FAMILIES if each.has_rule)
TUNED_ON: Final = tuple(each for each in _FAMILIES if not each.has_rule)
"""Families without a rule that the general rules were tuned on."""
