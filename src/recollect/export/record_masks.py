"""Mask the records of exported sessions while they are decoded, before a view cuts their texts.

Half of a key is no longer recognised, so a text must be whole when it is masked. Lines are scanned
when they are read for the first time. They are masked when they are read again, if they hold a
secret, their own or one that another line has given away.
"""

from collections.abc import Iterator, Mapping

from recollect.reader.line_blocks import LineBlock
from recollect.reader.line_masking import NOWHERE
from recollect.redact import Redactor
from recollect.redact.record_lines import holds_known, learn_record, mask_record


class RecordMask:
    """The lines of one export that hold secrets; a mask for a decoder."""

    def __init__(self, redactor: Redactor) -> None:
        """Start with nothing known; secrets and tags are those of the redactor."""
        # Paths in records lead to files, so personal data is left to the views.
        self._redactor = redactor.without_personal_data()
        self._ends: dict[str, int] = {}
        """Up to where all lines of a file have been scanned."""
        self._telling: dict[str, set[int]] = {}

    @property
    def is_needed(self) -> bool:
        """Whether any line so far holds a secret."""
        return bool(self._telling) or self._redactor.is_aware

    def learn(self, file: str, block: LineBlock) -> Mapping[int, bytes]:
        """Remember the secrets of lines; nothing is replaced."""
        if block.offset < NOWHERE:
            for start, end in _iter_lines(block.data):
                self._learn_line(file, block.offset + start, block.data[start:end])
        return {}

    def __call__(self, file: str, block: LineBlock) -> Mapping[int, bytes]:
        """Return the lines of a block that hold secrets, with tags in their place."""
        self.learn(file, block)
        telling = self._telling.get(file, set())
        masked = {}
        for start, end in _iter_lines(block.data):
            line = block.data[start:end]
            is_telling = block.offset >= NOWHERE or block.offset + start in telling
            if is_telling or holds_known(line, self._redactor):
                masked[start] = mask_record(line.rstrip(b"\r\n"), self._redactor)
        return masked

    def _learn_line(self, file: str, offset: int, line: bytes) -> None:
        """Scan a line, unless that was done when the file was read before."""
        known_end = self._ends.get(file, 0)
        if offset < known_end:
            return
        if offset == known_end and line.endswith(b"\n"):
            # Not for lines that are read by themselves, or that are still being written.
            self._ends[file] = offset + len(line)
        if learn_record(line, self._redactor):
            self._telling.setdefault(file, set()).add(offset)


def _iter_lines(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield where lines start, and where they end, with their line ends."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield start, end
        start = end
