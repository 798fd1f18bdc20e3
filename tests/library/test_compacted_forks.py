"""Forks made after a compaction, which start in the middle of their parent and do not name it."""

from pathlib import Path

import pytest

from recollect.library.listings import SessionContext, list_sessions, read_listing
from recollect.locations import discover_root
from tests.library.claude_root import FIRST, SECOND, THIRD, ClaudeRoot, Line, prompt, reply

BOUNDARY = "7e57ab1e-0000-4000-8000-000000000001"
OTHER = "7e57ab1e-0000-4000-8000-000000000002"


def compaction(uuid: str, *, seconds: float = 60) -> Line:
    """The record of a compaction."""
    line = prompt("", uuid=uuid, seconds=seconds)
    record = {key: value for key, value in line.items() if key != "message"}
    return {**record, "type": "system", "subtype": "compact_boundary", "content": "Conversation…"}


def copy_lines(session_id: str, *lines: Line) -> list[Line]:
    """Return lines as 2.1 copies them, with the id of their session."""
    return [{**line, "sessionId": session_id} for line in lines]


def write_parent(root: ClaudeRoot, session_id: str = FIRST, *, modified: float = 3600) -> None:
    """Write a session that was compacted in the middle."""
    lines = (prompt("drain"), reply("Done."), compaction(BOUNDARY), reply("On.", uuid="a2"))
    root.session(session_id, *copy_lines(session_id, *lines), modified=modified)


def write_fork(root: ClaudeRoot, session_id: str, first: Line) -> None:
    """Write a session that begins with a compaction."""
    own = (prompt("fill it", uuid=f"p-{session_id}"), reply("Full.", uuid=f"r-{session_id}"))
    root.session(session_id, *copy_lines(session_id, first, *own))


def list_parents(root: ClaudeRoot) -> dict[str, str | None]:
    """Return the session that each one was copied from."""
    return {each.id: each.forked_from for each in list_sessions(root=root.path).sessions}


def test_the_parent_is_the_session_with_the_compaction_in_its_middle(root: ClaudeRoot) -> None:
    """Two forks that begin with it are forks of the parent, not of each other."""
    write_parent(root)
    write_fork(root, SECOND, compaction(BOUNDARY))
    write_fork(root, THIRD, compaction(BOUNDARY))
    assert list_parents(root) == {FIRST: None, SECOND: FIRST, THIRD: FIRST}


def test_another_compaction_is_no_evidence(root: ClaudeRoot) -> None:
    """A compaction with another uuid, a mentioned or an invalid one gives no parent."""
    mention = prompt(f'"{OTHER}"', uuid="u9")
    root.session(FIRST, prompt("drain"), mention, compaction("short"), reply("Done."))
    write_fork(root, SECOND, compaction(OTHER))
    write_fork(root, THIRD, compaction("short"))
    assert list_parents(root) == {FIRST: None, SECOND: None, THIRD: None}


def test_the_files_of_a_project_are_searched_once(root: ClaudeRoot) -> None:
    """Further forks need no further search of the parent."""
    write_parent(root)
    write_fork(root, SECOND, compaction(BOUNDARY))
    write_fork(root, THIRD, compaction(BOUNDARY))
    files = {each.name: each for each in discover_root(root.path).transcripts}
    context = SessionContext()
    parents = []
    for name in (SECOND, THIRD):
        listing = read_listing(files[name], context)
        assert listing is not None
        parents.append(listing.forked_from)
        write_fork(root, FIRST, prompt("nothing was compacted here"))
    assert parents == [FIRST, FIRST]


def test_two_possible_parents_are_none(root: ClaudeRoot) -> None:
    """It is not known which of two copies of a file the fork was made of."""
    write_parent(root)
    write_parent(root, THIRD)
    write_fork(root, SECOND, compaction(BOUNDARY))
    assert list_parents(root)[SECOND] is None


def test_a_file_that_was_last_written_before_the_compaction_is_not_read(root: ClaudeRoot) -> None:
    """No record is later than the mtime of its file."""
    write_parent(root, modified=59)
    write_fork(root, SECOND, compaction(BOUNDARY))
    assert list_parents(root)[SECOND] is None


@pytest.mark.parametrize(
    ("version", "fork", "parent"),
    [
        ("2.0.77", "8746a47b", "4b1a174f"),
        ("2.1.112", "d25995ce", "a4a85637"),
        ("2.1.325", "34fb2907", "fb2bf66c"),
    ],
)
def test_forks_of_real_clients(shared: Path | None, version: str, fork: str, parent: str) -> None:
    """2.0.77 left the parent's id in the copy, later versions only the compaction."""
    if shared is None:
        pytest.skip("needs the recordings of real clients")
    listings = list_sessions(root=shared / "real_cli" / version / "config", page_size=1000).sessions
    origin = next(each.forked_from for each in listings if each.id.startswith(fork))
    assert origin is not None
    assert origin.startswith(parent)
