"""Usage known only from progress records, because the subagent's transcript was deleted."""

from pathlib import Path

import pytest
from msgspec import UNSET

from recollect.documents.usage_groups import Group
from recollect.records.token_usage import Tokens
from recollect.store.usage_queries import Measures
from recollect.sync.index_access import find_transcripts
from recollect.sync.sync_engine import sync
from recollect.usage.explain import Line, Status, explain
from recollect.usage.ledger_access import UsageLedger, count_in_memory, load_report, query_ledger
from recollect.usage.reports import UsageQuery, UsageReport
from recollect.usage.totals import Totals
from recollect.usage.usage_documents import describe_explanation, describe_totals
from recollect.usage.zones import load_zone
from tests.usage.test_explain import TEN, TODAY, ask
from tests.usage.transcripts import (
    FIRST,
    HAIKU,
    OPUS,
    SECOND,
    agent_path,
    count,
    reply,
    session_path,
    write_lines,
)

UTC = load_zone("UTC")
OWN = reply("msg_own")
FINAL = reply("msg_agent", model=HAIKU, isSidechain=True, usage={"output_tokens": 500})
COUNTED = Totals(input=20, output=102, messages=2, cost=2_060, relayed=1)
"""A message of the session, and the first chunk of one of its subagent."""


def relay(stop_reason: str | None = None, **changes: object) -> dict[str, object]:
    """The progress record that repeats the first chunk of the subagent's message."""
    nested = reply("msg_agent", model=HAIKU, usage={"output_tokens": 2}, cwd=None)
    message = nested["message"]
    assert isinstance(message, dict)
    message["stop_reason"] = stop_reason
    data = {"type": "agent_progress", "agentId": "a1", "prompt": "look", "message": nested}
    return {**OWN, "type": "progress", "uuid": "p1", "message": None, "data": data, **changes}


def report(ledger: UsageLedger, group: Group = Group.SESSION) -> UsageReport:
    """A report without filters."""
    question = UsageQuery(group=group, zone=UTC)
    return load_report(ledger, question)


def test_a_message_of_a_lost_transcript_counts_for_the_parent(tmp_path: Path) -> None:
    """Once, however many progress records repeat it, and marked everywhere."""
    write_lines(session_path(tmp_path, FIRST), OWN, relay(), relay(uuid="p2"))
    ledger = count(tmp_path)
    for group in Group:
        assert (group, report(ledger, group).totals) == (group, COUNTED)
    assert [row.key for row in report(ledger, Group.SUBAGENT).rows] == ["main", "subagent"]
    assert describe_totals(COUNTED).progress_messages == 1
    assert describe_totals(Totals(messages=1)).progress_messages is UNSET


@pytest.mark.parametrize("is_first", [True, False])
def test_nothing_counts_twice_where_the_transcript_is(tmp_path: Path, is_first: bool) -> None:
    """Whichever of the two files is read first; the subagent's own has the final figures."""
    root, data = tmp_path / "claude", tmp_path / "data"
    parent, agent = session_path(root, FIRST), agent_path(root, FIRST, "a1")
    write_lines(parent, OWN, relay())
    write_lines(agent, FINAL)
    early = [each for each in find_transcripts([root]) if (each.path == parent) is is_first]
    sync(data, early)
    expected = Totals(input=20, output=600, messages=2, cost=2_040 + 2_510)
    totals, failure = query_ledger(
        data, find_transcripts([root]), lambda queries: report(UsageLedger(queries, [root])).totals
    )
    assert (totals, failure) == (expected, None)
    assert report(count(root)).totals == expected
    # Its figures stay those of the transcript that was there once.
    agent.unlink()
    totals, _ = query_ledger(
        data, find_transcripts([root]), lambda queries: report(UsageLedger(queries, [root])).totals
    )
    assert totals == expected


def test_a_fork_does_not_count_what_its_original_relays(tmp_path: Path) -> None:
    """Nor what the transcript of the original's subagent has."""
    write_lines(session_path(tmp_path, FIRST), OWN, relay())
    write_lines(session_path(tmp_path, SECOND), OWN, relay())
    assert report(count(tmp_path)).totals == COUNTED
    write_lines(agent_path(tmp_path, FIRST, "a1"), FINAL)
    assert report(count(tmp_path)).totals.output == 600


def test_explanations_name_the_source_and_the_placeholder(tmp_path: Path) -> None:
    """The offset is that of the progress record."""
    path = session_path(tmp_path, FIRST)
    offsets = write_lines(path, OWN, relay(), relay(uuid="p2"))
    explanation = ask(count(tmp_path), FIRST)
    assert explanation.totals == COUNTED
    line = Line(
        status=Status.COUNTED,
        file=str(path),
        offset=offsets[1],
        message_id="msg_agent",
        request_id="r-msg_agent",
        model=HAIKU,
        measures=Measures(Tokens(10, 2), cost=20, time=TEN),
        note="from agent_progress; transcript gone: subagent a1; output tokens are a placeholder",
        is_relayed=True,
        has_placeholder=True,
    )
    assert explanation.lines[1] == line
    assert [each.status for each in explanation.lines] == ["counted", "counted", "repeat"]
    lines = describe_explanation(explanation).lines
    assert [each.source for each in lines] == [UNSET, "agent_progress", "agent_progress"]
    assert lines[1].placeholders == ("output_tokens",)


def test_a_complete_message_has_no_placeholder(tmp_path: Path) -> None:
    """A stop reason is written together with the final figures."""
    write_lines(session_path(tmp_path, FIRST), relay("end_turn"))
    (line,) = ask(count(tmp_path), FIRST).lines
    assert (line.has_placeholder, line.note) == (
        False,
        "from agent_progress; transcript gone: subagent a1",
    )


def test_what_the_own_transcript_has_is_shown_as_progress(tmp_path: Path) -> None:
    """It counts in the subagent's own file, which the note names."""
    write_lines(session_path(tmp_path, FIRST), OWN, relay())
    agent = agent_path(tmp_path, FIRST, "a1")
    write_lines(agent, FINAL)
    explanation = explain(count(tmp_path), FIRST, UTC, TODAY)
    assert [(line.status, line.note) for line in explanation.lines] == [
        ("counted", ""),
        ("progress", f"copy of {agent}:0"),
        ("counted", ""),
    ]
    assert explanation.not_counted == {Status.PROGRESS: 1}


def test_nested_usage_elsewhere_is_never_counted(tmp_path: Path) -> None:
    """Only the message of an `agent_progress` is counted, not nested usage elsewhere."""
    data = relay()["data"]
    assert isinstance(data, dict)
    write_lines(
        session_path(tmp_path, FIRST),
        OWN,
        relay(data={**data, "type": "hook_progress"}),
        relay(data={**data, "message": None, "normalizedMessages": [data["message"]]}),
        relay(data={**data, "message": {**data["message"], "type": "user"}}),
        relay(data="assistant"),
    )
    ledger = UsageLedger(count_in_memory(find_transcripts([tmp_path])), [tmp_path])
    assert report(ledger).totals == Totals(input=10, output=100, messages=1, cost=2_040)
    assert OWN["message"]["model"] == OPUS  # type: ignore[index]
