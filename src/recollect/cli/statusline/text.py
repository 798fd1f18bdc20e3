"""Figures → the one line, as wide as the client says that there is room.

Gives way in steps: long words become short ones, then parts go from the end. The model stays, and
where there is nothing to tell at all the line says so, because an empty one looks like a failure.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from recollect.cli.statusline.figures import Figures, IndexState, Window
from recollect.cli.statusline.input import MICRO
from recollect.render.terminal import measure, safe_text, shorten
from recollect.store.glance import Sum

SEPARATOR: Final = " | "
NOTHING: Final = "recollect: nothing to show yet"
COLUMNS_VARIABLE: Final = "COLUMNS"
_MANY: Final = 1000
"""Columns where nobody says how many there are: a cut line tells less than a wrapped one."""

_WITHOUT_INDEX: Final = {
    IndexState.MISSING: "run `recollect index` once",
    IndexState.UNREADABLE: "see `recollect doctor`",
}


class _Part(NamedTuple):
    long: str
    short: str


def count_columns(environment: Mapping[str, str]) -> int:
    """How wide the line may be."""
    stated = environment.get(COLUMNS_VARIABLE, "")
    return int(stated) if stated.isascii() and stated.isdigit() and int(stated) else _MANY


def make_line(figures: Figures, moment: int, columns: int) -> str:
    """The line for the moment, in seconds since 1970; it is never empty."""
    parts = list(_iter_parts(figures, moment))
    if not parts:
        return shorten(NOTHING, columns)
    lines = [[part.long for part in parts], [part.short for part in parts]]
    lines += [lines[1][:count] for count in range(len(parts) - 1, 0, -1)]
    joined = [SEPARATOR.join(line) for line in lines]
    return next((line for line in joined if measure(line) <= columns), shorten(joined[-1], columns))


def _iter_parts(figures: Figures, moment: int) -> Iterator[_Part]:
    status = figures.status
    if status.model:
        name = safe_text(status.model, single_line=True)
        yield _Part(name, name)
    if status.context_percent is not None:
        yield _Part(f"context {status.context_percent:.0f}%", f"{status.context_percent:.0f}%")
    if figures.session is not None:
        cost = show_sum(figures.session)
        yield _Part(f"session {cost}", cost)
    if figures.today is not None:
        text = f"today {show_sum(figures.today)}"
        yield _Part(text, text)
    if figures.block is not None:
        yield _describe_block(figures.block, moment)
    if remedy := _WITHOUT_INDEX.get(figures.state):
        yield _Part(f"today: {remedy}", "today ?")


def _describe_block(block: Window, moment: int) -> _Part:
    hours, minutes = divmod(max(block.end - moment, 0) // 60, 60)
    cost = None if block.sum is None else show_sum(block.sum)
    used = None if block.percent is None else f"{block.percent:.0f}%"
    long = " ".join(each for each in (cost, used and f"{used} used") if each)
    short = " ".join(each for each in (cost, used) if each)
    return _Part(
        f"block {long}, {hours}h {minutes:02}m left".replace("block ,", "block"),
        f"5h {short} {hours}h{minutes:02}m".replace("  ", " "),
    )


def show_sum(total: Sum) -> str:
    """Dollars, or as many at least, when messages have no known price."""
    sign = "≥" if total.unpriced else ""
    return f"{sign}${total.cost / MICRO:,.2f}"
