"""Where a record lies in its file.

The spans of one file tile it: each byte, line ends and blank lines included, belongs to exactly
one span. A span knows no file handle; whoever wants the bytes again does one positioned read.
"""

from msgspec import Struct


class Span(Struct, frozen=True, gc=False):
    """`length` bytes of `file` from `offset`; `file` is "" for bytes that came from no file.

    `damage` says what was wrong with the line that the record was cut out of; it is "" for a
    record that stood whole on a line of its own.
    """

    file: str
    offset: int
    length: int
    damage: str = ""

    @property
    def end(self) -> int:
        """Offset of the first byte behind the span."""
        return self.offset + self.length
