"""Made-up secrets that have no rule of their own and that the general rules were tuned on.

Thirty families of real services, whose formats come from public documentation; they were held out
until their misses had been looked at. The others are no service's: each is one of the shapes that
tokens have (with and without a prefix, in parts, in hexadecimal, as a UUID, short, long) under one
of the names that they are given.
"""

import base64
from random import Random
from typing import Final

from tests.redact.made_up_secrets import (
    ALNUM,
    BASE64,
    DIGITS,
    HEX,
    LOWER,
    TUNED_ON,
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
_UUID: Final = ((HEX, 8), "-", (HEX, 4), "-4", (HEX, 3), "-a", (HEX, 3), "-", (HEX, 12))


def _make_uuid(rng: Random) -> str:
    return "-".join(draw(rng, HEX, length) for length in (8, 4, 4, 4, 12))


def _make_asana(rng: Random) -> str:
    return f"2/{draw(rng, '123456789', 16)}/{draw(rng, '123456789', 16)}:{draw(rng, HEX, 32)}"


def _make_circleci(rng: Random) -> str:
    return f"CCI{'PAT'}_{draw(rng, ALNUM, 22)}_{draw(rng, HEX, 40)}"


def _make_harness(rng: Random) -> str:
    return f"pat.{draw(rng, ALNUM, 22)}.{draw(rng, HEX, 24)}.{draw(rng, ALNUM, 20)}"


def _make_intercom(rng: Random) -> str:
    inner = f"tok:{_make_uuid(rng).replace('-', '_')}:1:0"
    return base64.b64encode(inner.encode()).decode()


_SERVICES: Final = (
    Family("asana", "ASANA_ACCESS_TOKEN", whole(_make_asana)),
    Family("buildkite", "BUILDKITE_API_TOKEN", token("bk" + "ua_", HEX, 40)),
    Family("circleci", "CIRCLE_TOKEN", whole(_make_circleci)),
    Family("clickhouse", "CLICKHOUSE_KEY_SECRET", token("4b" + "1d", ALNUM, 38)),
    Family("contentful", "CONTENTFUL_MANAGEMENT_TOKEN", token("CF" + "PAT-", URL_SAFE, 42, "x")),
    Family("deepgram", "DEEPGRAM_API_KEY", token("", HEX, 40), recognisable=False),
    Family("duffel", "DUFFEL_ACCESS_TOKEN", token("duffel_" + "live_", URL_SAFE, 42, "x")),
    Family("easypost", "EASYPOST_API_KEY", token("EZ" + "AK", ALNUM, 54)),
    Family("fastly", "FASTLY_API_TOKEN", token("", URL_SAFE, 31, "x"), recognisable=False),
    Family("flutterwave", "FLW_SECRET_KEY", token("FLW" + "SECK-", HEX, 32, "-X")),
    Family("frameio", "FRAMEIO_TOKEN", token("fio" + "-u-", URL_SAFE, 63, "x")),
    Family("harness", "HARNESS_API_KEY", whole(_make_harness)),
    Family("hubspot", "HUBSPOT_ACCESS_TOKEN", whole(lambda rng: f"pat-na1-{_make_uuid(rng)}")),
    Family("infracost", "INFRACOST_API_KEY", token("ic" + "o-", ALNUM, 32)),
    Family("intercom", "INTERCOM_ACCESS_TOKEN", whole(_make_intercom), recognisable=False),
    Family("launchdarkly", "LAUNCHDARKLY_SDK_KEY", whole(lambda rng: f"sdk-{_make_uuid(rng)}")),
    Family("lob", "LOB_API_KEY", token("live" + "_", HEX, 35)),
    Family("okta", "OKTA_CLIENT_TOKEN", token("0" + "0", URL_SAFE, 39, "x"), recognisable=False),
    Family("openshift", "OPENSHIFT_TOKEN", token("sha" + "256~", URL_SAFE, 42, "x")),
    Family("posthog", "POSTHOG_PERSONAL_API_KEY", token("ph" + "x_", ALNUM, 43)),
    Family("prefect", "PREFECT_API_KEY", token("pn" + "u_", ALNUM, 36)),
    Family("readme", "README_API_KEY", token("rd" + "me_", _LOWER_ALNUM, 70)),
    Family("scalingo", "SCALINGO_API_TOKEN", token("tk-" + "us-", URL_SAFE, 47, "x")),
    Family("shippo", "SHIPPO_API_TOKEN", token("shippo_" + "live_", HEX, 40)),
    Family("snyk", "SNYK_TOKEN", whole(_make_uuid), recognisable=False),
    Family("travis", "TRAVIS_API_TOKEN", token("", URL_SAFE, 21, "x"), recognisable=False),
    Family("typeform", "TYPEFORM_TOKEN", token("tf" + "p_", ALNUM, 59)),
    Family("vercel", "VERCEL_TOKEN", token("", ALNUM, 24), recognisable=False),
    Family("yandex", "YANDEX_API_KEY", token("AQ" + "VN", URL_SAFE, 35, "x")),
    Family("zendesk", "ZENDESK_API_TOKEN", token("", ALNUM, 40), recognisable=False),
)


def _shape(name: str, key: str, *parts: str | tuple[str, int], bare: bool = False) -> Family:
    """Return a family whose tokens consist of fixed texts and random characters."""

    def make(rng: Random) -> str:
        return "".join(part if isinstance(part, str) else draw(rng, *part) for part in parts)

    return Family(name, key, whole(make), recognisable=not bare)


def _in_url(name: str, key: str, url: str, alphabet: str, length: int) -> Family:
    """Return a family of URLs that contain a token."""

    def make(rng: Random) -> Plant:
        secret = draw(rng, alphabet, length)
        return Plant(url.format(secret), (secret,))

    return Family(name, key, make)


_SHAPES: Final = (
    # Behind a prefix.
    _shape("prefix-hex-32", "REEF_API_KEY", "rfk_", (HEX, 32)),
    _shape("prefix-hex-64", "REEF_TOKEN", "rft-", (HEX, 64)),
    _shape("prefix-hex-24", "REEF_PAT", "rf-", (HEX, 24)),
    _shape("prefix-lower-36", "HARBOR_LICENSE_KEY", "hb_", (_LOWER_ALNUM, 36)),
    _shape("prefix-lower-24", "HARBOR_SERVICE_TOKEN", "hbst-", (_LOWER_ALNUM, 24)),
    _shape("prefix-upper-32", "HARBOR_CLIENT_SECRET", "HBR-", (_UPPER_ALNUM, 32)),
    _shape("prefix-upper-20", "HARBOR_INGEST_KEY", "HBI_", (_UPPER_ALNUM, 20)),
    _shape("prefix-mixed-22", "KELP_API_KEY", "kp_", (ALNUM, 22)),
    _shape("prefix-mixed-18", "KELP_SECRET", "kelp_sk_", (ALNUM, 18)),
    _shape("prefix-letters-32", "KELP_BOT_TOKEN", "kelp-", (LOWER + UPPER, 32)),
    _shape("prefix-long-word", "DRIFTWOOD_TOKEN", "driftwoodcloud_", (ALNUM, 32)),
    _shape("prefix-three-words", "DRIFTWOOD_KEY", "dw_live_secret_", (ALNUM, 28)),
    _shape("prefix-base64", "DRIFTWOOD_WEBHOOK_SECRET", "dwsec_", (BASE64, 43), "="),
    _shape("prefix-region", "DRIFTWOOD_PAT", "dw-eu1-", (ALNUM, 32)),
    _shape("prefix-uuid-api", "TIDE_SERVER_KEY", "api-", *_UUID),
    _shape("prefix-uuid-access", "TIDE_ACCESS_TOKEN", "access-production-", *_UUID),
    _shape("prefix-base64-padded", "TIDE_STREAM_SECRET", "sec-c-", (BASE64, 47), "="),
    _shape(
        "prefix-colon",
        "TIDE_PERMANENT_TOKEN",
        "perm:",
        (ALNUM, 24),
        ".",
        (ALNUM, 8),
        ".",
        (ALNUM, 30),
    ),
    # Glued to the body.
    _shape("glued-upper", "COVE_API_TOKEN", "CVE", (ALNUM, 40)),
    _shape("glued-lower", "COVE_ACCESS_KEY", "cv", (ALNUM, 32)),
    _shape("glued-hex", "COVE_SIGNING_SECRET", "SEC", (HEX, 64)),
    _shape("glued-key", "COVE_PRODUCTION_KEY", "key", (ALNUM, 28)),
    _shape("glued-oy", "COVE_PUBLISH_KEY", "oy2", (_LOWER_ALNUM, 43)),
    # In parts.
    _shape("parts-dots", "LAGOON_TOKEN", (ALNUM, 20), ".", (ALNUM, 40)),
    _shape("parts-dots-short", "LAGOON_API_KEY", (ALNUM, 6), ".", (ALNUM, 6), ":", (URL_SAFE, 43)),
    _shape("parts-colon-hex", "LAGOON_ADMIN_API_KEY", (HEX, 24), ":", (HEX, 64)),
    _shape("parts-pipe", "LAGOON_PLAIN_TEXT_TOKEN", "184|", (ALNUM, 48)),
    _shape("parts-slash", "LAGOON_PERSONAL_TOKEN", "1/", (DIGITS, 16), ":", (HEX, 32)),
    _shape("parts-id-first", "LAGOON_SECRET_KEY", (DIGITS, 9), "-", (ALNUM, 40)),
    _shape("parts-pk-id", "LAGOON_PAT", "pk_", (DIGITS, 8), "_", (_UPPER_ALNUM, 32)),
    _shape(
        "parts-groups",
        "LAGOON_SETUP_KEY",
        (UPPER, 5),
        "-",
        (_UPPER_ALNUM, 5),
        "-",
        (_UPPER_ALNUM, 5),
        "-",
        (_UPPER_ALNUM, 5),
        "-",
        (_UPPER_ALNUM, 5),
    ),
    _shape("parts-auth", "LAGOON_AUTH_KEY", "lgkey-auth-", (ALNUM, 12), "-", (ALNUM, 32)),
    _shape("parts-underscore", "LAGOON_AUTHTOKEN", "2", (ALNUM, 26), "_", (ALNUM, 21)),
    _shape("parts-at-end", "LAGOON_DELIVERY_TOKEN", (HEX, 32), "-", *_UUID),
    # Nothing but random characters.
    _shape("bare-hex-32", "SHOAL_APP_CERTIFICATE", (HEX, 32), bare=True),
    _shape("bare-hex-20", "SHOAL_APP_SECRET", (HEX, 20), bare=True),
    _shape("bare-hex-64", "SHOAL_DEVELOPER_KEY", (HEX, 64), bare=True),
    _shape("bare-hex-40", "SHOAL_ACCESS_TOKEN", (HEX, 40), bare=True),
    _shape("bare-hex-48", "SHOAL_APPKEY", (HEX, 48), bare=True),
    _shape("bare-lower-30", "SHOAL_USER_KEY", (_LOWER_ALNUM, 30), bare=True),
    _shape("bare-lower-16", "SHOAL_API_SECRET", (_LOWER_ALNUM, 16), bare=True),
    _shape("bare-mixed-16", "SHOAL_API_PASS", (ALNUM, 16), bare=True),
    _shape("bare-mixed-20", "SHOAL_AUTH", (ALNUM, 20), bare=True),
    _shape("bare-mixed-25", "SHOAL_LIVE_KEY", (ALNUM, 25), bare=True),
    _shape("bare-mixed-32", "SHOAL_APIKEY", (ALNUM, 32), bare=True),
    _shape("bare-mixed-64", "SHOAL_MASTER_KEY", (ALNUM, 64), bare=True),
    _shape("bare-upper-36", "SHOAL_ROUTING_KEY", (_UPPER_ALNUM, 36), bare=True),
    _shape("bare-upper-20", "SHOAL_CLIENT_SECRET", (_UPPER_ALNUM, 20), bare=True),
    _shape("bare-base64-44", "SHOAL_ENCRYPTION_KEY", (BASE64, 43), "=", bare=True),
    _shape("bare-base64-88", "SHOAL_PRIVATE_KEY", (BASE64, 86), "==", bare=True),
    _shape("bare-base64-40", "SHOAL_SECRET_ACCESS_KEY", (BASE64, 40), bare=True),
    _shape("bare-letters-24", "SHOAL_PERSONAL_ACCESS_TOKEN", (LOWER + UPPER, 24), bare=True),
    _shape("bare-short-12", "SHOAL_TOKEN", (ALNUM, 12), bare=True),
    _shape("bare-short-13", "SHOAL_WEBHOOK_SECRET", (URL_SAFE, 12), "x", bare=True),
    _shape("bare-plus", "SHOAL_REST_API_KEY", "u+", (ALNUM, 18), bare=True),
    _shape("bare-dashed", "SHOAL_PROJECT_ACCESS_KEY", *_UUID, bare=True),
    _shape("bare-dashed-license", "SHOAL_LICENSE", *_UUID, bare=True),
    _shape("bare-symbols", "SHOAL_DB_PASS", (ALNUM + "!#%*^-_+", 20), "x", bare=True),
    _shape(
        "bare-symbols-secret", "SHOAL_SESSION_SECRET", (ALNUM + "!@#%*^_+-", 48), "x", bare=True
    ),
    _shape("bare-hash-name", "SHOAL_API_HASH", (HEX, 32), bare=True),
    _shape("bare-salt", "SHOAL_AUTH_SALT", (ALNUM, 44), bare=True),
    _shape("bare-dsn-like", "SHOAL_INTEGRATION_KEY", (_LOWER_ALNUM, 32), bare=True),
    _shape("bare-0x", "SHOAL_DEPLOYER_PRIVATE_KEY", "0x", (HEX, 64), bare=True),
    _shape("bare-base64-prefix", "SHOAL_APP_KEY", "base64:", (BASE64, 43), "=", bare=True),
    _shape(
        "bare-groups-of-four",
        "SHOAL_APP_PASSWORD",
        (LOWER, 4),
        " ",
        (LOWER, 4),
        " ",
        (LOWER, 4),
        " ",
        (LOWER, 4),
        bare=True,
    ),
    Family(
        "bare-groups-of-six",
        "SHOAL_APPLICATION_PASSWORD",
        whole(lambda rng: " ".join(draw(rng, ALNUM, 4) for _ in range(6))),
        recognisable=False,
    ),
    _shape("bare-brackets", "SHOAL_API_KEY", "AQ", (ALNUM + "{}<>[]^+/=", 60), "x", bare=True),
    _in_url("url-webhook", "SHOAL_WEBHOOK_URL", "https://hooks.shoal.example.org/in/{}", ALNUM, 24),
    _in_url(
        "url-webhook-long",
        "SHOAL_ALERTS",
        "https://shoal.example.org/v2/webhook/{}/send",
        _LOWER_ALNUM,
        26,
    ),
    _in_url("url-user", "SHOAL_DSN", "https://{}@in.shoal.example.org/4501", HEX, 32),
    _shape("bare-account", "SHOAL_ACCOUNT_KEY", (BASE64, 42), bare=True),
)

TUNED_FAMILIES: Final = (*TUNED_ON, *_SERVICES, *_SHAPES)
"""All families without a rule of their own that the general rules were tuned on."""
