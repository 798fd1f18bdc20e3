"""Secrets that are recognised by context: headers, URLs, command lines, cookies, and assignments to
names like `password`, `API_KEY` or `accessToken`.

The values have no recognisable format, so each is checked against placeholders and against what
programs print in the same places.

Assignments cover `.env`, YAML, JSON, TOML, code, query strings, command-line options and sentences.
The name determines the threshold: after `DB_PASSWORD`, anything that is not a word; after a bare
`key`, only random characters that are neither a hash nor a UUID.
"""

import re
from collections.abc import Callable
from typing import Final, Protocol

from recollect.lazy_patterns import compile_lazily
from recollect.redact.findings import Check, Confidence, Match, Rule, is_name
from recollect.redact.value_checks import (
    check_basic,
    contains_code,
    is_hash,
    is_id,
    is_path,
    is_placeholder,
    is_reference,
    is_uuid,
    looks_random,
    measure_changes,
)

_MIN_LOGIN: Final = 4
_MIN_CREDENTIALS: Final = 12
_SAMPLE_PASSWORDS: Final = frozenset(
    b"pass passwd password pwd secret token user username postgres mysql root admin test guest"
    b" redis mongo db pw x xxx hunter2 rabbitmq minio".split()
)
_COOKIE: Final = compile_lazily(rb"=\"?([^;\"\s]{12,})")


def _check_header(value: bytes) -> Confidence | None:
    """Rate the credentials of an Authorization header or after `Bearer`."""
    if is_placeholder(value) or is_reference(value):
        return None
    return Confidence.DEFINITE if looks_random(value) else _check_short(value)


def _check_short(value: bytes) -> Confidence | None:
    """Rate a short value after `bearer`: it needs a digit, because in prose words follow."""
    return (
        Confidence.LIKELY
        if re.search(rb"[0-9]", value) and len(value) >= _MIN_CREDENTIALS
        else None
    )


def _check_url_password(value: bytes) -> Confidence | None:
    """Rate the password in `scheme://user:password@host`."""
    if is_reference(value) or value.lower() in _SAMPLE_PASSWORDS or len(value) < _MIN_LOGIN:
        return None
    return Confidence.LIKELY if is_placeholder(value) else Confidence.DEFINITE


def _check_argument(value: bytes) -> Confidence | None:
    """Rate a password on a command line."""
    if is_placeholder(value) or is_reference(value) or value.lower() in _SAMPLE_PASSWORDS:
        return None
    if looks_random(value):
        return Confidence.DEFINITE
    return Confidence.LIKELY if re.search(rb"[^A-Za-z]", value) else None


def _check_user_and_password(value: bytes) -> Confidence | None:
    return _check_argument(value.partition(b":")[2])


def _check_cookies(value: bytes) -> Confidence | None:
    """Rate a Cookie header: one random value makes all of it a secret."""
    values = _COOKIE.findall(value)
    if any(map(looks_random, values)):
        return Confidence.DEFINITE
    has_digits = any(re.search(rb"[0-9]", each) for each in values)
    return Confidence.LIKELY if has_digits else None


def _check_token_as_user(value: bytes) -> Confidence | None:
    return Confidence.LIKELY if looks_random(value) and not is_placeholder(value) else None


def _check_words(value: bytes) -> Confidence | None:
    """Rate the words of a mnemonic: they do not repeat by chance, while those of a sentence do."""
    words = value.split()
    return Confidence.DEFINITE if len(set(words)) == len(words) else None


def _context(kind: str, keywords: str, pattern: str, check: Check) -> Rule:
    return Rule(
        kind, tuple(keywords.split("|")), pattern, check=check, reach=1_000, standalone=False
    )


