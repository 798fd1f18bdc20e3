"""Tests of recollect.search.spans."""

import pytest
from hypothesis import given

from recollect.search import Query, find_spans, iter_terms, parse_query, query_terms
from recollect.search.spans import choose_window
from recollect.search.tree import Phrase, Word
from tests.search.texts import anything, pictographs, texts, unspaced_runs, words


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
    """Letters that change their number when folded do not move the marks behind them."""
    assert _marked(text, query) == marked


@given(texts, words | unspaced_runs | pictographs, texts)
def test_every_word_that_is_found_is_marked(before: str, word: str, after: str) -> None:
    """What a text is found by is marked where it stands, from its first to its last letter."""
    terms = query_terms(word)
    spans = find_spans(f"{before} {word} {after}", Query(Word(word)))
    place = range(len(before) + 1, len(before) + 1 + len(word))
    inside = [span for span in spans if span[0] in place or span[1] - 1 in place]
    assert bool(inside) is bool(terms)


@given(texts | anything, words | unspaced_runs)
def test_every_mark_holds_what_is_sought(text: str, word: str) -> None:
    """Each marked stretch, taken by itself, has the terms of the query one after the other."""
    for start, end in find_spans(text, Query(Phrase(word))):
        held = "\n".join(iter_terms(text[start:end]))
        assert any("\n".join(it.terms) in held for it in query_terms(word))


@given(texts | anything, words, unspaced_runs)
def test_spans_are_in_order(text: str, word: str, run: str) -> None:
    """Spans lie within the text, are not empty and do not overlap."""
    query = parse_query(f'"x{word}" OR "{run}" OR a* OR b OR "a b"')
    bounds = [bound for span in find_spans(text, query) for bound in span]
    assert bounds == sorted(bounds)
    assert all(start < end <= len(text) for start, end in find_spans(text, query))


def test_a_crowded_query_is_marked_in_part() -> None:
    """Only the first 64 words of a query are looked for."""
    text = " ".join(f"w{number}x" for number in range(100))
    assert len(find_spans(text, parse_query(text))) == 64


FILLER = "some other words\n" * 2000


@pytest.mark.parametrize(
    ("query", "text", "held"),
    [
        ("pond", "pond and more", "pond and more"),
        ("pond", f"{FILLER}pond{FILLER}", "pond"),
        ("pond tide", f"{FILLER}pond{FILLER}Tide pond{FILLER}", "Tide pond"),
        ('"tide pool"', f"{FILLER}tide\npool{FILLER}", "tide\npool"),
    ],
)
def test_of_a_long_text_one_stretch_is_looked_at(query: str, text: str, held: str) -> None:
    """It holds most of what is sought; where nothing is spelt that way, it is the whole text."""
    start, end = choose_window(text, parse_query(query))
    assert (held in text[start:end], end - start < 20_000 or (start, end) == (0, len(text))) == (
        True,
        True,
    )
