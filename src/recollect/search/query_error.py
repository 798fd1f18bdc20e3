"""A query that cannot be read, with the place where reading failed.

The message shows a stretch of the query with a caret below it. What cannot be printed is shown as
a space, because a query may come out of a link or a model and ends up in a terminal.
"""

import unicodedata
from typing import Final

from recollect.errors import UsageError

_SHOWN: Final = 60


class QueryError(UsageError):
    """The query cannot be read; says what is wrong, where, and what to write instead."""

    def __init__(self, message: str, query: str, column: int) -> None:
        """Point at the character of the query that stands in a column, counted from 1."""
        self.message = message
        self.query = query
        self.column = column
        super().__init__(f"{message}\n{point_at(query, column)}")


def point_at(query: str, column: int) -> str:
    """Two lines: the query around a column, and a caret below that column."""
    start = max(0, column - 1 - _SHOWN // 2)
    shown = "".join(map(_printable, query[start : start + _SHOWN]))
    margin = sum(map(_width, shown[: column - 1 - start]))
    return f"  {shown.rstrip()}\n  {' ' * margin}^"


def _printable(character: str) -> str:
    return character if character.isprintable() else " "


def _width(character: str) -> int:
    """The cells that a terminal gives to a character."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
