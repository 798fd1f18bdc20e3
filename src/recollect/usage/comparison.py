"""Sessions of a report with the client's own figures beside ours.

Reads every transcript of every session in the report, so it is done on request only.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from recollect.locations.transcript_files import TranscriptKind
from recollect.usage.client_costs import find_client_cost
from recollect.usage.loading import Books
from recollect.usage.reports import Report, ReportRow

Track = Callable[[Sequence[ReportRow]], Iterable[ReportRow]]


def add_client_costs(report: Report, books: Books, track: Track = iter) -> Report:
    """The report by session with what Claude Code itself says of each, where it does."""
    paths = {
        row.session_id: row.path
        for row in books.files.values()
        if row.kind == TranscriptKind.SESSION.value and not row.is_gone
    }
    rows = tuple(
        replace(row, client_cost=_read_cost(paths.get(row.key or ""))) for row in track(report.rows)
    )
    return replace(report, rows=rows)


def _read_cost(path: str | None) -> int | None:
    found = None if path is None else find_client_cost(Path(path))
    return None if found is None else found.cost
