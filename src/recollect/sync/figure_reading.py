"""Read a whole transcript for its figures and tool calls."""

from collections.abc import Iterator

from recollect.errors import UnreadableInput
from recollect.locations import Transcript
from recollect.reader import read_transcript
from recollect.session.session import Session
from recollect.session.times import parse_time
from recollect.session.tool_calls import ToolCall
from recollect.sources.stamps import Stamp
from recollect.store.session_table import CallSummary, FileFigures, StoredFigures

SUMMARY_LENGTH = 600


def read_figures(
    transcript: Transcript, stamp: Stamp
) -> tuple[StoredFigures, list[CallSummary]] | None:
    """Return the figures and the tool calls of `transcript`; None if it cannot be read."""
    try:
        session = Session(read_transcript(transcript.path))
    except UnreadableInput:
        return None
    summaries = [each.summary or "" for each in session.segments if each.follows_compaction]
    figures = FileFigures(
        models=tuple(dict.fromkeys(change.value for change in session.facts.models)),
        turns=session.metrics.turns,
        messages=session.metadata.message_count,
        errors=session.metrics.errors,
        compactions=len(summaries),
        summary=summaries[-1][:SUMMARY_LENGTH] if summaries else "",
        copied_tokens=session.metrics.copied_tokens.total,
        client_cost_usd=session.metrics.client_cost_usd,
    )
    calls = [_summarize(call) for call in _iter_calls(session)]
    return StoredFigures(transcript.file, stamp, figures), calls


def _iter_calls(session: Session) -> Iterator[ToolCall]:
    """Iterate over the calls of a session and of subagents that old clients wrote into its file."""
    yield from session.tool_calls
    for subagent in session.subagents:
        yield from _iter_calls(subagent.session)


def _summarize(call: ToolCall) -> CallSummary:
    started = parse_time(call.started)
    return CallSummary(
        call.id,
        call.name,
        call.status.value,
        None if started is None else started.timestamp(),
        call.duration_ms,
    )
