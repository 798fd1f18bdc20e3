"""The session of a running conversation, in memory: what was said before, and each new record.

Records come in on the event loop and are only queued there; threads that render a page add them to
the session under a lock, because a session must not be read while it is being extended. The stream
does not say which record follows which across a resume: the first new one is put after the last one
that was read from the file.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from recollect.records.envelope import Chain, Record
from recollect.session.session import Child, Session, attach_subagents
from recollect.session.subagents import SubagentMeta

ReceivedRecord = tuple[str | None, Record]
"""The tool call that started the subagent, None for the main conversation, and the record."""


class SessionView:
    """A session that grows while it is shown."""

    def __init__(self, records: Sequence[Record] = ()) -> None:
        self._known = {uuid for record in records if (uuid := _uuid_of(record))}
        self._waiting: list[ReceivedRecord] = []
        self._lock = threading.Lock()
        self._session = Session(records)
        self._last = self._session.main_path[-1] if self._session.main_path else None
        self._agents: dict[str, Session] = {}

    def add(self, agent: str | None, record: Record) -> None:
        """Queue a record; it is part of the session from the next `use` on."""
        self._waiting.append((agent, record))

    @contextmanager
    def use(self) -> Iterator[Session]:
        """Lend the session, up to date; nobody else changes it meanwhile."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            if waiting:
                self._extend(waiting)
            yield self._session

    def _extend(self, received: Sequence[ReceivedRecord]) -> None:
        own: list[Record] = []
        for agent, record in received:
            uuid = _uuid_of(record)
            if uuid in self._known:
                continue
            if uuid:
                self._known.add(uuid)
            if agent is None:
                own.append(self._link(record))
            else:
                self._agents.setdefault(agent, Session()).extend([record])
        self._session.extend(own)
        if self._agents:
            attach_subagents(self._session, self._list_children())

    def _link(self, record: Record) -> Record:
        if isinstance(record, Chain) and record.uuid and record.parent_uuid is None:
            record = replace(record, parent_uuid=self._last)
        # Only the first one lacks its parent.
        self._last = None if isinstance(record, Chain) and record.uuid else self._last
        return record

    def _list_children(self) -> list[Child]:
        return [
            Child(agent_id=call, session=session, meta=SubagentMeta(tool_use_id=call))
            for call, session in self._agents.items()
        ]


def _uuid_of(record: Record) -> str | None:
    return record.uuid if isinstance(record, Chain) else None
