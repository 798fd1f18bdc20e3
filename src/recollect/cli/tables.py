"""Rows and sentences → lines that fit a terminal.

Knows widths only; the text must be safe and on a single line already. The last column gives way:
it is the one that is cut when a line gets too long.
"""

import shutil
import textwrap
from collections.abc import Iterator, Sequence

from recollect.render.terminal import measure, shorten

Row = Sequence[str]

GAP = "  "
INDENT = "  "
_STEP = 1000
LEAST_COLUMNS = 40


def count_columns() -> int:
    """The width to write for: that of the terminal, but never too little to read."""
    return max(shutil.get_terminal_size().columns, LEAST_COLUMNS)


def iter_table(
    rows: Sequence[Row], alignment: str, columns: int, indent: str = INDENT
) -> Iterator[str]:
    """Yield one line per row, its cells aligned by `alignment`: `<` left or `>` right for each."""
    widths = [max(map(measure, cells)) for cells in zip(*rows, strict=True)]
    used = len(indent) + sum(widths[:-1]) + len(GAP) * len(widths[:-1])
    for row in rows:
        cells = [*row[:-1], shorten(row[-1], max(columns - used, 1))]
        padded = map(pad, cells, widths, alignment)
        yield (indent + GAP.join(padded)).rstrip()


def pad(cell: str, width: int, side: str) -> str:
    """`cell` filled up to `width` columns, at its end for `<` and before it for `>`."""
    space = " " * (width - measure(cell))
    return space + cell if side == ">" else cell + space


def wrap(sentence: str, columns: int, indent: str = INDENT) -> list[str]:
    """The lines of a sentence."""
    return textwrap.wrap(sentence, columns, initial_indent=indent, subsequent_indent=indent)


def plural(number: int, noun: str) -> str:
    """`number` with its noun, such as `1 file` or `2,000 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def human_bytes(number: int) -> str:
    """A size in the unit that a person would choose, such as `1.4 MB`."""
    if number < _STEP:
        return plural(number, "byte")
    size = float(number)
    for unit in ("KB", "MB", "GB"):
        size /= _STEP
        if size < _STEP:
            return f"{size:.1f} {unit}"
    return f"{size / _STEP:,.1f} TB"
