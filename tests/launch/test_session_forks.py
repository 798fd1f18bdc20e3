"""A session is copied up to a turn, for Claude Code to continue there."""

import json
from pathlib import Path

import pytest

from recollect.errors import NothingFound
from recollect.launch.session_forks import fork_session
from recollect.library.opening import open_transcript
from recollect.locations.references import locate_file
from tests.versions.small_project import SESSION, Project


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session with three turns, the second with a call."""
    project = Project(tmp_path / "work")
    first = project.prompt("Write it")
    project.snapshot(first, {})
    project.write("a.py", "one\n")
    second = project.prompt("Change it")
    project.snapshot(second, {})
    project.edit("a.py", "one", "世界")
    third = project.prompt("Half a character: \ud800")
    project.snapshot(third, {})
    project.edit("a.py", "世界", "three")
    project.save(tmp_path / "claude")
    (found,) = (tmp_path / "claude").rglob("*.jsonl")
    return found


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_copy_has_exactly_the_turns_up_to_it(path: Path, number: int) -> None:
    """A resume of the copy loads the messages of those turns, and the backups of their prompts."""
    transcript = locate_file(path)
    before = path.read_bytes()
    session = open_transcript(transcript)
    fork = fork_session(session, transcript, number)
    copy = open_transcript(locate_file(fork.path))
    assert fork.turns == number
    assert copy.id == fork.session_id == fork.path.stem
    assert [turn.words for turn in copy.turns] == [turn.words for turn in session.turns[:number]]
    assert [record.uuid for record in copy.resume_chain] == [
        uuid
        for turn in session.turns[:number]
        for message in turn.messages
        for uuid in message.uuids
    ]
    assert len(copy.states) == number
    assert path.read_bytes() == before
    assert fork.path.stat().st_mode & 0o777 == 0o600


def test_each_line_says_where_it_came_from(path: Path) -> None:
    """Each line has its origin, so that usage is counted once."""
    transcript = locate_file(path)
    fork = fork_session(open_transcript(transcript), transcript, 1)
    records = [json.loads(line) for line in fork.path.read_text("utf-8").splitlines()]
    links = [each for each in records if "uuid" in each]
    assert [each["forkedFrom"] for each in links] == [
        {"sessionId": SESSION, "messageUuid": each["uuid"]} for each in links
    ]


def test_a_turn_that_does_not_exist_is_refused(path: Path) -> None:
    """Nothing is written."""
    transcript = locate_file(path)
    with pytest.raises(NothingFound, match="no turn 4; its last one is 3"):
        fork_session(open_transcript(transcript), transcript, 4)
    assert list(path.parent.iterdir()) == [path]
