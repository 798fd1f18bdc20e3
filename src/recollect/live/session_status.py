"""The status of a session: running, waiting, idle, ended or unknown, with the reason.

There are two sources: the file that a client keeps while it runs, and the last records of the
transcript, read in constant memory. The client's file is trusted while its process is alive.
Records alone do not show whether a call is running or waiting for permission, or whether a client
still has the session open; the status is then `unknown`, never a guess.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from recollect.documents.kinds import InputKind, StatusKind
from recollect.errors import UnreadableInput
from recollect.library.processes import is_alive, is_running, iter_process_files
from recollect.reader.transcript_reader import read_transcript
from recollect.records import conversation_records, envelope, system_records
from recollect.records.state import ContinuedIn, CostState
from recollect.records.tools import canonical_name
from recollect.records.tools.planning_tools import ASKING_TOOLS
from recollect.session.prompts import OPENING_KINDS, read_prompt
from recollect.session.record_texts import iter_tool_results, iter_tool_uses
from recollect.sources.safe_files import find_real_status

INITIAL_READ_BYTES: Final = 64 * 1024
MAX_READ_BYTES: Final = 4 * 1024 * 1024

_CONTINUING_REASONS: Final = frozenset({"tool_use", "pause_turn"})
_AMBIGUOUS_KINDS: Final = frozenset(
    {
        InputKind.COMMAND,
        InputKind.SHELL,
        InputKind.SHELL_OUTPUT,
        InputKind.COMPACTION_SUMMARY,
    }
)
_CLOSING_KINDS: Final = frozenset({InputKind.INTERRUPTION, InputKind.COMMAND_OUTPUT})


class TurnState(Struct, frozen=True):
    """Whose turn it is after the last record."""

    is_open: bool | None = None
    """Whether the model or a tool is next; None if unknown, as after a command."""
    pending: dict[str, str] = {}
    """Tool names of the calls without a result, by call id."""
    is_closing: bool = False
    """Whether the client wrote its totals, as it does on exit, without a later message."""
    continued_in: str | None = None


def advance_turn(state: TurnState, record: envelope.Record) -> TurnState:
    """Return the state after `record`; records of subagents in the session's file are ignored."""
    if isinstance(record, envelope.Chain):
        return state if record.is_sidechain else _advance_chain(state, record)
    if isinstance(record, CostState):
        return structs.replace(state, is_closing=True)
    if isinstance(record, ContinuedIn):
        return structs.replace(state, continued_in=record.continued_in_session_id)
    return state


def _advance_chain(state: TurnState, record: envelope.Chain) -> TurnState:
    match record:
        case conversation_records.Assistant():
            return _advance_reply(state, record)
        case conversation_records.User():
            return _advance_input(state, record)
        case system_records.TurnDuration() | system_records.StopHookSummary():
            return TurnState(is_open=False)
    return structs.replace(state, is_closing=False)


def _advance_reply(state: TurnState, record: conversation_records.Assistant) -> TurnState:
    message = record.message
    if record.is_api_error_message or record.is_aborted_mid_stream or message is None:
        return TurnState(is_open=False)
    pending = state.pending | {use.id: use.name for use in iter_tool_uses(message.content)}
    has_stopped = message.stop_reason is not None and message.stop_reason not in _CONTINUING_REASONS
    return TurnState(is_open=bool(pending) or not has_stopped, pending=pending)


def _advance_input(state: TurnState, record: conversation_records.User) -> TurnState:
    content = record.message.content if record.message else None
    answered = {result.tool_use_id for result in iter_tool_results(content)}
    if answered:
        left = {call: name for call, name in state.pending.items() if call not in answered}
        return TurnState(is_open=True, pending=left)
    kind = read_prompt(record, is_subagent=False).kind
    if kind in _CLOSING_KINDS:
        return TurnState(is_open=False)
    if kind in _AMBIGUOUS_KINDS:
        return TurnState(is_open=None)
    if kind in OPENING_KINDS:
        return TurnState(is_open=True)
    return structs.replace(state, is_closing=False)


def read_turn_state(path: Path) -> TurnState:
    """Return the state after the last record, reading as little of the file as needed."""
    try:
        size = find_real_status(path).st_size
        wanted = INITIAL_READ_BYTES
        while True:
            state = TurnState()
            for record in read_transcript(path, max(size - wanted, 0), size):
                state = advance_turn(state, record)
            if state != TurnState() or wanted >= min(size, MAX_READ_BYTES):
                return state
            wanted *= 4
    except (UnreadableInput, OSError):
        return TurnState()