CONTEXT_RULES: Final[tuple[Rule, ...]] = (
    _context(
        "basic-auth",
        "basic",
        r"(?i)basic\s+([A-Za-z0-9+/_\-]{8,}={0,2})",
        check_basic,
    ),
    _context(
        "bearer-token",
        "bearer",
        r"(?i)bearer\s+[\"'`]?([A-Za-z0-9._~+/\-:|]{12,}={0,2})",
        _check_header,
    ),
    _context(
        "authorization",
        "authorization",
        r"(?i)authorization[\"'`]{0,2}\s{0,3}[:=,]\s{0,3}[\"'`]{0,2}"
        r"(?:[A-Za-z][A-Za-z0-9\-]{2,20}[ =])?([A-Za-z0-9._~+/\-:|]{12,}={0,2})",
        _check_header,
    ),
    _context(
        "connection-string",
        "://",
        r"://[^\s/:@\"'`<>\\]{0,100}:([^\s/@\"'`<>]{1,200})@[A-Za-z0-9\[]",
        _check_url_password,
    ),
    # A password may contain @ and / although it should not.
    _context(
        "connection-string",
        "://",
        r"://[^\s/:@\"'`<>\\]{1,100}:([^\s\"'`<>/]{1,200})@[A-Za-z0-9][A-Za-z0-9.\-]{2,}[:/]",
        _check_url_password,
    ),
    _context(
        "token-in-url",
        "://",
        r"://([A-Za-z0-9_\-]{20,200})(?::x-oauth-basic)?@",
        _check_token_as_user,
    ),
    # Anyone who knows the URL of a webhook can post to it.
    _context(
        "webhook-url",
        "hooks.|/hook/|/hooks/|webhook/|webhooks/",
        r"(?i)(?:/|web)?hooks?[^\s\"'`<>/]{0,60}(?:/[^\s\"'`<>/]{1,40}){0,3}/([A-Za-z0-9_\-]{20,200})(?:[/?\"'`\s,;.)]|$)",
        _check_token_as_user,
    ),
    _context(
        "mnemonic",
        "mnemonic|seed phrase|seed_phrase|seedphrase|recovery phrase|recovery_phrase",
        r"(?i)(?:mnemonic|seed[_ ]?phrase|recovery[_ ]phrase)[\"'`]{0,2}(?:\s{0,3}[:=]|\s{1,2}is)"
        r"\s{0,3}[\"'`]{0,3}((?:[a-z]{3,8} ){11,23}[a-z]{3,8})",
        _check_words,
    ),
    _context(
        "command-password",
        "curl|wget|http ",
        r"(?:curl|wget|http)\s[^\n]{0,400}?\s(?:-u|--user|-a|--auth)[ =]?[\"']?"
        r"([^\s:\"']{1,60}:[^\s\"']{4,})",
        _check_user_and_password,
    ),
    _context(
        "command-password",
        "mysql|mariadb",
        r"(?:mysql|mariadb)[a-z\-]*\s[^\n|]{0,200}?\s-p[\"']?([^\s\"'\-][^\s\"']{5,})",
        _check_argument,
    ),
    _context(
        "command-password",
        "sshpass|redis-cli|docker login|podman login|htpasswd",
        r"(?:sshpass|redis-cli|(?:docker|podman) login|htpasswd)[^\n|]{0,200}?\s(?:-p|-a)\s?"
        r"[\"']?([^\s\"'\-][^\s\"']{3,})",
        _check_argument,
    ),
    _context(
        "command-password", "pass:", r"pass:([^\s\"',;)]{4,})", _check_argument
    ),
    _context(
        "cookie",
        "cookie",
        r"(?i)cookie[\"'`]{0,2}(?:\s{0,3}[:=,]\s{0,3}b?[\"'`]{0,2}|\s{1,2}[\"'`])([A-Za-z0-9_.$!\-]{1,60}=[^\n\r\"'`]{8,})",
        _check_cookies,
    ),
    # netrc, and the same words in FTP scripts.
    _context(
        "password",
        "machine ",
        r"machine\s+\S+\s+login\s+\S+\s+password\s+([^\s\"']{4,})",
        _check_argument,
    ),
    _context(
        "wireguard-key",
        "privatekey",
        r"(?i)PrivateKey\s*=\s*([A-Za-z0-9+/]{43}=)",
        _check_header,
    ),
)  # fmt: skip
"""Rules for values that are recognised only by context."""


