"""Following from a place: the rest of each file is reported."""

import asyncio
from contextlib import aclosing
from datetime import datetime
from pathlib import Path

from recollect.demo import CLAUDE_DIRECTORY
from recollect.library.opening import open_transcript
from recollect.live.follow import FollowOptions
from recollect.live.live_events import Appended
from recollect.reader.transcript_reader import read_transcript
from recollect.session.times import parse_time
from recollect.workspace.follow_starts import find_start
from recollect.workspace.session_places import iter_subagents
from recollect.workspace.workspace import Workspace, open_workspace

WITH_SUBAGENT = "7aa5fa93-883b-4f00-b3b1-6090844693a9"
HARBOUR = "94791a87-9d13-410a-a632-25a9b25c1b45"


def follow(workspace: Workspace, name: str) -> dict[str, list[int]]:
    """Return the offsets of the records that are reported, by file."""

    async def collect() -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        options = FollowOptions(poll=True, until="end")
        async with aclosing(workspace.follow(name, options=options)) as events:
            async for event in events:
                if isinstance(event, Appended) and event.record.span:
                    found.setdefault(event.source.path, []).append(event.record.span.offset)
        return found

    return asyncio.run(collect())


def list_offsets(path: str, start: int) -> list[int]:
    """Return the offsets of the records of a file from `start` on."""
    spans = [record.span for record in read_transcript(path)]
    return [span.offset for span in spans if span and span.offset >= start]


def test_every_record_is_a_place_to_begin(tmp_path: Path) -> None:
    """Its own file begins with it, whatever kind of record it is, and in a subagent too."""
    with open_workspace(CLAUDE_DIRECTORY, tmp_path) as workspace:
        for name in (HARBOUR, WITH_SUBAGENT):
            session = open_transcript(workspace.find(name))
            sessions = (session, *(child.session for child in iter_subagents(session)))
            records = [
                record
                for owner in sessions
                for message in owner.messages
                for record in message.records
            ]
            assert len(records) > 10
            for record in records:
                assert record.span is not None
                start = find_start(workspace.find_place(f"{name}#{record.uuid}"))
                assert start.offsets[record.span.file] == record.span.offset


def test_the_rest_of_each_file_is_reported_once(tmp_path: Path) -> None:
    """The file of the place from there on, other files from that time on."""
    with open_workspace(CLAUDE_DIRECTORY, tmp_path) as workspace:
        place = f"{WITH_SUBAGENT}:2"
        start = find_start(workspace.find_place(place))
        path = workspace.find(WITH_SUBAGENT).file
        expected = {file: list_offsets(file, offset) for file, offset in start.offsets.items()}
        assert follow(workspace, place) == {file: each for file, each in expected.items() if each}
        assert start.offsets[path] > 0
        moment = _read_times(path, start.offsets[path])[0]
        others = [file for file in start.offsets if file != path]
        assert others
        for file in others:
            times = _read_times(file, 0)
            later = [each for each in times if each >= moment]
            assert len(later) == len(_read_times(file, start.offsets[file]))
        assert follow(workspace, WITH_SUBAGENT) == {
            file: list_offsets(file, 0) for file in start.offsets
        }


def _read_times(path: str, start: int) -> list[datetime]:
    found = (parse_time(getattr(each, "timestamp", None)) for each in read_transcript(path, start))
    return [each for each in found if each]
