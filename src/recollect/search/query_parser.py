"""Parse a query into a syntax tree.

Anything that is not clearly an operator, a field or a regular expression is a word, because people
paste text into queries; words without letters or digits are ignored. `/compact` and `/usr/bin` are
words: slashes enclose a regular expression only if the closing one ends the word. OR binds tighter
than AND, unlike in SQL, so that a field next to `a OR b` applies to both. A misplaced operator is
an error, and so is a query with only negated terms, since nearly everything would match it.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from typing import Final, Literal, TypeAlias, cast

from msgspec import Struct

from recollect.errors import UsageError
from recollect.search import query_tree
from recollect.search.folding import is_term_character
from recollect.search.terms import split_word
from recollect.session.times import EXAMPLES, describe_reversed, find_period

_MAX_SHOWN: Final = 60
_FIELD_LIKE: Final = re.compile(r"([a-z]{3,16}):(\w.*)", re.DOTALL)
_CLOSE: Final = 0.8
"""How similar a name must be to a field: `projct` is a misspelt field, `fmt` and `test` are
words."""


class QueryError(UsageError):
    """An invalid query; the message says what is wrong, where, and what to write instead."""

    def __init__(self, message: str, query: str, column: int) -> None:
        """Point at a column of the query, counted from 1."""
        self.message = message
        self.query = query
        self.column = column
        super().__init__(f"{message}\n{point_at(query, column)}")


def point_at(query: str, column: int) -> str:
    """Return two lines: the query around a column, and a caret below that column."""
    start = max(0, column - 1 - _MAX_SHOWN // 2)
    shown = "".join(map(_printable, query[start : start + _MAX_SHOWN]))
    margin = sum(map(_width, shown[: column - 1 - start]))
    return f"  {shown.rstrip()}\n  {' ' * margin}^"


def _printable(character: str) -> str:
    # A query may come from a link or a model, and is printed to a terminal.
    return character if character.isprintable() else " "


def _width(character: str) -> int:
    """Return the number of terminal cells of a character."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


