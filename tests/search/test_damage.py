"""Searching an index that is damaged, or that another process replaces."""

import contextlib
from pathlib import Path

import pytest

from recollect.cli.picker_state import Sources
from recollect.search.engine import ANALYZER
from recollect.store.data_directory import find_text_path
from recollect.store.schema import DamagedIndex
from recollect.store.text_database import delete_texts
from recollect.sync.text_indexer import index_texts
from recollect.sync.text_plan import find_text_status
from recollect.workspace.workspace import Workspace
from tests.library.claude_root import FIRST, prompt
from tests.search.made_index import MadeIndex, make_index

PAGE = 8192


@pytest.fixture
def made(tmp_path: Path) -> MadeIndex:
    """An index of a hundred prompts."""
    lines = [prompt(f"alpha number{n}", uuid=f"u{n:03}", seconds=n) for n in range(100)]
    return make_index(tmp_path, lines)


def zero_pages(made: MadeIndex) -> None:
    """Overwrite all pages of the full-text index but the first with zeros."""
    path = find_text_path(made.data)
    path.write_bytes(path.read_bytes()[:PAGE] + bytes(path.stat().st_size - PAGE))


def test_a_search_never_answers_from_a_damaged_index(made: MadeIndex) -> None:
    """It raises, and finds the same again after indexing."""
    expected = made.find("alpha")
    zero_pages(made)
    with pytest.raises(DamagedIndex):
        made.find("alpha")
    assert made.index()
    assert made.find("alpha") == expected


def test_indexing_starts_again_on_a_damaged_index(made: MadeIndex) -> None:
    """Everything is indexed again, not only new texts."""
    zero_pages(made)
    made.append(prompt("alpha", uuid="later", seconds=200))
    assert made.index()
    assert len(made.find("alpha")) == 101


def test_indexing_starts_again_on_a_replaced_index(made: MadeIndex) -> None:
    """Texts of the previous index are in the new one too."""
    made.append(prompt("alpha", uuid="later", seconds=200))
    deletions = iter([made.data])

    def delete_once(_: object) -> None:
        with contextlib.suppress(StopIteration):
            delete_texts(next(deletions))

    assert index_texts(made.data, ANALYZER, made.transcripts(), on_progress=delete_once)
    assert len(made.find("alpha")) == 101


def test_without_an_index_no_answer_is_complete(made: MadeIndex) -> None:
    """The caller's claim that it is complete may be outdated."""
    find_text_path(made.data).unlink()
    result = made.search("alpha")
    assert (result.hits, result.index_complete) == ((), False)


def test_the_picker_finds_the_same_after_damage(made: MadeIndex) -> None:
    """The index is rebuilt before it reports no matches."""
    sources = Sources(Workspace(data_directory=made.data), made.transcripts())
    zero_pages(made)
    assert list(sources.find("number77", 40).hits) == [FIRST]


def test_the_status_of_a_damaged_index_is_that_all_is_behind(made: MadeIndex) -> None:
    """Reading the status deletes nothing."""
    zero_pages(made)
    status = find_text_status(made.data, ANALYZER.version, made.transcripts())
    assert (status.is_current, status.files_behind) == (False, 1)
    assert find_text_path(made.data).exists()
