"""The query text cut into tokens, each leaf of the tree already read.

Reads what people type and what they paste: whatever is not clearly an operator, a field or a
regular expression is a word, and a word without letters or digits is passed over. Slashes enclose
a regular expression only if the closing one ends the word, so that `/compact` and `/usr/bin` are
words.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, tzinfo
from difflib import get_close_matches
from typing import Final, Literal, TypeAlias, cast

from msgspec import Struct

from recollect.search.dates import find_period
from recollect.search.folding import is_term_character
from recollect.search.query_error import QueryError
from recollect.search.tree import (
    CHOICES,
    DELIMITERS,
    FIELDS,
    KNOWN_FIELD,
    UNKNOWN_FIELD,
    Bound,
    BoundName,
    Field,
    Leaf,
    Phrase,
    Prefix,
    Regex,
    TextField,
    Word,
)

_QUOTED: Final = r'"(?:[^"\\]|\\.)*"|“[^“”]*”'
# A minus before a minus or an arrowhead belongs to an option or an arrow, not to a negation.
_TOKEN: Final = re.compile(
    rf"""(?P<space>\s+)
    | (?P<either>\|+|OR(?![^{DELIMITERS}]))
    | (?P<close>\))
    | (?P<minus>-(?=[^\s\->)|]))?
      (?: (?P<open>\()
        | (?P<phrase>{_QUOTED})
        | /(?P<pattern>(?!\s)(?:[^/\\]|\\.)*)/(?P<flag>i?)(?=[\s)|]|$)
        | (?P<name>{KNOWN_FIELD})(?P<value>{_QUOTED}|[^{DELIMITERS}]*)
        | (?P<word>[^{DELIMITERS}]+)
      )
    | (?P<unclosed>["“”])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED: Final = re.compile(r'\\(["\\])')
_DATES: Final = "2026-11-01, 2026-11, 2026, today, yesterday, 3h, 7d or 2w"
WRITE_REGEX: Final = r"for signs write a regular expression, as in /\{\}/"

Sign: TypeAlias = Literal["either", "open", "close", "leaf"]


class Token(Struct, frozen=True):
    """An operator, a parenthesis, or a leaf of the tree with the minus before it."""

    sign: Sign
    column: int
    negated: bool = False
    leaf: Leaf | None = None


class Clock(Struct, frozen=True):
    """What relative dates count from, and where a day begins."""

    now: datetime
    timezone: tzinfo


def iter_tokens(text: str, clock: Clock) -> Iterator[Token]:
    """Yield the tokens of a query, without words that hold nothing to search for."""
    for match in _TOKEN.finditer(text):
        kind, column = match.lastgroup or "", match.start() + 1
        negated = match["minus"] is not None
        if kind in {"either", "open", "close"}:
            yield Token(cast("Sign", kind), column, negated)
        elif kind == "unclosed":
            raise QueryError("this quote is never closed", text, column)
        elif kind != "space" and (leaf := _READERS[kind](match, clock)):
            yield Token("leaf", column, negated, leaf)


def _read_phrase(match: re.Match[str], _clock: Clock) -> Leaf:
    text = _unquote(match["phrase"])
    if not any(map(is_term_character, text)):
        message = f"there are no letters or digits in these quotes; {WRITE_REGEX}"
        raise QueryError(message, match.string, match.start("phrase") + 1)
    return Phrase(text)


def _read_regex(match: re.Match[str], _clock: Clock) -> Leaf:
    if not match["pattern"]:
        message = r"the regular expression is empty; for two slashes write /\/\//"
        raise QueryError(message, match.string, match.start("pattern"))
    return Regex(match["pattern"], ignores_case=match["flag"] == "i")


def _read_word(match: re.Match[str], _clock: Clock) -> Leaf | None:
    raw = match["word"]
    if raw == "AND" and match["minus"] is None:
        return None
    _refuse_unknown_field(match)
    text = _trim(raw)
    if not text:
        return None
    # A star behind a letter; `**bold**` is a word with decoration.
    return Prefix(text) if raw == f"{raw[: raw.index(text)]}{text}*" else Word(text)


def _refuse_unknown_field(match: re.Match[str]) -> None:
    following = match.string[match.end() : match.end() + 1]
    unknown = UNKNOWN_FIELD.match(match["word"] + (following if following in {'"', "“"} else ""))
    if unknown is None:
        return
    close = get_close_matches(unknown[1], FIELDS, n=1)
    known = f"did you mean {close[0]}:?" if close else f"fields are {', '.join(FIELDS)}"
    message = f"there is no field {unknown[1]}: ({known}); put it in quotes to search for the text"
    raise QueryError(message, match.string, match.start("word") + 1)


def _read_field(match: re.Match[str], clock: Clock) -> Leaf:
    name = match["name"][:-1].lower()
    value = _unquote(match["value"]).strip()
    if not value:
        message = f"write a value right after {name}: or put it in quotes to search for the word"
        raise QueryError(message, match.string, match.start("name") + 1)
    if name in {"since", "until"}:
        return _make_bound(cast("BoundName", name), value.lower(), match, clock)
    choices = CHOICES.get(name)
    if choices and value.lower() not in choices:
        message = f"{name}: takes {', '.join(choices[:-1])} or {choices[-1]}"
        raise QueryError(message, match.string, match.start("value") + 1)
    return Field(cast("TextField", name), value.lower() if choices else value)


def _make_bound(name: BoundName, value: str, match: re.Match[str], clock: Clock) -> Leaf:
    period = find_period(value, clock.now, clock.timezone)
    if period is None:
        message = f"{name}: takes a date such as {_DATES}"
        raise QueryError(message, match.string, match.start("value") + 1)
    return Bound(name, value, period.start if name == "since" else period.end)


def _unquote(text: str) -> str:
    if text.startswith('"'):
        return _ESCAPED.sub(r"\1", text[1:-1])
    return text[1:-1] if text.startswith("“") else text


def _trim(word: str) -> str:
    """The word from its first to its last character that can be searched for."""
    kept = [at for at, character in enumerate(word) if is_term_character(character)]
    return word[kept[0] : kept[-1] + 1] if kept else ""


_READERS: Final[Mapping[str, Callable[[re.Match[str], Clock], Leaf | None]]] = {
    "phrase": _read_phrase,
    "flag": _read_regex,
    "value": _read_field,
    "word": _read_word,
}
