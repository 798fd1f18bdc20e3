"""Names of sessions by the index: the same answers as from the files."""

from pathlib import Path

import pytest

from recollect.errors import NothingFound
from recollect.library.listings import locate_session
from recollect.sync.index_access import find_transcripts
from recollect.sync.session_lists import (
    find_deleted_session,
    list_current,
    list_indexed,
    locate_indexed,
)
from tests.library.claude_root import FIRST, SECOND, ClaudeRoot, prompt, title

ALIKE = "1111aaaa-0000-4000-8000-000000000000"
EMPTY = "44444444-4444-4444-8444-444444444444"
NAMES = (
    *(FIRST, SECOND, ALIKE, EMPTY, "1111", "1111a", "4444", "a1b2", "agent-a1b2c3d4"),
    *("pond", "POND ", "drain", "the", "drought", "latest", "-1", "-2", "-3", "-4", "", "../x"),
)


@pytest.fixture
def root(tmp_path: Path) -> ClaudeRoot:
    """Sessions whose names begin alike, an empty file and a subagent."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, prompt("a", seconds=3), title("Drain the pond"))
    root.session(SECOND, prompt("b", seconds=2), title("Fill the pond"))
    root.session(ALIKE, prompt("c", seconds=1), title("pond"))
    root.session(EMPTY)
    root.agent(f"{FIRST}/subagents", "a1b2c3d4", prompt("look"))
    return root


def ask(root: ClaudeRoot, name: str, data: Path | None) -> str:
    """The file that a name refers to, or the error message."""
    try:
        if data is None:
            return str(locate_session(name, root=root.path).path)
        return str(locate_indexed(name, data, [root.path]).path)
    except NothingFound as error:
        return str(error)


@pytest.mark.parametrize("name", NAMES)
def test_the_index_answers_as_the_files_do(root: ClaudeRoot, tmp_path: Path, name: str) -> None:
    """A name leads to the same file, or to the same message, with and without an index."""
    data = tmp_path / "data"
    expected = ask(root, name, None)
    assert [ask(root, name, data), ask(root, name, data)] == [expected, expected]


def test_the_latest_session_is_found_without_reading_all_others(tmp_path: Path) -> None:
    """Also the one before, and one whose file was written after its last record."""
    root, data = ClaudeRoot(tmp_path / "claude"), tmp_path / "data"
    for number in range(12):
        name = f"{number:08}-0000-4000-8000-000000000000"
        root.session(name, prompt("a", seconds=number), modified=number)
    root.session(FIRST, prompt("b", seconds=-1), modified=100)
    found = [ask(root, name, data) for name in ("latest", "-1", "-2")]
    assert found == [ask(root, name, None) for name in ("latest", "-1", "-2")]
    assert 0 < len(list_indexed(data)) < 12
    assert ask(root, "-13", data) == ask(root, "-13", None)
    assert len(list_indexed(data)) == 13


def test_an_id_needs_no_index(root: ClaudeRoot, tmp_path: Path) -> None:
    """An id is resolved without looking up titles."""
    locate_indexed(SECOND, tmp_path / "data", [root.path])
    assert not (tmp_path / "data").exists()


def test_what_a_list_has_shown_is_known_when_it_is_gone(root: ClaudeRoot, tmp_path: Path) -> None:
    """A listed session is found as deleted once its file is deleted, and not before."""
    data = tmp_path / "data"
    list_current(data, find_transcripts([root.path]))
    assert find_deleted_session("2222", data) is None
    (path,) = root.path.rglob(f"{SECOND}.jsonl")
    path.unlink()
    gone = find_deleted_session("2222", data)
    assert (gone and gone.id, find_deleted_session("222", data)) == (SECOND, None)
