"""Tests of recollect.usage.scopes."""

from datetime import date
from pathlib import Path

import pytest
from msgspec import to_builtins

from recollect.documents.usage_groups import Group
from recollect.usage.explain import explain
from recollect.usage.ledger_access import load_report
from recollect.usage.reports import UsageQuery, UsageReport
from recollect.usage.scopes import add_client_costs, find_client_cost
from recollect.usage.totals import ClientCost, Totals
from recollect.usage.usage_documents import describe_explanation, describe_report, describe_totals
from recollect.usage.zones import load_zone
from tests.usage.transcripts import FIRST, SECOND, count, reply, session_path, write_lines


def state(cost: float | None, **changes: object) -> dict[str, object]:
    """A record with the client's own total."""
    return {"type": "cost-state", "sessionId": FIRST, "totalCostUSD": cost, **changes}


def test_the_last_figure_is_the_one(tmp_path: Path) -> None:
    """Totals are cumulative, so the last one counts."""
    path = tmp_path / "a.jsonl"
    write_lines(
        path, state(0.5), reply("m"), state(0.123456, hasUnknownModelCost=True), state(None)
    )
    assert find_client_cost(path) == ClientCost(123_456, is_guess=True)


def test_text_that_mentions_the_type_is_ignored(tmp_path: Path) -> None:
    """Only records of the type itself count."""
    path = tmp_path / "a.jsonl"
    write_lines(path, {"type": "user", "message": {"content": '"cost-state" and totalCostUSD'}})
    assert find_client_cost(path) is None


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_last_line_without_its_end_is_read(tmp_path: Path, end: bytes) -> None:
    """A client that was killed may have written the last line without its newline."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"type":"cost-state","totalCostUSD":2}' + end)
    assert find_client_cost(path) == ClientCost(2_000_000, is_guess=False)


def test_a_missing_file_has_no_figure(tmp_path: Path) -> None:
    """A transcript may be deleted before it is read."""
    assert find_client_cost(tmp_path / "missing.jsonl") is None


def test_sessions_get_the_client_cost(tmp_path: Path) -> None:
    """Only the figure in the session's own transcript is used, and nothing is added to it."""
    write_lines(session_path(tmp_path, FIRST), reply("m"), state(0.5))
    write_lines(session_path(tmp_path, SECOND), reply("n"))
    ledger = count(tmp_path)
    question = UsageQuery(group=Group.SESSION, zone=load_zone("UTC"))
    report = add_client_costs(load_report(ledger, question), ledger)
    assert {row.key: row.client_cost for row in report.rows} == {FIRST: 500_000, SECOND: None}


def test_a_file_that_vanished_has_no_figure(tmp_path: Path) -> None:
    """A transcript that is deleted in the meantime does not stop the report."""
    path = session_path(tmp_path, FIRST)
    write_lines(path, reply("m"), state(0.5))
    ledger = count(tmp_path)
    path.unlink()
    question = UsageQuery(group=Group.SESSION, zone=load_zone("UTC"))
    report = add_client_costs(load_report(ledger, question), ledger)
    assert [row.client_cost for row in report.rows] == [None]


def ask_sessions(root: Path) -> UsageReport:
    """The report by session, with the client's own figures."""
    ledger = count(root)
    question = UsageQuery(group=Group.SESSION, zone=load_zone("UTC"))
    return add_client_costs(load_report(ledger, question), ledger)


def test_costs_on_messages_of_old_clients_are_added_up(tmp_path: Path) -> None:
    """They are added up, and compared with ours of the messages that have one."""
    write_lines(
        session_path(tmp_path, FIRST), reply("m", costUSD=0.5), reply("m"), reply("n", costUSD=0.25)
    )
    write_lines(session_path(tmp_path, SECOND), reply("x", costUSD=0.125), reply("y"))
    report = ask_sessions(tmp_path)
    assert {row.key: row.client for row in report.rows} == {
        FIRST: ClientCost(750_000, messages=2, own_cost=2 * 2_040),
        SECOND: ClientCost(125_000, messages=1, own_cost=2_040),
    }
    rows = describe_report(report).rows
    second = to_builtins(next(row for row in rows if row.key == SECOND))
    shown = {name: second[name] for name in second if "client" in name or "difference" in name}
    assert shown == {
        "client_cost_usd": 0.125,
        "difference_usd": 0.12296,
        "client_cost_messages": 1,
    }


def test_a_total_takes_precedence_over_costs_on_messages(tmp_path: Path) -> None:
    """It has everything that the messages have, and more."""
    write_lines(session_path(tmp_path, FIRST), reply("m", costUSD=0.5), state(2.0))
    assert [row.client for row in ask_sessions(tmp_path).rows] == [ClientCost(2_000_000)]


def test_a_message_without_tokens_has_the_cost_of_the_client(tmp_path: Path) -> None:
    """It is marked in reports and explanations, and its model needs no known price."""
    bare = reply("n", costUSD=0.25, model="unheard-of")
    message = bare["message"]
    assert isinstance(message, dict)
    del message["usage"]
    write_lines(session_path(tmp_path, FIRST), reply("m"), bare)
    expected = Totals(input=10, output=100, messages=2, cost=252_040, client_priced=1)
    assert ask_sessions(tmp_path).totals == expected
    assert describe_totals(expected).client_priced_messages == 1
    explanation = explain(count(tmp_path), FIRST, load_zone("UTC"), date(2026, 11, 16))
    assert explanation.totals == expected
    assert explanation.lines[1].note == "no tokens: cost as recorded by the client"
    assert explanation.client == ClientCost(250_000, messages=1, own_cost=250_000)


def test_explanations_show_the_client_cost_of_each_line(tmp_path: Path) -> None:
    """It is shown next to our cost, which is computed from tokens."""
    write_lines(session_path(tmp_path, FIRST), reply("m", costUSD=0.5))
    explanation = explain(count(tmp_path), FIRST, load_zone("UTC"), date(2026, 11, 16))
    (line,) = explanation.lines
    assert (line.note, line.client_cost) == ("cost recorded by the client: $0.500000", 500_000)
    document = describe_explanation(explanation)
    assert to_builtins(document.client) == {
        "cost_usd": 0.5,
        "difference_usd": 0.49796,
        "is_guess": False,
        "messages": 1,
    }