KEYWORDS: Final = (
    *"""
    passwor passwd passphrase pwd secret token api_key api-key apikey api.key access_key access-key
    accesskey auth_key authkey private_key privatekey private-key _key -key key" key' key=
    signingkey encryptionkey masterkey adminkey credential webhook_url webhook-url webhookurl pin=
    _auth -auth auth= _pass -pass pass= connectionstring connection_string
    passcode key: certificate license licence salt api_hash api-hash apihash
    _pat= _pat: _pat" _pat' -pat= -pat: -pat"
    """.split(),
    *("api key", "access key", "secret key", "admin key", "private key", "api hash", "-pat "),
    *("key =", "key '", "key `", 'key "', "_pat ", "pat '", "pat `"),
)

_REACH: Final = 120
_MAX_NAME: Final = 48
_PATTERN: Final = (
    rb"(?i)([A-Za-z0-9_.\- ]{0,40}?)[\"'`\])}]{0,4}"
    # An assignment; an entry {"name": …, "value": …}; a sentence; words before a quoted value.
    rb"(?:(?:[ \t]{0,8}(?:=>|:=|={1,3}|:)[ \t]{0,8}b?"
    rb"|[\"',\s]{0,12}value[\"']?[ \t]{0,4}:[ \t]{0,4}"
    rb"|[ \t]{1,3}(?:is|was|to|of|as|set to)[ \t]{1,3})([\"'`]{0,3})"
    rb"|[ \t]{1,3}([\"'`]{1,3}))"
)
_NAME_GROUP: Final = 1
_QUOTE_GROUPS: Final = (2, 3)
_BARE: Final = compile_lazily(rb"[^\s\"'`,;<>]{4,1000}")
_GROUPED: Final = compile_lazily(rb"(?:[A-Za-z0-9]{4} ){3,7}[A-Za-z0-9]{4}(?![A-Za-z0-9 ])")
"""An app password, printed in groups of four."""
_NAME_BEFORE: Final = compile_lazily(rb"(?:[A-Za-z0-9]{2,24} ){0,2}[A-Za-z0-9_.\-]*$")
_OPTION_END: Final = compile_lazily(rb"([A-Za-z0-9_.\-]{0,40})[ \t]{1,3}")
_OPTION: Final = compile_lazily(rb"(?:^|[\s\"'])--?[A-Za-z][A-Za-z0-9_.\-]*$")
_NOT_A_SECRET: Final = compile_lazily(
    rb"(?i)(?:^|[_\-.\s])(?:public|pub|max|min|num|total|input|output|prompt|completion|cache|primary|foreign"
    rb"|partition|sort|index|next|page|cursor|continuation|idempotency|react|object|s3|row|map|group|routing"
    rb"|dict|hash|lookup|translation|i18n|shortcut|hot|storage|registry|sha|commit|stop|eos|bos|pad|mask|special"
    rb"|unk|sep|cls|csrf_header|event|config|context|feature|data|item|field|column|dedup|query|sticky|trace)"
    rb"[_\-.\s]?(?:key|token)"
    rb"|keyboard|keyword|keystroke|keyframe|tokeni[sz]|tokens|monkey|turkey|hotkey|keys$"
)
_DESCRIBES: Final = compile_lazily(
    rb"(?i)(?:^s|id|ids|name|names|type|file|path|dir|uri|count|len|length|size|limit|(?<!p)at|expiry|expires|ttl|hash"
    rb"|hashed|digest|field|label|hint|policy|regex|pattern|prefix|suffix|arn|ref|version|usage|list|store"
    rb"|manager|provider|reset|resets|required|min|max|rotation|format|budget|used|left|rate|cost|price"
    rb"|in|on|for|the|and|or|with|from|that|this|of|by|not|based|enabled|present|configured|set)$"
)
_STRONG: Final = compile_lazily(
    rb"(?i)passw|passphrase|passcode|pwd|[_\-]pass|secret|api.?key|access.?key|private.?key|auth.?key|admin.?key"
    rb"|master.?key|encryption.?key|signing.?key|(?:auth|access|refresh|bot|api|bearer|personal|deploy|service"
    rb"|session|id|admin|npm|gh|vault|registry|oauth|secret)[_\-. ]?token"
    rb"|[a-z0-9][_\-]token|[_\-]auth\b|[_\-]pat\b|credential"
)
_QUALIFIED: Final = compile_lazily(
    rb"(?i)(?:[a-z0-9][_\-.]|(?:^|[^a-z])(?!(?:the|a|an|this|that|if|new|one|each|same)\b)[a-z0-9]+\x20)"
    rb"(?:key|token|auth)$|[a-z]key$|(?:^|\W)token$"
)
"""A qualified name, such as `deploy_key`; a bare `key` may as well belong to a cache or a table."""
_ODD: Final = compile_lazily(rb"(?i)certificate$|licen[cs]e$|salt$|api.?hash$")
"""Names that few secrets but many other values are assigned to."""
_PASSWORD: Final = compile_lazily(rb"(?i)passw|passphrase|passcode|pwd|_pass\b|\bpass$|^pass$")
_VARIABLE: Final = compile_lazily(rb"^[A-Z][A-Z0-9_]*$")
_COUNT: Final = b"tokens"
_QUERY_END: Final = compile_lazily(rb"&[\w.\-\[\]]+=")
_TRAILING: Final = b")]}.,:\\"
_CHARACTER_CLASSES: Final = (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[^A-Za-z0-9]")
_MIN_PASSWORD: Final = 6
_MIN_WORD_PASSWORD: Final = 8
_MIXED: Final = 3
_MIN_SECRET: Final = 16
_MIN_CERTAIN: Final = 20
_MIN_SHORT: Final = 10
_MIN_SHORT_CHANGES: Final = 0.3
_JOINED: Final = compile_lazily(rb"[/:|,.]")
_MAX_VALUE: Final = 1_000


class _Found(Protocol):
    def span(self, group: int = 0) -> tuple[int, int]: ...


class Pattern(Protocol):
    """A compiled expression for bytes, of `re` or of `re2`."""

    def match(self, data: bytes, at: int, end: int, /) -> _Found | None:
        """Match at a position."""


def make_detector(
    compile_pattern: Callable[[bytes], Pattern],
) -> Callable[[bytes, int], Match | None]:
    """Return a function that rates the value assigned to the name at a position of a text."""
    pattern = compile_pattern(_PATTERN)

    def detect(data: bytes, at: int) -> Match | None:
        if data[at : at + 6].lower() == _COUNT:
            # The name of a number, as in `_NOT_A_SECRET`; every reply has several.
            return None
        before = data[max(0, at - _MAX_NAME) : at]
        found = pattern.match(data, at, at + _REACH)
        if found is not None:
            name_end = found.span(_NAME_GROUP)[1]
            quotes_start, start = max(map(found.span, _QUOTE_GROUPS))
        elif b"-" in before and (option := _OPTION_END.match(data, at)):
            name_end = option.end(_NAME_GROUP)
            quotes_start = start = option.end()
            if not _OPTION.search(before + data[at:name_end]):
                return None
        else:
            return None
        grouped = _GROUPED.match(data, start) if data[start + 4 : start + 5] == b" " else None
        if grouped is None and b" " in data[start : start + _MIN_PASSWORD]:
            # The sentence continues: no value is that short.
            return None
        first = _NAME_BEFORE.search(before)
        name = (first[0] if first else b"") + data[at:name_end]
        if grouped is not None:
            is_password = _PASSWORD.search(name) is not None
            return _make_match(name, Confidence.LIKELY, start, grouped[0]) if is_password else None
        quote = data[quotes_start : quotes_start + 1] if quotes_start < start else b""
        return _rate(name.strip(), data, start, quote)

    return detect


def _rate(name: bytes, data: bytes, start: int, quote: bytes) -> Match | None:
    value = _read_quoted(data, start, quote) if quote else None
    if value is None:
        value = _read_bare(data, start)
    confidence = rate_value(name, value)
    if confidence is None:
        return None
    return _make_match(name, confidence, start, value)


def _make_match(name: bytes, confidence: Confidence, start: int, value: bytes) -> Match:
    return Match(_kind_of(name), confidence, start, start + len(value), value)


def _read_quoted(data: bytes, start: int, quote: bytes) -> bytes | None:
    end = data.find(quote, start, start + _MAX_VALUE)
    value = data[start:end]
    return None if end < 0 or b"\n" in value else value


def _read_bare(data: bytes, start: int) -> bytes:
    """Return an unquoted value: up to the next blank, or the next parameter of a query string."""
    found = _BARE.match(data, start)
    value = found[0] if found else b""
    query_end = _QUERY_END.search(value)
    value = value[: query_end.start()] if query_end else value
    return value.rstrip(_TRAILING)


def rate_value(name: bytes, value: bytes) -> Confidence | None:
    """Return the confidence that a value assigned to a name is a secret; None if it is not."""
    # The cheap checks first: most values after a name like `token` are ordinary words.
    if b" " in value or len(value) < (_MIN_PASSWORD if _PASSWORD.search(name) else _MIN_SHORT):
        return None
    is_odd = _ODD.search(name) is not None
    if not is_odd and (_NOT_A_SECRET.search(name) or _DESCRIBES.search(_last_word(name))):
        return None
    is_strong = _STRONG.search(name) is not None
    if _is_no_literal(value) or (is_id(value) and not is_strong):
        return None
    if _is_random(value):
        return _rate_random(name, value, is_strong=is_strong, is_odd=is_odd)
    if _PASSWORD.search(name):
        return _rate_password(name, value)
    return Confidence.LIKELY if is_strong and _is_short_secret(value) else None


def _is_no_literal(value: bytes) -> bool:
    return is_placeholder(value) or is_reference(value) or is_path(value)


def _is_random(value: bytes) -> bool:
    """Return whether a value, or one of its parts as in `id:secret`, is random."""
    return len(value) >= _MIN_SECRET and (
        looks_random(value) or any(map(looks_random, _JOINED.split(value)))
    )


def _is_short_secret(value: bytes) -> bool:
    """Return whether a value is a mix of lower case, upper case and digits."""
    return _has_all_classes(value) and measure_changes(value) >= _MIN_SHORT_CHANGES


def _has_all_classes(value: bytes) -> bool:
    return all(re.search(each, value) for each in _CHARACTER_CLASSES[:_MIXED])


def _rate_random(name: bytes, value: bytes, *, is_strong: bool, is_odd: bool) -> Confidence | None:
    if is_odd:
        return Confidence.LIKELY
    if is_uuid(value):
        return Confidence.LIKELY if is_strong or _QUALIFIED.search(name) else None
    if is_strong:
        # Values with brackets are as often code as passwords.
        return Confidence.LIKELY if contains_code(value) else Confidence.DEFINITE
    is_qualified = _QUALIFIED.search(name) is not None
    if is_hash(value):
        return Confidence.LIKELY if is_qualified else None
    is_certain = is_qualified and len(value) >= _MIN_CERTAIN and _has_all_classes(value)
    return Confidence.DEFINITE if is_certain else Confidence.LIKELY


def _rate_password(name: bytes, value: bytes) -> Confidence | None:
    """Rate a password: a word is one only if it is assigned to an environment variable."""
    if is_name(value):
        is_variable = _VARIABLE.match(name) is not None and value.isalpha()
        return Confidence.LIKELY if is_variable and len(value) >= _MIN_WORD_PASSWORD else None
    classes = sum(re.search(each, value) is not None for each in _CHARACTER_CLASSES)
    if classes >= _MIXED and len(value) >= _MIN_WORD_PASSWORD:
        return Confidence.DEFINITE
    return Confidence.LIKELY if classes > 1 else None


def _last_word(name: bytes) -> bytes:
    """Return the last word of a name: `id` for `ACCESS_KEY_ID` and `accessKeyId`."""
    word = re.split(rb"[_\-.\s]", name)[-1]
    hump = re.search(rb"[A-Z][a-z0-9]*$", word)
    return hump[0] if hump and word != word.upper() else word


def _kind_of(name: bytes) -> str:
    lowered = name.lower()
    if _PASSWORD.search(lowered):
        return "password"
    if b"secret" in lowered:
        return "secret"
    return "token" if b"token" in lowered else "api-key"
