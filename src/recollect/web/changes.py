"""What has changed on the shelf lately, for pages that are open: numbered, and kept for a while.

A page that comes back names the last number that it saw. What it missed is told again; if that is
too long ago, or another run of the server, it is told to look at everything anew.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator
from typing import Final

from msgspec import Struct

from recollect.web.shelf import Update

KEPT: Final = 500


class Change(Struct, frozen=True, kw_only=True):
    """Sessions that have changed, in one update."""

    number: int
    sessions: tuple[str, ...]
    """Ids of those that are new or have changed."""
    gone: tuple[str, ...] = ()
    """Paths of transcripts that are no longer there."""
    live: dict[str, str | None] | None = None
    """What the clients do that run now, by session; None when that is as before."""
    is_searchable: bool | None = None


class Changes:
    """The last changes; told from any thread, listened to in the event loop."""

    def __init__(self) -> None:
        self._run = secrets.token_hex(4)
        self._kept: deque[Change] = deque(maxlen=KEPT)
        self._number = 0
        self._listeners: set[asyncio.Event] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Name the loop that listens."""
        self._loop = loop

    def tell(self, update: Update) -> None:
        """Take in an update; callable from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._add, update)

    def name(self, number: int) -> str:
        """The id of an event."""
        return f"{self._run}-{number}"

    @property
    def last_id(self) -> str:
        """The id of the newest event; what is known already may be told behind it once more."""
        return self.name(self._number)

    async def iter_since(self, last_id: str | None) -> AsyncIterator[Change | None]:
        """Changes behind that event, for ever; None says that some are missing."""
        number = self._number if last_id is None else self._find_number(last_id)
        if number is None:
            yield None
            number = self._number
        woken = asyncio.Event()
        self._listeners.add(woken)
        try:
            while True:
                woken.clear()
                for change in [each for each in self._kept if each.number > number]:
                    number = change.number
                    yield change
                await woken.wait()
        finally:
            self._listeners.discard(woken)

    def _add(self, update: Update) -> None:
        change = Change(
            number=self._number + 1,
            sessions=tuple(
                dict.fromkeys([each.id for _, each in update.listings if each] + [*update.usage])
            ),
            gone=update.gone,
            live=None
            if update.live is None
            else {key: each.status for key, each in update.live.items()},
            is_searchable=update.is_searchable,
        )
        if _is_empty(change):
            return
        self._number = change.number
        self._kept.append(change)
        for each in self._listeners:
            each.set()

    def _find_number(self, last_id: str) -> int | None:
        """The number of an event of this run that is not followed by forgotten ones."""
        run, _, text = last_id.partition("-")
        number = int(text) if text.isdecimal() and len(text) < 12 else -1  # noqa: PLR2004
        oldest = self._kept[0].number - 1 if self._kept else self._number
        return number if run == self._run and oldest <= number <= self._number else None


def _is_empty(change: Change) -> bool:
    is_quiet = change.live is None and change.is_searchable is None
    return is_quiet and not change.sessions and not change.gone
