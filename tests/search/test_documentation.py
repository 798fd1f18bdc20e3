"""docs/search.md agrees with the parser."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.search import QueryError, parse_query
from recollect.search.query_parser import MAX_DEPTH, MAX_LENGTH, MAX_PREFIXES, MAX_WORDS
from recollect.search.query_tree import CHOICES, FIELDS
from recollect.search.terms import ENCODED_LENGTH, TERM_LIMIT

PAGE = (Path(__file__).parents[2] / "docs" / "search.md").read_text(encoding="utf-8")
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def _rows(header: str) -> list[tuple[str, str]]:
    """The two cells of each row in the tables with a header; a bar in a cell is escaped."""
    found: list[tuple[str, str]] = []
    for table in re.findall(rf"^\| {header} \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE):
        for line in table.splitlines():
            first, second = re.split(r"(?<!\\)\|", line)[1:3]
            found.append((first.strip().replace("\\|", "|"), second.strip().replace("\\|", "|")))
    return found


def _code(cell: str) -> str:
    return cell.removeprefix("`").removesuffix("`")


EXAMPLES = [_code(cell) for cell, _ in _rows(r"Query \| Finds[^|]*")]
READINGS = [(_code(query), _code(reading)) for query, reading in _rows(r"Query \| Is read as")]
ERRORS = [(_code(query), message) for query, message in _rows(r"Query \| Error")]


def test_every_table_is_seen() -> None:
    """The tests below find the tables of the page."""
    assert (len(EXAMPLES), len(READINGS), len(ERRORS)) == (36, 4, 9)


@pytest.mark.parametrize("query", EXAMPLES)
def test_examples_are_queries(query: str) -> None:
    """Every example can be parsed, and its canonical text is the same query."""
    read = parse_query(query, now=NOW)
    assert parse_query(str(read), now=NOW) == read


@pytest.mark.parametrize(("query", "reading"), READINGS)
def test_readings_are_as_documented(query: str, reading: str) -> None:
    """Pasted text is parsed as documented."""
    assert str(parse_query(query)) == reading


@pytest.mark.parametrize(("query", "message"), ERRORS)
def test_errors_are_as_documented(query: str, message: str) -> None:
    """An invalid query has the documented message."""
    with pytest.raises(QueryError) as refused:
        parse_query(query, now=NOW)
    assert refused.value.message == message.replace("`", "")


def test_caret_is_as_shown() -> None:
    """The example of an error message is correct."""
    shown = re.findall(r"^```\n(.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
    with pytest.raises(QueryError) as refused:
        parse_query("timeout is:eror since:7d", now=NOW)
    assert shown == [str(refused.value)]


def test_every_field_has_an_example() -> None:
    """Every field and every value of a field occurs in the examples."""
    asked = set(re.findall(r"(?<!\S)-?([a-z]+):", " ".join(EXAMPLES)))
    states = set(re.findall(r"(?<!\S)is:(\w+)", " ".join(EXAMPLES)))
    (roles,) = [meaning for query, meaning in _rows(r"Query \| Finds[^|]*") if "role:" in query]
    assert (asked, states) == (set(FIELDS), set(CHOICES["is"]))
    assert tuple(re.findall("`([a-z]+)`", roles)) == CHOICES["role"]


def test_limits_are_as_documented() -> None:
    """The limits on the page are those of the code."""
    limits = r"at most ([\d,]+) characters, (\d+) words and fields, (\d+) of them with stars"
    assert re.findall(
        rf"{limits} \(`auth\*`,\n`\*tion\*`\), and parentheses at most (\d+) deep", PAGE
    ) == [(f"{MAX_LENGTH:,}", str(MAX_WORDS), str(MAX_PREFIXES), str(MAX_DEPTH))]
    assert re.findall(r"up to the (\d+)th character\. A run of (\d+)", PAGE) == [
        (str(TERM_LIMIT), str(ENCODED_LENGTH))
    ]
