"""Tests of recollect.session.figures."""

import pytest
from msgspec.structs import replace

from recollect.documents.session_listing import FileFigures
from recollect.records.envelope import Span
from recollect.session.figures import MAX_STEPS, find_turn_starts, trace_session, trace_turn
from recollect.session.session import Session
from tests.session.chains import boundary, in_a_row, reply, result, summary, use, user


def test_every_step_has_a_letter() -> None:
    """Prompts, text, calls, file changes, subagents and failures are distinguished."""
    session = Session(
        in_a_row(
            user("p", "fix it"),
            reply("r", "I look.", use("t1"), use("t2", "Edit"), use("t3", "Agent"), use("t4")),
            result("q", "t4", is_error=True),
        )
    )
    assert trace_session(session) == "y9t0c1f1a1x1"
    assert trace_turn(session, session.turns[0]) == "y9t0c1f1a1x1"


def test_turns_are_found_by_where_their_records_are() -> None:
    """A record belongs to the turn that it follows, also where two conversations take turns."""
    records = [
        *in_a_row(user("p"), reply("r", "one")),
        user("q", "second", promptId="two"),
        reply("s", "late", parent="r"),
        reply("t", "two", parent="q"),
    ]
    placed = [
        replace(record, span=Span("f", 10 * number, 10)) for number, record in enumerate(records)
    ]
    starts = find_turn_starts(Session(placed))
    assert starts == (0, 1, 20, 2, 30, 1, 40, 2)
    figures = FileFigures(turn_starts=starts)
    assert [figures.find_turn(offset) for offset in (0, 15, 20, 39, 45)] == [1, 1, 2, 1, 2]
    assert FileFigures().find_turn(5) is None


def test_a_compaction_is_a_step() -> None:
    """Drawings leave a gap for it."""
    records = [
        *in_a_row(user("p"), reply("r", "one")),
        boundary("b", "r"),
        summary("s", "This session is being continued", "b"),
    ]
    assert trace_session(Session(records)) == "y9t0|0"


@pytest.mark.parametrize(
    ("ended", "digit"),
    [("00.000", 1), ("00.100", 2), ("01.000", 3), ("10.000", 5), ("59.000", 7)],
)
def test_longer_calls_have_larger_digits(ended: str, digit: int) -> None:
    """The scale is logarithmic."""
    session = Session(
        in_a_row(
            user("p", timestamp="2026-01-01T12:00:00Z"),
            reply("r", use("t1"), timestamp="2026-01-01T12:00:00.000Z"),
            result("q", "t1", timestamp=f"2026-01-01T12:00:{ended}Z"),
        )
    )
    assert trace_session(session) == f"y9c{digit}"


def test_long_traces_keep_what_matters() -> None:
    """The most important step of each bucket remains."""
    calls = [use(f"t{number}") for number in range(200)]
    session = Session(in_a_row(user("p"), reply("r", *calls), result("q", "t120", is_error=True)))
    trace = trace_session(session)
    assert len(trace) <= 2 * MAX_STEPS
    assert (trace[:2], trace.count("x"), trace.count("y")) == ("y9", 1, 1)
