"""A whole transcript → its figures and tool calls, as notes for the index."""

from collections.abc import Iterator

import msgspec

from recollect.errors import UnreadableInput
from recollect.locations import Transcript
from recollect.reader import read_transcript
from recollect.session.session import Session
from recollect.session.times import parse_time
from recollect.session.tool_calls import ToolCall
from recollect.store.figures import CALLS_KIND, FIGURES_KIND, CallNote, FileFigures
from recollect.sync.file_notes import Notes

SUMMARY_LENGTH = 600

_encode = msgspec.msgpack.Encoder().encode


def read_figures(transcript: Transcript) -> Notes:
    """The figures and the calls in `transcript`; none if it cannot be read."""
    try:
        session = Session(read_transcript(transcript.path))
    except UnreadableInput:
        return {}
    summaries = [each.summary or "" for each in session.segments if each.boundary_uuid]
    figures = FileFigures(
        models=tuple(dict.fromkeys(change.value for change in session.facts.models)),
        turns=session.metrics.turns,
        messages=session.metadata.message_count,
        errors=session.metrics.errors,
        compactions=len(summaries),
        summary=summaries[-1][:SUMMARY_LENGTH] if summaries else "",
    )
    calls = [_note_call(call) for call in _iter_calls(session)]
    return {FIGURES_KIND: _encode(figures), CALLS_KIND: _encode(calls)}


def _iter_calls(session: Session) -> Iterator[ToolCall]:
    """The calls of a session, and of the subagents that old clients wrote into its file."""
    yield from session.tool_calls
    for subagent in session.subagents:
        yield from _iter_calls(subagent.session)


def _note_call(call: ToolCall) -> CallNote:
    started = parse_time(call.started)
    return CallNote(
        call.id,
        call.name,
        call.status.value,
        None if started is None else started.timestamp(),
        call.duration_ms,
    )
