"""Notes on files, kept in the index."""

import os
from pathlib import Path

import apsw

from recollect.store.database import open_for_writing
from recollect.store.file_notes import FileNote, load_notes, save_notes

FIRST = FileNote("/a", 1, 2, b"first")
SECOND = FileNote("/b", 3, 4, b"second")


def test_notes_of_a_kind_are_found_by_path(tmp_path: Path) -> None:
    """The last note on a file is the one that counts, and kinds do not meet."""
    with open_for_writing(tmp_path) as connection:
        assert load_notes(connection, "x/1") == {}
        save_notes(connection, "x/1", [FIRST, SECOND])
        save_notes(connection, "y/1", [FIRST])
        changed = FIRST._replace(size=9, note=b"anew")
        save_notes(connection, "x/1", [changed])
        assert load_notes(connection, "x/1") == {"/a": changed, "/b": SECOND}
        assert load_notes(connection, "y/1") == {"/a": FIRST}
        assert load_notes(connection, "x/2") == {}


def test_notes_on_some_files_are_found(tmp_path: Path) -> None:
    """Who asks about a few files gets what is known of those, and an answer before there is any."""
    with open_for_writing(tmp_path) as connection:
        assert load_notes(connection, "x/1", ["/a"]) == {}
        save_notes(connection, "x/1", [FIRST, SECOND])
        assert load_notes(connection, "x/1", ["/b", "/c"]) == {"/b": SECOND}
        assert load_notes(connection, "x/1", []) == {}


def test_a_note_that_was_not_written_counts_as_none(tmp_path: Path) -> None:
    """A flipped bit in a note is no damage to SQLite, but it would be one to an answer."""
    with open_for_writing(tmp_path) as connection:
        save_notes(connection, "x/1", [FIRST, SECOND])
    other = apsw.Connection(str(tmp_path / "index.db"))
    other.execute("UPDATE file_notes SET note = x'666a727374' WHERE path = '/a'")
    other.close()
    with open_for_writing(tmp_path) as connection:
        assert load_notes(connection, "x/1") == {"/b": SECOND}


def test_a_path_that_is_no_text_has_its_note(tmp_path: Path) -> None:
    """Names of files are bytes, which SQLite could not keep as they are."""
    odd = FileNote(os.fsdecode(b"/caf\xe9"), 1, 2, b"odd")
    with open_for_writing(tmp_path) as connection:
        save_notes(connection, "x/1", [odd, FIRST])
        assert load_notes(connection, "x/1") == {odd.path: odd, "/a": FIRST}
        assert load_notes(connection, "x/1", [odd.path]) == {odd.path: odd}
