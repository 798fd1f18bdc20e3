"""Tests of recollect.launch.replay: when things are played again."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.launch.replay import (
    LONGEST_PAUSE,
    Timed,
    is_stream_file,
    iter_session,
    iter_stream,
    pace,
)
from recollect.locations.references import locate_file
from recollect.records.envelope import Chain
from tests.launch.fake_client import begin_text, init, piece, text
from tests.library.claude_root import FIRST, PROJECT, ClaudeRoot, encode, prompt, reply

NOON = datetime(2026, 11, 13, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    """A moment."""
    return NOON + timedelta(seconds=seconds)


def test_pauses_are_those_of_the_times() -> None:
    """Each thing waits for its moment; what has none follows at its own gap, within that wait."""
    timed = [
        Timed(after(0), 0.0, "a"),
        Timed(None, 0.5, "b"),
        Timed(after(2), 0.0, "c"),
        Timed(after(1), 0.0, "d"),
        Timed(after(3), 0.0, "e"),
    ]
    assert list(pace(timed, 1)) == [(0, "a"), (0.5, "b"), (1.5, "c"), (0, "d"), (1, "e")]
    assert list(pace(timed, 2)) == [(0, "a"), (0.25, "b"), (0.75, "c"), (0, "d"), (0.5, "e")]


def test_long_pauses_are_cut() -> None:
    """Nobody waits through a night."""
    timed = [Timed(after(0), 0.0, "a"), Timed(after(86400), 0.0, "b")]
    assert list(pace(timed, 1)) == [(0, "a"), (LONGEST_PAUSE, "b")]


@given(st.lists(st.tuples(st.none() | st.integers(0, 1000), st.floats(0, 10))))
def test_nothing_is_lost_or_moved(pairs: list[tuple[int | None, float]]) -> None:
    """Whatever the times are, all is played in its order, and no wait is negative or too long."""
    timed = [
        Timed(None if moment is None else after(moment), gap, number)
        for number, (moment, gap) in enumerate(pairs)
    ]
    paced = list(pace(timed, 1))
    assert [what for _, what in paced] == list(range(len(pairs)))
    assert all(0 <= wait <= LONGEST_PAUSE for wait, _ in paced)


def test_a_session_is_merged_with_its_subagents(tmp_path: Path) -> None:
    """Records stand in the order of their times; those without one stay where they are."""
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
        each.what.record.uuid if isinstance(each.what.record, Chain) else "state" for each in played
    ]
    assert names == ["p", "state", "s", "q", "t"]
    assert [each.what.transcript.agent_id for each in played] == [None, None, "a1", None, "a1"]


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
def test_streams_are_told_from_transcripts(tmp_path: Path, content: bytes, is_stream: bool) -> None:
    """The first lines decide, whatever the file is called."""
    path = tmp_path / "any.jsonl"
    path.write_bytes(content)
    assert is_stream_file(path) is is_stream


def test_a_stream_has_the_pace_of_its_pieces(tmp_path: Path) -> None:
    """Pieces follow closely, messages without a time a little later, signals at once."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(encode([init(), begin_text(), piece("Hi"), text("Hi", uuid="a")]))
    assert [wait for wait, _ in pace(iter_stream(path), 1)] == [0, 0, 0.02, 0.3]
