"""`recollect tools` as a user sees it, and the table that it draws."""

import json
from pathlib import Path

import click
import pytest

from recollect.cli.commands.tools_command import iter_report
from recollect.documents.command_reports import ToolUsageRow
from recollect.render.terminal import measure
from recollect.usage.tool_usage import ToolReport
from tests.cli.demo_home import make_demo_home, run_at
from tests.process import RunRecollect


@pytest.fixture
def home(safe_environment: None) -> Path:
    """A home with the demo data."""
    return make_demo_home()


def test_conditions_narrow_the_calls(run_recollect: RunRecollect, home: Path) -> None:
    """By session, by project and by day."""
    seen = []
    for conditions in (("--session", "-1"), ("--project", "菜谱"), ("--since", "2026-11-09")):
        done = run_at(run_recollect, 80, "tools", *conditions, "--json")
        shape = json.loads(done.stdout)
        seen.append((shape["total"]["calls"], shape["sessions"]))
    assert seen == [(1, 1), (8, 2), (13, 4)]


def test_no_call_is_nothing_found(run_recollect: RunRecollect, home: Path) -> None:
    """The exit code is 3, and --json still prints a document."""
    done = run_at(run_recollect, 80, "tools", "--until", "2020", "--json")
    assert (done.code, json.loads(done.stdout)["total"]["calls"]) == (3, 0)
    assert done.stderr == "recollect: No tool calls. Try fewer filters.\n"


def use(name: str, **figures: object) -> ToolUsageRow:
    """Return the usage row of a tool."""
    shown: dict[str, object] = {
        "name": name,
        "calls": 1,
        "failed": 0,
        "rejected": 0,
        "interrupted": 0,
        "pending": 0,
        "median_ms": None,
        "p95_ms": None,
        "total_ms": 0.0,
        **figures,
    }
    return ToolUsageRow(**shown)  # type: ignore[arg-type]


def test_a_long_name_gives_way() -> None:
    """Figures are never cut, and a name out of a transcript cannot drive the terminal."""
    name = f"mcp__pond__{'x' * 80}\x1b[2J"
    report = ToolReport(
        sessions=1,
        total=use(""),
        tools=(use(name, calls=123_456, failed=7),),
        mcp_servers=(use("pond"),),
        unread=(),
    )
    lines = [click.unstyle(line) for line in iter_report(report, 60)]
    assert lines[2:4] == [
        "TOOL                                   CALLS  FAILED  MEDIAN",
        "mcp__pond__xxxxxxxxxxxxxxxxxxxxxxx…  123,456       7",
    ]
    assert max(map(measure, lines)) <= 60
