"""Mask texts on display, most of which are plain words, without loading the rules if possible."""

import re
from collections.abc import Iterator
from typing import Final

from recollect.lazy_patterns import compile_lazily
from recollect.redact.assignments import may_be_assigned, may_be_password
from recollect.redact.own_rules import find_own_rules, matches_own_pattern

_NUMBER: Final = compile_lazily(r"(\[redacted:[a-z0-9\-]+)#[0-9]+\]")
_TAG: Final = compile_lazily(r"\[redacted:[a-z0-9\-]+(?:#[0-9]+)?\]")
# Names that secrets are assigned to, and words that precede them, in lower case.
_PASSWORDS: Final = (b"passw", b"passcode", b"pwd")
_NAMES: Final = (b"secret", b"token", b"credential", b"key", b"auth")
_KEYWORDS: Final = (
    *("phrase", "bearer", "cookie", "-----begin", "mysql", "mariadb", "sshpass", "redis-cli"),
    *("docker login", "podman login", "htpasswd", "mnemonic"),
)
_PAIRS: Final = ("pass", "_pat", "-pat", "basic", "curl", "wget", "http", "machine")
_PAIR: Final = compile_lazily(
    r"pass[=:]|[_\-]pa(?:ss|t)(?![a-z])|(?:basic|curl|wget|http|machine)\s"
)
_MIN_LONG: Final = 16
_UNLIKE_WORDS: Final = compile_lazily(
    # Sixteen characters with a digit, twenty with a capital, encoded bytes.
    r"(?<![\w\-+=.~])(?=[\w\-+=.~]*[0-9])[\w\-+=.~]{16,}"
    r"|(?<![A-Za-z0-9])(?=[a-z0-9_\-.~]*[A-Z])(?:[A-Za-z0-9]{20,}|[\w\-.~]{24,})"
    r"|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,}"
)
_LOGIN: Final = compile_lazily(r"(?::|%3a)(?:\\{0,8}/|%2f){2}[^/@]{1,400}(?:@|%40)")
"""A URL with a login, which may be percent-encoded, escaped or wrapped."""


def may_contain_secret(text: str) -> bool:
    """Return whether a text may contain a definite secret."""
    if _has_unlike_word(text) or _matches_own(text) or _has_context(text):
        return True
    # A wrapped name or URL: `DB_PASSW`, line end, `ORD=…`.
    return "\n" in text and _has_context(text.replace("\n", ""))


def may_lead_to_secret(text: str) -> bool:
    """Return whether a text may contain a definite secret now or once more is added to it."""
    lowered = text.lower()
    names = (name.decode() for name in (*_PASSWORDS, *_NAMES))
    return any(name in lowered for name in names) or may_contain_secret(text)


def _matches_own(text: str) -> bool:
    return bool(find_own_rules().key) and matches_own_pattern(text.encode("utf-8", "surrogatepass"))


def _has_unlike_word(text: str) -> bool:
    return any(_UNLIKE_WORDS.search(each) for each in text.split() if len(each) >= _MIN_LONG)


def _has_context(text: str) -> bool:
    """Return whether a text has a login, words that precede a secret, or a name with a value."""
    # Faster one after the other than as one expression that tries all of them at every character.
    lowered = text.lower()
    if any(keyword in lowered for keyword in _KEYWORDS):
        return True
    if any(first in lowered for first in _PAIRS) and _PAIR.search(lowered):
        return True
    if ("@" in text or "%40" in text) and _LOGIN.search(lowered):
        return True
    return _has_assignment(text.encode("utf-8", "surrogatepass"))


def _has_assignment(data: bytes) -> bool:
    lowered = data.lower()
    return any(
        check(data, at)
        for names, check in ((_PASSWORDS, may_be_password), (_NAMES, may_be_assigned))
        for name in names
        for at in _iter_places(lowered, name)
    )


