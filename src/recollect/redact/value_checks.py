"""Check values: checksums that only real tokens pass, randomness, and values that look like secrets
but are not (placeholders, references, ids, hashes).

Random characters keep switching between lower case, upper case and digits, and their pairs of
letters are not those of words. Both tests are needed: the first misses secrets in one case and
takes `camelCaseNames` for random, the second needs some letters.
"""

import base64
import binascii
import math
import re
import zlib
from collections import Counter
from operator import ne
from typing import Final

import msgspec

from recollect.lazy_patterns import compile_lazily
from recollect.redact.findings import Confidence
from recollect.redact.plain_view import count_digits

_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECKSUM_LENGTH: Final = 6


def check_crc(value: bytes) -> Confidence:
    """Rate a token of GitHub or npm by its checksum, the last six characters.

    With a wrong checksum it is only likely: it may be made up or mistyped.
    """
    body = value.split(b"_", 1)[1]
    body, expected = body[:-_CHECKSUM_LENGTH], body[-_CHECKSUM_LENGTH:]
    is_right = encode_base62(zlib.crc32(body)) == expected.decode("ascii", "replace")
    return Confidence.DEFINITE if is_right else Confidence.LIKELY


def encode_base62(number: int) -> str:
    """Return a checksum in GitHub's encoding, padded with zeros."""
    digits = ""
    while number:
        number, digit = divmod(number, len(_BASE62))
        digits = _BASE62[digit] + digits
    return digits.rjust(_CHECKSUM_LENGTH, "0")


def check_jwt(value: bytes) -> Confidence | None:
    """Rate a JSON web token: its header has to name an algorithm."""
    header = _decode_url_safe(value.split(b".", 1)[0])
    try:
        fields = msgspec.json.decode(header)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Confidence.LIKELY
    return Confidence.DEFINITE if isinstance(fields, dict) and "alg" in fields else None


def check_basic(value: bytes) -> Confidence | None:
    """Rate the value of a Basic header: it has to be `user:password` in base64."""
    try:
        pair = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return None
    user, colon, password = pair.partition(b":")
    if not colon or not password or not user.decode("utf-8", "replace").isprintable():
        return None
    return Confidence.DEFINITE


def _decode_url_safe(part: bytes) -> bytes:
    try:
        return base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4))
    except binascii.Error:
        return b""


_CLASSES: Final = bytes(
    ord("a") if chr(code).islower()
    else ord("A") if chr(code).isupper()
    else ord("0") if chr(code).isdigit()
    else ord(".")
    for code in range(128)
) + b"." * 128  # fmt: skip
_NOT_LETTERS: Final = compile_lazily(rb"[^A-Za-z]+")

_COMMON_PAIRS: Final = frozenset(
    b"""
    ab ac ad ag ai ak al am an ap ar as at au av ay ba be bi bl bo br bu ca ce ch ci ck cl co cr ct
    cu da de di do du ea ec ed ee ef eg el em en ep er es et ev ew ex fa fe ff fi fo fr fu ge gh gi
    go gr ha he hi ho ht ia ic id ie if ig il im in io ip ir is it iv ke ki la ld le li ll lo lt lu
    ly ma me mi mm mo mp mu na nc nd ne ng ni no ns nt nu oa ob oc od of og ok ol om on oo op or os
    ot ou ov ow pa pe ph pl po pp pr pt pu qu ra rc rd re rg ri rk rl rm rn ro rr rs rt ru ry sa sc
    se sh si so sp ss st su ta te th ti tl to tr ts tt tu ty ub uc ue ug ui ul um un up ur us ut va
    ve vi wa we wh wi wo xp xt yp ys ze
    """.split()
)
_MIN_ENTROPY: Final = 2.9
_MIN_RANDOM_CHANGES: Final = 0.25
_COMMON_IN_RANDOM: Final = 0.5
_COMMON_IN_WORDS: Final = 0.7
_MAX_DIGITS_IN_NAMES: Final = 0.2
_MIN_PAIRS: Final = 8
_HEX: Final = compile_lazily(rb"[0-9a-f]+|[0-9A-F]+")
_MIN_HEX_DIGITS: Final = 7
_PARTS: Final = compile_lazily(rb"[A-Za-z0-9]+")
_WORD: Final = compile_lazily(
    rb"[0-9]+[A-Za-z]{0,2}|v[0-9]+|[a-z]*(?:[A-Z]{1,6}[a-z]{2,}[0-9]{0,8})*[A-Z]*[0-9]{0,4}"
)
"""A number, or `camelCase` words with an optional number at the end."""
MIN_RANDOM_LENGTH: Final = 16
SAMPLE: Final = 160
"""Number of characters of a long value to check; hostile text may have one after every word."""


