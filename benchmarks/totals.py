"""Messages and tokens by class, each message counted once, however many lines it has.

A client may write a placeholder before it knows the real figure, so the line with the largest usage
counts. Messages that the client itself made up are not counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from recollect.records.conversation_records import SYNTHETIC_MODEL, Assistant, AssistantUsage
from recollect.records.envelope import Record
from recollect.records.token_usage import CacheCreation, Usage


@dataclass(frozen=True, slots=True)
class Totals:
    """The number of messages in a corpus, and their tokens."""

    messages: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        """Return the sum."""
        names = [item.name for item in fields(self)]
        return Totals(**{name: getattr(self, name) + getattr(other, name) for name in names})


def count(records: Iterable[Record | AssistantUsage]) -> Totals:
    """Return the totals of the assistant records, from either reader."""
    largest: dict[str, Usage] = {}
    for record in records:
        message = record.message if isinstance(record, Assistant | AssistantUsage) else None
        if message is None or message.usage is None or message.id is None:
            continue
        known = largest.get(message.id)
        if message.model != SYNTHETIC_MODEL and (known is None or _exceeds(message.usage, known)):
            largest[message.id] = message.usage
    return sum(map(_count_one, largest.values()), Totals())


def _exceeds(usage: Usage, known: Usage) -> bool:
    return usage.total_tokens > known.total_tokens


def _count_one(usage: Usage) -> Totals:
    written = usage.cache_creation or CacheCreation()
    return Totals(
        messages=1,
        input=usage.input_tokens,
        output=usage.output_tokens,
        cache_read=usage.cache_read_input_tokens,
        cache_write_5m=written.ephemeral_5m_input_tokens,
        cache_write_1h=written.ephemeral_1h_input_tokens,
    )
