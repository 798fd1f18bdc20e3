"""Sessions of a report with the titles that lists have shown them under.

Only what the index knows already is told, so that a report costs what it did: no file is looked
at, and of what lists know only the titles of the sessions in the report are read.
"""

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from recollect.locations.transcript_files import TranscriptKind
from recollect.store.listings import KIND
from recollect.usage.loading import Books
from recollect.usage.reports import Report


class _Known(Struct, frozen=True):
    """The only part of a listing that is wanted here."""

    title: str | None = None


_decode = msgspec.msgpack.Decoder(_Known | None).decode


def add_titles(report: Report, books: Books) -> Report:
    """The report by session with the title of each, None where no list has shown it yet."""
    shown = {row.key for row in report.rows}
    ids = {
        row.path: row.session_id
        for row in books.files.values()
        if row.kind == TranscriptKind.SESSION.value and row.session_id in shown
    }
    titles: dict[str | None, str] = {}
    for path, note in books.ledger.find_notes(KIND, ids).items():
        known = _decode(note)
        if known is not None and known.title:
            titles[ids[path]] = known.title
    return replace(
        report, rows=tuple(replace(row, title=titles.get(row.key)) for row in report.rows)
    )
