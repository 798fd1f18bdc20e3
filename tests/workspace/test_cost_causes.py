"""Cost by cause from an index: the same totals as reports, and the messages behind each figure."""

from pathlib import Path

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.errors import UsageError
from recollect.workspace.cost_causes import find_causes
from recollect.workspace.usage_requests import UsageFilters
from recollect.workspace.workspace import Workspace


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace on the sample sessions."""
    return Workspace([CLAUDE_DIRECTORY], tmp_path_factory.mktemp("causes"))


@pytest.mark.parametrize(
    "filters",
    [
        UsageFilters(),
        UsageFilters(since="2026-11-01", timezone="Asia/Kathmandu"),
        UsageFilters(project="tidepool"),
        UsageFilters(model="opus", until="2026-11-09"),
        UsageFilters(project="no such project"),
    ],
    ids=str,
)
def test_causes_add_up_to_the_report(demo: Workspace, filters: UsageFilters) -> None:
    """With the same filters, the causes add up to the total of `usage` exactly."""
    found = find_causes(demo, filters).document
    totals = demo.usage("day", **filters).report.totals
    assert (found.messages, found.tokens) == (totals.messages, totals.tokens)
    assert sum(row.tokens for row in found.rows) == totals.tokens
    assert round(sum(round((row.cost_usd or 0) * 1e6) for row in found.rows)) == totals.cost
    assert round((found.cost_usd or 0) * 1e6) == totals.cost


def test_each_figure_opens_its_messages(demo: Workspace) -> None:
    """The messages of a cause add up to its row, and each can be explained."""
    for row in find_causes(demo, UsageFilters()).document.rows:
        found = find_causes(demo, UsageFilters(), row.cause).document
        assert (found.cause, found.omitted) == (row.cause, 0)
        assert len(found.caused) == row.messages
        assert sum(each.tokens for each in found.caused) == row.tokens
        assert demo.explain(found.caused[0].message_id).explanation.lines


def test_notes_are_read_once(tmp_path: Path) -> None:
    """The second query reads no transcript and gives the same result."""
    read: list[str] = []
    with Workspace(
        [CLAUDE_DIRECTORY], tmp_path, on_progress=lambda noun, _, __: read.append(noun)
    ) as workspace:
        first = find_causes(workspace, UsageFilters()).document
        assert read
        read.clear()
        assert find_causes(workspace, UsageFilters()).document == first
        assert read == []


def test_a_cause_has_a_name(demo: Workspace) -> None:
    """An unknown one is an error that lists the valid ones."""
    with pytest.raises(UsageError, match="choose one of subagents, retries"):
        find_causes(demo, UsageFilters(), "ghosts")
