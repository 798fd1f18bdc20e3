"""The trace of a session: two characters for each step, from which small drawings are made.

The first says what the step was, the second how long it took on a logarithmic scale. It is short
enough to be kept in the index, so that a list can draw hundreds of sessions without reading one.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Final

from recollect.documents.kinds import InputKind, ToolStatus
from recollect.records.blocks import McpToolUse, ServerToolUseBlock, Text, ToolUse
from recollect.records.tools.file_tools import CHANGE_TOOLS
from recollect.session.session import Session
from recollect.session.tool_calls import ToolCall
from recollect.session.turns import Turn

FAILED: Final = "x"
COMPACTED: Final = "|"
YOU: Final = "y"
CHANGE: Final = "f"
AGENT: Final = "a"
CALL: Final = "c"
TEXT: Final = "t"

MAX_STEPS: Final = 44
"""Steps of a reduced trace: what a column of a list has room for."""
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
"""What pages call the kinds of steps in class names; a compaction is a gap and has none."""


def trace_session(session: Session) -> str:
    """Return the trace of the main path, reduced to `MAX_STEPS`."""
    turns = (turn for turn in session.turns if turn.is_on_main_path)
    return "".join(_reduce([step for turn in turns for step in _iter_steps(session, turn)]))


def trace_turn(session: Session, turn: Turn) -> str:
    """Return the trace of one turn, with all of its steps."""
    return "".join(_iter_steps(session, turn))


def find_turn_starts(session: Session) -> tuple[int, ...]:
    """Return where in the file each run of records of one turn starts, and the turn's number.

    Offsets and numbers take turns. Two conversations in one file may change off.
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
    """Let the most important step of each bucket stand for the others."""
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
    """Return the kind of step that a tool call is."""
    if status in (ToolStatus.FAILED, ToolStatus.REJECTED):
        return FAILED
    if has_agent:
        return AGENT
    return CHANGE if tool in CHANGE_TOOLS else CALL


def _trace_call(call: ToolCall) -> str:
    kind = classify_call(call.name, call.status, has_agent=call.name in _AGENT_TOOLS)
    seconds = (call.duration_ms or 0) / _SECOND_MS
    # 0.1 s is 2, 1 s is 3, 10 s is 5, a minute 7, a quarter of an hour 9.
    digit = 1 + round(2 * math.log10(1 + 10 * seconds))
    return f"{kind}{min(digit, _MAX_DIGIT)}"
