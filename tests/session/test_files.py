"""Tests of files that tool calls read and changed."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.kinds import FileAction, ToolStatus
from recollect.records.tools import PatchHunk
from recollect.session.facts import build_facts
from recollect.session.session_records import Log
from recollect.session.tool_calls import FAILED, PENDING, ToolCall, build_tool_calls
from recollect.session.tool_effects import (
    ChangedFile,
    FileEvent,
    build_file_events,
    count_lines,
    list_changed_files,
)
from tests.session.recordings import LATER, NOON, iter_recorded, make_call, read_log, read_scenario

HUNK = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" a", "-b", "+c"]}
READ_HUNK = PatchHunk(old_start=1, old_lines=2, new_start=1, new_lines=2, lines=(" a", "-b", "+c"))
EDIT = {"file_path": "/p/a.py", "old_string": "b", "new_string": "c"}
WRITE = {"file_path": "/p/a.py", "content": "one\ntwo\n"}


def change(action: FileAction, **facts: object) -> FileEvent:
    """Return the file change of a successful call `t1` to /p/a.py."""
    event: dict[str, object] = {
        "path": "/p/a.py",
        "action": action,
        "call_id": "t1",
        "timestamp": LATER,
        "status": ToolStatus.SUCCESS,
    }
    return FileEvent(**{**event, **facts})  # type: ignore[arg-type]


CASES: list[tuple[str, ToolCall, FileEvent]] = [
    (
        "read",
        make_call("Read", {"file_path": "/p/a.py"}, {"type": "text", "file": {"content": "x"}}),
        change(FileAction.READ),
    ),
    (
        "notebook read by an old client",
        make_call("NotebookRead", {"notebook_path": "/p/a.py"}),
        change(FileAction.READ),
    ),
    (
        "edit",
        make_call("Edit", EDIT, {"filePath": "/p/a.py", "structuredPatch": [HUNK]}),
        change(FileAction.EDIT, hunks=(READ_HUNK,), lines_added=1, lines_removed=1),
    ),
    (
        "several edits at once",
        make_call(
            "MultiEdit",
            {"file_path": "/p/a.py", "edits": [{"old_string": "b", "new_string": "c"}]},
            {"filePath": "/p/a.py", "structuredPatch": [HUNK, HUNK]},
        ),
        change(FileAction.EDIT, hunks=(READ_HUNK,) * 2, lines_added=2, lines_removed=2),
    ),
    (
        "file created",
        make_call("Write", WRITE, {"type": "create", "content": "one\ntwo\n"}),
        change(FileAction.CREATE, lines_added=2, has_content=True),
    ),
    (
        "file updated",
        make_call("Write", WRITE, {"type": "update", "structuredPatch": [HUNK]}),
        change(
            FileAction.UPDATE,
            hunks=(READ_HUNK,),
            lines_added=1,
            lines_removed=1,
            has_content=True,
        ),
    ),
    (
        "file written with what it held",
        make_call("Write", WRITE, {"type": "update", "structuredPatch": []}),
        change(FileAction.UPDATE, has_content=True),
    ),
    (
        "notebook",
        make_call(
            "NotebookEdit",
            {"notebook_path": "/p/a.py", "new_source": "x"},
            {"notebook_path": "/p/a.py", "new_source": "x", "updated_file": "{}"},
        ),
        change(FileAction.EDIT_NOTEBOOK, has_content=True),
    ),
    (
        "write that still waits",
        make_call("Write", WRITE, outcome=PENDING),
        change(FileAction.WRITE, timestamp=NOON, status=ToolStatus.PENDING),
    ),
    (
        "edit that failed",
        make_call("Edit", EDIT, "Error: no such text", outcome=FAILED),
        change(FileAction.EDIT, status=ToolStatus.FAILED),
    ),
]


@pytest.mark.parametrize(("call", "event"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_a_call_becomes_an_event(call: ToolCall, event: FileEvent) -> None:
    """Each tool that touches a file gives an event; only changes have line counts."""
    assert build_file_events([call]) == (event,)


WITHOUT_RESULT: list[tuple[str, Mapping[str, object], str, FileEvent]] = [
    ("Edit", EDIT, "updated", change(FileAction.EDIT, lines_added=1, lines_removed=1)),
    (
        "Edit",
        {"file_path": "/p/a.py", "old_string": "a\nb\nc\n", "new_string": "a\nc\n"},
        "updated",
        change(FileAction.EDIT, lines_removed=1),
    ),
    (
        "Edit",
        {"file_path": "/p/a.py", "old_string": "", "new_string": "a\nb\n"},
        "updated",
        change(FileAction.EDIT, lines_added=2),
    ),
    (
        "MultiEdit",
        {
            "file_path": "/p/a.py",
            "edits": [
                {"old_string": "a", "new_string": "b"},
                {"old_string": "c\n", "new_string": ""},
            ],
        },
        "updated",
        change(FileAction.EDIT, lines_added=1, lines_removed=2),
    ),
    (
        "Write",
        WRITE,
        "File created successfully at: /p/a.py",
        change(FileAction.CREATE, lines_added=2, has_content=True),
    ),
    (
        "Write",
        WRITE,
        "The file /p/a.py has been updated",
        change(FileAction.UPDATE, lines_added=2, has_content=True),
    ),
]


@pytest.mark.parametrize(("name", "wanted", "text", "event"), WITHOUT_RESULT)
def test_without_a_result_the_input_is_counted(
    name: str, wanted: Mapping[str, object], text: str, event: FileEvent
) -> None:
    """Without a structured result, lines are counted from the tool's input."""
    assert build_file_events([make_call(name, wanted, text=text)]) == (event,)


