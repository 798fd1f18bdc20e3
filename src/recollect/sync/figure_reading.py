"""Figures and tool calls of a transcript, which take reading all of it.

The text pass decodes every record anyway, so it counts the files that it reads from start to end
(`FIGURES`); others are read for their figures alone when somebody asks for them.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from recollect.errors import UnreadableInput
from recollect.locations import Transcript
from recollect.reader import read_transcript
from recollect.reader.line_masking import find_mask, masked_by
from recollect.records.envelope import Record
from recollect.session.session import Session
from recollect.session.times import parse_time
from recollect.session.tool_calls import ToolCall
from recollect.session.trace import find_turn_starts, trace_session
from recollect.sources.growth import FileState
from recollect.sources.stamps import LISTS_INODES, Stamp
from recollect.store.session_table import CallSummary, FileFigures, StoredFigures, save_figures
from recollect.sync.cached_values import save_values
from recollect.sync.secret_notes import mask_lines

SUMMARY_LENGTH = 600


def read_figures(
    transcript: Transcript, stamp: Stamp
) -> tuple[StoredFigures, list[CallSummary]] | None:
    """Return the figures and the tool calls of `transcript`; None if it cannot be read."""
    try:
        # What is stored of a file must not hold its secrets.
        with masked_by(find_mask() or mask_lines):
            records = list(read_transcript(transcript.path))
    except UnreadableInput:
        return None
    figures, calls = count_figures(records)
    return StoredFigures(transcript.file, stamp, figures), calls


def count_figures(records: Iterable[Record]) -> tuple[FileFigures, list[CallSummary]]:
    """Return the figures and the tool calls of a file with these records."""
    session = Session(records)
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
        trace=trace_session(session),
        turn_starts=find_turn_starts(session),
    )
    return figures, [_summarize(call) for call in _iter_calls(session)]


class _CountedFile(Struct, frozen=True, array_like=True):
    """The figures of a file on the way from a worker."""

    stamp: Stamp
    figures: FileFigures
    calls: list[CallSummary]


class FigureSink:
    """Collects the records of one file."""

    def __init__(self) -> None:
        self._records: list[Record] = []

    def add(self, record: Record) -> None:
        """Take the next record."""
        self._records.append(record)

    def finish(self, state: FileState) -> bytes:
        """Return the figures and the calls, encoded."""
        inode, size, mtime_ns = state.stamp
        stamp = (inode if LISTS_INODES else 0, size, mtime_ns)
        return msgspec.msgpack.encode(_CountedFile(stamp, *count_figures(self._records)))


class FigureConsumer:
    """Counts the files that the text pass reads from start to end."""

    name = "figures"

    def start(self, path: str) -> FigureSink:
        """Start on a file."""
        return FigureSink()

    def save(self, directory: Path, found: Mapping[str, bytes]) -> None:
        """Write the figures to the index."""
        counted = {
            path: msgspec.msgpack.decode(data, type=_CountedFile) for path, data in found.items()
        }
        rows = [
            (StoredFigures(path, each.stamp, each.figures), each.calls)
            for path, each in counted.items()
        ]
        save_values(directory, save_figures, rows)


FIGURES: Final = FigureConsumer()


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
