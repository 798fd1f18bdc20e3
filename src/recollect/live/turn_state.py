"""The end of a transcript → whose turn it is, in constant memory.

Knows the few records that open and close a turn; refuses to know the conversation. What it cannot
tell is None, never a guess: after a slash command, nobody knows whether the model will be asked.
"""

from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from recollect.errors import UnreadableInput
from recollect.reader import read_transcript
from recollect.records.conversation import Assistant, User
from recollect.records.envelope import Chain, Record
from recollect.records.state import ContinuedIn, CostState
from recollect.records.system import StopHookSummary, TurnDuration
from recollect.session.content import iter_tool_results, iter_tool_uses
from recollect.session.prompts import OPENING_KINDS, InputKind, read_prompt

FIRST_READ: Final = 64 * 1024
MOST_READ: Final = 4 * 1024 * 1024

_GOES_ON: Final = frozenset({"tool_use", "pause_turn"})
_UNCERTAIN: Final = frozenset(
    {
        InputKind.COMMAND,
        InputKind.SHELL,
        InputKind.SHELL_OUTPUT,
        InputKind.COMPACTION_SUMMARY,
    }
)
_CLOSING: Final = frozenset({InputKind.INTERRUPTION, InputKind.COMMAND_OUTPUT})


class TurnState(Struct, frozen=True):
    """Where the conversation stands behind the last record."""

    is_open: bool | None = None
    """Whether the model, or a tool, is to speak next."""
    pending: dict[str, str] = {}
    """Calls without an answer: their ids, and the names of their tools."""
    is_closing: bool = False
    """Whether the client wrote its figures, as it does at its end, and nothing was said since."""
    continued_in: str | None = None


def advance_turn(state: TurnState, record: Record) -> TurnState:
    """The state behind `record`; what subagents say in the session's own file is passed over."""
    if isinstance(record, Chain):
        return state if record.is_sidechain else _advance_chain(state, record)
    if isinstance(record, CostState):
        return replace(state, is_closing=True)
    if isinstance(record, ContinuedIn):
        return replace(state, continued_in=record.continued_in_session_id)
    return state


def _advance_chain(state: TurnState, record: Chain) -> TurnState:
    match record:
        case Assistant():
            return _advance_reply(state, record)
        case User():
            return _advance_input(state, record)
        case TurnDuration() | StopHookSummary():
            return TurnState(is_open=False)
    return replace(state, is_closing=False)


def _advance_reply(state: TurnState, record: Assistant) -> TurnState:
    message = record.message
    if record.is_api_error_message or record.is_aborted_mid_stream or message is None:
        return TurnState(is_open=False)
    pending = state.pending | {use.id: use.name for use in iter_tool_uses(message.content)}
    has_stopped = message.stop_reason is not None and message.stop_reason not in _GOES_ON
    return TurnState(is_open=bool(pending) or not has_stopped, pending=pending)


def _advance_input(state: TurnState, record: User) -> TurnState:
    content = record.message.content if record.message else None
    answered = {result.tool_use_id for result in iter_tool_results(content)}
    if answered:
        left = {call: name for call, name in state.pending.items() if call not in answered}
        return TurnState(is_open=True, pending=left)
    kind = read_prompt(record, is_subagent=False).kind
    if kind in _CLOSING:
        return TurnState(is_open=False)
    if kind in _UNCERTAIN:
        return TurnState(is_open=None)
    if kind in OPENING_KINDS:
        return TurnState(is_open=True)
    return replace(state, is_closing=False)


def read_turn_state(path: Path) -> TurnState:
    """The state behind the last record of the file at `path`, from as little as tells it."""
    try:
        size = path.lstat().st_size
        wanted = FIRST_READ
        while True:
            state = TurnState()
            for record in read_transcript(path, max(size - wanted, 0), size):
                state = advance_turn(state, record)
            if state != TurnState() or wanted >= min(size, MOST_READ):
                return state
            wanted *= 4
    except (UnreadableInput, OSError):
        return TurnState()