def _iter_places(data: bytes, name: bytes) -> Iterator[int]:
    at = data.find(name)
    while at >= 0:
        yield at
        at = data.find(name, at + 1)


def mask_words(text: str) -> str:
    """Return a text without definite secrets.

    Tags have no numbers: numbering the secrets of a session requires reading all of it.
    """
    if not may_contain_secret(text):
        return text
    # The rules, needed for few texts.
    from recollect.redact.redactor import Redactor

    return _NUMBER.sub(r"\1]", Redactor(find_own_rules().policy).redact(text))


_SEPARATED: Final = (
    r"(?<![A-Za-z0-9])(?:AIza|GOCSPX-|ya29\.|1//0|HRKU-|hv[sbr]\.|dckr_[po]at_|xox[a-z][-.]|sq0|EAAA"
    r"|gl(?:pat|dt|rt|ptt|cbt|soat|imt|agent|ft|oas|ffct)-|whsec_|SG\.|sk-|nvapi-|eyJ|A3-)|:AA|Q~"
)
"""How tokens begin in which dashes and underscores may separate short runs of characters."""
_UNLIKE_NAMES: Final = compile_lazily(
    rf"[A-Za-z0-9]{{20,}}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{{16,}}|~|://[^\s/]*:[^\s/]*@|{_SEPARATED}"
)
_MESSAGE_ID: Final = compile_lazily(r"msg_(?:[a-z]{4}_)?(?:01[A-Za-z0-9]{22}|[0-9a-f]{24,32})")


def mask_name(text: str) -> str:
    """Return the name of a model, a branch or a tool without definite secrets.

    The rules are not loaded for dates and versions in the name, nor for the id of a reply.
    """
    is_unlike = _UNLIKE_NAMES.search(text) and not _MESSAGE_ID.fullmatch(text)
    return mask_words(text) if is_unlike or _matches_own(text) else text


_UNLIKE_FOLDERS: Final = compile_lazily(
    r"[A-Za-z0-9]{20}|(?=[a-z0-9]*[A-Z])(?=[A-Za-z]*[0-9])[A-Za-z0-9]{16}|://[^\s/]*:[^\s/]*@"
    rf"|{_SEPARATED}"
)


def mask_path(path: str) -> str:
    """Return the path of a file or the name of a directory without definite secrets.

    The rules are not loaded for ids and dates in the path.
    """
    return mask_words(path) if _UNLIKE_FOLDERS.search(path) or _matches_own(path) else path


def cut_text(text: str, length: int) -> str:
    """Return at most `length` characters of a masked text, without cutting a tag."""
    tag = _find_tag(text, length)
    return text[: tag.start() if tag and tag.end() > length else length]


def cut_text_start(text: str, start: int) -> str:
    """Return a masked text from a position on, without cutting a tag."""
    return text[find_tag_edge(text, start) :]


def find_tag_edge(text: str, at: int) -> int:
    """Return the end of the tag that contains a position; the position itself if there is none."""
    tag = _find_tag(text, at)
    return max(tag.end(), at) if tag else at


def _find_tag(text: str, at: int) -> re.Match[str] | None:
    """Return the last tag that begins before a position, if no other bracket follows it."""
    start = text.rfind("[", 0, at)
    return _TAG.match(text, start) if start >= 0 else None


def mask_lines(text: str) -> list[str]:
    """Return the lines of a text without definite secrets; the number of lines stays the same."""
    return mask_in_lines(text).split("\n")


def mask_in_lines(text: str) -> str:
    """Return the text of a file without definite secrets; the number of lines stays the same."""
    if not may_contain_secret(text):
        return text
    from recollect.redact.policy import find_secrets

    pieces: list[str] = []
    at = 0
    for found in find_secrets(text, find_own_rules().policy):
        line_ends = "\n" * text.count("\n", found.start, found.end)
        pieces += [text[at : found.start], f"[redacted:{found.kind}]{line_ends}"]
        at = found.end
    return "".join([*pieces, text[at:]])
