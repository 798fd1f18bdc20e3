"""Invariants of the main path and of turns, on published and recorded sessions."""

from functools import cache
from pathlib import Path

import pytest

from recollect.documents.kinds import InputKind
from recollect.reader.transcript_reader import read_transcript
from recollect.session.session import Session


@cache
def list_paths(shared: Path) -> tuple[Path, ...]:
    """Return all transcripts; the output of clients is in separate directories."""
    found = [path for area in ("corpus", "real_cli") for path in (shared / area).rglob("*.jsonl")]
    return tuple(path for path in sorted(found) if not {"_stream", "stream"} & set(path.parts))


@cache
def open_file(path: Path) -> Session:
    """Return the session in a file."""
    return Session(read_transcript(path))


def find_named(shared: Path, name: str) -> Session:
    """Return the session in the only file whose path contains `name`."""
    (path,) = (path for path in list_paths(shared) if name in str(path))
    return open_file(path)


@pytest.mark.slow
def test_turns_are_left_behind_only_by_branches(shared: Path) -> None:
    """Without branches all turns are on the main path and visible."""
    for path in list_paths(shared):
        session = open_file(path)
        is_whole = all(turn.is_on_main_path for turn in session.turns)
        assert is_whole or session.branches, path
        unseen = [
            turn.index
            for turn in session.turns
            if turn.prompt is None and not any(message.is_visible for message in turn.messages)
        ]
        assert not unseen or len(session.turns) == 1, path


@pytest.mark.parametrize(
    ("name", "turns", "gaps"),
    [
        ("f551142a", 21, 11),
        ("5c/5cb639eac4/0", 41, 5),
        ("general-tool-calls", 10, 0),
        ("1.0.35/config_tui/projects/-srv-ccdemo-run-tui-1-0-35-work-tui/2ff235ec", 6, 1),
        ("1.0.35/config_tui/projects/-srv-ccdemo-run-tui-1-0-35-work-tui/87c5e4ba", 9, 0),
    ],
)
def test_broken_chains_are_one_conversation(shared: Path, name: str, turns: int, gaps: int) -> None:
    """Lost lines, a compaction of 1.0.35, a second root and a copied beginning hide no turn."""
    session = find_named(shared, name)
    assert [turn.is_on_main_path for turn in session.turns] == [True] * turns
    assert len(session.tree.gaps) == gaps


@pytest.mark.parametrize(
    ("name", "queued", "unsent"),
    [
        ("5c/5cb639eac4/0", 1, 0),
        ("6d/e70163f7e3/0", 1, 0),
        ("7e/c034df6095/2", 1, 0),
        ("d5/99f72ee73a/0", 1, 0),
        ("db/3f4ae57df0/0", 4, 0),
        ("0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl", 0, 2),
        ("7b7a7ff4", 2, 0),
        ("e3571cd0", 2, 0),
    ],
)
def test_prompts_of_the_queue_are_messages(
    shared: Path, name: str, queued: int, unsent: int
) -> None:
    """Both answered and withdrawn ones."""
    kinds = [
        message.prompt.kind
        for message in find_named(shared, name).messages
        if message.prompt and message.id.startswith("queue-")
    ]
    assert (kinds.count(InputKind.QUEUED), kinds.count(InputKind.UNSENT)) == (queued, unsent)
