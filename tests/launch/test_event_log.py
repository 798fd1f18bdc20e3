"""Events are numbered, kept for a limited time, and delivered to any number of readers."""

import asyncio

from recollect.launch.conversation_client import EventLog
from recollect.launch.conversation_events import (
    BlockStarted,
    ConversationEvent,
    EventsDropped,
    NoticeReceived,
    RecordReceived,
    TextStreamed,
)
from recollect.records.conversation_records import Assistant


def make_log(max_events: int = 100) -> EventLog:
    """Return a log with a stopped clock."""
    return EventLog(max_events, lambda: 5.0)


def make_notice(number: int) -> NoticeReceived:
    """Return the notice with this number, as the log keeps it."""
    return NoticeReceived(text=f"notice {number}", number=number, time=5.0)


def publish(log: EventLog, first: int, last: int) -> None:
    """Publish notices with these numbers."""
    for number in range(first, last + 1):
        log.publish(NoticeReceived(text=f"notice {number}"))


def test_readers_go_on_where_they_were() -> None:
    """A reader gets the events that it has not seen, then new ones, then the end."""

    async def run() -> None:
        log = make_log()
        publish(log, 1, 3)

        async def read() -> list[ConversationEvent]:
            return [event async for event in log.iter_events(after=1)]

        reader = asyncio.create_task(read())
        await asyncio.sleep(0)
        publish(log, 4, 5)
        log.close()
        assert await reader == [make_notice(number) for number in range(2, 6)]
        assert [event async for event in log.iter_events(after=4)] == [make_notice(5)]

    asyncio.run(run())


def test_a_reader_that_was_away_too_long_is_notified() -> None:
    """Dropped events are reported once, and no others are missing."""

    async def run() -> None:
        log = make_log(max_events=2)
        publish(log, 1, 5)
        kept = [make_notice(4), make_notice(5)]
        assert log.list_events() == [EventsDropped(number=3, time=5.0), *kept]
        assert log.list_events(after=3) == kept

    asyncio.run(run())


def test_a_record_replaces_what_was_streamed_of_its_block() -> None:
    """A late reader gets only the record; other blocks are unaffected."""

    async def run() -> None:
        log = make_log()
        for index in (0, 1):
            log.publish(BlockStarted(message_id="m", index=index, kind="text"))
            log.publish(TextStreamed(message_id="m", index=index, text="so far"))
        record = RecordReceived(record=Assistant(uuid="r"), message_id="m", index=0)
        log.publish(record)
        assert [event.number for event in log.list_events()] == [3, 4, 5]

    asyncio.run(run())
