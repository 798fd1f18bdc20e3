"""Values that look like secrets and are none: placeholders, references, ids, hashes."""

import re
from typing import Final

from recollect.redact.randomness import SAMPLE, measure_changes

_PLACEHOLDER: Final = re.compile(
    rb"(?i)example|placeholder|change[_-]?me|replace[_-]?(?:me|with|this)|redacted|insert[_-]|dummy"
    rb"|(?:^|[_\-.\s])(?:your|my|some|fake|mock|sample|todo|foo|bar)(?:[_\-.\s]|$)"
    rb"|^test[_\-.\s]|not[_-]a[_-]real|x{5,}|\*{3,}|\.{3,}|_{5,}|-{5,}|0{8,}|1234567|abcdefg|deadbeef|\xe2\x80\xa6"
)
_LONG_PLACEHOLDER: Final = re.compile(
    rb"(?i)example|placeholder|redacted|x{8,}|\*{4,}|\.{3,}|0{16,}"
)
_LONG: Final = 60
_MIN_DIFFERENT: Final = 5

_REFERENCE: Final = re.compile(
    rb"(?i)^(?:[$<{(\[%@&*#|\\]|https?:|file:|arn:|op://|vault:|env[.:]|process\.|os\."
    rb"|import\.|settings\.|config\.|self\.|this\.|secrets?\.|self$|none|null|true|false|undefined"
    rb"|string|str$|bytes$|int$|any$|optional|required|required$|unset|empty|hidden|masked|secret$"
    rb"|password$|token$|unknown|default)"
)
_PATH: Final = re.compile(rb"\.{0,2}/|~/|[A-Za-z]:[\\/]")
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/]{30,}={0,2}$")
_MIN_CHANGES: Final = 0.45
_CODE: Final = re.compile(rb"[(){}\[\]]|=>|->|::|\$\{|\?\.|&&|\|\||<|>")

_ID: Final = re.compile(
    rb"(?:msg|msgs|toolu|srvtoolu|mcptoolu|req|resp|call|chatcmpl|cmpl|run|thread|asst|file|batch|evt|cus|prod"
    rb"|price|pi|pm|sub|si|in|ch|tr|acct|cs|seti|src|card|ba|task|agent|session|sess|conv|user|org|proj"
    rb"|evaluation|job|build|step|item|node|block|wf|trace|span|rs|fc|ws|bg|shell|bash|team|hook|plan"
    rb"|chunk|index|main|vendor|sha1|sha256|sha384|sha512|md5|commit|rev|etag|image|container|pod|layer|ref"
    rb"|bundle|page|app|webpack|css|svg|hash|tmp|temp|cache|claude|gpt|model|doc|test|uuid|id|ami|vpc|subnet"
    rb"|sg|eni|vol|snap|igw|rtb|eipalloc|nat|lt|acl|arn|urn|toolbar|data|content|component|container_upload"
    rb"|gen|round|turn|segment|worktree|branch|pr|issue|http|https|utf|iso|win|python|cpython|py|cp|linux"
    rb"|mcp|pk_live|pk_test|manylinux|macosx|x86|arm|node_modules|debian|ubuntu|rust|jsx|tsx|next|nuxt|vite|svelte|react)[_\-.]"
)
_UUID: Final = re.compile(rb"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_HASH: Final = re.compile(
    rb"(?i)^(?:sha\d+[-:])?(?:[0-9a-f]{7,8}|[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$"
)
_DATED_NAME: Final = re.compile(
    rb"[a-z]+(?:[-_.][a-z]+)*(?:[-_.]v?\d{1,2})*[-_.]20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])"
)
_NAME: Final = re.compile(rb"^[A-Za-z_$][A-Za-z_$\-]*(?:[./][A-Za-z_$][\w$\-]*)*[;,]?$")


def is_placeholder(value: bytes) -> bool:
    """Return whether a value stands for a secret without being one."""
    pattern = _PLACEHOLDER if len(value) < _LONG else _LONG_PLACEHOLDER
    value = value[:SAMPLE]
    return len(set(value)) < _MIN_DIFFERENT or pattern.search(value) is not None


def is_reference(value: bytes) -> bool:
    """Return whether a value is code, a variable, a path or a word rather than a literal secret."""
    return bool(_REFERENCE.match(value) or _CODE.search(value, 0, SAMPLE))


def is_path(value: bytes) -> bool:
    """Return whether a value is a path and not base64 that happens to begin with a slash."""
    if _BASE64.match(value) and measure_changes(value) >= _MIN_CHANGES:
        return False
    return _PATH.match(value) is not None


def is_name(value: bytes) -> bool:
    """Return whether a value consists of words only, as identifiers and attribute paths do."""
    return _NAME.match(value) is not None


def is_dated_name(value: bytes) -> bool:
    """Return whether a value is words and a date, as names of models and releases are."""
    return _DATED_NAME.fullmatch(value) is not None


def is_id(value: bytes) -> bool:
    """Return whether a value begins as the ids of well-known systems do."""
    return _ID.match(value) is not None


def is_uuid(value: bytes) -> bool:
    """Return whether a value is a UUID."""
    return _UUID.fullmatch(value) is not None


def has_uuid(value: bytes) -> bool:
    """Return whether a UUID is part of a value, as in the names of tools of MCP servers."""
    return _UUID.search(value) is not None


def is_hash(value: bytes) -> bool:
    """Return whether a value has the length and the digits of a common hash."""
    return _HASH.match(value) is not None