_QUOTED: Final = r'"(?:[^"\\]|\\.)*"|“[^“”]*”'
# A minus before another minus or `>` starts an option or an arrow, not a negation.
_TOKEN: Final = re.compile(
    rf"""(?P<space>\s+)
    | (?P<or>\|+|OR(?![^{query_tree.DELIMITERS}]))
    | (?P<close>\))
    | (?P<minus>-(?=[^\s\->)|]))?
      (?: (?P<open>\()
        | (?P<phrase>{_QUOTED})
        | /(?P<pattern>(?!\s)(?:[^/\\]|\\.)*)/(?P<flag>i?)(?=[\s)|]|$)
        | (?P<name>{query_tree.KNOWN_FIELD})(?P<value>{_QUOTED}|[^{query_tree.DELIMITERS}]*)
        | (?P<word>[^{query_tree.DELIMITERS}]+)
      )
    | (?P<unclosed>["“”])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED: Final = re.compile(r'\\(["\\])')
WRITE_REGEX: Final = r"to search for punctuation use a regular expression such as /\{\}/"

TokenKind: TypeAlias = Literal["or", "open", "close", "leaf"]


class Token(Struct, frozen=True):
    """An operator, a parenthesis, or a leaf of the tree, with the minus before it."""

    kind: TokenKind
    column: int
    negated: bool = False
    leaf: query_tree.Leaf | None = None


class Clock(Struct, frozen=True):
    """The reference time for relative dates, and the time zone of days."""

    now: datetime
    timezone: tzinfo


def iter_tokens(text: str, clock: Clock) -> Iterator[Token]:
    """Iterate over the tokens of a query, without words that cannot be searched for."""
    for match in _TOKEN.finditer(text):
        kind, column = match.lastgroup or "", match.start() + 1
        negated = match["minus"] is not None
        if kind in {"or", "open", "close"}:
            yield Token(cast("TokenKind", kind), column, negated)
        elif kind == "unclosed":
            raise QueryError("missing closing quote", text, column)
        elif kind != "space" and (leaf := _READERS[kind](match, clock)):
            yield Token("leaf", column, negated, leaf)


def _read_phrase(match: re.Match[str], _clock: Clock) -> query_tree.Leaf:
    text = _unquote(match["phrase"])
    if not any(map(is_term_character, text)):
        message = f"no letters or digits in quotes; {WRITE_REGEX}"
        raise QueryError(message, match.string, match.start("phrase") + 1)
    return query_tree.Phrase(text)


def _read_regex(match: re.Match[str], _clock: Clock) -> query_tree.Leaf:
    if not match["pattern"]:
        message = r"empty regular expression; to search for two slashes write /\/\//"
        raise QueryError(message, match.string, match.start("pattern"))
    return query_tree.Regex(match["pattern"], ignores_case=match["flag"] == "i")


def _read_word(match: re.Match[str], _clock: Clock) -> query_tree.Leaf | None:
    raw = match["word"]
    if raw == "AND" and match["minus"] is None:
        return None
    text = _trim(raw)
    if not text:
        return None
    if raw == f"*{text}*" and len(text) >= MIN_INSIDE:
        return query_tree.Inside(text)
    # A star counts only directly after a letter: `**bold**` is a word.
    return (
        query_tree.Prefix(text)
        if raw == f"{raw[: raw.index(text)]}{text}*"
        else query_tree.Word(text)
    )


def suggest_field(word: str) -> str | None:
    """Suggest a correction if the start of a word is similar to the name of a field."""
    unknown = _FIELD_LIKE.match(word)
    close = get_close_matches(unknown[1], query_tree.FIELDS, n=1, cutoff=_CLOSE) if unknown else []
    return f"{close[0]}:{unknown[2]}" if unknown and close else None


def _read_field(match: re.Match[str], clock: Clock) -> query_tree.Leaf:
    name = match["name"][:-1].lower()
    value = _unquote(match["value"]).strip()
    if not value:
        message = f"{name}: needs a value right after it; to search for the word put it in quotes"
        raise QueryError(message, match.string, match.start("name") + 1)
    if name in {"since", "until"}:
        return _make_bound(cast("query_tree.BoundName", name), value.lower(), match, clock)
    choices = query_tree.CHOICES.get(name)
    if choices and value.lower() not in choices:
        message = f"{name}: must be {', '.join(choices[:-1])} or {choices[-1]}"
        raise QueryError(message, match.string, match.start("value") + 1)
    return query_tree.FieldTerm(
        cast("query_tree.TextField", name), value.lower() if choices else value
    )


def _make_bound(
    name: query_tree.BoundName, value: str, match: re.Match[str], clock: Clock
) -> query_tree.Leaf:
    period = find_period(value, clock.now, clock.timezone)
    if period is None:
        message = f"{name}: must be a date such as {EXAMPLES}"
        raise QueryError(message, match.string, match.start("value") + 1)
    return query_tree.Bound(name, value, period.start if name == "since" else period.end)


def _unquote(text: str) -> str:
    if text.startswith('"'):
        return _ESCAPED.sub(r"\1", text[1:-1])
    return text[1:-1] if text.startswith("“") else text


def _trim(word: str) -> str:
    """Return the word without leading and trailing characters that cannot be searched for."""
    kept = [at for at, character in enumerate(word) if is_term_character(character)]
    return word[kept[0] : kept[-1] + 1] if kept else ""


_READERS: Final[Mapping[str, Callable[[re.Match[str], Clock], query_tree.Leaf | None]]] = {
    "phrase": _read_phrase,
    "flag": _read_regex,
    "value": _read_field,
    "word": _read_word,
}


MIN_INSIDE: Final = 3
"""Minimum length between two stars; shorter parts are in nearly every text."""

MAX_LENGTH: Final = 1000
MAX_DEPTH: Final = 20
MAX_WORDS: Final = 128
MAX_PREFIXES: Final = 8
"""Maximum number of prefixes: SQLite looks up all words with each one, and cannot be
interrupted."""

_IN_QUOTES: Final = "to search for parentheses put the text in quotes"


def parse_query(
    text: str, *, now: datetime | None = None, timezone: tzinfo = UTC
) -> query_tree.Query:
    """Return the syntax tree of a query; raises only `QueryError`, whatever the text.

    Relative dates count from `now`, and days are days in `timezone`.
    """
    if len(text) > MAX_LENGTH:
        message = f"query too long: {len(text)} characters, at most {MAX_LENGTH} are allowed"
        raise QueryError(message, text, MAX_LENGTH + 1)
    tokens = list(iter_tokens(text, Clock(now or datetime.now(UTC), timezone)))
    _check_size(text, tokens)
    root = _Parser(text, tokens).read()
    if root is None:
        raise QueryError(_describe_nothing(text), text, 1)
    if not query_tree.has_positive_term(root):
        message = "only negated terms; add something to find, as in since:7d -word"
        raise QueryError(message, text, next(token.column for token in tokens if token.negated))
    _check_range(text, root, tokens)
    return query_tree.Query(root)


def group_query(text: str) -> str:
    """Return a query for use in a longer one: in parentheses if it has alternatives."""
    return f"({text})" if isinstance(parse_query(text).root, query_tree.Or) else text


def _check_range(text: str, root: query_tree.Node, tokens: Sequence[Token]) -> None:
    """Raise `QueryError` if `since` is after `until`."""
    parts = root.parts if isinstance(root, query_tree.And) else ()
    bounds = [part for part in parts if isinstance(part, query_tree.Bound)]
    latest = max((each for each in bounds if each.name == "since"), key=_moment, default=None)
    earliest = min((each for each in bounds if each.name == "until"), key=_moment, default=None)
    if latest and earliest and latest.moment >= earliest.moment:
        column = next(token.column for token in tokens if token.leaf == latest)
        raise QueryError(describe_reversed(latest.value, earliest.value), text, column)


def _moment(bound: query_tree.Bound) -> datetime:
    return bound.moment


def _check_size(text: str, tokens: Sequence[Token]) -> None:
    """Raise `QueryError` if there are too many words or prefixes."""
    words = [token for token in tokens if token.kind == "leaf"]
    prefixes = [
        token for token in words if isinstance(token.leaf, query_tree.Prefix | query_tree.Inside)
    ]
    for found, limit, what in (
        (words, MAX_WORDS, "words and fields"),
        (prefixes, MAX_PREFIXES, "words with stars such as auth*"),
    ):
        if len(found) > limit:
            message = f"too many {what}: {len(found)}, at most {limit} are allowed"
            raise QueryError(message, text, found[limit].column)


def correct_query(
    query: query_tree.Query, corrected: Mapping[str, str], left_out: Collection[str] = ()
) -> str | None:
    """Return the query with its misspelt words and fields corrected; None if there are none.

    Words that are `left_out` of the search are left out here too if other words are corrected,
    because those are searched for already.
    """
    parts = query.root.parts if isinstance(query.root, query_tree.And) else (query.root,)
    texts = [_correct(part, corrected) for part in parts]
    if texts == [str(part) for part in parts]:
        return None
    dropped = left_out if corrected else ()
    return " ".join(
        text
        for part, text in zip(parts, texts, strict=True)
        if not (isinstance(part, query_tree.Word) and part.text in dropped)
    )


def _correct(part: query_tree.Node, corrected: Mapping[str, str]) -> str:
    if not isinstance(part, query_tree.Word):
        return str(part)
    text = corrected.get(part.text, part.text)
    for piece in split_word(text):
        text = text.replace(piece, corrected.get(piece, piece), 1)
    if text != part.text:
        return text
    return suggest_field(text) or str(part)


class _Parser:
    """Recursive-descent parser; the tree is no deeper than the parentheses are nested."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._at = 0

    def read(self) -> query_tree.Node | None:
        """Parse the whole query; None if it has nothing to search for."""
        root = self._read_all(depth=0)
        if self._peek() == "close":
            raise self._error(f"unmatched closing parenthesis; {_IN_QUOTES}", self._at)
        return root

    def _read_all(self, depth: int) -> query_tree.Node | None:
        parts: list[query_tree.Node] = []
        while self._peek() not in {None, "close"}:
            part = self._read_either(depth)
            if part is not None:
                parts.append(part)
        return _join(query_tree.And, parts)

    def _read_either(self, depth: int) -> query_tree.Node | None:
        node = self._read_unit(depth)
        while self._peek() == "or":
            operator = self._at
            self._at += 1
            other = self._read_unit(depth)
            if node is None or other is None:
                message = 'OR needs a term on both sides; to search for the word write "OR"'
                raise self._error(message, operator)
            node = _join(query_tree.Or, (node, other))
        return node

    def _read_unit(self, depth: int) -> query_tree.Node | None:
        if self._peek() not in {"leaf", "open"}:
            return None
        token = self._tokens[self._at]
        self._at += 1
        node = token.leaf if token.kind == "leaf" else self._read_group(depth + 1)
        return _negate(node) if token.negated and node is not None else node

    def _read_group(self, depth: int) -> query_tree.Node | None:
        opening = self._at - 1
        if depth > MAX_DEPTH:
            raise self._error(f"parentheses nested more than {MAX_DEPTH} deep", opening)
        node = self._read_all(depth)
        if self._peek() is None:
            raise self._error(f"missing closing parenthesis; {_IN_QUOTES}", opening)
        self._at += 1
        return node

    def _peek(self) -> TokenKind | None:
        return self._tokens[self._at].kind if self._at < len(self._tokens) else None

    def _error(self, message: str, token: int) -> QueryError:
        return QueryError(message, self._text, self._tokens[token].column)


def _join(
    kind: type[query_tree.And] | type[query_tree.Or], parts: Sequence[query_tree.Node]
) -> query_tree.Node | None:
    """Return one node for the parts, flattening nested nodes of the same kind."""
    flat: list[query_tree.Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, kind) else (part,)
    return kind(tuple(flat)) if len(flat) > 1 else next(iter(flat), None)


def _negate(node: query_tree.Node) -> query_tree.Node:
    return node.part if isinstance(node, query_tree.Not) else query_tree.Not(node)


def _describe_nothing(text: str) -> str:
    if not text.strip():
        return "empty query; enter a word or a field such as is:error"
    return f"no letters or digits; {WRITE_REGEX}"
