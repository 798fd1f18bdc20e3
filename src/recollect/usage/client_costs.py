"""Costs that Claude Code itself reported for a session, for comparison with ours.

The source is the last `cost-state` record of a transcript. It includes calls that leave no
assistant record (compactions, searches, titles) and, after a fork, the cost of all ancestors. So it
is shown next to our figure and never added to anything. Clients up to 1.0.2x wrote no total but a
cost on each message (`costUSD`); the sum of those is compared with our cost of the same messages.
Finding these records means reading every transcript in the report, so it is done only on request.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from recollect.errors import UnreadableInput
from recollect.locations.transcript_files import TranscriptKind
from recollect.reader.line_blocks import BlockSplitter, LineBlock, iter_pieces
from recollect.records.decoding import decode_record
from recollect.records.state import CostState
from recollect.sources.safe_files import open_file
from recollect.store.usage_queries import ClientSum
from recollect.usage.ledger_access import UsageLedger
from recollect.usage.reports import ReportRow, UsageReport
from recollect.usage.totals import MICRO, ClientCost

_MARKER = b'"cost-state"'

Track = Callable[[Sequence[ReportRow]], Iterable[ReportRow]]
"""Wrapper around the rows that shows progress, as `rich.progress.track` does."""


def find_client_cost(path: Path) -> ClientCost | None:
    """Return the last reported cost in a transcript; None if there is none or it is unreadable."""
    try:
        records = [decode_record(line) for line in _iter_marked_lines(path)]
    except UnreadableInput:
        return None
    for record in reversed(records):
        if isinstance(record, CostState) and record.total_cost_usd is not None:
            cost = round(record.total_cost_usd * MICRO)
            return ClientCost(cost, bool(record.has_unknown_model_cost))
    return None


def _iter_marked_lines(path: Path) -> Iterator[bytes]:
    """Iterate over lines that contain the record type: decoding all would take much longer."""
    splitter = BlockSplitter()
    with open_file(path) as file:
        for chunk in iter_pieces(file):
            for piece in splitter.feed(chunk):
                if isinstance(piece, LineBlock) and _MARKER in piece.data:
                    yield from (line for line in piece.data.split(b"\n") if _MARKER in line)
        rest = splitter.finish()
    if isinstance(rest, LineBlock) and _MARKER in rest.data:
        yield rest.data


def add_client_costs(report: UsageReport, ledger: UsageLedger, track: Track = iter) -> UsageReport:
    """Return a report by session with the costs that Claude Code reported, where it did."""
    paths = {
        row.session_id: row.path
        for row in ledger.files.values()
        if row.kind == TranscriptKind.SESSION.value and not row.is_gone
    }
    sums = _sum_client_costs(ledger)
    rows = tuple(
        replace(row, client=_read_cost(paths.get(row.key or "")) or sums.get(row.key or ""))
        for row in track(report.rows)
    )
    return replace(report, rows=rows)


def _read_cost(path: str | None) -> ClientCost | None:
    return None if path is None else find_client_cost(Path(path))


def _sum_client_costs(ledger: UsageLedger) -> Mapping[str, ClientCost]:
    """Return the costs that old clients wrote on messages, by session."""
    sums: defaultdict[str, list[ClientSum]] = defaultdict(list)
    for file_id, each in ledger.queries.sum_client_costs().items():
        if file_id in ledger.files:
            sums[ledger.files[file_id].session_id].append(each)
    return {
        session_id: ClientCost(
            sum(each.cost for each in parts),
            messages=sum(each.messages for each in parts),
            own_cost=sum(each.own_cost for each in parts),
        )
        for session_id, parts in sums.items()
    }
