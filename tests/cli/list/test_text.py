"""The table of sessions: columns, and what is cut first."""

from datetime import UTC, datetime

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.cli.commands.list_command import iter_lines, list_marks, list_rows
from recollect.documents.session_listing import LiveProcess, SessionListing
from recollect.render.terminal import measure, safe_line

NOW = datetime(2026, 11, 13, 12, tzinfo=UTC)
WIDTHS = st.integers(60, 200)


def entry(name: str = "94791a87-9d13", **facts: object) -> SessionListing:
    """Return a session of two hours ago."""
    shown: dict[str, object] = {
        "id": name,
        "project": "-w-pond",
        "path": f"/{name}",
        "size": 12_345,
        "modified": 0.0,
        "activity": NOW.timestamp() - 7200,
        "cwd": "/w/pond",
        "title": "Drain the pond",
        **facts,
    }
    return SessionListing(**shown)  # type: ignore[arg-type]


def draw(*entries: SessionListing, columns: int = 80, is_terminal: bool = True) -> list[str]:
    """Return the lines of the table, unstyled."""
    lines = iter_lines(list_rows(entries), columns, NOW, is_terminal=is_terminal)
    return [click.unstyle(line) for line in lines]


def test_a_terminal_gets_times_that_people_say() -> None:
    """Times are relative in a terminal, and sortable in a pipe."""
    assert draw(entry()) == [
        "WHEN     ID        PROJECT     SIZE  TITLE",
        "2 h ago  94791a87  pond     12.3 KB  Drain the pond",
    ]


def test_columns_come_with_the_room_for_them() -> None:
    """Less important columns are shown only if there is room for the title."""
    rich = entry(turn_count=1200, error_count=3, models=("claude-a-1", "claude-b-2"))
    headings = [draw(rich, columns=width)[0].split() for width in (60, 80, 200)]
    assert headings == [
        ["WHEN", "ID", "PROJECT", "TITLE"],
        ["WHEN", "ID", "PROJECT", "SIZE", "TURNS", "TITLE"],
        ["WHEN", "ID", "PROJECT", "SIZE", "TURNS", "ERRORS", "MODEL", "TITLE"],
    ]
    assert draw(rich, columns=200)[1].split("  ")[-2:] == ["b-2 +1", "Drain the pond"]


def test_marks_show_the_state() -> None:
    """Open, expiring and deleted sessions are marked, and the marks explained."""
    rows = [
        entry("open", live=LiveProcess(pid=7)),
        entry("going", expires="2026-11-15T12:00:00+00:00"),
        entry("kept", expires="2026-12-15T12:00:00+00:00"),
        entry("gone", is_archived=True),
    ]
    assert [line[:1] for line in draw(*rows)] == [" ", "●", "!", " ", "◇"]
    assert list_marks(list_rows(rows), NOW) == [
        "● running",
        "! will be deleted by Claude Code within 7 days",
        "◇ deleted by Claude Code; read from the archive",
    ]


def test_a_tree_is_drawn_with_what_hangs_where() -> None:
    """Each line shows its parent, at any depth."""
    leaf = entry("leaf", relation="subagent", title="dig")
    fork = entry("fork", relation="fork", title="anew", children=(leaf,))
    last = entry("next", relation="continuation", title="on")
    lines = draw(entry("root", children=(fork, last)))
    assert [line.rpartition("KB  ")[2] for line in lines[1:]] == [
        "Drain the pond",
        "├ fork: anew",
        "│ └ subagent: dig",
        "└ continuation: on",
    ]


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [("/w/pond", "pond"), ("C:\\w\\pond", "pond"), ("/", "/"), (None, "-w-pond")],
)
def test_a_project_is_the_last_part_of_its_place(cwd: str | None, expected: str) -> None:
    """For paths of any system."""
    assert draw(entry(cwd=cwd))[1].split()[4] == expected


@given(title=st.text(), branch=st.text(), cwd=st.text(), width=WIDTHS)
def test_no_text_leaves_its_line_or_its_width(
    title: str, branch: str, cwd: str, width: int
) -> None:
    """Any session is one line that is safe for a terminal."""
    lines = draw(entry(title=title, git_branch=branch, cwd=cwd), columns=width)
    assert len("\n".join(lines).splitlines()) == 2
    assert max(map(measure, lines)) <= width
    assert [safe_line(line) for line in lines] == lines
