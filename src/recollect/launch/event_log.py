"""Numbers the events of a conversation and keeps the last ones, for any number of readers.

A reader that reconnects resumes after the last number it has seen. The streamed parts of a block
are dropped once its record has arrived, because a late reader needs only the record. Must be used
from one event loop; not thread-safe.
"""

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from recollect.launch import conversation_events

MAX_EVENTS: Final = 5000


class EventLog:
    """The events of one conversation."""

    def __init__(
        self, max_events: int = MAX_EVENTS, clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._max_events = max_events
        self._events: list[conversation_events.ConversationEvent] = []
        self._number = 0
        self._dropped = 0
        self._is_closed = False
        self._grown = asyncio.Event()

    @property
    def last_number(self) -> int:
        """Return the number of the latest event; 0 before the first."""
        return self._number

    def publish(
        self, event: conversation_events.ConversationEvent
    ) -> conversation_events.ConversationEvent:
        """Number an event and pass it to all readers."""
        self._number += 1
        numbered = replace(event, number=self._number, time=self._clock())
        if isinstance(numbered, conversation_events.RecordReceived) and numbered.index is not None:
            self._forget_streamed(numbered.agent, numbered.message_id, numbered.index)
        self._events.append(numbered)
        if len(self._events) > self._max_events:
            self._dropped = self._events.pop(0).number
        self._wake()
        return numbered

    def close(self) -> None:
        """End all readers after the last event."""
        self._is_closed = True
        self._wake()

    def list_events(self, after: int = 0) -> list[conversation_events.ConversationEvent]:
        """Return the kept events after this number, preceded by a notice if some were dropped."""
        kept = self._events[bisect_right(self._events, after, key=attrgetter("number")) :]
        if after < self._dropped:
            return [
                conversation_events.EventsDropped(number=self._dropped, time=self._clock()),
                *kept,
            ]
        return kept

    async def iter_events(
        self, after: int = 0
    ) -> AsyncIterator[conversation_events.ConversationEvent]:
        """Yield the events after this number, then new ones until the log is closed."""
        while True:
            grown = self._grown
            for event in self.list_events(after):
                after = event.number
                yield event
            if self._number > after:
                continue
            if self._is_closed:
                return
            if grown is self._grown:
                await grown.wait()

    def _forget_streamed(self, agent: str | None, message_id: str | None, index: int) -> None:
        wanted = (agent, message_id, index)
        self._events = [
            event
            for event in self._events
            if not isinstance(event, conversation_events.BlockEvent)
            or (event.agent, event.message_id, event.index) != wanted
        ]

    def _wake(self) -> None:
        # Wakes all waiting readers; later ones wait for a new event.
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()
