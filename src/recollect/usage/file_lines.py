"""The lines of a transcript that hold usage, read again to show what a count was made of."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from recollect.pricing import split_usage
from recollect.reader import read_usage
from recollect.records.conversation import SYNTHETIC_MODEL, AssistantUsage
from recollect.records.usage import Usage
from recollect.store.usage_queries import Measures
from recollect.sync.rows import name_line, to_milliseconds

LineKey = tuple[str, str | None, str | None]
"""Message, request and model: what the lines of one message in one file have in common."""


class FileLine(Struct, frozen=True):
    """One line, with its own figures; they have no price, since a message has one as a whole."""

    offset: int
    key: LineKey
    measures: Measures

    @property
    def is_synthetic(self) -> bool:
        """Whether the client wrote it itself, without asking a model."""
        return self.key[2] == SYNTHETIC_MODEL


def iter_file_lines(path: Path) -> Iterator[FileLine]:
    """Every line with usage of the file at `path`; raises `UnreadableInput` without one."""
    for record in read_usage(path):
        message = record.message
        if message is None or message.usage is None:
            continue
        message_id = message.id or record.uuid or name_line(record)
        key = (message_id, record.request_id, message.model)
        offset = record.span.offset if record.span else 0
        yield FileLine(offset, key, _measure(record, message.usage))


def _measure(record: AssistantUsage, usage: Usage) -> Measures:
    tokens = split_usage(usage)
    return Measures(
        to_milliseconds(record.timestamp),
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write_5m,
        tokens.cache_write_1h,
        tokens.web_searches,
        None,
    )
