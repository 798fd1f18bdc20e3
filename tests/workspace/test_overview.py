"""The overview of all sessions, and the grouping of project directories."""

import json
import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.documents.session_documents import ActivityDay, PeriodTotals
from recollect.documents.session_listing import SessionListing
from recollect.locations import discover
from recollect.locations.claude_directories import encode_project_path
from recollect.sync import load_calls
from recollect.workspace.activity_overview import count_calls, group_projects
from recollect.workspace.workspace import Workspace
from tests.library.claude_root import FIRST, SECOND, ClaudeRoot, prompt, reply

NOW = datetime(2026, 11, 13, 12, tzinfo=UTC)
SPRING = datetime(2026, 3, 2, 12, tzinfo=UTC)


def listing(session_id: str, project: str, cwd: str | None, activity: float) -> SessionListing:
    """Return a session in a list."""
    return SessionListing(
        id=session_id,
        project=project,
        path=f"/c/projects/{project}/{session_id}.jsonl",
        size=1,
        modified=activity,
        activity=activity,
        cwd=cwd,
    )


def name_groups(*listings: SessionListing) -> list[tuple[str, str | None, tuple[str, ...], int]]:
    """Return each group: main directory, its path, all directories, number of worktrees."""
    groups = group_projects(listings)
    return [(each.main, each.path, each.projects, each.worktrees) for each in groups]


def test_worktrees_belong_to_their_repository() -> None:
    """Those that Claude Code makes lie below the folder, which need not have a session itself."""
    tree = "-w-pond--claude-worktrees-frogs"
    other = "-w-lake--claude-worktrees-a"
    assert name_groups(
        listing("a", "-w-pond", "/w/pond", 3),
        listing("b", tree, "/w/pond/.claude/worktrees/frogs", 5),
        listing("c", other, "/w/lake/.claude/worktrees/a", 1),
    ) == [
        ("-w-pond", "/w/pond", ("-w-pond", tree), 1),
        (other, "/w/lake/.claude/worktrees/a", (other,), 0),
    ]


@pytest.mark.parametrize("moved", ["copied", "renamed"])
def test_a_moved_folder_is_one_project(moved: str) -> None:
    """A session in two directories, or one whose records name another folder, unites them."""
    early = listing("a", "-w-old", "/w/old" if moved == "copied" else "/w/new", 1)
    late = listing("a" if moved == "copied" else "b", "-w-new", "/w/new", 2)
    assert [group[:3] for group in name_groups(late, early)] == [
        ("-w-new", "/w/new", ("-w-new", "-w-old"))
    ]


def test_directories_of_one_folder_are_one_project() -> None:
    """Even if none of them is named after it."""
    early, late = listing("a", "-w-x", "/w/pond", 1), listing("b", "-w-y", "/w/pond", 2)
    assert name_groups(early, late) == [("-w-y", "/w/pond", ("-w-y", "-w-x"), 0)]


def test_other_folders_stay_apart() -> None:
    """Similar names, folders below, and directories of subagents change nothing."""
    found = name_groups(
        listing("a", "-w-pond", "/w/pond", 1),
        listing("b", "-w-pond-two", "/w/pond-two", 2),
        listing("c", encode_project_path("/w/pond/sub"), "/w/pond/sub", 3),
    )
    assert [group[0] for group in found] == ["-w-pond", "-w-pond-two", "-w-pond-sub"]


