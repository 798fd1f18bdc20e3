"""Attribute the lines of a file by its history and a real repository."""

from pathlib import Path

import pytest

from recollect.session.times import parse_time
from recollect.versions.file_blame import blame_current
from recollect.workspace.file_queries import FileRequest, find_file
from recollect.workspace.workspace import Workspace
from tests.git_repository import run_git
from tests.versions.small_project import Project

BEFORE = "2026-10-31T10:00:00Z"


def test_a_moved_file_is_compared_with_the_commit_of_its_earlier_name(tmp_path: Path) -> None:
    """A user's change before a command moved the file is not attributed to the first commit."""
    project = Project(tmp_path / "work")
    project.path("old.py").write_text("committed = 1\n", "utf-8")
    for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "Begin")):
        run_git(project.directory, *words, time=BEFORE)
    text = "committed = 1\nby_hand = 2\n"
    path = project.path("new.py")
    path.write_text(text, "utf-8")
    project.path("old.py").unlink()
    project.prompt("Move it")
    project.call("Bash", {"command": "mv old.py new.py"}, {"stdout": "", "stderr": ""})
    content = {"content": text, "startLine": 1, "numLines": 3, "totalLines": 3}
    given = {"file_path": str(path)}
    project.call("Read", given, {"type": "text", "file": {"filePath": str(path), **content}})
    project.save(tmp_path / "claude")
    with Workspace([tmp_path / "claude"], tmp_path / "data") as workspace:
        found = find_file(workspace, FileRequest(path))
    lines = blame_current(found.history, found.git, path.read_bytes())
    assert [line.author.kind.value for line in lines] == ["before", "outside"]


@pytest.mark.parametrize(
    ("time", "by"),
    [
        ("2026-11-01T10:08:00Z", "unknown"),
        ("2026-11-01T10:12:00Z", "other"),
        ("2026-10-01T10:00:00Z", "other"),
    ],
)
def test_what_a_command_may_have_written_is_unknown(tmp_path: Path, time: str, by: str) -> None:
    """A file that was last changed while commands ran after its last version is not called mine."""
    project = Project(tmp_path / "work")
    path = project.path("a.py")
    project.prompt("Write it")
    project.write("a.py", "first_value = 1\nsecond_value = 2\n")
    project.call("Bash", {"command": "make generate"}, {"stdout": "", "stderr": ""})
    project.save(tmp_path / "claude")
    with Workspace([tmp_path / "claude"], tmp_path / "data") as workspace:
        found = find_file(workspace, FileRequest(path))
    data = b"first_value = 1\ngenerated_value = 3\n"
    lines = blame_current(found.history, found.git, data, parse_time(time))
    assert [line.author.by for line in lines] == ["claude", by]