def measure_entropy(value: bytes) -> float:
    """Return the entropy of a value in bits per character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def looks_random(value: bytes) -> bool:
    """Return whether the beginning of a value of at least 16 characters looks random."""
    value = value[:SAMPLE]
    if len(value) < MIN_RANDOM_LENGTH:
        return False
    digits = count_digits(value)
    if digits == len(value) or not (digits or _has_both_cases(value)):
        return False
    if digits and is_hex(value):
        # Six letters are too few pairs to tell.
        return len(set(value)) >= _MIN_HEX_DIGITS
    return measure_entropy(value) >= _MIN_ENTROPY and _has_random_letters(value, digits)


def _has_random_letters(value: bytes, digits: int) -> bool:
    common, pairs = _count_common_pairs(value)
    if pairs < _MIN_PAIRS:
        return measure_changes(value) >= _MIN_RANDOM_CHANGES
    if digits < _MAX_DIGITS_IN_NAMES * len(value) and common >= _COMMON_IN_WORDS * pairs:
        return False
    return common <= _COMMON_IN_RANDOM * pairs or measure_changes(value) >= _MIN_RANDOM_CHANGES


def is_hex(value: bytes) -> bool:
    """Return whether a value consists of hexadecimal digits in one case."""
    return _HEX.fullmatch(value) is not None


def is_wordless(value: bytes) -> bool:
    """Return whether few pairs of letters in a value are common in words."""
    common, pairs = _count_common_pairs(value)
    return common <= _COMMON_IN_RANDOM * pairs


def list_random_parts(value: bytes) -> list[bytes]:
    """Return the parts of a value, between its separators, that are neither words nor numbers."""
    return [part for part in _PARTS.findall(value) if not _WORD.fullmatch(part)]


def measure_changes(value: bytes) -> float:
    """Return how often adjacent characters differ in class: lower, upper, digit, other."""
    classes = value.translate(_CLASSES)
    changes: int = sum(map(ne, classes, classes[1:]))
    return changes / len(value)


def _count_common_pairs(value: bytes) -> tuple[int, int]:
    """Return how many pairs of letters are common in words, and how many pairs there are."""
    pairs = [
        word[at : at + 2]
        for word in _NOT_LETTERS.split(value.lower())
        for at in range(len(word) - 1)
    ]
    return sum(pair in _COMMON_PAIRS for pair in pairs), len(pairs)


def _has_both_cases(value: bytes) -> bool:
    return value != value.lower() and value != value.upper()


_PLACEHOLDER: Final = compile_lazily(
    rb"(?i)example|placeholder|change[_-]?me|replace[_-]?(?:me|with|this)|redacted|insert[_-]|dummy"
    rb"|(?:^|[_\-.\s])(?:your|my|some|fake|mock|sample|todo|foo|bar)(?:[_\-.\s]|$)"
    rb"|^test[_\-.\s]|not[_-]a[_-]real|x{5,}|\*{3,}|\.{3,}|_{5,}|-{5,}|0{8,}|1234567|abcdefg|deadbeef|\xe2\x80\xa6"
)
_LONG_PLACEHOLDER: Final = compile_lazily(
    rb"(?i)example|placeholder|redacted|x{8,}|\*{4,}|\.{3,}|0{16,}|abcdefghijkl|0123456789"
)
_LONG: Final = 60
_MIN_DIFFERENT: Final = 5

_REFERENCE: Final = compile_lazily(
    rb"(?i)^(?:[$<{(\[%@&*#|\\]|https?:|file:|arn:|op://|vault:|env[.:]|process\.|os\."
    rb"|import\.|settings\.|config\.|self\.|this\.|secrets?\.|self$|none|null|true|false|undefined"
    rb"|string|str$|bytes$|int$|any$|optional|required|required$|unset|empty|hidden|masked|secret$"
    rb"|password$|token$|unknown|default)"
)
_SYMBOLS: Final = (b"%", b"@", b"&", b"*", b"#")
"""First characters of references, and of generated passwords."""
_MIN_DRAWN_CHANGES: Final = 0.55
"""Characters drawn from a whole keyboard, including brackets; code has words instead."""
_PATH: Final = compile_lazily(rb"\.{0,2}/|~/|[A-Za-z]:[\\/]")
_BASE64: Final = compile_lazily(rb"[A-Za-z0-9+/]{30,}={0,2}$")
_MIN_BASE64_CHANGES: Final = 0.45
_CODE: Final = compile_lazily(rb"[(){}\[\]]|=>|->|::|\$\{|\?\.|&&|\|\||<|>")

_ID: Final = compile_lazily(
    rb"(?:msg|msgs|toolu|srvtoolu|mcptoolu|req|resp|call|chatcmpl|cmpl|run|thread|asst|file|batch|evt|cus|prod"
    rb"|price|pi|pm|sub|si|in|ch|tr|acct|cs|seti|src|card|ba|task|agent|session|sess|conv|user|org|proj"
    rb"|evaluation|job|build|step|item|node|block|wf|trace|span|rs|fc|ws|bg|shell|bash|team|hook|plan"
    rb"|chunk|index|main|vendor|sha1|sha256|sha384|sha512|md5|commit|rev|etag|image|container|pod|layer|ref"
    rb"|bundle|page|app|webpack|css|svg|hash|tmp|temp|cache|claude|gpt|model|doc|test|uuid|id|ami|vpc|subnet"
    rb"|sg|eni|vol|snap|igw|rtb|eipalloc|nat|lt|acl|arn|urn|toolbar|data|content|component|container_upload"
    rb"|gen|round|turn|segment|worktree|branch|pr|issue|http|https|utf|iso|win|python|cpython|py|cp|linux"
    rb"|mcp|pk_live|pk_test|manylinux|macosx|x86|arm|node_modules|debian|ubuntu|rust|jsx|tsx|next|nuxt|vite|svelte|react)[_\-.]"
    # Node ids of GitHub.
    rb"|[A-Z]{1,8}_(?:kw|lA|lQ)[A-Z]{2}"
)
_UUID: Final = compile_lazily(rb"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_HASH: Final = compile_lazily(
    rb"(?i)^(?:sha\d+[-:])?(?:[0-9a-f]{7,8}|[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$"
)
_DATED_NAME: Final = compile_lazily(
    rb"[a-z]+(?:[-_.][a-z]+)*(?:[-_.]v?\d{1,2})*[-_.]20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])"
)
_FILE_BYTES: Final = compile_lazily(
    # PNG, GIF, RIFF, PDF, ZIP, gzip, WOFF, Ogg, MP3, Matroska, WebAssembly, ICO, TIFF, MPEG-4.
    rb"iVBORw0KGgo|R0lGOD|UklGR|JVBERi0|UEsDB|H4sIA|d09GR|d09GMg|T2dnUw|SUQz|GkXfo|AGFzbQ|AAABAA"
    rb"|SUkqA|TU0AK|AAAA[A-Za-z0-9+/]{4}ZnR5c"
)
_DATA_URI: Final = b";base64,"
_BASE64_DIGITS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_MIN_BASE64_LINE: Final = 60
_MAX_BASE64_LINE: Final = 80
"""Programs write lines of 60 to 76 columns."""
_MAX_BASE64_LINES: Final = 400
"""Limit before the line that is checked: hostile text may have a longer block."""


def is_placeholder(value: bytes) -> bool:
    """Return whether a value is a placeholder for a secret."""
    pattern = _PLACEHOLDER if len(value) < _LONG else _LONG_PLACEHOLDER
    value = value[:SAMPLE]
    return len(set(value)) < _MIN_DIFFERENT or pattern.search(value) is not None


def is_reference(value: bytes) -> bool:
    """Return whether a value is code, a variable, a path or a word rather than a literal secret."""
    if contains_code(value):
        return not (measure_changes(value[:SAMPLE]) >= _MIN_DRAWN_CHANGES and is_wordless(value))
    is_symbol = value[:1] in _SYMBOLS and looks_random(value[1:])
    return not is_symbol and _REFERENCE.match(value) is not None


def contains_code(value: bytes) -> bool:
    """Return whether a value has brackets or operators, like code."""
    return _CODE.search(value, 0, SAMPLE) is not None


def is_path(value: bytes) -> bool:
    """Return whether a value is a path, not base64 that happens to begin with a slash."""
    if _BASE64.match(value) and measure_changes(value) >= _MIN_BASE64_CHANGES:
        return False
    return _PATH.match(value) is not None


def is_dated_name(value: bytes) -> bool:
    """Return whether a value is words and a date, like names of models and releases."""
    return _DATED_NAME.fullmatch(value) is not None


def is_id(value: bytes) -> bool:
    """Return whether a value has the prefix of a well-known kind of id."""
    return _ID.match(value) is not None


def is_uuid(value: bytes) -> bool:
    """Return whether a value is a UUID."""
    return _UUID.fullmatch(value) is not None


def find_uuid(value: bytes) -> re.Match[bytes] | None:
    """Return the UUID in a value, as in tool names of MCP servers."""
    return _UUID.search(value)


def is_encoded_file(data: bytes, start: int) -> bool:
    """Return whether base64 at a position encodes a file, by its first bytes or a data URI.

    The position may be in a later line of the output of `base64`.
    """
    first = _find_first_line(data, start)
    before = data[max(0, first - len(_DATA_URI)) : first]
    return before == _DATA_URI or _FILE_BYTES.match(data, first) is not None


def _find_first_line(data: bytes, start: int) -> int:
    """Return the start of the base64 block that the line at a position belongs to."""
    for _ in range(_MAX_BASE64_LINES):
        if data[start - 1 : start] != b"\n":
            break
        line = data[max(0, start - _MAX_BASE64_LINE) : start].rstrip(b"\r\n")
        length = len(line) - len(line.rstrip(_BASE64_DIGITS))
        if length < _MIN_BASE64_LINE:
            break
        start -= length + (2 if data[start - 2 : start - 1] == b"\r" else 1)
    return start


def is_hash(value: bytes) -> bool:
    """Return whether a value has the length and the digits of a common hash."""
    return _HASH.match(value) is not None
