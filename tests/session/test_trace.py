"""Tests of recollect.session.trace."""

import pytest

from recollect.session.session import Session
from recollect.session.trace import MAX_STEPS, trace_session, trace_turn
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
