"""Follow files while a script writes to them, and collect the events."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

from recollect.library.listings import locate_session
from recollect.live.follow import FollowOptions, follow
from recollect.live.followed_files import FollowScope, SessionScope
from recollect.live.live_events import AnyEvent, Appended, Reset
from recollect.live.watching import Watcher
from recollect.records.envelope import Record

PATIENCE = 60.0
QUICK = FollowOptions(status_seconds=0.05, sweep_seconds=0.5, quiet_seconds=0.1)


class Listener:
    """Collects events, and lets a script wait for them."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self._news = asyncio.Event()

    def add(self, event: AnyEvent) -> None:
        """Add an event."""
        self.events.append(event)
        self._news.set()

    async def wait(self, is_wanted: Callable[[AnyEvent], object], count: int = 1) -> None:
        """Wait until so many matching events have arrived."""
        async with asyncio.timeout(PATIENCE):
            while sum(bool(is_wanted(event)) for event in self.events) < count:
                self._news.clear()
                await self._news.wait()

    async def wait_for(self, kind: type, count: int = 1) -> None:
        """Wait until so many events of a kind have arrived."""
        await self.wait(lambda event: isinstance(event, kind), count)

    def kinds(self) -> list[str]:
        """Return the kinds of the events, in order."""
        return [type(event).__name__ for event in self.events]

    def uuids(self, agent_id: str | None = None) -> list[str]:
        """Return the uuids of the records since the last reset."""
        return [getattr(record, "uuid", "") for record in self.records(agent_id)]

    def records(self, agent_id: str | None = None) -> list[Record]:
        """Return the records of the main file, or of an agent, since the last reset."""
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
    scope: FollowScope,
    script: Script,
    *,
    start: str = "end",
    options: FollowOptions = QUICK,
    watcher: Watcher | None = None,
) -> Listener:
    """Follow until the script has finished."""

    async def main() -> Listener:
        listener = Listener()

        async def listen() -> None:
            async with aclosing(follow(scope, start, options, watcher)) as events:
                async for event in events:
                    listener.add(event)

        task = asyncio.create_task(listen())
        scripting = asyncio.create_task(_run_script(script, listener))
        await asyncio.wait({task, scripting}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        await scripting
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return listener

    return asyncio.run(main())


async def _run_script(script: Script, listener: Listener) -> None:
    await script(listener)


def finish(scope: FollowScope, options: FollowOptions, start: str = "start") -> list[AnyEvent]:
    """Return all events until following stops by itself."""

    async def main() -> list[AnyEvent]:
        async with asyncio.timeout(PATIENCE), aclosing(follow(scope, start, options)) as events:
            return [event async for event in events]

    return asyncio.run(main())


def session_scope(root: Path, session_id: str) -> SessionScope:
    """Return the scope of one session of a root."""
    return SessionScope(locate_session(session_id, root=root))
