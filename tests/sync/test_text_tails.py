"""Tests of recollect.sync.text_indexer: new records are found before they are indexed."""

import os
import time
from pathlib import Path

import pytest

from recollect.search.engine import ANALYZER, SearchOptions, search
from recollect.store.text_rows import FreshTexts
from recollect.sync import text_reading
from recollect.sync.text_indexer import read_fresh
from tests.library.claude_root import SECOND, Line, encode, prompt, reply, result
from tests.search.made_index import MadeIndex, make_index


def grow(made: MadeIndex, *lines: Line) -> None:
    """Add lines to the session, just now."""
    with made.path().open("ab") as file:
        file.write(encode(lines))
    os.utime(made.path())


def find(made: MadeIndex, query: str) -> list[str]:
    """Return the uuids of results while the index is out of date."""
    options = SearchOptions(per_session=100)
    found = search(made.data, query, made.transcripts(), options, index_complete=False)
    return sorted(hit.uuid or hit.part for hit in found.hits)


def test_new_text_is_found_before_it_is_indexed(tmp_path: Path) -> None:
    """Lines that were appended are found beside those of the index, by words and by fields."""
    made = make_index(tmp_path, [prompt("alpha pond", uuid="u1")])
    grow(made, reply("alpha", uuid="a1"), result("alpha tide", uuid="r1"))
    queries = ("alpha", "tide", "role:user", "role:assistant alpha", "lph", "/al.ha/")
    assert {query: find(made, query) for query in queries} == {
        "alpha": ["a1", "r1", "u1"],
        "tide": ["r1"],
        "role:user": ["u1"],
        "role:assistant alpha": ["a1"],
        "lph": ["a1", "r1", "u1"],
        "/al.ha/": ["a1", "r1", "u1"],
    }


def test_nothing_is_found_twice(tmp_path: Path) -> None:
    """A record in the index and at the end of a file is one hit, also once it is indexed."""
    made = make_index(tmp_path, [prompt("alpha", uuid="u1")])
    grow(made, prompt("alpha", uuid="u2", seconds=5))
    before = find(made, "alpha")
    made.index()
    assert (before, find(made, "alpha")) == (["u1", "u2"], ["u1", "u2"])


def test_there_need_not_be_an_index(tmp_path: Path) -> None:
    """Before anything is indexed, the ends of growing files are all there is to search."""
    made = MadeIndex(tmp_path)
    made.write(prompt("alpha", uuid="old"))
    made.write(prompt("alpha", uuid="resting"), session=SECOND)
    grow(made, reply("alpha", uuid="new"))
    assert (find(made, "alpha"), made.data.exists()) == (["new", "old"], False)


def test_only_the_end_of_a_long_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole lines from the last bytes of a file are found, and nothing before them."""
    lines = [prompt(f"alpha {number}", uuid=f"u{number}") for number in range(9)]
    monkeypatch.setattr(text_reading, "TAIL", 2 * len(encode(lines[-1:])) + 10)
    made = MadeIndex(tmp_path)
    made.write(*lines)
    grow(made)
    assert find(made, "alpha") == ["u7", "u8"]


def test_quiet_and_current_files_are_not_read(tmp_path: Path) -> None:
    """Nothing is read of a file that did not change within the last minute."""
    made = make_index(tmp_path, [prompt("alpha", uuid="u1")])
    grow(made, prompt("beta", uuid="u2"))
    os.utime(made.path(), (time.time() - 100, time.time() - 100))
    assert read_fresh(made.data, ANALYZER, made.transcripts()) == FreshTexts()
