"""Tables as files: CSV with the standard library, Parquet with pyarrow, which is an extra."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from recollect.errors import UsageError
from recollect.export.masking import Mask
from recollect.export.options import Format, Table
from recollect.export.tables import COLUMNS, Row, mask_cells, write_csv
from recollect.export.writing import open_new
from recollect.library.opening import price_at_list as price_messages
from recollect.session.messages import Message

WriteRows = Callable[[list[Row], Mask], None]


def price_at_list(message: Message) -> float | None:
    """Return the cost of a message in dollars at list prices; None if the price is not known."""
    cost = price_messages([message])
    return None if cost is None else cost / 1_000_000


@contextmanager
def open_table(path: Path, table: Table, kind: Format, *, force: bool) -> Iterator[WriteRows]:
    """Open a table, which takes its place when the block ends; gives a function that adds rows."""
    arrow = _load_arrow() if kind is Format.PARQUET else None
    with open_new(path, force=force) as file:
        if arrow is None:
            file.write(write_csv([tuple(COLUMNS[table])]).encode())
            yield lambda rows, mask: _add(file.write, rows, mask)
            return
        schema = _make_schema(arrow, table)
        parquet = import_module("pyarrow.parquet")
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            yield lambda rows, mask: writer.write_table(_make_table(arrow, schema, rows, mask))


def _add(write: Callable[[bytes], object], rows: list[Row], mask: Mask) -> None:
    write(mask.check(write_csv(rows)).encode("utf-8", "replace"))


def _load_arrow() -> Any:
    try:
        return import_module("pyarrow")
    except ImportError:
        raise UsageError(
            "Parquet needs pyarrow, which is not installed. Install recollect[parquet], or use "
            "--format csv."
        ) from None


def _make_schema(arrow: Any, table: Table) -> Any:
    types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    return arrow.schema([(name, types[kind]) for name, kind in COLUMNS[table].items()])


def _make_table(arrow: Any, schema: Any, rows: list[Row], mask: Mask) -> Any:
    """Return rows as a table; cells are scanned here, because the file is compressed."""
    cells = [_encodable(row) for row in mask_cells(rows, mask)]
    columns = list(zip(*cells, strict=True)) or [()] * len(schema)
    arrays = [
        arrow.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)
    ]
    return arrow.Table.from_arrays(arrays, schema=schema)


def _encodable(row: Row) -> Row:
    """Return a row without halves of surrogate pairs."""
    return tuple(
        cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell for cell in row
    )
