"""The query language: text to syntax tree.

OR joins its two neighbours only, unlike in SQL, so that a field beside `a OR b` holds for both. An
operator in the wrong place is an error with a column rather than a guess, and so is a query that
only says what to leave out, since nearly everything would be its answer.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final

from recollect.search.query_error import QueryError
from recollect.search.tokens import WRITE_REGEX, Clock, Sign, Token, iter_tokens
from recollect.search.tree import And, Node, Not, Or, Query, names_something

MAX_LENGTH: Final = 1000
MAX_DEPTH: Final = 20

_IN_QUOTES: Final = "put text with parentheses in quotes"


def parse_query(text: str, *, now: datetime | None = None, timezone: tzinfo = UTC) -> Query:
    """The syntax tree of a query; raises nothing but `QueryError`, whatever the text.

    `now` is what relative dates count from, and a day is a day in the time zone.
    """
    if len(text) > MAX_LENGTH:
        message = f"a query has at most {MAX_LENGTH} characters, and this one has {len(text)}"
        raise QueryError(message, text, MAX_LENGTH + 1)
    tokens = list(iter_tokens(text, Clock(now or datetime.now(UTC), timezone)))
    root = _Parser(text, tokens).read()
    if root is None:
        raise QueryError(_describe_nothing(text), text, 1)
    if not names_something(root):
        message = "say what to find as well, not only what to leave out, as in since:7d -word"
        raise QueryError(message, text, next(token.column for token in tokens if token.negated))
    return Query(root)


class _Parser:
    """Reads tokens from left to right; the tree is no deeper than the parentheses are."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._at = 0

    def read(self) -> Node | None:
        """The whole query; None when it holds nothing that can be searched for."""
        root = self._read_all(depth=0)
        if self._sign() == "close":
            raise self._error(f"this parenthesis closes nothing; {_IN_QUOTES}", self._at)
        return root

    def _read_all(self, depth: int) -> Node | None:
        parts: list[Node] = []
        while self._sign() not in {None, "close"}:
            part = self._read_either(depth)
            if part is not None:
                parts.append(part)
        return _join(And, parts)

    def _read_either(self, depth: int) -> Node | None:
        node = self._read_unit(depth)
        while self._sign() == "either":
            operator = self._at
            self._at += 1
            other = self._read_unit(depth)
            if node is None or other is None:
                message = 'OR needs something on both sides; for the word itself write "OR"'
                raise self._error(message, operator)
            node = _join(Or, (node, other))
        return node

    def _read_unit(self, depth: int) -> Node | None:
        if self._sign() not in {"leaf", "open"}:
            return None
        token = self._tokens[self._at]
        self._at += 1
        node = token.leaf if token.sign == "leaf" else self._read_group(depth + 1)
        return _negate(node) if token.negated and node is not None else node

    def _read_group(self, depth: int) -> Node | None:
        opening = self._at - 1
        if depth > MAX_DEPTH:
            raise self._error(f"parentheses can be nested {MAX_DEPTH} deep, no deeper", opening)
        node = self._read_all(depth)
        if self._sign() is None:
            raise self._error(f"this parenthesis is never closed; {_IN_QUOTES}", opening)
        self._at += 1
        return node

    def _sign(self) -> Sign | None:
        return self._tokens[self._at].sign if self._at < len(self._tokens) else None

    def _error(self, message: str, token: int) -> QueryError:
        return QueryError(message, self._text, self._tokens[token].column)


def _join(kind: type[And] | type[Or], parts: Sequence[Node]) -> Node | None:
    """One node for the parts, without a node of the same kind directly inside it."""
    flat: list[Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, kind) else (part,)
    return kind(tuple(flat)) if len(flat) > 1 else next(iter(flat), None)


def _negate(node: Node) -> Node:
    return node.part if isinstance(node, Not) else Not(node)


def _describe_nothing(text: str) -> str:
    if not text.strip():
        return "the query is empty; write a word, or a field such as is:error"
    return f"there are no letters or digits here; {WRITE_REGEX}"
