"""Recorded output of real clients, read as in a conversation."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect.launch.client_process import StdoutMessage
from recollect.launch.control_messages import read_request
from recollect.launch.conversation_events import (
    ConversationEvent,
    ConversationStatus,
    RecordReceived,
)
from recollect.launch.conversation_state import ConversationState, QueuedPrompt
from recollect.records.conversation_records import SYNTHETIC_MODEL, Assistant
from recollect.records.envelope import Chain
from recollect.records.stream.control import ControlCancelRequest, ControlRequest, ControlResponse
from recollect.records.stream.message_decoding import decode_message

VERSIONS = ("2.0.77", "2.1.112", "2.1.325")
FRAMES = ".frames.jsonl"

KILLED = ("s14_sig", "s14_orphan", "s14_close_pending", "s12_big_image")
"""Recordings that end in the middle of a turn."""

UNWRITTEN = ("s07", "s09_compact", "s10", "s13_controls", "s14_sigint_text")
"""Recordings in which the client merged prompts, answered itself, or was stopped while writing."""

WITHOUT_PIECES = ("s17_no_partial", "s03_subagent", "s17_subagent")
"""Recordings with replies that were not streamed."""


class Replay:
    """One client of a recording: the state after its whole output, and the events."""

    def __init__(self) -> None:
        self.state = ConversationState()
        self.events: list[ConversationEvent] = []

    def feed(self, direction: str, frame: dict[str, Any]) -> None:
        """Add a line that was sent or received."""
        if direction == "in":
            self.events.extend(self._send(frame))
        elif direction == "out":
            self.state.mark_ready()
            self.events.extend(self._receive(msgspec.json.encode(frame)))

    def _send(self, frame: dict[str, Any]) -> Iterator[ConversationEvent]:
        if frame.get("type") == "user" and frame.get("uuid"):
            line = msgspec.json.encode(frame)
            yield self.state.add_prompt(QueuedPrompt(frame["uuid"], "", line), 0)
        elif frame.get("type") == "control_response":
            request_id = frame["response"]["request_id"]
            if request_id in self.state.pending:
                yield self.state.close_request(request_id, "allowed")

    def _receive(self, line: bytes) -> Iterator[ConversationEvent]:
        match decode_message(line):
            case ControlRequest() as message:
                request = read_request(message)
                if request is not None:
                    yield self.state.add_request(request)
            case ControlCancelRequest(request_id=str(request_id)):
                if request_id in self.state.pending:
                    yield self.state.close_request(request_id, "cancelled")
            case ControlResponse():
                return
            case item:
                assert item is not None
                yield from self.state.feed(StdoutMessage(item, line))

    @property
    def records(self) -> list[RecordReceived]:
        """The records in order."""
        return [event for event in self.events if isinstance(event, RecordReceived)]


def read_recording(path: Path) -> dict[int, Replay]:
    """Return the output of each client in a recording."""
    found: dict[int, Replay] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if isinstance(row["frame"], dict) and "_driver" not in row["frame"]:
            found.setdefault(row.get("proc", 1), Replay()).feed(row["dir"], row["frame"])
    return found


def read_transcripts(path: Path) -> set[str]:
    """Return the uuids in all files that the client wrote."""
    files = path.parent.glob(f"{path.name.removesuffix(FRAMES)}.*transcript.jsonl")
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return {uuid for line in lines if (uuid := json.loads(line).get("uuid"))}


@pytest.fixture(params=VERSIONS)
def recordings(request: pytest.FixtureRequest, shared: Path) -> list[tuple[str, Path]]:
    """Return the recordings of one version, by scenario."""
    paths = sorted((shared / "control" / str(request.param)).glob(f"*{FRAMES}"))
    return [(path.name.removesuffix(FRAMES), path) for path in paths]


def test_every_recording_is_understood(recordings: list[tuple[str, Path]]) -> None:
    """Every prompt is taken, every turn ends, and each record comes once, also where it repeats."""
    assert recordings
    for name, path in recordings:
        for replay in read_recording(path).values():
            is_killed = name.startswith(KILLED)
            assert is_killed or replay.state.status in (
                ConversationStatus.IDLE,
                ConversationStatus.STARTING,
            ), name
            assert replay.state.queue == {}, name
            uuids = [each.record.uuid for each in replay.records if isinstance(each.record, Chain)]
            assert len(uuids) == len(set(uuids)), name


def test_every_reply_replaces_what_was_streamed_of_it(recordings: list[tuple[str, Path]]) -> None:
    """A finished block names the block that it replaces."""
    for name, path in recordings:
        for replay in read_recording(path).values():
            messages = [
                (each.index, each.record.message)
                for each in replay.records
                if isinstance(each.record, Assistant)
            ]
            lost = [
                message.id
                for index, message in messages
                if message is not None and message.model != SYNTHETIC_MODEL and index is None
            ]
            assert lost == [] or name in WITHOUT_PIECES, name


def test_records_are_those_of_the_transcript(recordings: list[tuple[str, Path]]) -> None:
    """Published records have the uuids that the client wrote to its transcript."""
    for name, path in recordings:
        written = read_transcripts(path)
        for replay in read_recording(path).values() if written else ():
            uuids = {each.record.uuid for each in replay.records if isinstance(each.record, Chain)}
            assert uuids <= written or name.startswith(UNWRITTEN), name
