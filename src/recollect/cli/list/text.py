"""Sessions → lines of a table that fits the terminal.

The title gives way last: columns are added from left to right of what matters, as long as the
title keeps room to be read. On a terminal times are relative; elsewhere they can be sorted.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from recollect.cli.colours import faint, strong
from recollect.cli.list.document import Entry
from recollect.cli.session_labels import join_lines, label_id, label_project, label_title
from recollect.cli.tables import GAP, human_bytes, pad
from recollect.cli.times import show_age, show_moment
from recollect.health.retention import SOON
from recollect.render.terminal import clip, measure

RUNNING: Final = "●"
EXPIRING: Final = "!"
LEGEND: Final = {
    RUNNING: "open in Claude Code now",
    EXPIRING: f"deleted by Claude Code within {SOON.days} days",
}

_LEAST_TITLE: Final = 36
"""Columns that the title keeps before another column is added."""
_WIDEST: Final = {"project": 20, "model": 20, "branch": 24}
_NARROW: Final = 72
_NARROW_PROJECT: Final = 12


class Row(NamedTuple):
    """A session in its place: what is drawn before its title shows what it hangs under."""

    entry: Entry
    lead: str = ""


class _Column(NamedTuple):
    name: str
    side: str
    cells: list[str]

    @property
    def width(self) -> int:
        """Columns that the widest cell takes; none if there is nothing in it but zeros."""
        if not any(cell not in ("", "0") for cell in self.cells):
            return 0
        return max(len(self.name), *map(measure, self.cells))


def list_rows(entries: Sequence[Entry]) -> list[Row]:
    """The sessions with those below them, in the order in which they are drawn."""
    return [row for entry in entries for row in (Row(entry), *_iter_below(entry, ""))]


def _iter_below(entry: Entry, indent: str) -> Iterator[Row]:
    for number, child in enumerate(entry.children, 1):
        is_last = number == len(entry.children)
        yield Row(child, f"{indent}{'└' if is_last else '├'} {child.relation}: ")
        yield from _iter_below(child, indent + ("  " if is_last else "│ "))


def iter_lines(
    rows: Sequence[Row], columns: int, now: datetime, *, is_terminal: bool
) -> Iterator[str]:
    """Yield the lines of the table, styled, with a heading."""
    entries = [row.entry for row in rows]
    titles = [row.lead + label_title(row.entry.title, row.entry.first_prompt) for row in rows]
    chosen = _choose_columns(entries, columns, now, is_terminal=is_terminal)
    used = sum(column.width + len(GAP) for column in chosen)
    room = max(columns - used, 1)
    names = [pad(column.name.upper(), column.width, column.side) for column in chosen]
    yield faint(GAP.join([*names, "TITLE"]))
    for number, title in enumerate(titles):
        cells = [pad(column.cells[number], column.width, column.side) for column in chosen]
        line = GAP.join([*map(_style, chosen, cells), clip(title, room)])
        yield line.rstrip()


def list_marks(rows: Sequence[Row], now: datetime) -> list[str]:
    """What the marks that were used mean."""
    used = {_mark(row.entry, now) for row in rows}
    return [f"{mark} {meaning}" for mark, meaning in LEGEND.items() if mark in used]


def _choose_columns(
    entries: Sequence[Entry], columns: int, now: datetime, *, is_terminal: bool
) -> list[_Column]:
    """The columns before the title: the first three always, the others while there is room."""
    tell = (lambda moment: show_age(moment, now)) if is_terminal else show_moment
    project = _NARROW_PROJECT if columns < _NARROW else _WIDEST["project"]
    chosen = [
        _make("when", "<", entries, lambda each: tell(each.activity)),
        _make("id", "<", entries, lambda each: label_id(each.id)),
        _make(
            "project",
            "<",
            entries,
            lambda each: clip(label_project(each.cwd or each.project), project),
        ),
    ]
    marks = _make("", "<", entries, lambda each: _mark(each, now))
    if marks.width:
        chosen.insert(0, marks)
    left = columns - sum(column.width + len(GAP) for column in chosen) - _LEAST_TITLE
    for column in _list_optional(entries):
        if column.width and column.width + len(GAP) <= left:
            left -= column.width + len(GAP)
            chosen.append(column)
    return chosen


def _list_optional(entries: Sequence[Entry]) -> Iterator[_Column]:
    yield _make("size", ">", entries, lambda each: human_bytes(each.size))
    yield _make("turns", ">", entries, lambda each: _count(each.turn_count))
    yield _make("msgs", ">", entries, lambda each: _count(each.message_count))
    yield _make("errors", ">", entries, lambda each: _count(each.error_count))
    yield _make("model", "<", entries, lambda each: clip(_tell_model(each), _WIDEST["model"]))
    yield _make(
        "branch",
        "<",
        entries,
        lambda each: clip(join_lines(each.git_branch or ""), _WIDEST["branch"]),
    )


def _make(name: str, side: str, entries: Sequence[Entry], tell: Callable[[Entry], str]) -> _Column:
    cells = [tell(each) for each in entries]
    return _Column(name, side, cells)


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _mark(entry: Entry, now: datetime) -> str:
    if entry.is_running:
        return RUNNING
    return EXPIRING if entry.expires and _is_soon(entry.expires, now) else ""


def _is_soon(moment: str, now: datetime) -> bool:
    return datetime.fromisoformat(moment) - now <= timedelta(days=SOON.days)


def _tell_model(entry: Entry) -> str:
    """The last model, without what all their names begin with."""
    names = [name.removeprefix("claude-") for name in entry.models]
    more = f" +{len(names) - 1}" if len(names) > 1 else ""
    return join_lines(f"{names[-1]}{more}") if names else ""


def _style(column: _Column, cell: str) -> str:
    if column.name == "id":
        return strong(cell)
    return cell if column.name == "project" else faint(cell)
