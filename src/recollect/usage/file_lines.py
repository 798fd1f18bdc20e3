"""The lines of a transcript that hold usage, read again to show what a count was made of."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import astuple

from recollect.pricing import split_usage
from recollect.reader import read_usage
from recollect.records.conversation import SYNTHETIC_MODEL
from recollect.store.usage_queries import Measures
from recollect.sync.rows import LineKey, find_key, to_milliseconds


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
    for record in read_usage(path, completes_last=True):
        message = record.message
        if message is None or message.usage is None:
            continue
        time, offset = to_milliseconds(record.timestamp), record.span.offset if record.span else 0
        measures = Measures(*astuple(split_usage(message.usage)), time=time)
        yield FileLine(offset, find_key(record, message), measures)
