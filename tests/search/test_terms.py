"""Tests of recollect.search.terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search import TermSequence, iter_terms, prepare_for_index, query_terms
from recollect.search.folding import BARRIER
from tests.search.texts import (
    anything,
    is_found,
    pictographs,
    separators,
    texts,
    tokenise,
    unspaced_runs,
    words,
)


@given(texts | anything)
def test_the_index_holds_just_these_terms(text: str) -> None:
    """SQLite takes from a prepared text the same terms, in the same order, as `iter_terms`."""
    taken = [term for term in tokenise(prepare_for_index(text)) if BARRIER not in term]
    assert taken == list(iter_terms(text))


@given(texts | anything)
def test_prepared_text_can_be_stored(text: str) -> None:
    """Whatever the text, lone surrogates included, what goes to the index is valid UTF-8."""
    prepared = prepare_for_index(text)
    assert prepared.decode("utf-8").encode("utf-8") == prepared


@given(texts, words | pictographs | unspaced_runs, texts)
def test_every_whole_word_is_found(before: str, word: str, after: str) -> None:
    """A word between spaces is found, whatever it is made of and whatever stands around it."""
    sequences = query_terms(word)
    assert is_found(f"{before} {word} {after}", sequences[:1]) == [True] * len(sequences[:1])


@given(texts, unspaced_runs, separators, texts, st.data())
def test_every_stretch_of_an_unspaced_run_is_found(
    before: str, run: str, separator: str, after: str, data: st.DataObject
) -> None:
    """One or more characters of a script without spaces are found inside any run of it."""
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    assert is_found(f"{before} {run}{separator}{after}", query_terms(run[start:end])) == [True]


@given(texts, st.text("abcXYZ019é中文", min_size=1), st.data(), texts)
def test_every_beginning_of_a_word_is_found(
    before: str, word: str, data: st.DataObject, after: str
) -> None:
    """A prefix finds every word that begins with it."""
    prefix = word[: data.draw(st.integers(1, len(word)))]
    (whole, *_) = query_terms(prefix, prefix=True)
    assert is_found(f"{before} {word} {after}", [whole]) == [True]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("=> -- │", []),
        ("Read src/main.py, please", ["read", "src", "main", "py", "please"]),
        ("get_file-name2", ["get", "file", "name2", "name", "2"]),
        ("the parseHTTPQuery here", ["the", "parsehttpquery", "here", "parse", "http", "query"]),
        ("Résumé ÜBER Straße Øre", ["resume", "uber", "strasse", "ore"]),
        ("e\u0301te\u0301", ["ete"]),
        ("ＦＵＬＬ ﬁne x²", ["full", "fine", "x2"]),
        ("Ёлка ΆΛΦΑ", ["елка", "αλφα"]),
        ("שָׁלוֹם عَرَبِيّ", ["שלום", "عربي"]),
        ("हिन्दी", ["हिन्दी"]),
        ("中", ["中"]),
        ("中文字", ["中文", "文字", "字"]),
        ("用Python写", ["用", "python", "写"]),
        ("ガ か\u3099 ｶﾞ", ["ガ", "が", "ガ"]),
        ("한국어", ["한국", "국어", "어"]),
        ("ㅋㅏ", ["ㅋㅏ", "ㅏ"]),
        ("ไทย", ["ไท", "ทย", "ย"]),
    ],
)
def test_terms_of(text: str, terms: list[str]) -> None:
    """Words are folded, compounds follow with their parts, unspaced runs become pairs."""
    assert list(iter_terms(text)) == terms


@pytest.mark.parametrize(
    ("emoji", "same"),
    [("👍🏽", "👍"), ("❤️", "❤"), ("👨‍👩‍👧", "👨 👩 👧"), ("a👍b", "a 👍 b")],
)
def test_an_emoji_is_a_term(emoji: str, same: str) -> None:
    """Emoji are terms of their own, without skin tones, joiners and variation selectors."""
    assert list(iter_terms(emoji)) == list(iter_terms(same)) != []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain text, get_file_name\n\x00\x1b[0m MAX_LENGTH 12 files",
        "x" * 64,
        "\u2500\u2500 first \u2026 \u251c\u2500 second",
    ],
)
def test_plain_text_is_not_touched(text: str) -> None:
    """Text that the tokenizer reads rightly goes to the index as it is."""
    assert prepare_for_index(text) == text.encode()


def test_the_arrows_of_a_file_that_was_read_are_spaces() -> None:
    """They stand behind every line number, and what is all ASCII is indexed soonest."""
    assert prepare_for_index("  1\u2192first\n  2\u2192second") == b"  1 first\n  2 second"


def test_a_phrase_does_not_cross_into_the_parts() -> None:
    """The parts of one compound are no neighbours of the text or of the next compound."""
    text = "fooBar runs bazQux"
    asked = [("runs", "bazqux"), ("foo", "bar"), ("bazqux", "foo"), ("bar", "baz")]
    found = is_found(text, [TermSequence(terms) for terms in asked])
    assert found == [True, True, False, False]


@pytest.mark.parametrize(
    ("word", "prefix", "sequences"),
    [
        ("Timeout", False, (TermSequence(("timeout",)),)),
        ("time", True, (TermSequence(("time",), ends_open=True),)),
        ("src/", True, (TermSequence(("src",)),)),
        ("get_file", False, (TermSequence(("get", "file")),)),
        (
            "parseQu",
            True,
            (
                TermSequence(("parsequ",), ends_open=True),
                TermSequence(("parse", "qu"), ends_open=True),
            ),
        ),
        ("utf8", False, (TermSequence(("utf8",)), TermSequence(("utf", "8")))),
        ("中", False, (TermSequence(("中",), ends_open=True),)),
        ("中文", False, (TermSequence(("中文",)),)),
        ("中文字", True, (TermSequence(("中文", "文字")),)),
        ("中文app", False, (TermSequence(("中文", "文", "app")),)),
        ("app中", False, (TermSequence(("app", "中"), ends_open=True),)),
        ("=>", False, ()),
        ("", True, ()),
    ],
)
def test_what_a_word_is_searched_by(
    word: str, prefix: bool, sequences: tuple[TermSequence, ...]
) -> None:
    """A word becomes the sequence that it is in the index, and a second one by its parts."""
    assert query_terms(word, prefix=prefix) == sequences


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("query", "parseQuery()"),
        ("HTTPResponse", "getHTTPResponse"),
        ("http_response", "HTTPResponse"),
        ("HTTPResponse", "http_response"),
        ("utf-8", "UTF8"),
        ("utf8", "utf-8"),
        ("python", "python3"),
        ("resume", "RÉSUMÉ"),
        ("résumé", "resume"),
        ("strasse", "Straße"),
    ],
)
def test_another_spelling_is_found(query: str, text: str) -> None:
    """Parts, separators, accents and case do not keep a word from being found."""
    assert any(is_found(text, query_terms(query)))