def test_overview_of_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Days, weeks and projects add up to the figures of reports and lists."""
    monkeypatch.setenv("TZ", "UTC")
    with Workspace([CLAUDE_DIRECTORY], tmp_path / "data", now=lambda: NOW) as workspace:
        overview = workspace.overview()
        report = workspace.usage("day").report
        sessions = workspace.sessions(with_usage=True).sessions
    assert (overview.today, overview.sessions) == ("2026-11-13", len(sessions))
    assert overview.recent == sessions
    assert sum(day.tokens for day in overview.days) == report.totals.tokens
    assert sum(day.sessions for day in overview.days) == len(sessions)
    monday = next(day for day in overview.days if day.day == "2026-11-09")
    assert monday == ActivityDay(day="2026-11-09", cost_usd=0.059986, tokens=117_568, sessions=1)
    assert overview.this_week == PeriodTotals(
        since="2026-11-09",
        until="2026-11-13",
        cost_usd=0.110172,
        tokens=276_785,
        sessions=3,
    )
    assert (overview.last_week.since, overview.last_week.until) == ("2026-11-02", "2026-11-06")
    assert sum(each.sessions for each in overview.projects) == len(sessions)


def test_usage_of_a_moved_folder_is_counted(tmp_path: Path) -> None:
    """Also where the project directory is not named after the folder that the records name."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, prompt("drain the pond"), reply("Drained."), project="-elsewhere")
    with Workspace([root.path], tmp_path / "data", now=lambda: SPRING) as workspace:
        overview = workspace.overview()
    found = [(each.path, each.projects, each.tokens) for each in overview.projects]
    assert found == [("/home/mina/pond", ("-elsewhere",), 2)]


def test_what_expires_first_comes_first(tmp_path: Path) -> None:
    """Only what is deleted within a week, by the settings of the directory."""
    root = ClaudeRoot(tmp_path / "claude")
    ages = {FIRST: 29, SECOND: 26, "33333333-3333-4333-8333-333333333333": 2}
    for session_id, days in ages.items():
        path = root.session(session_id, prompt("drain the pond"))
        moment = NOW.timestamp() - days * 86400
        os.utime(path, (moment, moment))
    with Workspace([root.path], tmp_path / "data", now=lambda: NOW) as workspace:
        overview = workspace.overview()
    found = [(each.id, each.expires) for each in overview.expiring]
    assert (found, overview.expiring_total) == (
        [(FIRST, "2026-11-14T12:00:00+00:00"), (SECOND, "2026-11-17T12:00:00+00:00")],
        2,
    )


def make_call(at: datetime, number: int, *, is_error: bool) -> list[dict[str, object]]:
    """Return a call and its result as lines."""
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "is_error": is_error}
    moment = {"timestamp": at.astimezone(UTC).isoformat(), "sessionId": FIRST, "cwd": "/w/pond"}
    asked = {"role": "assistant", "id": f"msg_{number}", "content": [call]}
    given = {"role": "user", "content": [{**result, "content": "done"}]}
    return [
        {"type": "assistant", "uuid": f"a{number}", "message": asked, **moment},
        {"type": "user", "uuid": f"u{number}", "message": given, **moment},
    ]


def test_calls_are_counted_by_day(tmp_path: Path) -> None:
    """Midnight belongs to the following day; other days and copies are not counted."""
    midnight, second = datetime(2026, 11, 11).astimezone(), timedelta(seconds=1)
    times = [
        *(midnight - second, midnight, midnight + timedelta(hours=9)),
        *(midnight + timedelta(days=2) - second, midnight + timedelta(days=2)),
    ]
    calls = [make_call(at, number, is_error=number == 2) for number, at in enumerate(times)]
    lines = "".join(json.dumps(record) + "\n" for call in calls for record in call)
    folder = tmp_path / "claude" / "projects" / "-w-pond"
    folder.mkdir(parents=True)
    for name in (FIRST, SECOND):
        path = folder / f"{name}.jsonl"
        path.write_text(lines, encoding="utf-8")
        os.utime(path, (NOW.timestamp(), NOW.timestamp()))
    transcripts = discover(tmp_path / "claude").transcripts
    load_calls(tmp_path / "data", transcripts)
    counts = count_calls(tmp_path / "data", transcripts, date(2026, 11, 11), date(2026, 11, 12))
    assert counts == ((2, 1), (1, 0))
