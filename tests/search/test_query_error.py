"""Tests of recollect.search.query_error."""

import pytest

from recollect.errors import UsageError
from recollect.search.query_error import QueryError, point_at


def test_it_is_an_error_of_usage() -> None:
    """The message comes first, then the query and a caret; the parts can be had one by one."""
    error = QueryError("no such thing", "a b", 3)
    assert isinstance(error, UsageError)
    assert (error.message, error.query, error.column) == ("no such thing", "a b", 3)
    assert str(error) == "no such thing\n  a b\n    ^"


@pytest.mark.parametrize(
    ("query", "column", "lines"),
    [
        ("", 1, "  \n  ^"),
        ("中文 x", 4, "  中文 x\n       ^"),
        ("e\u0301 x", 4, "  e\u0301 x\n    ^"),
        ("a\n\x1b[0m\u202eb", 3, "  a  [0m b\n    ^"),
        ("a" * 100 + "!", 101, "  " + "a" * 30 + "!\n  " + " " * 30 + "^"),
    ],
)
def test_the_caret_stands_below_the_column(query: str, column: int, lines: str) -> None:
    """Wide characters take two cells, accents none, and nothing unprintable is shown."""
    assert point_at(query, column) == lines
