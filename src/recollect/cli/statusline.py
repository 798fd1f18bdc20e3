"""`recollect statusline` without click: from standard input to one line.

Claude Code blanks the status line of a command that fails or prints nothing, so this always prints
a line and exits with 0; problems are reported in the line. If it does not fit the width that the
client gives, labels are shortened first, then parts are dropped from the end.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from recollect.cli import statusline_figures
from recollect.cli.clock import read_clock
from recollect.errors import RecollectError
from recollect.quantities import MICRO, format_dollars, format_hours
from recollect.redact.own_rules import use_own_rules
from recollect.render.terminal import measure, safe_line, shorten
from recollect.store.data_directory import find_data_directory
from recollect.store.quick_totals import TotalsSum
from recollect.usage.zones import Zone, load_zone
from recollect.workspace.config_file import load_config_values, load_own_policy

SEPARATOR: Final = " | "
NOTHING: Final = "recollect: nothing to show yet"
COLUMNS_VARIABLE: Final = "COLUMNS"
_MANY: Final = 1000
"""Width if the client does not give one: a wrapped line is better than a truncated one."""

_WITHOUT_INDEX: Final = {
    statusline_figures.IndexState.MISSING: "run `recollect index` once",
    statusline_figures.IndexState.UNREADABLE: "see `recollect doctor`",
}


class _Part(NamedTuple):
    long: str
    short: str


def count_columns(environment: Mapping[str, str]) -> int:
    """Return the maximum width of the line."""
    stated = environment.get(COLUMNS_VARIABLE, "")
    return int(stated) if stated.isascii() and stated.isdigit() and int(stated) else _MANY


def make_line(figures: statusline_figures.StatuslineFigures, moment: int, columns: int) -> str:
    """Return the line at a Unix timestamp; it is never empty."""
    parts = list(_iter_parts(figures, moment))
    if not parts:
        return shorten(NOTHING, columns)
    lines = [[part.long for part in parts], [part.short for part in parts]]
    lines += [lines[1][:count] for count in range(len(parts) - 1, 0, -1)]
    joined = [SEPARATOR.join(line) for line in lines]
    return next((line for line in joined if measure(line) <= columns), shorten(joined[-1], columns))


def _iter_parts(figures: statusline_figures.StatuslineFigures, moment: int) -> Iterator[_Part]:
    status = figures.status
    if status.model:
        name = safe_line(status.model)
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
    if status.week_percent is not None:
        yield _describe_week(status.week_percent, status.week_end, moment)
    if remedy := _WITHOUT_INDEX.get(figures.state):
        yield _Part(f"today: {remedy}", "today ?")


def _describe_block(block: statusline_figures.CurrentBlock, moment: int) -> _Part:
    left = format_hours(block.end - moment)
    cost = None if block.sum is None else show_sum(block.sum)
    used = None if block.percent is None else f"{block.percent:.0f}%"
    long = " ".join(each for each in (cost, used and f"{used} used") if each)
    short = " ".join(each for each in (cost, used) if each)
    return _Part(
        f"block {long}, {left} left".replace("block ,", "block"),
        f"5h {short} {left.replace(' ', '')}".replace("  ", " "),
    )


def _describe_week(percent: float, end: int | None, moment: int) -> _Part:
    used = f"{percent:.0f}%"
    seconds = 0 if end is None else max(end - moment, 0)
    left = f"{seconds // _DAY}d" if seconds >= _DAY else format_hours(seconds)
    return _Part(f"week {used} used{f', {left} left' if seconds else ''}", f"7d {used}")


def show_sum(total: TotalsSum) -> str:
    """Return dollars, marked as a lower bound if messages have no known price."""
    sign = "≥" if total.unpriced else ""
    return f"{sign}{format_dollars(total.cost / MICRO)}"


_DAY: Final = 24 * 60 * 60
SETUP: Final = "--setup"
JSON: Final = "--json"
NO_SYNC: Final = "--no-sync"
OPTIONS: Final = (SETUP, JSON, NO_SYNC)

ADVICE: Final = "Add this to settings.json in your Claude directory. Nothing was changed."

_STDOUT, _STDERR = 1, 2


def run_statusline(arguments: Sequence[str]) -> None:
    """Print one line, or the output of an option; never raises."""
    unknown = [word for word in arguments if word not in OPTIONS]
    if unknown:
        _print(f"recollect statusline: no such option: {safe_line(unknown[0])}")
    elif SETUP in arguments:
        from recollect.cli.statusline_setup import make_setup  # hardly ever needed

        _print_hint(ADVICE)
        _print(make_setup())
    else:
        _print(_make_output(arguments))


def _make_output(arguments: Sequence[str]) -> str:
    columns = count_columns(os.environ)
    use_own_rules(load_own_policy)
    try:
        status = statusline_figures.parse_status(_read())
        now, directory, zone = read_clock(), find_data_directory(), _find_zone()
        figures = statusline_figures.find_figures(status, directory, zone, now)
    except (RecollectError, OSError, RuntimeError) as error:
        message = next(iter(str(error).splitlines()), type(error).__name__)
        return shorten(f"recollect: {safe_line(message)}", columns)
    if NO_SYNC not in arguments:
        _sync_in_background(figures, status, directory)
    line = make_line(figures, int(now.timestamp()), columns)
    return _describe(figures, line, zone, now) if JSON in arguments else line


def _read() -> bytes:
    try:
        return statusline_figures.read_input()
    except (OSError, ValueError):
        # Closed, or cannot be polled.
        return b""


def _find_zone() -> Zone:
    stated = load_config_values().get("timezone")
    return load_zone(str(stated.value) if stated else None)


def _sync_in_background(
    figures: statusline_figures.StatuslineFigures,
    status: statusline_figures.StatusInput,
    directory: Path,
) -> None:
    root = status.root
    if (
        figures.state is statusline_figures.IndexState.BEHIND
        and root is not None
        and os.path.isdir(root)
    ):
        from recollect.cli.statusline_setup import start_sync  # rarely needed

        start_sync(directory, root)


def _describe(
    figures: statusline_figures.StatuslineFigures, line: str, zone: Zone, now: datetime
) -> str:
    from recollect.cli.commands.statusline_command import describe_line  # only for --json

    return describe_line(figures, line, zone, now)


def _print(text: str) -> None:
    _write(_STDOUT, text)


def _print_hint(text: str) -> None:
    _write(_STDERR, text)


def _write(descriptor: int, text: str) -> None:
    """Write without Python's buffers, which would report a closed pipe at exit."""
    try:
        os.write(descriptor, f"{text}\n".encode(errors="backslashreplace"))
    except OSError:
        # The client is gone.
        return
