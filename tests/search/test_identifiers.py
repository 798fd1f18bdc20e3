"""Tests of recollect.search.identifiers."""

import pytest

from recollect.search.identifiers import find_names, is_part_boundary, split_identifier

COMPOUNDS = {
    "parseQuery": ("parse", "query"),
    "ParseQuery": ("parse", "query"),
    "HTTPServer": ("http", "server"),
    "parseHTTPQuery2": ("parse", "http", "query", "2"),
    "getURLs": ("get", "urls"),
    "iOS": ("i", "os"),
    "OAuth2Client": ("o", "auth", "2", "client"),
    "utf8": ("utf", "8"),
    "UTF8": ("utf", "8"),
    "Python3": ("python", "3"),
    "sha256Sum": ("sha", "256", "sum"),
}
SIMPLE = ["", "word", "Word", "WORD", "URLs", "IDs", "v2", "8facb961", "3F2A9B", "20261115", "x86"]


@pytest.mark.parametrize(("name", "parts"), COMPOUNDS.items())
def test_compounds_have_parts(name: str, parts: tuple[str, ...]) -> None:
    """A name is split where its case changes and before a number at its end."""
    assert split_identifier(name) == parts


@pytest.mark.parametrize("name", SIMPLE)
def test_simple_names_have_none(name: str) -> None:
    """Words, acronyms with their plurals, numbers and hexadecimal digits are no compounds."""
    assert split_identifier(name) == ()


def test_every_compound_is_found_in_a_text() -> None:
    """Each compound of a text is found once, whatever stands around it."""
    text = " ".join([*COMPOUNDS, *SIMPLE, *COMPOUNDS]) + " é(parseQuery)parseTree"
    names = [name.decode() for name in find_names(text.encode())]
    compounds = sorted(filter(split_identifier, names))
    assert compounds == sorted({*COMPOUNDS, "parseTree"})


@pytest.mark.parametrize(
    ("text", "places"),
    [("parseQuery", [5]), ("HTTPServer", [4]), ("utf8x", [3, 4]), ("plain", []), ("URL", [])],
)
def test_parts_begin_at_boundaries(text: str, places: list[int]) -> None:
    """Inside a word a part begins where the case rises and where digits begin or end."""
    assert [at for at in range(1, len(text)) if is_part_boundary(text, at)] == places
