"""Write an export again whenever its session has grown."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

from recollect.live.follow import FollowOptions
from recollect.live.live_events import AnyEvent
from recollect.workspace.workspace import Workspace

_REST_SECONDS: Final = 0.5
"""A reply comes in several lines; one export is enough for them."""


def watch_session(workspace: Workspace, name: str, write_again: Callable[[], None]) -> None:
    """Call `write_again` after changes, until the session ends or the user interrupts."""
    events = workspace.follow(name, start="end", options=FollowOptions(until="end"))
    asyncio.run(_watch(events, write_again))


async def _watch(events: AsyncGenerator[AnyEvent, None], write_again: Callable[[], None]) -> None:
    changed = asyncio.Event()
    watching = asyncio.create_task(_notice(events, changed))
    while not watching.done():
        waiting = asyncio.create_task(changed.wait())
        await asyncio.wait({waiting, watching}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if changed.is_set():
            changed.clear()
            await asyncio.sleep(_REST_SECONDS)
            await asyncio.to_thread(write_again)
    await watching


async def _notice(events: AsyncGenerator[AnyEvent, None], changed: asyncio.Event) -> None:
    async with aclosing(events):
        async for _ in events:
            changed.set()
