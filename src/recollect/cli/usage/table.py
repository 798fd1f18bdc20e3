"""Totals by key → a table that fits the terminal.

Columns give way in steps: first numbers get short, then whole columns go, and what is left over is
a bar. The key is the last thing to be cut, since it tells what a row is.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from recollect.cli.colours import faint, strong
from recollect.cli.tables import GAP, pad
from recollect.render.terminal import measure, shorten
from recollect.usage.totals import MICRO, Totals

LEAST_LABEL = 24
LEAST_BAR, MOST_BAR = 10, 24
UNKNOWN = "unknown"
AT_LEAST = "≥"

_STEP = 1000
_EIGHTHS = " ▏▎▍▌▋▊▉█"

Show = Callable[[int], str]


class TableLine(NamedTuple):
    """A row; without totals it is a remark that stands between the rows."""

    label: str
    totals: Totals | None = None
    client_cost: int | None = None
    is_strong: bool = False


class Column(NamedTuple):
    """A column of numbers, with a shorter title for when there is little room."""

    title: str
    short: str
    value: Callable[[Totals], int]


_MESSAGES = Column("Messages", "Msgs", lambda totals: totals.messages)
_INPUT = Column("Input", "Input", lambda totals: totals.input)
_OUTPUT = Column("Output", "Output", lambda totals: totals.output)
_WRITE = Column("Cache write", "Write", lambda totals: totals.cache_write)
_READ = Column("Cache read", "Read", lambda totals: totals.cache_read)
_TOKENS = Column("Tokens", "Tokens", lambda totals: totals.tokens)
_ALL = (_MESSAGES, _INPUT, _OUTPUT, _WRITE, _READ)
Step = tuple[tuple[Column, ...], bool]
_STEPS: tuple[Step, ...] = (
    (_ALL, False),
    (_ALL, True),
    (_ALL[1:], True),
    ((_TOKENS,), True),
)
"""Columns and whether numbers are short, the widest first."""


class _Grid(NamedTuple):
    """Cells of all lines, titles first, without the labels."""

    cells: list[list[str]]
    widths: list[int]

    @property
    def width(self) -> int:
        return sum(self.widths) + len(GAP) * len(self.widths)


def iter_usage_table(
    title: str, lines: Sequence[TableLine], columns: int, *, is_compact: bool = False
) -> Iterator[str]:
    """Yield the table, its titles first, none of its lines longer than `columns`."""
    labels = [title, *(line.label for line in lines)]
    natural = max(measure(label) for label in [title, *_row_labels(lines)])
    steps = _STEPS[1:] if is_compact else _STEPS
    grid = _choose_grid(lines, steps, columns - min(natural, LEAST_LABEL))
    width = min(natural, max(columns - grid.width, 1))
    room = columns - width - grid.width - len(GAP)
    bars = _make_bars(lines, min(room, MOST_BAR))
    for label, cells, bar, line in zip(labels, grid.cells, bars, [None, *lines], strict=True):
        if line is not None and line.totals is None:
            yield faint(shorten(label, columns))
            continue
        padded = [pad(shorten(label, width), width, "<")]
        padded += [pad(cell, each, ">") for cell, each in zip(cells, grid.widths, strict=True)]
        text = GAP.join([*padded, bar]).rstrip()
        yield strong(text) if line is None or line.is_strong else text


def _row_labels(lines: Sequence[TableLine]) -> Iterator[str]:
    return (line.label for line in lines if line.totals is not None)


def _choose_grid(lines: Sequence[TableLine], steps: Sequence[Step], room: int) -> _Grid:
    grids = (_make_grid(lines, columns, is_short) for columns, is_short in steps)
    last = next(grids)
    for grid in grids:
        if last.width <= room:
            break
        last = grid
    return last


def _make_grid(lines: Sequence[TableLine], columns: Sequence[Column], is_short: bool) -> _Grid:
    show: Show = show_short if is_short else "{:,}".format
    places = choose_places([line.totals.cost for line in lines if line.totals])
    has_client = any(line.client_cost is not None for line in lines)
    titles = [column.short if is_short else column.title for column in columns]
    cells = [[*titles, "Cost", *(["Claude Code's"] if has_client else [])]]
    for line in lines:
        totals = line.totals
        if totals is None:
            cells.append([""] * len(cells[0]))
            continue
        numbers = [show(column.value(totals)) for column in columns]
        client = [show_client_cost(line.client_cost, places)] if has_client else []
        cells.append([*numbers, show_cost(totals, places), *client])
    widths = [max(map(measure, column)) for column in zip(*cells, strict=True)]
    return _Grid(cells, widths)


def _make_bars(lines: Sequence[TableLine], width: int) -> list[str]:
    """A bar for the cost of each row but the strong ones; none at all where there is no room."""
    costs = [line.totals.cost if line.totals and not line.is_strong else 0 for line in lines]
    most = max(costs, default=0)
    if width < LEAST_BAR or not most:
        return [""] * (len(lines) + 1)
    return ["", *(_draw_bar(cost * width * 8 // most) for cost in costs)]


def _draw_bar(eighths: int) -> str:
    whole, part = divmod(eighths, 8)
    return _EIGHTHS[8] * whole + _EIGHTHS[part].strip()


def show_short(number: int) -> str:
    """A number in four digits at most, such as `987`, `12.3K` or `4.5M`."""
    if number < _STEP:
        return str(number)
    size, unit = number / _STEP, "K"
    for larger in "MB":
        # As it will be rounded, so that 999,950 is not shown as `1000.0K`.
        if round(size, 1) < _STEP:
            break
        size, unit = size / _STEP, larger
    return f"{size:,.1f}{unit}"


def choose_places(costs: Sequence[int]) -> int:
    """Decimal places that tell the largest of some costs, for all of them alike."""
    return 2 if max(costs, default=0) >= MICRO else 4


def show_cost(totals: Totals, places: int) -> str:
    """What is known of a cost: a sum, a lower bound, or that it is unknown."""
    cost = totals.known_cost
    if cost is None:
        return UNKNOWN
    return f"{f'{AT_LEAST} ' if totals.unpriced else ''}{show_dollars(cost, places)}"


def show_client_cost(cost: int | None, places: int) -> str:
    """Claude Code's own figure, where it left one."""
    return "-" if cost is None else show_dollars(cost, places)


def show_dollars(micro: int, places: int) -> str:
    """Millionths of a dollar as dollars."""
    return f"{'-' if micro < 0 else ''}${abs(micro) / MICRO:,.{places}f}"
