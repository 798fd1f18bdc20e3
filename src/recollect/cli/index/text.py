"""What there is to say about an index → the lines that a person reads."""

from collections.abc import Iterator
from pathlib import Path

from recollect.cli.index.document import IndexDocument
from recollect.cli.tables import human_bytes, iter_table, plural, wrap
from recollect.health.sources import describe_place
from recollect.render.terminal import safe_text
from recollect.sync.text_status import TextStatus


def iter_text(document: IndexDocument, columns: int, *, is_look: bool) -> Iterator[str]:
    """Yield the lines, none longer than `columns`."""
    if not is_look:
        yield _tell_reading(document)
    place = safe_text(describe_place(Path(document.path)), single_line=True)
    rows = [("Index", place), ("State", _tell_state(document))]
    if document.is_sound:
        gone = f", and {document.files_gone:,} that are gone" if document.files_gone else ""
        rows += [
            ("Size", human_bytes(document.bytes)),
            ("Transcripts", f"{document.files:,}{gone}"),
            ("Messages", f"{document.messages:,} counted"),
            ("Copies", f"{document.copies:,} not counted"),
            ("Texts", _tell_texts(document.text)),
        ]
    yield from iter_table(rows, "<<", columns, "")
    for problem in document.problems:
        yield from wrap(safe_text(f"Not read: {problem.file}: {problem.reason}"), columns, "")


def _tell_reading(document: IndexDocument) -> str:
    if not document.files_read:
        return "Nothing had to be read."
    return f"Read {plural(document.files_read, 'file')}, {human_bytes(document.bytes_read)}."


def _tell_state(document: IndexDocument) -> str:
    if not document.bytes:
        return "not made yet; the first command that needs it makes it"
    if not document.is_sound:
        return "damaged or outdated; the next command that needs it builds it anew"
    if not document.is_level:
        return "sound, and behind the transcripts; `recollect index` brings it level"
    return "sound, and level with the transcripts"


def _tell_texts(text: TextStatus) -> str:
    size = human_bytes(text.bytes)
    if text.is_level:
        return f"{size}, all can be searched"
    if not text.bytes:
        return "not indexed yet; the first search does it, or `recollect index --text`"
    return f"{size}, {plural(text.files_behind, 'file')} to read; the next search does it"
