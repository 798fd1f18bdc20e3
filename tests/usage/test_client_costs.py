"""Tests of recollect.usage.client_costs and recollect.usage.comparison."""

from pathlib import Path

import pytest

from recollect.usage.client_costs import ClientCost, find_client_cost
from recollect.usage.comparison import add_client_costs
from recollect.usage.groups import Group
from recollect.usage.loading import load_rows
from recollect.usage.reports import Question, make_report
from recollect.usage.zones import load_zone
from tests.usage.transcripts import FIRST, SECOND, count, reply, session_path, write_lines


def state(cost: float | None, **changes: object) -> dict[str, object]:
    """A record with the client's own total."""
    return {"type": "cost-state", "sessionId": FIRST, "totalCostUSD": cost, **changes}


def test_the_last_figure_is_the_one(tmp_path: Path) -> None:
    """Totals are cumulative, so that a later one replaces an earlier one."""
    path = tmp_path / "a.jsonl"
    write_lines(
        path, state(0.5), reply("m"), state(0.123456, hasUnknownModelCost=True), state(None)
    )
    assert find_client_cost(path) == ClientCost(123_456, is_guess=True)


def test_words_about_a_figure_are_no_figure(tmp_path: Path) -> None:
    """A record that only mentions the type is not of it."""
    path = tmp_path / "a.jsonl"
    write_lines(path, {"type": "user", "message": {"content": '"cost-state" and totalCostUSD'}})
    assert find_client_cost(path) is None


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_last_line_without_its_end_is_read(tmp_path: Path, end: bytes) -> None:
    """A client that was stopped may not have finished the line, and all of it may be there."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"type":"cost-state","totalCostUSD":2}' + end)
    assert find_client_cost(path) == ClientCost(2_000_000, is_guess=False)


def test_a_missing_file_has_no_figure(tmp_path: Path) -> None:
    """A transcript may vanish while it is asked about."""
    assert find_client_cost(tmp_path / "missing.jsonl") is None


def test_sessions_get_the_figure_beside_ours(tmp_path: Path) -> None:
    """Only what the session's own transcript says is taken, and nothing is added to it."""
    write_lines(session_path(tmp_path, FIRST), reply("m"), state(0.5))
    write_lines(session_path(tmp_path, SECOND), reply("n"))
    books = count(tmp_path)
    question = Question(group=Group.SESSION, zone=load_zone("UTC"))
    report = add_client_costs(make_report(load_rows(books, question), question), books)
    assert {row.key: row.client_cost for row in report.rows} == {FIRST: 500_000, SECOND: None}


def test_a_file_that_vanished_has_no_figure(tmp_path: Path) -> None:
    """A transcript that is deleted in the meantime does not stop the report."""
    path = session_path(tmp_path, FIRST)
    write_lines(path, reply("m"), state(0.5))
    books = count(tmp_path)
    path.unlink()
    question = Question(group=Group.SESSION, zone=load_zone("UTC"))
    report = add_client_costs(make_report(load_rows(books, question), question), books)
    assert [row.client_cost for row in report.rows] == [None]
