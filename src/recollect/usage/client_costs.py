"""What Claude Code itself says that a session cost: the last `cost-state` record of its file.

The figure has calls that leave no assistant record (compactions, searches, titles) and, after a
fork, all that its ancestors cost. So it is shown beside ours and never added to anything.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from recollect.errors import UnreadableInput
from recollect.locations import open_regular
from recollect.reader.blocks import Block, BlockSplitter
from recollect.reader.chunks import iter_chunks
from recollect.records.decoding import decode_record
from recollect.records.state import CostState
from recollect.usage.totals import MICRO

_MARK = b'"cost-state"'


class ClientCost(Struct, frozen=True):
    """The client's own figure, in millionths of a dollar."""

    cost: int
    is_guess: bool
    """Whether the client did not know the price of a model and took that of another."""


def find_client_cost(path: Path) -> ClientCost | None:
    """The last figure in the file at `path`; None when it has none or cannot be read any more."""
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
    """Lines that hold the type's name: decoding all others would take many times as long."""
    splitter = BlockSplitter()
    with open_regular(path) as file:
        for chunk in iter_chunks(file):
            for piece in splitter.feed(chunk):
                if isinstance(piece, Block) and _MARK in piece.data:
                    yield from (line for line in piece.data.split(b"\n") if _MARK in line)
        rest = splitter.finish()
    if isinstance(rest, Block) and _MARK in rest.data:
        yield rest.data
