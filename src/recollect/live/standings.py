"""How the followed sessions stand, and what became of it since the last look.

Knows whose turn it is in each, which client had it open, and what was last said of it. Clients are
asked by reading their files, so this is done now and then and not for every record.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from recollect.live.events import Continued, Ended, StatusChanged
from recollect.live.positions import Checkpoint
from recollect.live.status import (
    Client,
    SessionStatus,
    StatusKind,
    is_at_rest,
    judge,
    read_clients,
)
from recollect.live.turn_state import TurnState, advance_turn, read_turn_state
from recollect.records.envelope import Record
from recollect.records.state import ContinuedIn

Until = Literal["idle", "end"]

FindSession = Callable[[str], Path | None]

SAME_CLIENT = "its client has another session open now"
ITS_RECORD = "its record says so"


class Standings:
    """What is known of each session, by its id."""

    def __init__(self, roots: Iterable[Path]) -> None:
        self._roots = tuple(roots)
        self._turns: dict[str, TurnState] = {}
        self._statuses: dict[str, SessionStatus] = {}
        self._pids: dict[int, str] = {}
        self._clients: dict[str, Client] = {}

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The sessions that something is known of."""
        return tuple(self._turns)

    def forget(self, session_id: str) -> None:
        """Its file is read anew."""
        self._turns[session_id] = TurnState()

    def add(self, session_id: str, record: Record, checkpoint: Checkpoint) -> Continued | None:
        """Take in a record of the session's own file; maybe it says where the session goes on."""
        if session_id not in self._turns:
            self._turns[session_id] = TurnState()
        self._turns[session_id] = advance_turn(self._turns[session_id], record)
        if isinstance(record, ContinuedIn) and record.continued_in_session_id:
            return Continued(
                checkpoint=checkpoint,
                session_id=session_id,
                next_id=record.continued_in_session_id,
                reason=ITS_RECORD,
            )
        return None

    def ask(self, find: FindSession, wanted: Iterable[str] = ()) -> None:
        """Hear the clients, and read where sessions stand that have said nothing yet; blocks."""
        before, self._clients = self._clients, {}
        for root in self._roots:
            self._clients |= read_clients(root, before)
        alive = (session for session, client in self._clients.items() if client.is_alive)
        for session_id in (*wanted, *alive):
            path = find(session_id) if session_id not in self._turns else None
            if path is not None:
                self._turns[session_id] = read_turn_state(path)

    def iter_changes(self, checkpoint: Checkpoint) -> Iterator[StatusChanged | Continued | Ended]:
        """What is different from the last time."""
        yield from self._iter_moves(checkpoint)
        last_pids = {session: pid for pid, session in self._pids.items()}
        for session_id, turn in list(self._turns.items()):
            status = judge(turn, self._clients.get(session_id), last_pids.get(session_id))
            before = self._statuses.get(session_id)
            if status == before:
                continue
            self._statuses[session_id] = status
            yield StatusChanged(checkpoint=checkpoint, session_id=session_id, status=status)
            if status.kind is StatusKind.ENDED and (before and before.kind) != StatusKind.ENDED:
                yield Ended(checkpoint=checkpoint, session_id=session_id, reason=status.reason)

    def _iter_moves(self, checkpoint: Checkpoint) -> Iterator[Continued]:
        for session_id, client in self._clients.items():
            before = self._pids.get(client.pid)
            if not client.is_alive:
                continue
            self._pids[client.pid] = session_id
            if before in self._turns and before != session_id:
                yield Continued(
                    checkpoint=checkpoint,
                    session_id=before,
                    next_id=session_id,
                    reason=SAME_CLIENT,
                )

    def is_done(self, until: Until, session_ids: Iterable[str]) -> bool:
        """Whether these sessions have come to where following shall stop."""
        return all(self._is_done(until, each) for each in session_ids)

    def _is_done(self, until: Until, session_id: str) -> bool:
        status, turn = self._statuses.get(session_id), self._turns.get(session_id, TurnState())
        if status is None:
            return False
        if until == "end":
            return status.kind is StatusKind.ENDED
        return is_at_rest(status, turn)
