"""Follows files while a script writes to them, and keeps what is told."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

from recollect.library.references import locate_session
from recollect.live.events import AnyEvent, Appended, Reset
from recollect.live.follow import FollowOptions, follow
from recollect.live.scope import Scope, SessionScope
from recollect.live.watching import Watcher
from recollect.records.envelope import Record

PATIENCE = 30.0
QUICK = FollowOptions(status_seconds=0.05, sweep_seconds=0.5, settle_seconds=0.1)


class Listener:
    """Hears a follower, and lets a script wait for what it hears."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self._news = asyncio.Event()

    def hear(self, event: AnyEvent) -> None:
        """Keep an event."""
        self.events.append(event)
        self._news.set()

    async def wait(self, is_wanted: Callable[[AnyEvent], object], count: int = 1) -> None:
        """Wait until so many wanted events have been heard."""
        async with asyncio.timeout(PATIENCE):
            while sum(bool(is_wanted(event)) for event in self.events) < count:
                self._news.clear()
                await self._news.wait()

    async def wait_for(self, kind: type, count: int = 1) -> None:
        """Wait until so many events of a kind have been heard."""
        await self.wait(lambda event: isinstance(event, kind), count)

    def kinds(self) -> list[str]:
        """What kinds of events were heard, in order."""
        return [type(event).__name__ for event in self.events]

    def uuids(self, agent_id: str | None = None) -> list[str]:
        """The uuids of the records that a file, or all, appended since their last reset."""
        return [getattr(record, "uuid", "") for record in self.records(agent_id)]

    def records(self, agent_id: str | None = None) -> list[Record]:
        """The records of the main file, or of an agent, as a listener would keep them."""
        kept: list[Record] = []
        for event in self.events:
            if isinstance(event, Appended | Reset) and event.source.agent_id == agent_id:
                if isinstance(event, Reset):
                    kept.clear()
                else:
                    kept.append(event.record)
        return kept


Script = Callable[[Listener], Awaitable[None]]


def run(
    scope: Scope,
    script: Script,
    *,
    start: str = "end",
    options: FollowOptions = QUICK,
    watcher: Watcher | None = None,
) -> Listener:
    """Follow until the script is over."""

    async def main() -> Listener:
        listener = Listener()

        async def listen() -> None:
            async with aclosing(follow(scope, start, options, watcher)) as events:
                async for event in events:
                    listener.hear(event)

        task = asyncio.create_task(listen())
        telling = asyncio.create_task(_tell(script, listener))
        await asyncio.wait({task, telling}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        await telling
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return listener

    return asyncio.run(main())


async def _tell(script: Script, listener: Listener) -> None:
    await script(listener)


def finish(scope: Scope, options: FollowOptions, start: str = "start") -> list[AnyEvent]:
    """Everything that is told until following stops by itself."""

    async def main() -> list[AnyEvent]:
        async with asyncio.timeout(PATIENCE), aclosing(follow(scope, start, options)) as events:
            return [event async for event in events]

    return asyncio.run(main())


def session_scope(root: Path, session_id: str) -> SessionScope:
    """The scope of one session of a root."""
    return SessionScope(locate_session(session_id, root=root))
