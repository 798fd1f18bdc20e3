"""Values that are assigned to a name like `password`, `API_KEY` or `accessToken`.

Covers `.env`, YAML, JSON, TOML, code, query strings, command-line options and sentences. The name
says how much it takes: behind `DB_PASSWORD` anything that is not a word, behind a bare `key` only
random characters that are no hash and no UUID.
"""

import re
from collections.abc import Callable
from typing import Final, Protocol

from recollect.redact.findings import Confidence, Match
from recollect.redact.known_values import (
    is_hash,
    is_id,
    is_name,
    is_path,
    is_placeholder,
    is_reference,
    is_uuid,
)
from recollect.redact.randomness import looks_random

KEYWORDS: Final = (
    *"""
    passwor passwd passphrase pwd secret token api_key api-key apikey api.key access_key access-key
    accesskey auth_key authkey private_key privatekey private-key _key -key key" key' key=
    signingkey encryptionkey masterkey adminkey credential webhook_url webhook-url webhookurl pin=
    _auth _pass pass= connectionstring connection_string
    """.split(),
    *("api key", "access key", "secret key", "admin key", "private key"),
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
_BARE: Final = re.compile(rb"[^\s\"'`,;<>]{4,1000}")
_NAME_BEFORE: Final = re.compile(rb"[A-Za-z0-9_.\-]*$")
_OPTION_END: Final = re.compile(rb"([A-Za-z0-9_.\-]{0,40})[ \t]{1,3}")
_OPTION: Final = re.compile(rb"(?:^|[\s\"'])--?[A-Za-z][A-Za-z0-9_.\-]*$")
_NOT_A_SECRET: Final = re.compile(
    rb"(?i)(?:^|[_\-.])(?:public|pub|max|min|num|total|input|output|prompt|completion|cache|primary|foreign"
    rb"|partition|sort|index|next|page|cursor|continuation|idempotency|react|object|s3|row|map|group|routing"
    rb"|dict|hash|lookup|translation|i18n|shortcut|hot|storage|registry|sha|commit|stop|eos|bos|pad|mask|special"
    rb"|unk|sep|cls|csrf_header|event|config|context|feature|data|item|field|column|dedup|query|sticky|trace)"
    rb"[_\-.]?(?:key|token)"
    rb"|keyboard|keyword|keystroke|keyframe|tokeni[sz]|tokens|monkey|turkey|hotkey|keys$"
)
_DESCRIBES: Final = re.compile(
    rb"(?i)(?:^s|id|ids|name|names|type|file|path|dir|uri|count|len|length|size|limit|at|expiry|expires|ttl|hash"
    rb"|hashed|digest|field|label|hint|policy|regex|pattern|prefix|suffix|arn|ref|version|usage|list|store"
    rb"|manager|provider|reset|resets|required|min|max|rotation|format|budget|used|left|rate|cost|price"
    rb"|in|on|for|the|and|or|with|from|that|this|of|by|not|based|enabled|present|configured|set)$"
)
_STRONG: Final = re.compile(
    rb"(?i)passw|passphrase|pwd|_pass|secret|api.?key|access.?key|private.?key|auth.?key|admin.?key|master.?key"
    rb"|encryption.?key|signing.?key|(?:auth|access|refresh|bot|api|bearer|personal|deploy|service|session|id"
    rb"|admin|npm|gh|vault|registry|oauth|secret)[_\-.]?token|[a-z0-9]_token|_auth\b|credential"
)
_PASSWORD: Final = re.compile(rb"(?i)passw|passphrase|pwd|_pass\b|\bpass$|^pass$")
_VARIABLE: Final = re.compile(rb"^[A-Z][A-Z0-9_]*$")
_QUERY_END: Final = re.compile(rb"&[\w.\-\[\]]+=")
_TRAILING: Final = b")]}.,:\\"
_CHARACTER_CLASSES: Final = (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[^A-Za-z0-9]")
_MIN_PASSWORD: Final = 6
_MIN_WORD_PASSWORD: Final = 8
_MIXED: Final = 3
_MIN_SECRET: Final = 16
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
    """Return a function that judges what is assigned to the name at a position of a text."""
    pattern = compile_pattern(_PATTERN)

    def detect(data: bytes, at: int) -> Match | None:
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
        first = _NAME_BEFORE.search(before)
        name = (first[0] if first else b"") + data[at:name_end]
        quote = data[quotes_start : quotes_start + 1] if quotes_start < start else b""
        return _judge(name.strip(), data, start, quote)

    return detect


def _judge(name: bytes, data: bytes, start: int, quote: bytes) -> Match | None:
    value = _read_quoted(data, start, quote) if quote else None
    if value is None:
        value = _read_bare(data, start)
    confidence = judge_value(name, value)
    if confidence is None:
        return None
    return Match(_kind_of(name), confidence, start, start + len(value), value)


def _read_quoted(data: bytes, start: int, quote: bytes) -> bytes | None:
    end = data.find(quote, start, start + _MAX_VALUE)
    value = data[start:end]
    return None if end < 0 or b"\n" in value else value


def _read_bare(data: bytes, start: int) -> bytes:
    """Return a value without quotes: up to the next blank, or to the next pair of a query."""
    found = _BARE.match(data, start)
    value = found[0] if found else b""
    query_end = _QUERY_END.search(value)
    value = value[: query_end.start()] if query_end else value
    return value.rstrip(_TRAILING)


def judge_value(name: bytes, value: bytes) -> Confidence | None:
    """Return how sure it is that a value assigned to a name is a secret; None if it is none."""
    if _NOT_A_SECRET.search(name) or _DESCRIBES.search(_last_word(name)):
        return None
    if len(value) < _MIN_PASSWORD or is_placeholder(value) or is_reference(value):
        return None
    if b" " in value or is_id(value) or is_path(value):
        return None
    is_strong = _STRONG.search(name) is not None
    if len(value) >= _MIN_SECRET and looks_random(value):
        return _judge_random(value, is_strong=is_strong)
    if _PASSWORD.search(name):
        return _judge_password(name, value)
    return None


def _judge_random(value: bytes, *, is_strong: bool) -> Confidence | None:
    if is_uuid(value):
        return Confidence.LIKELY if is_strong else None
    if is_strong:
        return Confidence.DEFINITE
    return None if is_hash(value) else Confidence.LIKELY


def _judge_password(name: bytes, value: bytes) -> Confidence | None:
    """A password is not a word, unless it is assigned to a variable of the environment."""
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
