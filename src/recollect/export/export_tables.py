"""The tables of CSV and Parquet exports: messages, tool calls and usage, one row each. CSV needs
the standard library only, Parquet needs pyarrow, which is an extra.

If several exported sessions contain a reply, because one was forked from the other, its usage is
only in the first of them.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Final

from msgspec.structs import replace

from recollect.documents import turn_documents
from recollect.errors import UsageError
from recollect.export import export_options, masking, writing
from recollect.export.export_content import ExportContent
from recollect.library.opening import price_at_list as price_messages
from recollect.quantities import to_dollars
from recollect.render.terminal import safe_text
from recollect.session.messages import Message
from recollect.session.metadata import count_tokens
from recollect.session.session import Session

Cell = str | int | float | None
Row = tuple[Cell, ...]
PriceMessage = Callable[[Message], float | None]

COLUMNS: Final[Mapping[export_options.Table, Mapping[str, type]]] = {
    export_options.Table.MESSAGES: {
        "session_id": str, "agent_id": str, "turn": int, "uuid": str, "timestamp": str,
        "role": str, "kind": str, "model": str, "text": str,
    },
    export_options.Table.CALLS: {
        "session_id": str, "agent_id": str, "turn": int, "call_id": str, "timestamp": str,
        "tool": str, "mcp_server": str, "status": str, "duration_ms": float, "title": str,
        "summary": str, "input": str, "output": str,
    },
    export_options.Table.USAGE: {
        "session_id": str, "agent_id": str, "message_id": str, "timestamp": str, "model": str,
        "input_tokens": int, "output_tokens": int, "cache_read_tokens": int,
        "cache_write_5m_tokens": int, "cache_write_1h_tokens": int, "cost_usd": float,
    },
}  # fmt: skip
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def iter_rows(
    table: export_options.Table,
    session: Session,
    content: ExportContent,
    seen: set[str],
    price: PriceMessage,
) -> Iterator[Row]:
    """Yield the rows of a session; `seen` are the ids of replies that already have a row."""
    if table is export_options.Table.USAGE:
        yield from _iter_usage(session, seen, price)
        return
    make_rows = _iter_messages if table is export_options.Table.MESSAGES else _iter_calls
    for agent_id, turn in _iter_turns(content):
        for row in make_rows(turn):
            yield (content.metadata.id, agent_id, *row)


def _iter_turns(content: ExportContent) -> Iterator[tuple[str | None, turn_documents.TurnView]]:
    waiting: list[tuple[str | None, turn_documents.TurnView]] = [
        (None, turn) for turn in content.turns
    ]
    waiting += [(stray.agent_id, turn) for stray in content.strays for turn in stray.turns or ()]
    while waiting:
        agent_id, turn = waiting.pop(0)
        yield agent_id, turn
        waiting[:0] = [
            (child.agent_id, inner)
            for step in turn.steps
            if isinstance(step, turn_documents.ToolStep)
            for child in step.subagents
            for inner in child.turns or ()
        ]


def _iter_messages(turn: turn_documents.TurnView) -> Iterator[Row]:
    words = f"{turn.command or ''} {turn.words}".strip()
    if words or turn.kind:
        kind = turn.kind.value if turn.kind else None
        yield turn.number, turn.uuid, turn.start, "user", kind, None, words
    for step in turn.steps:
        place = turn.number, getattr(step, "uuid", None), getattr(step, "timestamp", None)
        match step:
            case turn_documents.TextStep():
                yield (*place, step.role, "text", step.model, _join(step.parts))
            case turn_documents.ThinkingStep():
                yield (*place, "assistant", "thinking", turn.model, step.text)


def _iter_calls(turn: turn_documents.TurnView) -> Iterator[Row]:
    for step in turn.steps:
        if isinstance(step, turn_documents.ToolStep):
            yield (
                turn.number,
                step.call_id,
                step.timestamp,
                step.tool,
                step.mcp_server,
                step.status.value,
                step.duration_ms,
                step.title,
                step.summary,
                _join(step.input),
                _join(step.output),
            )


def _join(parts: Iterable[turn_documents.Part]) -> str:
    return "\n".join(masking.list_texts(tuple(map(_keep_text, parts))))


def _keep_text(part: turn_documents.Part) -> turn_documents.Part:
    """Return a part without its language, or the name of an image in its place."""
    match part:
        case turn_documents.Code():
            return replace(part, language=None)
        case turn_documents.Picture():
            return turn_documents.Plain(f"[{part.name or part.media_type}]")
    return part


def _iter_usage(
    session: Session, seen: set[str], price: PriceMessage, agent_id: str | None = None
) -> Iterator[Row]:
    for message in session.messages:
        if message.usage is None or message.is_synthetic or message.id in seen:
            continue
        seen.add(message.id)
        tokens = count_tokens([message.usage])
        yield (
            session.id,
            agent_id,
            message.id,
            message.timestamp,
            message.model,
            tokens.input,
            tokens.output,
            tokens.cache_read,
            tokens.cache_write_5m,
            tokens.cache_write_1h,
            price(message),
        )
    for child in session.subagents:
        for row in _iter_usage(child.session, seen, price, child.agent_id):
            yield (session.id, *row[1:])


def write_csv(rows: Iterable[Sequence[Cell]]) -> str:
    """Return rows as CSV, without formulas and control characters."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([_guard(cell) for cell in row])
    return text.getvalue()


