"""Texts read back from their transcripts: the index knows only where they are.

A file that changed since gives another text or none, which is for the caller to pass over.
"""

from collections.abc import Mapping

from recollect.errors import UnreadableInput
from recollect.reader import TranscriptDecoder, read_span
from recollect.records.envelope import Record
from recollect.records.span import Span
from recollect.store.text import TextFile
from recollect.sync.documents import list_documents


class TextReader:
    """Reads texts of these files."""

    def __init__(self, files: Mapping[int, TextFile]) -> None:
        self._files = files

    def read(self, file_id: int, position: int, length: int, number: int) -> str | None:
        """The text with this number in the record at this place; None if there is none."""
        record = self.read_record(file_id, position, length)
        documents = [] if record is None else list_documents(record)
        return documents[number].text if number < len(documents) else None

    def read_record(self, file_id: int, position: int, length: int) -> Record | None:
        """The record at this place; None if the file cannot be read."""
        path = self._files[file_id].path
        try:
            data = read_span(Span(path, position, length))
        except (UnreadableInput, OSError):
            return None
        # With a line end the last record of a broken line is mended the way it was before.
        line = data if data.endswith(b"\n") else data + b"\n"
        return next(iter(TranscriptDecoder(path, position).feed(line)), None)
