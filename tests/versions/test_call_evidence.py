"""Evidence about files from calls whose results are not enough."""

from pathlib import Path
from typing import Any

import pytest

from recollect.library.opening import open_session
from recollect.versions.evidence import Change, Evidence, Sighting, Window
from recollect.versions.session_evidence import collect_evidence
from tests.versions.small_project import SESSION, Project


def _collect(project: Project, root: Path) -> tuple[Evidence, ...]:
    project.save(root)
    return collect_evidence(open_session(SESSION, root=root))


def _read(tmp_path: Path, text: str, **limits: int) -> Evidence:
    project = Project(tmp_path / "work")
    project.prompt("Look")
    given: dict[str, Any] = {"file_path": str(project.path("a.py")), **limits}
    # As in the transcripts of subagents: no result object.
    project.call("Read", given, None, text)
    return _collect(project, tmp_path / "claude")[-1]


@pytest.mark.parametrize(
    ("shown", "text"),
    [("1\tone\n2\ttwo\n3\t", "one\ntwo\n"), ("1\tone\n2\ttwo", "one\ntwo"), ("1\t", "")],
)
def test_numbered_lines_of_a_whole_file_are_its_content(
    tmp_path: Path, shown: str, text: str
) -> None:
    """A subagent that reads a file without limits shows all of it, and its last line end."""
    found = _read(tmp_path, shown)
    assert isinstance(found, Sighting)
    assert found.text == text


@pytest.mark.parametrize(
    ("shown", "limits"),
    [
        ("1\tone\n2\ttwo", {"limit": 2}),
        ("1\tone\n2\ttwo", {"offset": 1}),
        ("2\ttwo\n3\tthree", {}),
        ("1\tone\n3\tthree", {}),
        ("1\tone\n2\ttwo\n\n<system-reminder>The file has more lines.</system-reminder>", {}),
        (f"1\t{'x' * 2000}\n2\ttwo", {}),
        ("\n".join(f"{at}\tline" for at in range(1, 2001)), {}),
        ("     1→one\n     2→two", {}),
    ],
)
def test_numbered_lines_of_a_part_are_not_its_content(
    tmp_path: Path, shown: str, limits: dict[str, int]
) -> None:
    """With limits, gaps, notices or cut lines, only the lines themselves are known."""
    assert isinstance(_read(tmp_path, shown, **limits), Window)


def test_a_patch_of_line_ends_says_nothing_about_lines(tmp_path: Path) -> None:
    """Clients before 2.1 compare a file with `\\r\\n` as if a Write had changed every line."""
    project = Project(tmp_path / "work")
    project.prompt("Write it")
    path = str(project.path("a.txt"))
    hunk = {
        "oldStart": 1,
        "oldLines": 2,
        "newStart": 1,
        "newLines": 2,
        "lines": ["-one\r", "-two\r", "+one", "+three"],
    }
    result = {
        "type": "update",
        "filePath": path,
        "content": "one\nthree\n",
        "structuredPatch": [hunk],
    }
    project.call("Write", {"file_path": path, "content": "one\nthree\n"}, result)
    found = _collect(project, tmp_path / "claude")[-1]
    assert isinstance(found, Change)
    assert (found.after, found.hunks) == ("one\nthree\n", ())
