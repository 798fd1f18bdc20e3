"""Values that require reading a whole transcript and are small enough for an index: figures, tool
calls, a trace.

The trace has two characters for each step: the first is the kind of step, the second its duration
on a logarithmic scale. From these, a list can draw small charts of hundreds of sessions without
reading them.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Final

from recollect.documents.kinds import InputKind, ToolStatus
from recollect.documents.session_listing import CallSummary, FileFigures
from recollect.records.blocks import McpToolUse, ServerToolUseBlock, Text, ToolUse
from recollect.records.envelope import Record
from recollect.records.tools.file_tools import CHANGE_TOOLS
from recollect.session.session import Session
from recollect.session.times import parse_time
from recollect.session.tool_calls import ToolCall
from recollect.session.turns import Turn

SUMMARY_LENGTH: Final = 600

FAILED: Final = "x"
COMPACTED: Final = "|"
YOU: Final = "y"
CHANGE: Final = "f"
AGENT: Final = "a"
CALL: Final = "c"
TEXT: Final = "t"

MAX_STEPS: Final = 44
"""Maximum number of steps of a reduced trace, which has to fit into a column of a list."""
_LOUDEST_FIRST: Final = FAILED + COMPACTED + YOU + CHANGE + AGENT + CALL + TEXT
_AGENT_TOOLS: Final = frozenset({"Agent", "Task", "Workflow"})
_MAX_DIGIT: Final = 9
_SECOND_MS: Final = 1000


STEP_NAMES: Final = {
    YOU: "you",
    TEXT: "text",
    CALL: "call",
    CHANGE: "change",
    AGENT: "agent",
    FAILED: "failed",
}
"""CSS class names of the kinds of steps; a compaction is a gap and has none."""


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


def _iter_calls(session: Session) -> Iterator[ToolCall]:
    """Yield the calls of a session and of subagents that old clients wrote into its file."""
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


def trace_session(session: Session) -> str:
    """Return the trace of the main path, reduced to `MAX_STEPS`."""
    turns = (turn for turn in session.turns if turn.is_on_main_path)
    return "".join(_reduce([step for turn in turns for step in _iter_steps(session, turn)]))


def trace_turn(session: Session, turn: Turn) -> str:
    """Return the trace of one turn, with all of its steps."""
    return "".join(_iter_steps(session, turn))


def find_turn_starts(session: Session) -> tuple[int, ...]:
    """Return the offset at which each run of records of one turn starts, with the turn's number.

    The list alternates offsets and numbers. Turns may alternate too, if a file has two
    conversations.
    """
    owners = sorted(
        (record.span.offset, turn.number)
        for turn in session.turns
        for message in turn.messages
        for record in message.records
        if record.span is not None
    )
    runs = (next(group) for _, group in groupby(owners, key=itemgetter(1)))
    return tuple(chain.from_iterable(runs))


def _reduce(steps: Sequence[str]) -> Iterator[str]:
    """Represent each bucket of steps by its most important step."""
    size = max(-(-len(steps) // MAX_STEPS), 1)
    for start in range(0, len(steps), size):
        yield min(steps[start : start + size], key=_rank)


def _rank(step: str) -> tuple[int, int]:
    return _LOUDEST_FIRST.index(step[0]), -int(step[1])


def _iter_steps(session: Session, turn: Turn) -> Iterator[str]:
    for message in turn.messages:
        prompt = message.prompt
        if prompt is not None:
            if prompt.kind is InputKind.COMPACTION_SUMMARY:
                yield f"{COMPACTED}0"
            elif turn.is_by_person and prompt is turn.prompt:
                yield f"{YOU}{_MAX_DIGIT}"
            continue
        if message.failure is not None:
            yield f"{FAILED}1"
            continue
        for block in message.content if message.role == "assistant" else ():
            if isinstance(block, Text) and block.text:
                yield f"{TEXT}0"
            elif isinstance(block, ToolUse | ServerToolUseBlock | McpToolUse):
                call = session.find_tool_call(block.id)
                if call is not None:
                    yield _trace_call(call)


def classify_call(tool: str, status: ToolStatus, *, has_agent: bool) -> str:
    """Return the kind of step for a tool call."""
    if status in (ToolStatus.FAILED, ToolStatus.REJECTED):
        return FAILED
    if has_agent:
        return AGENT
    return CHANGE if tool in CHANGE_TOOLS else CALL


def _trace_call(call: ToolCall) -> str:
    kind = classify_call(call.name, call.status, has_agent=call.name in _AGENT_TOOLS)
    seconds = (call.duration_ms or 0) / _SECOND_MS
    # 0.1 s becomes 2, 1 s 3, 10 s 5, a minute 7 and a quarter of an hour 9.
    digit = 1 + round(2 * math.log10(1 + 10 * seconds))
    return f"{kind}{min(digit, _MAX_DIGIT)}"
