"""How a session stands: at work, waiting for somebody, at rest, ended, or not known.

Two witnesses are heard: the client, in the file that it keeps while it runs, and the records. The
client is believed while its process is alive. Where it says nothing, the records alone tell neither
whether a call is running or waiting for permission, nor whether anybody still has the session
open; then the answer is that it is not known, and why.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from recollect.library.processes import is_alive, is_running, iter_process_files
from recollect.live.turn_state import TurnState
from recollect.records.tools import canonical_name

ASKING_TOOLS: Final = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools whose call is a question to the person."""

_AT_WORK: Final = frozenset({"busy", "shell"})
_WAITING: Final = "waiting"
_IDLE: Final = "idle"
_PERMISSION: Final = "permission"


class StatusKind(StrEnum):
    """What a session is doing."""

    RUNNING = "running"
    WAITING_FOR_PERMISSION = "waiting_for_permission"
    WAITING_FOR_INPUT = "waiting_for_input"
    IDLE = "idle"
    ENDED = "ended"
    UNKNOWN = "unknown"


class SessionStatus(Struct, frozen=True):
    """What a session is doing, and how that is known."""

    kind: StatusKind
    reason: str
    pid: int | None = None


class Client(Struct, frozen=True):
    """What the file of a client says; it may be left over from one that no longer runs."""

    pid: int
    is_alive: bool
    status: str | None = None
    waiting_for: str | None = None


def read_clients(root: Path, before: Mapping[str, Client]) -> dict[str, Client]:
    """The clients of a root by the session that they have or had open.

    A client writes its file anew whenever its status changes; one that is seen half written says
    what it said `before`.
    """
    clients: dict[str, Client] = {}
    for path, stated in iter_process_files(root):
        if stated is None:
            clients |= {
                session_id: replace(client, is_alive=is_alive(client.pid))
                for session_id, client in before.items()
                if str(client.pid) == path.stem
            }
        elif stated.pid and stated.session_id:
            client = Client(stated.pid, is_running(stated), stated.status, stated.waiting_for)
            if client.is_alive or stated.session_id not in clients:
                clients[stated.session_id] = client
    return clients


def judge(turn: TurnState, client: Client | None, last_pid: int | None = None) -> SessionStatus:
    """The status of a session; `last_pid` is a client that was seen to have it open before."""
    if client is not None and client.is_alive:
        return _believe(turn, client)
    if turn.continued_in:
        return SessionStatus(StatusKind.ENDED, f"it goes on as session {turn.continued_in}")
    pid = client.pid if client else last_pid
    if pid is not None:
        return SessionStatus(StatusKind.ENDED, f"its client, process {pid}, has ended")
    if turn.is_closing:
        reason = "the client wrote its closing figures, and none has it open"
        return SessionStatus(StatusKind.ENDED, reason)
    return SessionStatus(StatusKind.UNKNOWN, "no running client names it")


def _believe(turn: TurnState, client: Client) -> SessionStatus:
    asked = next((name for name in turn.pending.values() if is_question(name)), None)
    if client.status == _WAITING:
        what = client.waiting_for or ""
        is_permission = _PERMISSION in what and not asked
        kind = StatusKind.WAITING_FOR_PERMISSION if is_permission else StatusKind.WAITING_FOR_INPUT
        return SessionStatus(kind, f"the client waits for: {what or 'somebody'}", client.pid)
    if asked:
        return SessionStatus(StatusKind.WAITING_FOR_INPUT, f"{asked} has no answer", client.pid)
    if client.status in _AT_WORK:
        return SessionStatus(StatusKind.RUNNING, f"the client says {client.status}", client.pid)
    if client.status == _IDLE:
        return SessionStatus(StatusKind.IDLE, "the client says idle", client.pid)
    return _read_records(turn, client.pid)


def _read_records(turn: TurnState, pid: int) -> SessionStatus:
    """For a client that runs but does not say what it does."""
    if turn.pending:
        names = ", ".join(sorted(set(turn.pending.values())))
        reason = f"{names} has no answer: running, or waiting for permission"
        return SessionStatus(StatusKind.UNKNOWN, reason, pid)
    if turn.is_open is None:
        return SessionStatus(StatusKind.UNKNOWN, "the client does not say", pid)
    if turn.is_open:
        return SessionStatus(StatusKind.RUNNING, "the model is to speak, and the client runs", pid)
    return SessionStatus(StatusKind.IDLE, "the turn has ended, and the client runs", pid)


def is_question(tool: str) -> bool:
    """Whether a call of this tool asks the person something."""
    return canonical_name(tool) in ASKING_TOOLS


def is_at_rest(status: SessionStatus, turn: TurnState) -> bool:
    """Whether nothing more happens by itself, as far as anybody says."""
    if status.kind is StatusKind.UNKNOWN:
        return turn.is_open is False and not turn.pending
    return status.kind in {StatusKind.IDLE, StatusKind.ENDED}
