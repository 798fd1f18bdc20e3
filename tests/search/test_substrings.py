"""Any three or more letters and digits of a name, path, version or message are found."""

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.search import widening
from tests.library.claude_root import prompt
from tests.search.made_index import MadeIndex, make_index

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
    """Whatever part of whatever word of a text is sought, in whatever case."""
    name = data.draw(st.sampled_from(sorted(TEXTS)))
    word = data.draw(st.sampled_from(TEXTS[name].split()))
    start = data.draw(st.integers(0, max(len(word) - 3, 0)))
    part = word[start : data.draw(st.integers(start + 3, max(len(word), start + 3)))]
    assume(sum(map(str.isalnum, part)) >= 3)
    assume(not part.startswith(("-", "/")) and not set(part) & set("'\"()|*"))
    assert name in index.find(part.swapcase() if swap and part.isascii() else part)


def test_the_same_is_found_by_reading(index: MadeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """If too many words end with the first piece to ask for each, texts are read."""
    queries = ("2.3-be", "script_head", "main.p", "ol/main.p", "connection_ref")
    found = [index.find(query) for query in queries]
    monkeypatch.setattr(widening, "MAX_HEADS", 0)
    assert [index.find(query) for query in queries] == found
    assert found == [["version"], ["snake"], ["path"], ["path"], ["constant"]]


def test_a_single_character_is_the_first_piece(tmp_path: Path) -> None:
    """New single characters are not in the list of terms, and are found all the same."""
    made = make_index(tmp_path, [prompt("v 2.3-beta", uuid="a"), prompt("2.4-beta", uuid="b")])
    assert made.find("2.3-be") == ["a"]
