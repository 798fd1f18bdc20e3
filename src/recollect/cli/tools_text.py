"""How tools were used → a table that fits the terminal."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from recollect.cli.colours import faint, strong
from recollect.cli.tables import GAP, pad, plural
from recollect.render.terminal import clip, measure, safe_text
from recollect.usage.tool_calls import ToolReport, ToolUse

_LEAST_NAME: Final = 24
"""Columns that names keep before another column is added."""
_SECOND: Final = 1000
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE


class _Column(NamedTuple):
    name: str
    tell: Callable[[ToolUse], str]


_ALWAYS: Final = (
    _Column("CALLS", lambda use: f"{use.calls:,}"),
    _Column("FAILED", lambda use: _count(use.failed)),
    _Column("MEDIAN", lambda use: show_duration(use.median_ms)),
)
_WITH_ROOM: Final = (
    _Column("P95", lambda use: show_duration(use.p95_ms)),
    _Column("REJECTED", lambda use: _count(use.rejected)),
    _Column("TOTAL", lambda use: show_duration(use.total_ms or None)),
    _Column("INTERRUPTED", lambda use: _count(use.interrupted)),
    _Column("PENDING", lambda use: _count(use.pending)),
)


def iter_report(report: ToolReport, columns: int) -> Iterator[str]:
    """Yield the lines that a person reads, none longer than `columns`."""
    yield strong(f"{plural(report.total.calls, 'call')} in {plural(report.sessions, 'transcript')}")
    yield ""
    yield from _iter_table("TOOL", [*report.tools, report.total], columns)
    if report.mcp_servers:
        yield ""
        yield from _iter_table("MCP SERVER", report.mcp_servers, columns)


def _iter_table(heading: str, uses: Sequence[ToolUse], columns: int) -> Iterator[str]:
    names = [safe_text(use.name, single_line=True) or "all" for use in uses]
    cells = [_fill(column, uses) for column in _ALWAYS]
    left = columns - _LEAST_NAME - sum(map(_width, cells))
    for column in _WITH_ROOM:
        filled = _fill(column, uses)
        if any(filled[1:]) and _width(filled) <= left:
            left -= _width(filled)
            cells.append(filled)
    room = min(_LEAST_NAME + left, max(map(measure, [heading, *names])))
    for number, name in enumerate([heading, *names]):
        figures = [GAP + pad(column[number], _width(column) - len(GAP), ">") for column in cells]
        line = pad(clip(name, room), room, "<") + "".join(figures)
        yield faint(line) if number == 0 else line.rstrip()


def _fill(column: _Column, uses: Sequence[ToolUse]) -> list[str]:
    return [column.name, *map(column.tell, uses)]


def _width(cells: Sequence[str]) -> int:
    return len(GAP) + max(map(len, cells))


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def show_duration(milliseconds: float | None) -> str:
    """A length of time in the unit that a person would choose, such as `1.4 s`."""
    if milliseconds is None:
        return ""
    if milliseconds < _SECOND:
        return f"{milliseconds:.0f} ms"
    for unit, length, limit in (("s", _SECOND, _MINUTE), ("min", _MINUTE, _HOUR)):
        if milliseconds < limit:
            return f"{milliseconds / length:.1f} {unit}"
    return f"{milliseconds / _HOUR:,.1f} h"