_AT_WORK: Final = frozenset({"busy", "shell"})
_WAITING: Final = "waiting"
_IDLE: Final = "idle"
_PERMISSION: Final = "permission"


class SessionStatus(Struct, frozen=True):
    """The status of a session, and its source."""

    kind: StatusKind
    reason: str
    pid: int | None = None


class Client(Struct, frozen=True):
    """The state in a client's file, which may remain after the client has exited."""

    pid: int
    is_alive: bool
    status: str | None = None
    waiting_for: str | None = None


def read_clients(root: Path, before: Mapping[str, Client]) -> dict[str, Client]:
    """Return the clients of a root by the session that they have or had open.

    A client rewrites its file whenever its status changes; while a file is half written, the state
    in `before` is used.
    """
    clients: dict[str, Client] = {}
    for path, process in iter_process_files(root):
        if process is None:
            clients |= {
                session_id: structs.replace(client, is_alive=is_alive(client.pid))
                for session_id, client in before.items()
                if str(client.pid) == path.stem
            }
        elif process.pid and process.session_id:
            client = Client(process.pid, is_running(process), process.status, process.waiting_for)
            if client.is_alive or process.session_id not in clients:
                clients[process.session_id] = client
    return clients


def determine_status(
    turn: TurnState, client: Client | None, last_pid: int | None = None
) -> SessionStatus:
    """Return the status of a session; `last_pid` is a client that had it open earlier."""
    if client is not None and client.is_alive:
        return _status_from_client(turn, client)
    if turn.continued_in:
        return SessionStatus(StatusKind.ENDED, f"continued in session {turn.continued_in}")
    pid = client.pid if client else last_pid
    if pid is not None:
        return SessionStatus(StatusKind.ENDED, f"its client (process {pid}) has exited")
    if turn.is_closing:
        reason = "the client wrote its final totals and no client has it open"
        return SessionStatus(StatusKind.ENDED, reason)
    return SessionStatus(StatusKind.UNKNOWN, "no running client has it open")


def _status_from_client(turn: TurnState, client: Client) -> SessionStatus:
    asked = next((name for name in turn.pending.values() if is_question(name)), None)
    if client.status == _WAITING:
        what = client.waiting_for or ""
        is_permission = _PERMISSION in what and not asked
        kind = StatusKind.WAITING_FOR_PERMISSION if is_permission else StatusKind.WAITING_FOR_INPUT
        return SessionStatus(kind, f"the client is waiting for: {what or 'you'}", client.pid)
    if asked:
        return SessionStatus(StatusKind.WAITING_FOR_INPUT, f"{asked} is unanswered", client.pid)
    if client.status in _AT_WORK:
        return SessionStatus(StatusKind.RUNNING, f"the client reports {client.status}", client.pid)
    if client.status == _IDLE:
        return SessionStatus(StatusKind.IDLE, "the client reports idle", client.pid)
    return _status_from_records(turn, client.pid)


def _status_from_records(turn: TurnState, pid: int) -> SessionStatus:
    """Return the status for a running client that does not report one."""
    if turn.pending:
        names = ", ".join(sorted(set(turn.pending.values())))
        reason = f"no result of {names} yet: running, or waiting for permission"
        return SessionStatus(StatusKind.UNKNOWN, reason, pid)
    if turn.is_open is None:
        return SessionStatus(StatusKind.UNKNOWN, "the client does not report a status", pid)
    if turn.is_open:
        reason = "the client is running, and it is the model's turn"
        return SessionStatus(StatusKind.RUNNING, reason, pid)
    return SessionStatus(StatusKind.IDLE, "the client is running, and the turn has ended", pid)


def is_question(tool: str) -> bool:
    """Return whether this tool asks the user a question."""
    return canonical_name(tool) in ASKING_TOOLS


def is_waiting_for_input(status: SessionStatus, turn: TurnState) -> bool:
    """Return whether the session waits for input, as far as is known."""
    if status.kind is StatusKind.UNKNOWN:
        return turn.is_open is False and not turn.pending
    return status.kind in {StatusKind.IDLE, StatusKind.ENDED}
