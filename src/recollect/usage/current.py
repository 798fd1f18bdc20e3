"""The block that is running now: how fast it fills, and what it will come to."""

from recollect.usage.blocks import Pace, measure_pace
from recollect.usage.loading import Books
from recollect.usage.reports import Report, ReportRow


def find_current(report: Report, now: float) -> ReportRow | None:
    """The row of the block that holds `now`, in seconds since 1970."""
    return next((row for row in report.rows if row.block and row.block.holds(int(now))), None)


def find_pace(report: Report, books: Books, now: float) -> Pace | None:
    """The pace of the current block; None when there is none."""
    row = find_current(report, now)
    if row is None or row.block is None:
        return None
    first = books.ledger.find_first_time(row.block.start, books.files)
    start = row.block.start if first is None else first / 1000
    return measure_pace(row.block, row.totals, start, now)