def _guard(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    shown = safe_text(cell.replace("\r\n", "\n"))
    # A spreadsheet would run it as a formula.
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def mask_cells(rows: Iterable[Row], mask: masking.Mask) -> list[Row]:
    """Mask each cell of these rows separately."""
    return [
        tuple(mask.check(cell) if isinstance(cell, str) else cell for cell in row) for row in rows
    ]


WriteRows = Callable[[list[Row], masking.Mask], None]


def price_at_list(message: Message) -> float | None:
    """Return the cost of a message in dollars at list prices; None if there is no price."""
    return to_dollars(price_messages([message]))


@contextmanager
def open_table(
    path: Path, table: export_options.Table, kind: export_options.Format, *, force: bool
) -> Iterator[WriteRows]:
    """Open a table, moved into place when the block ends; yields a function that adds rows."""
    if kind is export_options.Format.PARQUET:
        _load_arrow()
    with writing.create_file(path, force=force) as file:
        if kind is export_options.Format.PARQUET:
            with write_parquet(file, table) as write_rows:
                yield write_rows
            return
        file.write(write_csv([tuple(COLUMNS[table])]).encode())
        yield lambda rows, mask: _add(file.write, rows, mask)


@contextmanager
def write_parquet(file: BinaryIO, table: export_options.Table) -> Iterator[WriteRows]:
    """Write a file in Parquet, complete when the block ends; yields a function that adds rows."""
    arrow = _load_arrow()
    schema = _make_schema(arrow, table)
    parquet = import_module("pyarrow.parquet")
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        yield lambda rows, mask: writer.write_table(_make_table(arrow, schema, rows, mask))


@cache
def has_parquet() -> bool:
    """Return whether the extra that Parquet needs is installed."""
    return find_spec("pyarrow") is not None


def _add(write: Callable[[bytes], object], rows: list[Row], mask: masking.Mask) -> None:
    write(mask.check(write_csv(rows)).encode("utf-8", "replace"))


def _load_arrow() -> Any:
    try:
        return import_module("pyarrow")
    except ImportError:
        raise UsageError(
            "Parquet needs pyarrow, which is not installed. Install recollect[parquet], or export "
            "as csv."
        ) from None


def _make_schema(arrow: Any, table: export_options.Table) -> Any:
    types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    return arrow.schema([(name, types[kind]) for name, kind in COLUMNS[table].items()])


def _make_table(arrow: Any, schema: Any, rows: list[Row], mask: masking.Mask) -> Any:
    """Build a table from rows; cells are scanned here, because the file is compressed."""
    cells = [_encodable(row) for row in mask_cells(rows, mask)]
    columns = list(zip(*cells, strict=True)) or [()] * len(schema)
    arrays = [
        arrow.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)
    ]
    return arrow.Table.from_arrays(arrays, schema=schema)


def _encodable(row: Row) -> Row:
    """Return a row without unpaired surrogates."""
    return tuple(
        cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell for cell in row
    )
