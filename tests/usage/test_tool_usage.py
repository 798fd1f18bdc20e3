"""Tool calls by tool and by MCP server."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.documents.command_reports import ToolUsageRow
from recollect.documents.session_listing import CallSummary
from recollect.sync.index_access import find_transcripts
from recollect.usage.tool_usage import ToolQuery, ToolReport, report_tools
from tests.library.claude_root import FIRST, SECOND, ClaudeRoot, at, call, prompt, result

MCP = "mcp__pond_tools__drain"


def make_root(tmp_path: Path) -> ClaudeRoot:
    """Create two sessions and a subagent; the second starts with a copy of a call of the first."""
    root = ClaudeRoot(tmp_path / "claude")
    first = (call("Bash", {}, uuid="c1"), result("done", timestamp=at(4)))
    root.session(FIRST, prompt("a"), *first, call(MCP, {}, call_id="toolu_2", uuid="c2"))
    lake = [{**line, "cwd": "/w/lake", "sessionId": SECOND} for line in (prompt("b"), *first)]
    root.session(SECOND, *lake, project="-w-lake")
    root.agent(f"{FIRST}/subagents", "a1", call("Bash", {}, call_id="toolu_3", timestamp=at(90)))
    return root


def ask(tmp_path: Path, question: ToolQuery) -> ToolReport:
    """The answer about these sessions."""
    root = make_root(tmp_path)
    return report_tools(tmp_path / "data", find_transcripts([root.path]), question)


def count(report: ToolReport) -> dict[str, int]:
    """Return the number of calls by tool."""
    return {use.name: use.calls for use in report.tools}


def test_every_call_counts_once(tmp_path: Path) -> None:
    """A copy of a call in another transcript is the same call."""
    report = ask(tmp_path, ToolQuery())
    bash = ToolUsageRow(
        name="Bash",
        calls=2,
        failed=0,
        rejected=0,
        interrupted=0,
        pending=1,
        median_ms=2000.0,
        p95_ms=2000.0,
        total_ms=2000.0,
    )
    assert report.tools[0] == bash
    assert (count(report), report.total.calls, report.sessions) == ({"Bash": 2, MCP: 1}, 3, 2)
    assert [(use.name, use.calls) for use in report.mcp_servers] == [("pond_tools", 1)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (ToolQuery(session_id=FIRST), {"Bash": 2, MCP: 1}),
        (ToolQuery(session_id=SECOND), {"Bash": 1}),
        (ToolQuery(project="LAKE"), {"Bash": 1}),
        (ToolQuery(since=datetime(2026, 3, 1, 6, 1, tzinfo=UTC)), {"Bash": 1}),
        (ToolQuery(until=datetime(2026, 3, 1, 6, 1, tzinfo=UTC)), {"Bash": 1, MCP: 1}),
    ],
)
def test_conditions_choose_the_calls(
    tmp_path: Path, question: ToolQuery, expected: dict[str, int]
) -> None:
    """By a session with its subagents, a project, or a period."""
    assert count(ask(tmp_path, question)) == expected


def test_the_index_answers_as_the_files_did(tmp_path: Path) -> None:
    """The second query uses cached data of the first."""
    assert ask(tmp_path, ToolQuery()) == ask(tmp_path, ToolQuery())


def test_a_note_of_a_call_takes_little_room() -> None:
    """Only the fields that reports need are kept of a call."""
    assert CallSummary.__struct_fields__ == ("id", "tool", "status", "started", "duration_ms")
