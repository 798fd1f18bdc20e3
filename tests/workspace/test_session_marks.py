"""Stars and notes: kept in our own file, set separately, and never lost in concurrent writes."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.errors import IndexFailure, UsageError
from recollect.workspace.session_marks import (
    MARKS_NAME,
    MAX_NOTE,
    SessionMark,
    change_mark,
    load_marks,
)


def test_a_star_and_a_note_are_kept_apart(tmp_path: Path) -> None:
    """Each is set and removed separately; a session without either is not in the file."""
    data = tmp_path / "data"
    assert change_mark(data, "a", starred=True) == SessionMark(starred=True)
    assert change_mark(data, "a", note=" on\nhold ") == SessionMark(starred=True, note="on\nhold")
    change_mark(data, "b", note="later")
    assert change_mark(data, "a") == load_marks(data)["a"]
    change_mark(data, "a", starred=False)
    change_mark(data, "b", note="")
    assert load_marks(data) == {"a": SessionMark(note="on\nhold")}
    assert stat.S_IMODE((data / MARKS_NAME).stat().st_mode) == 0o600


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Concurrent writers wait for each other."""
    names = [f"session-{number}" for number in range(20)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: change_mark(tmp_path, name, starred=True), names))
    assert load_marks(tmp_path) == {name: SessionMark(starred=True) for name in names}


def test_a_damaged_file_is_never_replaced(tmp_path: Path) -> None:
    """Lists show no marks; changes are refused, and the file is left unchanged."""
    path = tmp_path / MARKS_NAME
    path.write_bytes(b'{"sessions": {"a":')
    assert load_marks(tmp_path) == {}
    with pytest.raises(IndexFailure, match="Move or delete it"):
        change_mark(tmp_path, "b", starred=True)
    assert path.read_bytes() == b'{"sessions": {"a":'


def test_a_note_has_an_end(tmp_path: Path) -> None:
    """Notes have a maximum length."""
    with pytest.raises(UsageError, match="at most 10,000 characters"):
        change_mark(tmp_path, "a", note="x" * (MAX_NOTE + 1))


def test_a_note_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """Invalid UTF-8 in an argument is rejected, and nothing is changed."""
    change_mark(tmp_path, "a", note="kept")
    with pytest.raises(UsageError, match="must be valid UTF-8"):
        change_mark(tmp_path, "a", note="x \udcff")
    assert load_marks(tmp_path) == {"a": SessionMark(note="kept")}
