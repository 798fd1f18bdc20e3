"""Secrets that are recognised by their format: a vendor's prefix and random characters; and generic
tokens, random characters without a rule.

Lengths are lower bounds unless a vendor documents them. docs/secrets.md lists the kinds.

Tokens of unknown services are recognised by random characters after a prefix, or next to a word
like `token`. Ids are random too, so only one of the two makes a finding just likely.
"""

from collections.abc import Iterator
from typing import Final

from recollect.lazy_patterns import compile_lazily
from recollect.redact import value_checks
from recollect.redact.findings import Confidence, Match, Rule, token
from recollect.redact.plain_view import count_digits, iter_runs, make_marks

_KEY_BLOCK_REACH: Final = 200_000
"""A PGP key with many subkeys and signatures has some ten thousand characters."""

_NO_RULER: Final = r"(?:-{0,4}[^\-])*?"
"""Anything but five dashes, so that the search for the end of a block stops at the next block."""


def _if_random(value: bytes) -> Confidence | None:
    """Accept only random values, for prefixes that are also words."""
    return Confidence.DEFINITE if value_checks.looks_random(value) else None


_CLOUD: Final = (
    token("aws-key", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
    token("aws-bedrock-key", "absk", r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    token("gcp-key", "aiza", r"AIza[A-Za-z0-9_\-]{35}"),
    token("google-client-secret", "gocspx-", r"GOCSPX-[A-Za-z0-9_\-]{28}"),
    token("google-access-token", "ya29.", r"ya29\.[A-Za-z0-9_\-.]{20,}"),
    token("google-refresh-token", "1//0", r"1//0[A-Za-z0-9_\-]{40,}", _if_random),
    Rule(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        r"(?i)(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{42,86}={0,2})",
        standalone=False,
    ),
    Rule(
        "azure-client-secret",
        ("q~",),
        r"[A-Za-z0-9_~.\-]{3}[0-9]Q~[A-Za-z0-9_~.\-]{31,34}",
        before=4,
        reach=60,
    ),
    Rule("azure-sas", ("sig=",), r"sig=([A-Za-z0-9+/%]{40,60}={0,2})", standalone=False),
    token("azure-devops-token", "azdo", r"AZDO[A-Za-z0-9]{40,}"),
    token("alibaba-key", "ltai", r"LTAI[A-Za-z0-9]{16,24}", _if_random),
    token("tencent-key", "akid", r"AKID[A-Za-z0-9]{32}", _if_random),
    token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    token("cloudflare-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    token("heroku-key", "hrku-", r"HRKU-[A-Za-z0-9_\-]{36,}"),
    token("fly-token", "fm2_ fo1_", r"(?:fm2_|fo1_)[A-Za-z0-9+/=_\-]{40,}"),
    token("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-[0-9])?"),
    token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_\-]{24,}", _if_random),
    Rule(
        "terraform-token",
        (".atlasv1.",),
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{60,70}",
        before=14,
        reach=90,
    ),
    token("dynatrace-token", "dt0c01.", r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
)

_CODE_HOSTS: Final = (
    token(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"gh[pousr]_[A-Za-z0-9]{36}",
        value_checks.check_crc,
    ),
    token("github-token", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    token(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glimt- glagent- glft- gloas- glffct-",
        r"gl(?:pat|dt|rt|ptt|cbt|soat|imt|agent|ft|oas|ffct)-[A-Za-z0-9_\-.]{20,}",
        _if_random,
    ),
    token("bitbucket-token", "atbb atctt3", r"(?:ATBB[A-Za-z0-9]{32,}|ATCTT3[A-Za-z0-9_\-=]{60,})"),
    token("atlassian-token", "atatt3", r"ATATT3[A-Za-z0-9_\-=]{60,}"),
    token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}", value_checks.check_crc),
    token("pypi-token", "pypi-ageichlwas", r"pypi-AgEIcHlwaS[A-Za-z0-9_\-]{50,}"),
    token("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[A-Za-z0-9_\-]{27,}"),
    token("artifactory-key", "akcp", r"AKCp[A-Za-z0-9]{10,}", _if_random),
    token("sourcegraph-token", "sgp_", r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
)

_CHAT: Final = (
    token(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe. xoxc- xoxd-",
        r"xox[abcdeprs][-.][A-Za-z0-9%\-.]{20,}",
        _if_random,
    ),
    token("slack-token", "xapp-", r"xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-f0-9]{40,}"),
    Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{30,})",
        standalone=False,
    ),
    Rule(
        "discord-webhook",
        ("/api/webhooks/",),
        r"/api/webhooks/([0-9]{15,20}/[A-Za-z0-9_\-]{50,})",
        standalone=False,
    ),
    Rule(
        "teams-webhook",
        ("/webhookb2/",),
        r"/webhookb2/([A-Za-z0-9@/\-]{60,})",
        standalone=False,
    ),
    Rule(
        "telegram-token",
        (":aa",),
        r"[0-9]{8,10}:AA[A-Za-z0-9_\-]{33}",
        before=10,
        reach=60,
    ),
    token("matrix-token", "syt_", r"syt_[A-Za-z0-9]+_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}"),
)

_PAYMENT_AND_MAIL: Final = (
    token(
        "stripe-key",
        "sk_live_ sk_test_ rk_live_ rk_test_",
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{20,}",
        _if_random,
    ),
    token("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}", _if_random),
    token("square-token", "sq0atp- sq0csp-", r"sq0(?:atp|csp)-[A-Za-z0-9_\-]{22,}"),
    token("square-token", "eaaa", r"EAAA[A-Za-z0-9_\-]{60}", _if_random),
    token(
        "paypal-token",
        "access_token$production$",
        r"access_token\$production\$[a-z0-9]{16}\$[a-f0-9]{32}",
    ),
    token("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    token("adyen-key", "aqe", r"AQE[a-z]hmfxK[A-Za-z0-9+/=\-<>^{}]{60,}"),
    token("twilio-key", " ".join(f"sk{digit}" for digit in "0123456789abcdef"), r"SK[a-f0-9]{32}"),
    token("sendgrid-key", "sg.", r"SG\.[A-Za-z0-9_\-]{22}\.[A-Za-z0-9_\-]{43}"),
    token("mailgun-key", "key-", r"key-[a-f0-9]{32}"),
    Rule("mailchimp-key", ("-us",), r"[a-f0-9]{32}-us[0-9]{1,2}", before=32, reach=40),
    token("brevo-key", "xkeysib- xsmtpsib-", r"x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", _if_random),
    token("facebook-token", "eaac", r"EAAC[A-Za-z0-9]{80,}", _if_random),
    token("twitter-token", "aaaaaaaaaaaaaaaaaaaaa", r"A{21,24}[A-Za-z0-9%]{60,}"),
    Rule(
        "firebase-key", (":apa91b",), r"[A-Za-z0-9_\-]{7,20}:APA91b[A-Za-z0-9_\-]{100,}", before=20
    ),
)

_MODELS: Final = (
    token(
        "anthropic-key", "sk-ant-", r"sk-ant-[a-z]{2,12}[0-9]{2}-[A-Za-z0-9_\-]{20,}", _if_random
    ),
    token(
        "openai-key",
        "sk-proj- sk-svcacct- sk-admin- sk-None-",
        r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_\-]{40,}",
        _if_random,
    ),
    token("openai-key", "sk-", r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    token("openrouter-key", "sk-or-", r"sk-or-(?:v1-)?[a-f0-9]{64}"),
    # DeepSeek, Moonshot, Alibaba's models and others use OpenAI's original format.
    token("model-api-key", "sk-", r"sk-[A-Za-z0-9]{32,64}", _if_random),
    token("hugging-face-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z]{34}"),
    token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    token("xai-key", "xai-", r"xai-[A-Za-z0-9]{70,}"),
    token("nvidia-key", "nvapi-", r"nvapi-[A-Za-z0-9_\-]{60,}"),
    token("langsmith-key", "lsv2_pt_ lsv2_sk_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    token("tavily-key", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{30,}", _if_random),
    token("elevenlabs-key", "sk_", r"sk_[a-f0-9]{48}"),
)

_KEYS: Final = (
    token(
        "jwt",
        "eyj",
        r"eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}",
        value_checks.check_jwt,
    ),
    # Two forms: complete, and truncated after some lines of base64.
    Rule(
        "private-key",
        ("-----begin",),
        r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:"
        rf"{_NO_RULER}-{{5,6}}END (?:[A-Z0-9]+ ){{0,4}}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:[\s0-9→+|>:\-]*[A-Za-z0-9+/=]{30,})+)",
        reach=_KEY_BLOCK_REACH,
        standalone=False,
    ),
    token("age-key", "age-secret-key-1", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    Rule(
        "putty-key",
        ("putty-user-key-file",),
        r"PuTTY-User-Key-File-(?s:.*?)Private-MAC: [a-f0-9]+",
        reach=20_000,
    ),
    token("1password-token", "ops_ey", r"ops_eyJ[A-Za-z0-9+/=_\-]{80,}"),
    token(
        "1password-key",
        "a3-",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-(?:[A-Z0-9]{5}-){2}[A-Z0-9]{5}",
    ),
    Rule(
        "discord-token", (), r"[MNO][A-Za-z0-9_\-]{23,25}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,38}"
    ),
)

TOKEN_RULES: Final[tuple[Rule, ...]] = (
    *_CLOUD, *_CODE_HOSTS, *_CHAT, *_PAYMENT_AND_MAIL, *_MODELS, *_KEYS
)  # fmt: skip
"""Rules for values that are recognised by their format."""


_PREFIX: Final = compile_lazily(
    rb"(?:[a-z]{2,12}[0-9]?|[A-Z]{2,8}[0-9]?)(?:[_\-.](?:[a-z]{1,8}|[a-z]{1,3}[0-9]))?[_\-.~]"
)
"""Prefix of a vendor: a short word, optionally another one, or a version."""
HINTS: Final = ("auth", "bearer", "login with", "signed in")
"""Words near a token, other than the names that secrets are assigned to."""
_HINT: Final = compile_lazily(
    rb"(?i)token|secret|passw|credential|api.?key|access.?key|auth|bearer|login with|signed in"
)
_NOT_A_HINT: Final = compile_lazily(
    rb"(?i)\bauthor(?:s|ed)?\b|token(?:s|iz)|signature|integrity|sha\d|digest|checksum|etag|nonce|hash|uuid"
)
_HINT_REACH: Final = 48
_NAMED_OTHERWISE: Final = compile_lazily(
    rb"(?i)(?:id|ids|sha\d*|md5|hash|digest|etag|nonce|uuid|cursor|checksum|integrity|signature|fingerprint"
    rb"|version|name|path|file|branch|commit|image|tag|rev|model)[\"'`]{0,2}\s{0,2}[:=]\s{0,2}[\"'`(]{0,2}$"
)
"""Names that random values other than secrets are assigned to."""
_NAME_REACH: Final = 24
_TOKEN_WORDS: Final = compile_lazily(
    rb"(?i)(?:^|[_\-.])(?:[a-z]*key|api|pat|[a-z]*tok|[a-z]*token|[a-z]?secret|sec|sk|sdk|live|prod|production"
    rb"|access|auth|private|svc|service)[_\-.:]"
)
"""A prefix that identifies what follows."""
_MAX_TOKEN: Final = 400
_MIN_DIGITS: Final = 3
_MIN_MIXED: Final = 20
_MIN_ONE_CASE: Final = 20
_MIN_BARE: Final = 28
"""One case and digits without a prefix: ids in base 32 have 26 characters."""
_MIN_HINTED: Final = 16
_MIN_HEX: Final = 24
_MIN_SHARE: Final = 0.55
"""Minimum share of random parts in a word; names of files and models have less."""
_BASE64_JOINERS: Final = (b"+", b"/", b"%", b"@", b"(")
_BASE64_WORD: Final = compile_lazily(rb"[A-Za-z0-9+/_.~\-]{24,200}+(?![A-Za-z0-9%@(])")
_MIN_BASE64_CHANGES: Final = 0.4
_ACCOUNT: Final = compile_lazily(
    rb"(?<![A-Za-z0-9./@])(?:(?:[0-9]{1,2}/)?[0-9]{6,20}(?:/[0-9]{6,20})?|[0-9a-f]{16,32}|[0-9]{1,8}(?=\|)"
    rb"|[A-Za-z0-9]{4,12}\.[A-Za-z0-9]{4,12})[:|]$"
)
"""The id before a token, as in `id:secret`."""
_ACCOUNT_REACH: Final = 48
_GROUPS: Final = compile_lazily(rb"(?:[A-Z0-9]{4,8}-){3,9}[A-Z0-9]{4,8}")
_FILE: Final = compile_lazily(
    rb"(?i)\.(?:[cm]?[jt]sx?|css|map|py|md|json|jsonl|html?|png|jpe?g|svg|woff2?|whl|gz|zip|so|txt|ya?ml|toml|lock|log|dylib|wasm|sh|go|rs|java|php|rb|com|org|net|io|dev)$"
)


_MIN_WORD: Final = 20
_WORD_CHARACTERS: Final = rb"[A-Za-z0-9_.~+/%@#\\\-]"
"""Including characters that join a word to a path, a URL or base64."""
LONG_WORD: Final = rb"%b{%d,}" % (_WORD_CHARACTERS, _MIN_WORD)
_WORD_MARKS: Final = make_marks(_WORD_CHARACTERS)
_CANDIDATE: Final = compile_lazily(
    rb"(?![0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![A-Za-z0-9]))"
    # Names that consist of words and numbers only.
    rb"(?!(?:[_.~\-]*+(?:[0-9]++[A-Za-z]{0,2}+|[a-z]*+(?:[A-Z]{1,6}+[a-z]{2,}+[0-9]{0,8}+)*+[A-Z]*+[0-9]{0,4}+)"
    rb"(?![A-Za-z0-9]))++(?![A-Za-z0-9_.~\-]))"
    rb"[A-Za-z0-9_.~\-]{20,}"
)


def iter_generic(data: bytes) -> Iterator[Match]:
    """Yield long random words; with both a prefix and a hint they are definite."""
    for start, _ in iter_long_words(data):
        found = _CANDIDATE.match(data, start)
        if found is not None:
            word = found[0].rstrip(b".-_~")
            match = _rate(data, start, word) if _may_be_token(word) else None
            if match is not None:
                yield match


def iter_long_words(data: bytes, min_length: int = _MIN_WORD) -> Iterator[tuple[int, int]]:
    """Yield the spans of words, as defined by `LONG_WORD`, of at least this length."""
    return iter_runs(data, _WORD_MARKS, min_length)


def _may_be_token(word: bytes) -> bool:
    """Reject most words with cheap checks: one case and few digits, or an id."""
    return (
        (count_digits(word) >= _MIN_DIGITS or not (word.islower() or word.isupper()))
        and len(word) <= _MAX_TOKEN
        and not value_checks.is_id(word)
        and b".." not in word
    )


def _rate(data: bytes, start: int, word: bytes) -> Match | None:
    """Rate a random word: likely, or definite with both a prefix and a hint."""
    is_base64 = data[start + len(word) : start + len(word) + 1] in _BASE64_JOINERS
    if is_base64:
        word = _read_base64(data, start)
    prefix = _PREFIX.match(word)
    prefix_length = len(prefix[0]) if prefix else 0
    body = _find_random(word, prefix_length)
    if (
        not body
        or value_checks.is_placeholder(word)
        or _FILE.search(word)
        or value_checks.is_dated_name(word)
        or value_checks.is_encoded_file(data, start)
    ):
        return None
    is_hinted = _has_hint(data, start)
    account = _ACCOUNT.search(data, max(0, start - _ACCOUNT_REACH), start)
    is_prefixed = prefix is not None or account is not None
    has_hint = is_hinted or _TOKEN_WORDS.search(word[:prefix_length]) is not None
    if len(body) < _find_minimum(body, is_prefixed, has_hint):
        return None
    if (is_base64 and not (prefix or is_hinted)) or (
        value_checks.is_hash(word) and not is_prefixed
    ):
        return None
    if _NAMED_OTHERWISE.search(data, max(0, start - _NAME_REACH), start):
        return None
    is_certain = prefix and is_hinted and count_digits(word) >= _MIN_DIGITS
    confidence = Confidence.DEFINITE if is_certain else Confidence.LIKELY
    end = start + len(word)
    start = account.start() if account else start
    return Match("token", confidence, start, end, data[start:end])


def _read_base64(data: bytes, start: int) -> bytes:
    """Return a word including the slashes and plus signs of base64; empty if it is a path."""
    found = _BASE64_WORD.match(data, start)
    is_base64 = found is not None and value_checks.measure_changes(found[0]) >= _MIN_BASE64_CHANGES
    return found[0] if found is not None and is_base64 else b""


def _find_random(word: bytes, prefix: int) -> bytes:
    """Return the random characters of a word; empty if they are too few."""
    uuid = value_checks.find_uuid(word)
    if uuid is not None:
        rest = word[: uuid.start()]
        is_token = _TOKEN_WORDS.search(rest) or value_checks.looks_random(rest.rstrip(b"-_."))
        return word if is_token else b""
    body = (
        word if _GROUPS.fullmatch(word) else b"".join(value_checks.list_random_parts(word[prefix:]))
    )
    if len(body) < max(_MIN_HINTED, _MIN_SHARE * len(word)) or not value_checks.looks_random(body):
        return b""
    return body if count_digits(body) >= _MIN_DIGITS or value_checks.is_wordless(body) else b""


def _find_minimum(body: bytes, is_prefixed: bool, is_hinted: bool) -> int:
    """Return the minimum number of random characters, by the classes of characters used."""
    if value_checks.is_hex(body):
        return _MIN_HEX if is_prefixed else _MAX_TOKEN
    if is_hinted:
        return _MIN_HINTED
    if body.lower() != body and body.upper() != body:
        return _MIN_MIXED
    return _MIN_ONE_CASE if is_prefixed else _MIN_BARE


def _has_hint(data: bytes, start: int) -> bool:
    line = data[max(0, start - _HINT_REACH) : start].rsplit(b"\n", 1)[-1]
    return _HINT.search(line) is not None and _NOT_A_HINT.search(line) is None
