"""Tests of recollect.search.terms."""

import base64
import hashlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search import TermSequence, iter_terms, prepare_for_index, query_terms
from recollect.search.folding import BARRIER
from recollect.search.terms import (
    TERM_LIMIT,
    cut_long_runs,
    find_identifiers,
    is_part_boundary,
    split_identifier,
)
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
    """SQLite splits a prepared text into the same terms, in the same order, as `iter_terms`."""
    taken = [term for term in tokenise(prepare_for_index(text)) if BARRIER not in term]
    assert taken == list(iter_terms(text))


@given(texts | anything)
def test_prepared_text_can_be_stored(text: str) -> None:
    """For any text, even with lone surrogates, the prepared text is valid UTF-8."""
    prepared = prepare_for_index(text)
    assert prepared.decode("utf-8").encode("utf-8") == prepared


@given(texts, words | pictographs | unspaced_runs, texts)
def test_every_whole_word_is_found(before: str, word: str, after: str) -> None:
    """A word between spaces is found, whatever its characters and its context."""
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
    """Words are folded, compounds are followed by their parts, unspaced runs become pairs."""
    assert list(iter_terms(text)) == terms


@pytest.mark.parametrize(
    ("emoji", "same"),
    [("👍🏽", "👍"), ("❤️", "❤"), ("👨‍👩‍👧", "👨 👩 👧"), ("a👍b", "a 👍 b")],
)
def test_an_emoji_is_a_term(emoji: str, same: str) -> None:
    """Emoji are separate terms, without skin tones, joiners and variation selectors."""
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
    """Text that the tokenizer handles correctly is not changed."""
    assert prepare_for_index(text) == text.encode()


def test_the_arrows_of_a_file_that_was_read_are_spaces() -> None:
    """They follow every line number, and pure ASCII is indexed fastest."""
    assert prepare_for_index("  1\u2192first\n  2\u2192second") == b"  1 first\n  2 second"


def test_a_phrase_does_not_cross_into_the_parts() -> None:
    """The parts of a compound are not adjacent to the text or to the next compound."""
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
    """A word becomes the sequence that it has in the index, and a second one of its parts."""
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
    """A word is found despite different parts, separators, accents and case."""
    assert any(is_found(text, query_terms(query)))


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
    """Words, acronyms and their plurals, numbers and hexadecimal digits are not compounds."""
    assert split_identifier(name) == ()


def test_every_compound_is_found_in_a_text() -> None:
    """Each compound of a text is found once, in any context."""
    text = " ".join([*COMPOUNDS, *SIMPLE, *COMPOUNDS]) + " é(parseQuery)parseTree"
    names = [name.decode() for name in find_identifiers(text.encode())]
    compounds = sorted(filter(split_identifier, names))
    assert compounds == sorted({*COMPOUNDS, "parseTree"})


@pytest.mark.parametrize(
    ("text", "places"),
    [("parseQuery", [5]), ("HTTPServer", [4]), ("utf8x", [3, 4]), ("plain", []), ("URL", [])],
)
def test_parts_begin_at_boundaries(text: str, places: list[int]) -> None:
    """A part of a word begins at a change to upper case and where digits begin or end."""
    assert [at for at in range(1, len(text)) if is_part_boundary(text, at)] == places


def _make_data(size: int) -> bytes:
    """Return reproducible bytes without a pattern."""
    return b"".join(hashlib.sha256(bytes([i % 256, i // 256])).digest() for i in range(size // 32))


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_encoded_data_keeps_its_head(encode: Callable[[bytes], bytes]) -> None:
    """A long run of base64 keeps its first 64 characters, and the text around it stays."""
    run = encode(_make_data(9600)).decode()
    assert cut_long_runs(f"image: {run}, done") == f"image: {run[:64]}, done"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a" * 64,
        hashlib.sha256(b"").hexdigest(),
        "/usr/share" * 30,
        "some-long-kebab-case-name-" * 10,
        "=" * 1000,
        "│" * 1000,
        base64.b64encode(_make_data(128)).decode()[:60],
    ],
)
def test_ordinary_text_is_not_cut(text: str) -> None:
    """Words up to the limit, paths, names and rulers of any length stay whole."""
    assert cut_long_runs(text) == text


@pytest.mark.parametrize("letter", ["a", "é", "ж", "7"])
def test_an_endless_word_keeps_its_head(letter: str) -> None:
    """A word beyond the limit keeps its first 64 characters, in every alphabet."""
    assert cut_long_runs(f"({letter * 1000}) end") == f"({letter * 64}) end"


@given(texts, st.integers(65, 400), st.sampled_from("aéжक"), texts)
def test_no_term_is_longer_than_the_limit(before: str, count: int, letter: str, after: str) -> None:
    """No term exceeds 64 characters, whatever the text."""
    terms = iter_terms(before + letter * count + after)
    assert max(map(len, terms), default=0) <= TERM_LIMIT


@pytest.mark.parametrize(
    "run", ["a" * 1000, "й" * 100, base64.b64encode(_make_data(960)).decode(), "中" * 300]
)
def test_a_cut_run_is_found_when_asked_for_whole(run: str) -> None:
    """Text and query are cut in the same way."""
    assert is_found(f"see {run} there", query_terms(run)[:1]) == [True]