@pytest.mark.parametrize(
    "call",
    [
        make_call("Bash", {"command": "cat /p/a.py"}),
        make_call("Edit", {"unknown": 1}),
        make_call("Read", {"file_path": ""}),
    ],
)
def test_a_call_without_a_file_is_no_event(call: ToolCall) -> None:
    """Other tools, and calls without a path, give no event."""
    assert build_file_events([call]) == ()


def test_changed_files_are_gathered_by_path() -> None:
    """A file has its changes in order and their totals; reads are not changes."""
    created = change(FileAction.CREATE, timestamp=NOON, lines_added=3)
    edited = change(FileAction.EDIT, lines_added=1, lines_removed=2)
    other = change(FileAction.EDIT, path="/p/b.py", lines_added=1)
    events = [
        change(FileAction.READ, path="/p/c.py"),
        created,
        change(FileAction.EDIT, path="/p/d.py", status=ToolStatus.FAILED),
        other,
        change(FileAction.READ),
        edited,
    ]
    assert list_changed_files(events) == (
        ChangedFile(
            path="/p/a.py",
            events=(created, edited),
            first_change=NOON,
            last_change=LATER,
            lines_added=4,
            lines_removed=2,
            is_created=True,
        ),
        ChangedFile(
            path="/p/b.py",
            events=(other,),
            first_change=LATER,
            last_change=LATER,
            lines_added=1,
            lines_removed=0,
            is_created=False,
        ),
    )
    assert count_lines(events) == (5, 2)


LINES = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1).map("\n".join)


@given(LINES, LINES)
def test_an_edit_back_swaps_the_counts(old: str, new: str) -> None:
    """Undoing an edit adds what it removed, and the difference is that of the lengths."""
    there, back = (
        build_file_events(
            [make_call("Edit", {"file_path": "/p", "old_string": one, "new_string": other})]
        )
        for one, other in ((old, new), (new, old))
    )
    added, removed = count_lines(there)
    assert count_lines(back) == (removed, added)
    assert added - removed == new.count("\n") - old.count("\n")


def events_of(log: Log) -> tuple[FileEvent, ...]:
    """Return the file events of a recorded session."""
    return build_file_events(build_tool_calls(log.chain)[0])


EXPECTED_FILES: dict[str, list[tuple[str, int, int]]] = {
    "1.0.35": [("create", 5, 0), ("edit", 1, 1), ("edit", 2, 2)],
    "1.0.128": [("create", 5, 0), ("read", 0, 0), ("edit", 1, 1), ("edit", 2, 2)],
    "2.0.77": [("create", 5, 0), ("read", 0, 0), ("edit", 1, 1)],
    "2.1.112": [("create", 5, 0), ("read", 0, 0), ("edit", 1, 1)],
    "2.1.325": [("create", 5, 0), ("read", 0, 0), ("edit", 1, 1)],
}


@pytest.mark.parametrize("version", EXPECTED_FILES)
def test_files_scenario(shared: Path, version: str) -> None:
    """Every client's write, read and edits of one file are listed with their lines."""
    events = events_of(read_scenario(shared, version, "files"))
    assert {Path(event.path).name for event in events} == {"hello.py"}
    assert [
        (event.action.value, event.lines_added, event.lines_removed) for event in events
    ] == EXPECTED_FILES[version]


def test_lines_agree_with_the_client(shared: Path) -> None:
    """Our line counts equal the client's, with two exceptions.

    It counts an empty line after the final newline of a file that it creates, and a fork starts
    with the lines of its parent.
    """
    differing: list[str] = []
    compared = 0
    for path in iter_recorded(shared, "2.1.325"):
        log = read_log(path)
        cost = build_facts(log.chain, log.states).cost_state
        if cost is None:
            continue
        compared += 1
        events = events_of(log)
        added, removed = count_lines(events)
        created = sum(event.action is FileAction.CREATE for event in events if event.is_change)
        if (added + created, removed) != (cost.total_lines_added, cost.total_lines_removed):
            differing.append(path.stem)
    (fork,) = {link.session_id for link in read_scenario(shared, "2.1.325", "compact_fork").chain}
    assert compared > 100
    assert differing == [fork]
