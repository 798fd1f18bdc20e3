"""Tests of recollect.search.snippets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search import Snippet, find_spans, make_snippet, parse_query
from tests.search.texts import anything, texts

FILLER = "lorem ipsum dolor sit amet " * 20


def _snippet(text: str, query: str, width: int) -> str:
    """The snippet with brackets around its marks."""
    snippet = make_snippet(text, find_spans(text, parse_query(query)), width)
    shown = snippet.text
    for start, end in reversed(snippet.marks):
        shown = f"{shown[:start]}[{shown[start:end]}]{shown[end:]}"
    return shown


@pytest.mark.parametrize(
    ("text", "query", "width", "shown"),
    [
        ("", "a", 20, ""),
        ("a short text", "short", 12, "a [short] text"),
        ("  spaces \n\n\t and a\u3000 word ", "a", 30, "spaces and [a] word"),
        ("one\ntwo", '"one two"', 20, "[one two]"),
        (FILLER + "needle " + FILLER, "needle", 33, "…sit amet [needle] lorem ipsum…"),
        ("needle " + FILLER, "needle", 24, "[needle] lorem ipsum…"),
        (FILLER + "needle", "needle", 24, "…dolor sit amet [needle]"),
        (FILLER, "nothing", 24, "lorem ipsum dolor sit…"),
        ("a " + FILLER + "b " + FILLER + "a b", "a b", 20, "…dolor sit amet [a] [b]"),
        ("a a a " + FILLER + "a b", "a b", 20, "…dolor sit amet [a] [b]"),
        ("x" * 50 + " needle " + "y" * 50, "needle", 20, "…xxxxx [needle] yyyyy…"),
        ("前" * 50 + "会话" + "后" * 50, "会话", 12, "…前前前前[会话]后后后后…"),
        ("n" * 50, "n" * 50, 12, "[nnnnnnnnnn]…"),
    ],
)
def test_snippets(text: str, query: str, width: int, shown: str) -> None:
    """The best group of marks in its context, on one line, cut between words where they allow."""
    assert _snippet(text, query, width) == shown


def test_a_long_mark_is_cut() -> None:
    """Of a stretch longer than the snippet the beginning is shown."""
    assert make_snippet("n" * 50, [(10, 50)], 12) == Snippet("…nnnnnnnnnn…", ((1, 11),))


@pytest.mark.parametrize("cluster", ["e\u0301", "👨\u200d👩\u200d👧", "❤\ufe0f", "กำ"])
@pytest.mark.parametrize("width", range(10, 24))
def test_characters_stay_whole(cluster: str, width: int) -> None:
    """A cut never separates a letter from its accent or falls into a joined emoji."""
    text = cluster * 20 + "x" + cluster * 20
    shown = make_snippet(text, [(len(cluster) * 20, len(cluster) * 20 + 1)], width).text
    before, _, after = shown.strip("…").partition("x")
    assert (before.replace(cluster, ""), after.replace(cluster, "")) == ("", "")


@given(texts | anything, st.integers(0, 80))
def test_a_snippet_fits(text: str, width: int) -> None:
    """A snippet is one line of at most its width, with marks in order that lie within it."""
    snippet = make_snippet(text, find_spans(text, parse_query("a OR b* OR 中 OR /x/")), width)
    bounds = [bound for mark in snippet.marks for bound in mark]
    assert len(snippet.text) <= max(3, width)
    assert snippet.text == " ".join(snippet.text.split())
    assert bounds == sorted(bounds)
    assert all(0 <= start < end <= len(snippet.text) for start, end in snippet.marks)


@given(st.lists(st.sampled_from(["a", "bb", "c", "\n", "  "]), max_size=60), st.integers(3, 40))
def test_a_snippet_shows_what_was_sought(pieces: list[str], width: int) -> None:
    """Whenever something was found it is marked, whole unless a cut falls into it."""
    text = " ".join(pieces)
    spans = find_spans(text, parse_query("bb"))
    snippet = make_snippet(text, spans, width)
    marked = [snippet.text[start:end] for start, end in snippet.marks]
    assert ("bb" in marked if width > 3 else bool(marked)) is bool(spans)
    assert set(marked) <= {"bb", "b"}
