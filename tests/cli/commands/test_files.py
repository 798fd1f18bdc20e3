"""Tests of recollect.cli.commands.files_command, through the program."""

import json
from pathlib import Path

import pytest

from recollect.render.terminal import measure
from tests.cli.demo_home import GOLDEN, WIDTHS, make_demo_home, run_at
from tests.golden import check_golden
from tests.library.claude_root import CWD, FIRST, SECOND, ClaudeRoot, Line, call, prompt, result
from tests.process import Finished, RunRecollect

PAGES = {
    "files": ("94791a87",),
    "files-project": ("--project", "tidepool"),
    "files-diff": ("--project", "tidepool", "--diff"),
}
"""By the name of their golden files."""


@pytest.fixture
def home(safe_environment: None) -> Path:
    """A home with the demo data."""
    return make_demo_home()


def files(run: RunRecollect, *arguments: str, width: int = 80) -> Finished:
    """Return the output of `recollect files`."""
    return run_at(run, width, "files", *arguments)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_pages_look_as_they_are_meant_to(
    run_recollect: RunRecollect, home: Path, name: str, width: int
) -> None:
    """Each page equals its golden file, fits the width, and prints nothing to stderr."""
    shown = files(run_recollect, *PAGES[name], width=width)
    assert (shown.code, shown.stderr) == (0, "")
    check_golden(GOLDEN / f"{name}-{width}.txt", shown.stdout)
    assert [line for line in shown.stdout.splitlines() if measure(line) > width] == []


def test_a_document_is_what_it_is_meant_to_be(run_recollect: RunRecollect, home: Path) -> None:
    """`--json` prints the changes with their diffs and their sums."""
    shown = files(run_recollect, "--project", "tidepool", "--diff", "--json")
    check_golden(GOLDEN / "files.json", shown.stdout)


def test_lines_of_json_are_the_changes(run_recollect: RunRecollect, home: Path) -> None:
    """`--json-lines` prints the changes of `--json`, one a line."""
    lines = files(run_recollect, "94791a87", "--json-lines").stdout.splitlines()
    document = json.loads(files(run_recollect, "94791a87", "--json").stdout)
    assert [*map(json.loads, lines)] == document["changes"]


def edit(path: str, number: int) -> list[Line]:
    """A call that edits a file, and its answer."""
    wanted = {"file_path": path, "old_string": "a", "new_string": "b\nc"}
    call_id = f"toolu_{number}"
    return [
        call("Edit", wanted, call_id=call_id, uuid=f"c{number}", parentUuid="u1"),
        result("done", call_id=call_id, uuid=f"r{number}", parentUuid=f"c{number}"),
    ]


def test_subagents_count_and_copies_do_not(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A subagent's change is the session's; a fork's copy of a change is the same change."""
    root = ClaudeRoot(tmp_path)
    lines = [prompt("go"), *edit(f"{CWD}/a.py", 1)]
    root.session(FIRST, *lines)
    more = prompt("go on", uuid="u2", seconds=60)
    root.session(SECOND, *({**line, "sessionId": SECOND} for line in [*lines, more]))
    root.agent(f"{FIRST}/subagents", "a1", prompt("do"), *edit("/elsewhere/b.py", 2))
    shown = files(run_recollect, "--project", "pond", "--claude-dir", str(tmp_path))
    assert shown.stdout.splitlines() == [
        "2026-03-01 06:00  11111111  Edit            +2  -1  a.py",
        "2026-03-01 06:00  11111111  Edit, subagent  +2  -1  /elsewhere/b.py",
        "",
        "2 changes in 2 files, +4 -2 lines",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "Specify either SESSION or --project."),
        (
            ("latest", "--project", "x"),
            2,
            "Specify either SESSION or --project.",
        ),
        (
            ("latest", "--json", "--json-lines"),
            2,
            "Use only one of --json and --json-lines.",
        ),
        (("--project", "nowhere"), 3, "No project path contains 'nowhere'."),
        (("ba574db1",), 3, "No file changes."),
    ],
)
def test_a_wrong_request_says_what_to_do(
    run_recollect: RunRecollect, home: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    """Missing sessions exit with 3, invalid requests with 2."""
    assert files(run_recollect, *arguments) == Finished(code, "", f"recollect: {message}\n")


def test_a_file_without_records_is_no_session(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A file that no client wrote is left out and keeps no other from being counted."""
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, prompt("go"), *edit(f"{CWD}/a.py", 1))
    root.session(SECOND, {"no": "record"})
    shown = files(run_recollect, "--project", "pond", "--claude-dir", str(tmp_path))
    changes = "2026-03-01 06:00  11111111  Edit  +2  -1  a.py\n\n1 change in 1 file, +2 -1 lines\n"
    assert shown == Finished(0, changes, "")
