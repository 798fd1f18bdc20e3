"""Tests of recollect.search.snippets."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search import (
    Query,
    Snippet,
    find_spans,
    iter_terms,
    make_snippet,
    parse_query,
    query_terms,
)
from recollect.search.query_tree import Phrase, Word
from recollect.search.snippets import choose_window
from tests.search.texts import anything, pictographs, texts, unspaced_runs, words

FILLER = "lorem ipsum dolor sit amet " * 20


def _snippet(text: str, query: str, width: int) -> str:
    """Return the snippet with brackets around its marks."""
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
    """The best group of marks with context, on one line, cut between words if possible."""
    assert _snippet(text, query, width) == shown


@pytest.mark.parametrize("width", range(16, 60))
@pytest.mark.parametrize("tag", ["[redacted:aws-key#1]", "[redacted:github-token]"])
def test_tags_of_secrets_stay_whole(tag: str, width: int) -> None:
    """A snippet contains a tag completely or not at all."""
    text = f"{tag}{tag} export needle={tag} {tag} and {tag}"
    shown = make_snippet(text, find_spans(text, parse_query("needle")), width).text
    assert "needle" in shown
    rest = shown.replace(tag, "")
    assert not {"[", "]", "redacted", "key", "token"} & set(re.findall(r"[a-z]+|[\[\]]", rest))


def test_a_tag_at_the_beginning_is_shown() -> None:
    """Nothing is left out of a text that fits."""
    text = "[redacted:aws-key#1] needle"
    assert _snippet(text, "needle", 60) == "[redacted:aws-key#1] [needle]"


def test_a_tag_that_was_sought_is_shown_as_far_as_it_fits() -> None:
    """If the snippet is shorter than the tag, it is cut like a word."""
    text = "use [redacted:github-token#1] here"
    shown = make_snippet(text, find_spans(text, parse_query("redacted")), 14).text
    assert shown == "…[redacted:g…"


def test_a_long_mark_is_cut() -> None:
    """If a match is longer than the snippet, its beginning is shown."""
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
    """A snippet is one line of at most its width, with sorted marks inside it."""
    snippet = make_snippet(text, find_spans(text, parse_query("a OR b* OR 中 OR /x/")), width)
    bounds = [bound for mark in snippet.marks for bound in mark]
    assert len(snippet.text) <= max(3, width)
    assert snippet.text == " ".join(snippet.text.split())
    assert bounds == sorted(bounds)
    assert all(0 <= start < end <= len(snippet.text) for start, end in snippet.marks)


@given(st.lists(st.sampled_from(["a", "bb", "c", "\n", "  "]), max_size=60), st.integers(3, 40))
def test_a_snippet_shows_what_was_sought(pieces: list[str], width: int) -> None:
    """Every match is marked, completely unless it is cut."""
    text = " ".join(pieces)
    spans = find_spans(text, parse_query("bb"))
    snippet = make_snippet(text, spans, width)
    marked = [snippet.text[start:end] for start, end in snippet.marks]
    assert ("bb" in marked if width > 3 else bool(marked)) is bool(spans)
    assert set(marked) <= {"bb", "b"}


def _marked(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in find_spans(text, parse_query(query))]


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Time, timer, a time-out, overtime", "time", ["Time", "time"]),
        ("Time, timer, a time-out, overtime", "time*", ["Time", "timer", "time"]),
        ("a b  a", "a", ["a", "a"]),
        ("one two", "none", []),
        ("", "a", []),
        ("the connection,\n  was reset", '"connection was reset"', ["connection,\n  was reset"]),
        ("connectionwas reset", '"connection was"', []),
        ("xa b a b a", '"a b a"', ["a b a"]),
        ("src/main.py:12", "main.py", ["main.py"]),
        ("get_file get-file getFile getfile", "get_file", ["get_file", "get-file", "getFile"]),
        ("getHTTPResponse http_response", "HTTPResponse", ["HTTPResponse", "http_response"]),
        ("parseQuery subquery", "query", ["Query"]),
        ("parseQuery", "parseQuery parse", ["parseQuery"]),
        ("utf-8 UTF8 utf88", "utf8", ["utf-8", "UTF8"]),
        ("a*b /c/", "a /c/ -b", ["a"]),
        ("project x", "project:x x", ["x"]),
        ("我们的会话记录", "会话", ["会话"]),
        ("话。会话", "话", ["话", "话"]),
        ("用Python写", "python", ["Python"]),
        ("用Python写", "python写", ["Python写"]),
        ("한국어를", "국어", ["국어"]),
        ("ok 👍🏽!", "👍", ["👍🏽"]),
        ("a👍b", '"a 👍 b"', ["a👍b"]),
    ],
)
def test_what_is_marked(text: str, query: str, marked: list[str]) -> None:
    """Words, parts of names, phrases and substrings of unspaced scripts are marked as found."""
    assert _marked(text, query) == marked


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("ﬁﬁ Die STRAẞE, die Straße", "strasse", ["STRAẞE", "Straße"]),
        ("İİİ İstanbul", "istanbul", ["İstanbul"]),
        ("un cafe\u0301 noir", "cafe", ["cafe\u0301"]),
        ("un cafe\u0301s noir", "cafe", []),
        ("ＦＵＬＬ　ｗｉｄｔｈ", "full width", ["ＦＵＬＬ", "ｗｉｄｔｈ"]),
        ("㍿㍿ ｶﾞｽ", "ガス", ["ｶﾞｽ"]),
        ("Ёлка", "елка", ["Ёлка"]),
        ("שָׁלוֹם", "שלום", ["שָׁלוֹם"]),
        ("\u1112\u1161\u11ab글", "한", ["\u1112\u1161\u11ab"]),
        ("\ud83d x", "x", ["x"]),
    ],
)
def test_places_are_those_of_the_original(text: str, query: str, marked: list[str]) -> None:
    """Letters whose number changes by folding do not shift later marks."""
    assert _marked(text, query) == marked


@given(texts, words | unspaced_runs | pictographs, texts)
def test_every_word_that_is_found_is_marked(before: str, word: str, after: str) -> None:
    """Matching words are marked from their first to their last letter."""
    terms = query_terms(word)
    spans = find_spans(f"{before} {word} {after}", Query(Word(word)))
    place = range(len(before) + 1, len(before) + 1 + len(word))
    inside = [span for span in spans if span[0] in place or span[1] - 1 in place]
    assert bool(inside) is bool(terms)


@given(texts | anything, words | unspaced_runs)
def test_every_mark_holds_what_is_sought(text: str, word: str) -> None:
    """Each marked range contains the terms of the query in order."""
    for start, end in find_spans(text, Query(Phrase(word))):
        held = "\n".join(iter_terms(text[start:end]))
        assert any("\n".join(it.terms) in held for it in query_terms(word))


@given(texts | anything, words, unspaced_runs)
def test_spans_are_in_order(text: str, word: str, run: str) -> None:
    """Spans are within the text, not empty and do not overlap."""
    query = parse_query(f'"x{word}" OR "{run}" OR a* OR b OR "a b"')
    bounds = [bound for span in find_spans(text, query) for bound in span]
    assert bounds == sorted(bounds)
    assert all(start < end <= len(text) for start, end in find_spans(text, query))


def test_a_crowded_query_is_marked_in_part() -> None:
    """Only the first 64 words of a query are highlighted."""
    text = " ".join(f"w{number}x" for number in range(100))
    assert len(find_spans(text, parse_query(text))) == 64


SPAN_FILLER = "some other words\n" * 2000


@pytest.mark.parametrize(
    ("query", "text", "held"),
    [
        ("pond", "pond and more", "pond and more"),
        ("pond", f"{SPAN_FILLER}pond{SPAN_FILLER}", "pond"),
        ("pond tide", f"{SPAN_FILLER}pond{SPAN_FILLER}Tide pond{SPAN_FILLER}", "Tide pond"),
        ('"tide pool"', f"{SPAN_FILLER}tide\npool{SPAN_FILLER}", "tide\npool"),
    ],
)
def test_of_a_long_text_one_stretch_is_looked_at(query: str, text: str, held: str) -> None:
    """The window with most terms of the query; the whole text if none occurs literally."""
    start, end = choose_window(text, parse_query(query))
    assert (held in text[start:end], end - start < 20_000 or (start, end) == (0, len(text))) == (
        True,
        True,
    )
