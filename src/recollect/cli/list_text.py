"""The output of `recollect list`: its JSON document, and a table that fits the terminal.

Columns are added in order of importance as long as the title keeps enough room. Times are relative
in a terminal and sortable elsewhere.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from recollect.cli.session_labels import join_lines, label_id, label_project, label_title
from recollect.cli.tables import GAP, UNLIMITED, faint, pad, strong
from recollect.documents.session_listing import SessionListing
from recollect.health.retention import SOON
from recollect.quantities import format_age, format_bytes, format_dollars, format_time
from recollect.render.terminal import clip, measure

RUNNING: Final = "●"
EXPIRING: Final = "!"
ARCHIVED: Final = "◇"
PARTIAL: Final = "◌"
STARRED: Final = "★"
LEGEND: Final = {
    RUNNING: "open in Claude Code",
    EXPIRING: f"will be deleted by Claude Code within {SOON.days} days",
    STARRED: "starred by you",
    ARCHIVED: "deleted by Claude Code; read from the archive",
    PARTIAL: "deleted by Claude Code; only your prompts and other leftovers",
}

_MIN_TITLE_WIDTH: Final = 36
"""Columns that the title keeps before another column is added."""
_MAX_WIDTH: Final = {"project": 20, "model": 20, "branch": 24}
_NARROW: Final = 72
_NARROW_PROJECT: Final = 12


class SessionLine(NamedTuple):
    """A row of the table; `lead` is the branch of the tree before the title."""

    entry: SessionListing
    lead: str = ""


class _Column(NamedTuple):
    name: str
    side: str
    cells: list[str]

    @property
    def width(self) -> int:
        """The width of the widest cell; 0 if all cells are empty or zero."""
        if not any(cell not in ("", "0") for cell in self.cells):
            return 0
        return max(len(self.name), *map(measure, self.cells))


def list_rows(entries: Sequence[SessionListing]) -> list[SessionLine]:
    """Flatten the tree of sessions into rows."""
    return [row for entry in entries for row in (SessionLine(entry), *_iter_below(entry, ""))]


def _iter_below(entry: SessionListing, indent: str) -> Iterator[SessionLine]:
    for number, child in enumerate(entry.children, 1):
        is_last = number == len(entry.children)
        yield SessionLine(child, f"{indent}{'└' if is_last else '├'} {child.relation}: ")
        yield from _iter_below(child, indent + ("  " if is_last else "│ "))


def iter_lines(
    rows: Sequence[SessionLine], columns: int, now: datetime, *, is_terminal: bool
) -> Iterator[str]:
    """Yield the styled lines of the table, starting with a heading."""
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


def list_marks(rows: Sequence[SessionLine], now: datetime) -> list[str]:
    """Return the legend of the marks that occur in `rows`."""
    used = {mark for row in rows for mark in _mark(row.entry, now)}
    return [f"{mark} {meaning}" for mark, meaning in LEGEND.items() if mark in used]


def _choose_columns(
    entries: Sequence[SessionListing], columns: int, now: datetime, *, is_terminal: bool
) -> list[_Column]:
    """Choose the columns before the title: the first three always, the others if they fit."""
    show_time = (lambda moment: format_age(moment, now)) if is_terminal else format_time
    project = _NARROW_PROJECT if columns < _NARROW else _limit("project", columns)
    chosen = [
        _make("when", "<", entries, lambda each: show_time(each.activity)),
        _make("id", "<", entries, lambda each: label_id(each.id)),
        _make(
            "project",
            "<",
            entries,
            lambda each: clip(label_project(each.cwd or each.project), project),
        ),
    ]
    # Known only if it was asked for.
    cost = _make("cost", ">", entries, lambda each: _show_cost(each.cost_usd))
    if cost.width:
        chosen.append(cost)
    marks = _make("", "<", entries, lambda each: _mark(each, now))
    if marks.width:
        chosen.insert(0, marks)
    left = columns - sum(column.width + len(GAP) for column in chosen) - _MIN_TITLE_WIDTH
    for column in _list_optional(entries, columns):
        if column.width and column.width + len(GAP) <= left:
            left -= column.width + len(GAP)
            chosen.append(column)
    return chosen


def _limit(name: str, columns: int) -> int:
    return _MAX_WIDTH[name] if columns < UNLIMITED else UNLIMITED


def _list_optional(entries: Sequence[SessionListing], columns: int) -> Iterator[_Column]:
    model, branch = _limit("model", columns), _limit("branch", columns)
    yield _make("size", ">", entries, lambda each: format_bytes(each.size))
    yield _make("turns", ">", entries, lambda each: _count(each.turn_count))
    yield _make("msgs", ">", entries, lambda each: _count(each.message_count))
    yield _make("errors", ">", entries, lambda each: _count(each.error_count))
    yield _make("model", "<", entries, lambda each: clip(_show_model(each), model))
    yield _make(
        "branch",
        "<",
        entries,
        lambda each: clip(join_lines(each.git_branch or ""), branch),
    )


def _make(
    name: str, side: str, entries: Sequence[SessionListing], value: Callable[[SessionListing], str]
) -> _Column:
    cells = [value(each) for each in entries]
    return _Column(name, side, cells)


def _show_cost(dollars: float | None) -> str:
    return "" if dollars is None else format_dollars(dollars)


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _mark(entry: SessionListing, now: datetime) -> str:
    return _mark_state(entry, now) + (STARRED if entry.starred else "")


def _mark_state(entry: SessionListing, now: datetime) -> str:
    if entry.live:
        return RUNNING
    if entry.is_archived:
        return ARCHIVED
    if entry.is_partial:
        return PARTIAL
    return EXPIRING if entry.expires and _is_soon(entry.expires, now) else ""


def _is_soon(moment: str, now: datetime) -> bool:
    return datetime.fromisoformat(moment) - now <= timedelta(days=SOON.days)


def _show_model(entry: SessionListing) -> str:
    """Return the last model, without the prefix that all names share."""
    names = [name.removeprefix("claude-") for name in entry.models]
    more = f" +{len(names) - 1}" if len(names) > 1 else ""
    return join_lines(f"{names[-1]}{more}") if names else ""


def _style(column: _Column, cell: str) -> str:
    if column.name == "id":
        return strong(cell)
    return cell if column.name == "project" else faint(cell)
