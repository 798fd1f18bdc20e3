"""The index of edits: which sessions are about a file, read once and again when they change."""

import json
import os
from pathlib import Path

import pytest

from recollect.locations import discover_root
from recollect.sync import sync
from recollect.versions.edit_index import EditIndex, group_sessions
from recollect.versions.file_history import FileHistory, find_history
from recollect.versions.file_paths import PathAliases
from tests.versions.small_project import Project


class Reads:
    """Counts the sessions that are read."""

    def __init__(self, directory: Path | None, root: Path) -> None:
        self.count = 0
        self._directory = directory
        self._root = root

    def _add(self, done: int, total: int) -> None:
        assert done <= total
        self.count += 1

    def find(self, path: Path) -> FileHistory:
        """Return the history of a file, through a new index."""
        transcripts = discover_root(self._root).transcripts
        aliases = PathAliases((str(path),), (str(path.parent),))
        return find_history(aliases, EditIndex(transcripts, self._directory, self._add))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A session about two files."""
    made = Project(tmp_path / "work")
    made.prompt("Write both")
    made.write("a.py", "one\n")
    made.write("b.py", "two\n")
    made.save(tmp_path / "claude")
    return made


def test_a_session_is_read_once(tmp_path: Path, project: Project) -> None:
    """The second question is answered from the index, also one about another file."""
    _settle(tmp_path)
    reads = Reads(tmp_path / "data", tmp_path / "claude")
    first = reads.find(project.path("a.py"))
    assert [version.text for version in first.versions] == ["one\n"]
    assert reads.count == 1
    assert reads.find(project.path("a.py")) == first
    other = reads.find(project.path("b.py"))
    assert [version.text for version in other.versions] == ["two\n"]
    assert reads.count == 1


def test_a_session_that_grew_is_read_again(tmp_path: Path, project: Project) -> None:
    """Appended changes are in the next result."""
    _settle(tmp_path)
    reads = Reads(tmp_path / "data", tmp_path / "claude")
    reads.find(project.path("a.py"))
    project.prompt("Change it")
    project.edit("a.py", "one", "uno")
    project.save(tmp_path / "claude")
    _settle(tmp_path)
    found = reads.find(project.path("a.py"))
    assert [version.text for version in found.versions] == ["one\n", "uno\n"]
    assert reads.count == 2


def test_the_order_of_transcripts_changes_no_answer(tmp_path: Path, project: Project) -> None:
    """Sessions about the same file are in the same order, however they are listed."""
    session = next((tmp_path / "claude").rglob("*.jsonl"))
    other = "ffffffff-0000-4000-8000-000000000000"
    text = session.read_text("utf-8").replace(session.stem, other)
    session.with_name(f"{other}.jsonl").write_text(text, "utf-8")
    transcripts = discover_root(tmp_path / "claude").transcripts
    path = project.path("a.py")
    aliases = PathAliases((str(path),), (str(path.parent),))
    found = [
        find_history(aliases, EditIndex(listed))
        for listed in (tuple(transcripts), tuple(reversed(transcripts)))
    ]
    assert found[0].sessions == (session.stem, other)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "start",
    ["", '{"type":"summary","summary":"Tides"}\n', f'{{"type":"user","text":"{"x" * 20_000}"}}\n'],
    ids=["prompt", "summary", "long"],
)
def test_an_early_subagent_belongs_to_the_session_that_it_names(
    tmp_path: Path, project: Project, start: str
) -> None:
    """Its file is beside that of the session, which is named in a record, mostly in the first."""
    (directory,) = (tmp_path / "claude" / "projects").iterdir()
    record = {"type": "user", "uuid": "u1", "sessionId": project.session, "isSidechain": True}
    agent = directory / "agent-0a1b2c3d.jsonl"
    agent.write_text(start + json.dumps({**record, "message": {"role": "user"}}) + "\n")
    lost = directory / "agent-4e5f6a7b.jsonl"
    lost.write_text('{"type":"summary","summary":"Lost"}\n')
    found = group_sessions(discover_root(tmp_path / "claude").transcripts)
    files = {each.transcript.path: [other.path for other in each.others] for each in found}
    assert files == {directory / f"{project.session}.jsonl": [agent], lost: []}


def test_an_index_changes_no_answer(tmp_path: Path, project: Project) -> None:
    """Results are equal without an index, with a new one, and with a current one."""
    _settle(tmp_path)
    plain = Reads(None, tmp_path / "claude").find(project.path("a.py"))
    reads = Reads(tmp_path / "data", tmp_path / "claude")
    assert reads.find(project.path("a.py")) == plain
    assert reads.find(project.path("a.py")) == plain


def test_the_index_stays_one_for_everything_else(tmp_path: Path, project: Project) -> None:
    """Outlines are an addition: a sync accepts the index that has them, and keeps them."""
    _settle(tmp_path)
    transcripts = discover_root(tmp_path / "claude").transcripts
    reads = Reads(tmp_path / "data", tmp_path / "claude")
    reads.find(project.path("a.py"))
    sync(tmp_path / "data", transcripts)
    reads.find(project.path("b.py"))
    assert reads.count == 1


def test_a_directory_that_cannot_be_written_costs_only_time(
    tmp_path: Path, project: Project
) -> None:
    """A file where the directory should be: every question reads the session again."""
    _settle(tmp_path)
    (tmp_path / "data").write_text("not a directory")
    reads = Reads(tmp_path / "data", tmp_path / "claude")
    first = reads.find(project.path("a.py"))
    assert reads.find(project.path("a.py")) == first
    assert reads.count == 2


def test_only_as_much_is_read_as_allowed(tmp_path: Path, project: Project) -> None:
    """At least one session is read, the newest first; the rest is read when it is asked for."""
    first = next((tmp_path / "claude").rglob("*.jsonl"))
    newest = first.with_name("ffffffff-0000-4000-8000-000000000000.jsonl")
    newest.write_text(first.read_text("utf-8").replace(first.stem, newest.stem), "utf-8")
    _settle(tmp_path)
    os.utime(first, ns=(0, 0))
    transcripts = discover_root(tmp_path / "claude").transcripts
    index = EditIndex(transcripts, tmp_path / "data", budget=1)
    assert [each.outline.session_id for each in index.find(None)] == [newest.stem]
    assert index.unread == 1
    EditIndex(transcripts, tmp_path / "data").update()
    index = EditIndex(transcripts, tmp_path / "data", budget=1)
    assert (len(index.find(None)), index.unread) == (2, 0)


def _settle(directory: Path) -> None:
    """Make files old: one that was written just now may change without that being seen."""
    for path in directory.rglob("*.jsonl"):
        status = path.stat()
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - 10_000_000_000))
