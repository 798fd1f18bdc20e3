"""Any three or more letters and digits of a name, path, version or message are found."""

import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.demo import CLAUDE_DIRECTORY
from recollect.reader.transcript_reader import read_transcript
from recollect.records.envelope import Chain
from recollect.search import matching, word_forms
from recollect.search.engine import SearchOptions, search
from recollect.search.word_lookup import ENOUGH
from recollect.session.searchable_texts import list_searchable_texts
from tests.library.claude_root import prompt
from tests.search.made_index import MadeIndex, make_index

KEYWORDS = {"AND", "NOT", "OR"}
TEXTS = {
    "snake": "def parse_transcript_header(path: Path) -> Header: ...",
    "constant": "errno.CONNECTION_REFUSED_BY_PEER",
    "path": "see /srv/pond/src/tidepool/main.py:12:34 or C:\\Users\\mina\\notes.txt",
    "version": "upgrade to v2.3-beta.1+build5 from 0.12.3rc4",
    "camel": "new HTTPServerConnection.withRetryPolicy2(parseJSONBody)",
    "option": "git rebase --autosquash=fixup_only @{upstream}..HEAD~3",
    "url": "https://pond.example.org:8443/api/v1/frogs?limit=20&sort=-age",
    "message": "TypeError: can't_multiply sequence by non-int of type 'str'",
    "mixed": "résumé_größe.txt 测试file_名称.py Ошибка_модуля",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> MadeIndex:
    """One prompt for each of the texts, with its name as uuid."""
    lines = [prompt(text, uuid=name) for name, text in TEXTS.items()]
    return make_index(tmp_path_factory.mktemp("texts"), lines)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("transcript_head", "snake"),
        ("script_head", "snake"),
        ("SCRIPT-HEAD", "snake"),
        ("CONNECTION_REF", "constant"),
        ("connection.ref", "constant"),
        ("main.p", "path"),
        ("pool/main.p", "path"),
        ("2.3-be", "version"),
        ("3rc", "version"),
        ("rverConnection.with", "camel"),
        ("squash=fix", "option"),
        ("n't_mul", "message"),
        ("sume_gro", "mixed"),
        ("试file_名", "mixed"),
    ],
)
def test_a_part_of_a_name_is_found(index: MadeIndex, query: str, found: str) -> None:
    """Across separators and in any case."""
    assert index.find(query) == [found]


@given(st.data(), st.booleans())
def test_every_part_of_a_word_is_found(index: MadeIndex, data: st.DataObject, swap: bool) -> None:
    """Any part of any word of a text, in any case."""
    name = data.draw(st.sampled_from(sorted(TEXTS)))
    word = data.draw(st.sampled_from(TEXTS[name].split()))
    start = data.draw(st.integers(0, max(len(word) - 3, 0)))
    part = word[start : data.draw(st.integers(start + 3, max(len(word), start + 3)))]
    assume(sum(map(str.isalnum, part)) >= 3)
    assume(not part.startswith(("-", "/")) and not set(part) & set("'\"()|*"))
    assert name in index.find(part.swapcase() if swap and part.isascii() else part)


@given(st.data())
def test_every_part_between_stars_is_found_however_common_it_is(
    index: MadeIndex, data: st.DataObject
) -> None:
    """Any three or more characters with a letter or digit at both ends."""
    name = data.draw(st.sampled_from(sorted(TEXTS)))
    word = data.draw(st.sampled_from([word for word in TEXTS[name].split() if len(word) >= 3]))
    start = data.draw(st.integers(0, len(word) - 3))
    part = word[start : data.draw(st.integers(start + 3, len(word)))]
    assume(part[0].isalnum() and part[-1].isalnum())
    assume(not set(part) & set("'\"()|*") and ":" not in part)
    assert name in index.find(f"*{part}*")


