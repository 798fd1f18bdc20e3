"""A session that stays open equals a fresh read, whatever happens to its files."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.demo import CLAUDE_DIRECTORY
from recollect.errors import UnreadableInput
from recollect.library.opening import IncrementalSession, open_transcript, read_partial_session
from recollect.locations import Transcript, TranscriptKind, discover
from recollect.session.session import Session

(TRANSCRIPT,) = CLAUDE_DIRECTORY.rglob("8facb961-b86b-4d27-b5bd-038c0d96c55c.jsonl")
DATA = TRANSCRIPT.read_bytes()


def _summarise(session: Session) -> tuple[object, ...]:
    """Return the content of a session without the positions of its records."""
    return (
        session.turns,
        session.tool_calls,
        session.metrics,
        session.main_path,
        [each.agent_id for each in session.subagents],
        [type(each) for each in session.irregular],
    )


def _find(path: Path) -> Transcript:
    return discover(path).transcripts[0]


@given(cuts=st.lists(st.integers(0, len(DATA)), max_size=5).map(sorted))
def test_growing_equals_reading_again(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    """However a file grew, torn lines included, the session is the same."""
    path = tmp_path_factory.mktemp("grown") / TRANSCRIPT.name
    growing = IncrementalSession()
    for end in cuts:
        path.write_bytes(DATA[:end])
        growing.catch_up(_find(path), ())
    path.write_bytes(DATA)
    session = growing.catch_up(_find(path), ())
    assert _summarise(session) == _summarise(open_transcript(_find(path)))
    assert growing.bytes == len(DATA)


def test_nothing_new_costs_nothing(tmp_path: Path) -> None:
    """An unchanged file is not opened again."""
    path = tmp_path / TRANSCRIPT.name
    path.write_bytes(DATA)
    # A file that was written a moment ago could be written again within the same tick of the clock.
    os.utime(path, (1, 1))
    transcript, growing = _find(path), IncrementalSession()
    session = growing.catch_up(transcript, ())
    turns = session.turns
    path.unlink()
    assert growing.catch_up(transcript, ()).turns is turns


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[data.index(b"\n") + 1 :] + data[: data.index(b"\n") + 1],
        lambda data: data.replace(b"user", b"USER") + b"{}\n",
    ],
)
def test_rewritten_files_are_read_again(tmp_path: Path, change: object) -> None:
    """A file that was truncated, reordered or rewritten gives the same as a fresh read."""
    path = tmp_path / TRANSCRIPT.name
    path.write_bytes(DATA)
    growing = IncrementalSession()
    growing.catch_up(_find(path), ())
    assert callable(change)
    path.write_bytes(change(DATA))
    session = growing.catch_up(_find(path), ())
    assert _summarise(session) == _summarise(open_transcript(_find(path)))


def test_subagents_are_joined_and_come_later(tmp_path: Path) -> None:
    """Those that are there are joined as in an opened session; one that appears is too."""
    root = tmp_path / "claude"
    shutil.copytree(CLAUDE_DIRECTORY, root)
    found = discover(root).transcripts
    (main,) = (each for each in found if each.session_id and each.session_id.startswith("7aa5fa93")
               and each.kind is TranscriptKind.SESSION)  # fmt: skip
    relatives = [each for each in found if each.session_id == main.session_id and each != main]
    growing = IncrementalSession()
    assert len(growing.catch_up(main, ()).subagents) == 0
    session = growing.catch_up(main, relatives)
    assert len(session.subagents) == len(relatives) == 1
    assert _summarise(session) == _summarise(open_transcript(main))
    relatives[0].path.unlink()
    Path(relatives[0].file).symlink_to(main.file)
    gone = relatives[0]._replace(size=1)
    assert growing.catch_up(main, [gone]).subagents[0].session.turns == ()


def test_missing_files_are_an_error(tmp_path: Path) -> None:
    """A session whose own file cannot be read is an error."""
    transcript = _find(TRANSCRIPT)._replace(file=str(tmp_path / "none.jsonl"))
    with pytest.raises(UnreadableInput):
        IncrementalSession().catch_up(transcript, ())


@given(size=st.integers(1, len(DATA) + 10))
def test_first_part_is_the_beginning(size: int) -> None:
    """Turns of the first part equal those of the whole, except for the last, which continues."""
    whole = open_transcript(_find(TRANSCRIPT))
    part = read_partial_session(_find(TRANSCRIPT), size)
    shown = part.session.turns[: part.turn_count]
    assert part.is_whole == (size >= len(DATA))
    settled = shown if len(part.session.turns) > 1 or part.is_whole else ()
    assert [turn.words for turn in settled] == [turn.words for turn in whole.turns[: len(settled)]]
