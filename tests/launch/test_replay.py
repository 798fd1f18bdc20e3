"""Tests of recollect.launch.stream_session: the timing of a replay."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.launch.stream_session import (
    MAX_PAUSE,
    TimedItem,
    is_stream_file,
    iter_paced,
    iter_session,
    iter_stream,
)
from recollect.locations.references import locate_file
from recollect.records.envelope import Chain
from tests.launch.fake_client import begin_text, init, piece, text
from tests.library.claude_root import FIRST, PROJECT, ClaudeRoot, encode, prompt, reply

NOON = datetime(2026, 11, 13, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    """Return a time so many seconds after the start."""
    return NOON + timedelta(seconds=seconds)


def test_pauses_are_those_of_the_times() -> None:
    """Each item waits until its time; one without a time follows after a short gap."""
    timed = [
        TimedItem(after(0), 0.0, "a"),
        TimedItem(None, 0.5, "b"),
        TimedItem(after(2), 0.0, "c"),
        TimedItem(after(1), 0.0, "d"),
        TimedItem(after(3), 0.0, "e"),
    ]
    assert list(iter_paced(timed, 1)) == [(0, "a"), (0.5, "b"), (1.5, "c"), (0, "d"), (1, "e")]
    assert list(iter_paced(timed, 2)) == [(0, "a"), (0.25, "b"), (0.75, "c"), (0, "d"), (0.5, "e")]


def test_long_pauses_are_shortened() -> None:
    """A pause of a day takes seconds."""
    timed = [TimedItem(after(0), 0.0, "a"), TimedItem(after(86400), 0.0, "b")]
    assert list(iter_paced(timed, 1)) == [(0, "a"), (MAX_PAUSE, "b")]


@given(st.lists(st.tuples(st.none() | st.integers(0, 1000), st.floats(0, 10))))
def test_nothing_is_lost_or_moved(pairs: list[tuple[int | None, float]]) -> None:
    """Whatever the times, the order is kept, and no pause is negative or too long."""
    timed = [
        TimedItem(None if moment is None else after(moment), gap, number)
        for number, (moment, gap) in enumerate(pairs)
    ]
    paced = list(iter_paced(timed, 1))
    assert [what for _, what in paced] == list(range(len(pairs)))
    assert all(0 <= wait <= MAX_PAUSE for wait, _ in paced)


def test_a_session_is_merged_with_its_subagents(tmp_path: Path) -> None:
    """Records are ordered by time; those without a time keep their position."""
    root = ClaudeRoot(tmp_path)
    path = root.session(
        FIRST,
        prompt("go", uuid="p", seconds=0),
        {"type": "mode", "mode": "normal"},
        reply("over", uuid="q", seconds=20),
    )
    root.write(
        f"projects/{PROJECT}/{FIRST}/subagents/agent-a1.jsonl",
        encode(
            [
                prompt("look", uuid="s", seconds=5, isSidechain=True, agentId="a1"),
                reply("seen", uuid="t", seconds=20, isSidechain=True, agentId="a1"),
            ]
        ),
    )
    played = list(iter_session(locate_file(path)))
    names = [
        each.item.record.uuid if isinstance(each.item.record, Chain) else "state" for each in played
    ]
    assert names == ["p", "state", "s", "q", "t"]
    assert [each.item.transcript.agent_id for each in played] == [None, None, "a1", None, "a1"]


@pytest.mark.parametrize(
    ("content", "is_stream"),
    [
        (encode([init(), text("hi", uuid="a")]), True),
        (b"npm warn\n" + encode([init()]), True),
        (encode([prompt("hi")]), False),
        (b"", False),
        (b"\x00\xff", False),
    ],
)
def test_streams_are_distinguished_from_transcripts(
    tmp_path: Path, content: bytes, is_stream: bool
) -> None:
    """The first lines decide, whatever the file name."""
    path = tmp_path / "any.jsonl"
    path.write_bytes(content)
    assert is_stream_file(path) is is_stream


def test_a_stream_has_the_pace_of_its_pieces(tmp_path: Path) -> None:
    """Pieces follow closely, messages without a time a little later, signals immediately."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(encode([init(), begin_text(), piece("Hi"), text("Hi", uuid="a")]))
    assert [wait for wait, _ in iter_paced(iter_stream(path), 1)] == [0, 0, 0.02, 0.3]