@pytest.mark.parametrize("most", [1, 3])
def test_a_quick_search_names_what_it_did_not_look_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """A quick search finds the shortest words with `tion`, any other all of them."""
    monkeypatch.setattr(word_forms, "MAX_TERMS", most)
    words = ["action", "mention_it", "transaction", "Generalisation", "notional"]
    made = make_index(tmp_path, [prompt(word, uuid=word) for word in words])
    found = made.search("tion", SearchOptions(quick=True))
    assert (len(found.hits), found.capped) == (most, ("tion",))
    for query in ("tion", "*tion*"):
        whole = made.search(query, SearchOptions(per_session=9))
        assert (whole.total, whole.capped, whole.is_total_exact) == (5, (), True)
        assert {hit.snippet.text[slice(*hit.snippet.marks[0])] for hit in whole.hits} == {"tion"}
    assert made.find("*tion* -*action*") == ["Generalisation", "mention_it", "notional"]
    assert made.search("mention").capped == ()


@pytest.mark.parametrize("is_fresh", [False, True])
def test_any_of_many_words_may_end_with_the_first_piece(tmp_path: Path, *, is_fresh: bool) -> None:
    """One phrase finds them all, also in lines that are not in the index yet."""
    names = [f"{letter}{number}tion_code" for number in range(40) for letter in "abc"]
    made = make_index(tmp_path, [prompt("the pond", uuid="first")])
    made.append(*(prompt(name, uuid=name) for name in names), prompt("tion cold", uuid="apart"))
    if is_fresh:
        os.utime(made.path())
        options = SearchOptions(per_session=1000)
        hits = search(made.data, "tion_co", made.transcripts(), options, index_complete=False).hits
        assert sorted(str(hit.uuid) for hit in hits) == sorted([*names, "apart"])
    else:
        assert made.index()
        assert made.find("tion_co") == sorted([*names, "apart"])


