"""Regular expressions of a query, run by RE2: linear in time, whatever the pattern and the text."""

from collections.abc import Iterable, Iterator
from typing import Final, Protocol, cast

import re2  # type: ignore[import-untyped]

from recollect.search.query_error import QueryError
from recollect.search.tree import And, Node, Not, Or, Query, Regex

_MOST_MEMORY: Final = 16 << 20


class Match(Protocol):
    """A stretch of a text that fits."""

    def span(self) -> tuple[int, int]:
        """Where it begins and ends, in characters."""
        ...


class Pattern(Protocol):
    """An expression that is ready to run."""

    def search(self, text: str) -> Match | None:
        """The first stretch that fits."""
        ...

    def finditer(self, text: str) -> Iterable[Match]:
        """Every stretch that fits."""
        ...


def compile_regex(regex: Regex, query: str) -> Pattern:
    """The expression, ready to run; raises `QueryError` for one that RE2 does not take."""
    options = re2.Options()
    options.case_sensitive = not regex.ignores_case
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    try:
        return cast(Pattern, re2.compile(regex.pattern, options))
    except re2.error as error:
        reason = error.args[0]
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        message = f"this regular expression cannot be used: {text}"
        raise QueryError(message, query, max(query.find(str(regex)), 0) + 1) from error


def check_regexes(query: Query) -> None:
    """Raise `QueryError` if a regular expression of the query cannot be run."""
    for regex in iter_regexes(query.root, negated=True):
        compile_regex(regex, str(query))


def iter_regexes(node: Node, *, negated: bool = False) -> Iterator[Regex]:
    """Yield the expressions that a hit may hold; those that it must not hold too if `negated`."""
    if isinstance(node, And | Or):
        for part in node.parts:
            yield from iter_regexes(part, negated=negated)
    elif isinstance(node, Regex):
        yield node
    elif negated and isinstance(node, Not):
        yield from iter_regexes(node.part, negated=negated)