def test_the_same_is_found_by_reading(index: MadeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """If too many words end with the first piece to look up each, texts are read."""
    queries = ("2.3-be", "script_head", "main.p", "ol/main.p", "connection_ref")
    found = [index.find(query) for query in queries]
    monkeypatch.setattr(word_forms, "MAX_HEADS", 0)
    assert [index.find(query) for query in queries] == found
    assert found == [["version"], ["snake"], ["path"], ["path"], ["constant"]]


def test_a_single_character_is_the_first_piece(tmp_path: Path) -> None:
    """New single characters are not in the list of terms, but are found."""
    made = make_index(tmp_path, [prompt("v 2.3-beta", uuid="a"), prompt("2.4-beta", uuid="b")])
    assert made.find("2.3-be") == ["a"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> MadeIndex:
    """The sample sessions, which resemble real ones."""
    made = MadeIndex(tmp_path_factory.mktemp("demo"))
    shutil.copytree(CLAUDE_DIRECTORY, made.root)
    assert made.index()
    return made


@pytest.fixture(scope="module")
def said(demo: MadeIndex) -> list[tuple[str, str]]:
    """The uuids and texts of all their records that are found once."""
    found = [
        (record.uuid, each.text)
        for transcript in demo.transcripts()
        for record in read_transcript(transcript.file)
        if isinstance(record, Chain) and record.uuid
        for each in list_searchable_texts(record)
    ]
    texts = Counter(text for _, text in found)
    return [(uuid, text) for uuid, text in found if texts[text] == 1 and len(text) < 5000]


@given(st.data())
def test_short_parts_of_real_texts_are_found(
    demo: MadeIndex, said: list[tuple[str, str]], data: st.DataObject
) -> None:
    """Three to six letters of any word, many of which are parts of very many words."""
    uuid, text = data.draw(st.sampled_from(said))
    words = re.findall("[A-Za-z0-9]{3,40}", text)
    assume(words)
    word = data.draw(st.sampled_from(words))
    start = data.draw(st.integers(0, len(word) - 3))
    part = word[start : start + data.draw(st.integers(3, 6))]
    found = demo.search(f"*{part}*", SearchOptions(limit=1000, per_session=1000))
    assert found.is_total_exact
    assert uuid in {hit.uuid for hit in found.hits}


@given(st.data())
def test_short_parts_are_found_without_stars(
    demo: MadeIndex, said: list[tuple[str, str]], data: st.DataObject
) -> None:
    """Three to eight characters of any name, across separators, unless many texts have them as a
    separate word.
    """
    uuid, text = data.draw(st.sampled_from(said))
    names = re.findall(r"[A-Za-z0-9]+(?:[_./:-][A-Za-z0-9]+)*", text)
    longer = [name for name in names if 3 <= len(name) <= 60]
    assume(longer)
    name = data.draw(st.sampled_from(longer))
    start = data.draw(st.integers(0, len(name) - 3))
    part = name[start : start + data.draw(st.integers(3, 8))]
    assume(sum(map(str.isalnum, part)) >= 3 and part[0].isalnum() and part not in KEYWORDS)
    assume(not re.match("[a-z]+:", part))
    found = demo.search(part, SearchOptions(limit=1000, per_session=1000))
    assert found.capped == ()
    is_word = demo.search(f'"{part}"', SearchOptions(limit=1)).total >= ENOUGH
    assert is_word or found.total >= ENOUGH or uuid in {hit.uuid for hit in found.hits}


@pytest.mark.parametrize(
    ("query", "uuids", "capped"),
    [
        ("script_head", ["snake"], ()),
        ("pool/main.p", ["path"], ()),
        ("2.3-be", ["version"], ()),
        ("main.p", ["path"], ()),
    ],
)
def test_a_quick_search_finds_parts_of_names(
    index: MadeIndex, query: str, uuids: list[str], capped: tuple[str, ...]
) -> None:
    """If few words have its pieces, it finds the same as any search."""
    found = index.search(query, SearchOptions(quick=True))
    assert ([hit.uuid for hit in found.hits], found.capped) == (uuids, capped)


def test_a_quick_search_looks_at_the_newest_of_many_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result says that there are more, and any other search finds all."""
    monkeypatch.setattr(matching, "_MAX_QUICK", 2)
    made = make_index(tmp_path, [prompt("heron", uuid=str(at), seconds=at) for at in range(3)])
    quick = made.search("heron", SearchOptions(quick=True, facets=True))
    assert {hit.uuid for hit in quick.hits} == {"1", "2"}
    assert (quick.total, quick.is_total_exact) == (2, False)
    whole = made.search("heron")
    assert (whole.total, whole.is_total_exact) == (3, True)


def test_a_quick_search_leaves_out_a_last_piece_of_many_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It finds the pieces before it, and reports that it is incomplete."""
    monkeypatch.setattr(word_forms, "_MAX_TAILS", 1)
    texts = {"a": "domain.py", "b": "domain.pl", "c": "x_domain_pq", "d": "pond"}
    made = make_index(tmp_path, [prompt(text, uuid=uuid) for uuid, text in texts.items()])
    quick = made.search("main.p", SearchOptions(quick=True))
    assert (sorted(str(hit.uuid) for hit in quick.hits), quick.capped) == (list("abc"), ("main.p",))
    quick = made.search("x_domain.p", SearchOptions(quick=True))
    assert (quick.hits[0].uuid, quick.capped) == ("c", ("x_domain.p",))
    assert made.search("x_domain.p").capped == ()


def test_a_quick_search_looks_for_few_beginnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that end with the first piece, shortest first, as long as there is time."""
    for limit in ("_FEW_HEADS", "_MAX_READ", "_MAX_COMPARISONS"):
        monkeypatch.setattr(word_forms, limit, int(limit == "_FEW_HEADS"))
    names = ("action", "transaction")
    made = make_index(tmp_path, [prompt(f"{name}_code", uuid=name) for name in names])
    found = made.search("tion_co", SearchOptions(quick=True))
    assert ([hit.uuid for hit in found.hits], found.capped) == (["action"], ("tion_co",))
    assert made.find("tion_co") == ["action", "transaction"]
