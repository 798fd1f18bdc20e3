"""The picker as styled text: rows, preview, help and status.

Text from transcripts is made safe and single-line here.
"""

from collections.abc import Sequence
from datetime import datetime
from textwrap import wrap

from recollect.cli.picker_state import (
    DateFilter,
    PickerRow,
    PickerScope,
    PickerState,
    Preview,
    list_unread,
)
from recollect.cli.terminal_output import join_lines, label_project, label_title, pad
from recollect.quantities import format_age
from recollect.render.terminal import clip, measure, safe_line

Fragment = tuple[str, str]
"""A style class and its text."""

PROJECT_WIDTH = 16
AGE_WIDTH = 10
_GAP = "  "
_MIN_TITLE = 8

KEYS: tuple[tuple[str, str], ...] = (
    ("type", "search titles, prompts and full text"),
    ("↑ ↓", "select; also PgUp PgDn Home End"),
    ("Enter", "read it, at the match if there is one; q returns here"),
    ("Alt+R", "resume it in Claude Code"),
    ("Alt+C", "copy the resume command"),
    ("Alt+P", "this project or everywhere; also Ctrl+R"),
    ("Alt+B", "only the branch of the selected session"),
    ("Alt+E", "only sessions with errors"),
    ("Alt+D", "only today, the last 7 or 30 days"),
    ("F1", "toggle this help; also ? before you type"),
    ("Esc", "close this help, or quit"),
)
_KEY_WIDTH = 8
HINTS: tuple[str, ...] = (
    "Enter read",
    "F1 help",
    "Esc quit",
    "Alt+R resume",
    "Alt+C copy command",
    "Alt+P project",
    "Alt+B branch",
    "Alt+E errors",
    "Alt+D date",
)
"""The most important first: as many are shown as fit."""


def render_hints(columns: int) -> str:
    """Return as many hints as fit into a line, none of them cut."""
    line = ""
    for hint in HINTS:
        longer = f"{line}  {hint}" if line else hint
        if measure(longer) > columns:
            break
        line = longer
    return line


def render_rows(state: PickerState, columns: int, lines: int, now: datetime) -> list[Fragment]:
    """Render the part of the list around the selected row."""
    if not state.rows:
        return [("class:faint", clip(f"  No matches. {_suggest(state)}", columns))]
    first = max(0, min(state.selected - lines // 2, len(state.rows) - lines))
    fragments: list[Fragment] = []
    for number, row in enumerate(state.rows[first : first + lines], first):
        mark = "▸ " if number == state.selected else _GAP
        head = f"{mark}{_render_head(row, now, with_project=state.scope is PickerScope.EVERYWHERE)}"
        fragments += _render_row(row, head, columns, is_selected=number == state.selected)
    return fragments


def _suggest(state: PickerState) -> str:
    """Return a hint at the key that lists more."""
    if state.errors_only:
        return "Alt+E lists sessions without errors too."
    if state.branch is not None:
        return "Alt+B lists other branches too."
    if state.dates is not DateFilter.ALWAYS:
        return "Alt+D lists older sessions too."
    is_narrow = state.scope is PickerScope.PROJECT
    return "Alt+P searches everywhere." if is_narrow else "Try fewer words."


def measure_title(state: PickerState, columns: int) -> int:
    """Return the room for the title of a session, or for a snippet of it."""
    with_project = state.scope is PickerScope.EVERYWHERE
    taken = AGE_WIDTH + 2 * len(_GAP) + (PROJECT_WIDTH + len(_GAP) if with_project else 0)
    return max(columns - taken, _MIN_TITLE)


def _render_head(row: PickerRow, now: datetime, *, with_project: bool) -> str:
    listing = row.listing
    age = pad(format_age(listing.activity, now), AGE_WIDTH, "<")
    if not with_project:
        return f"{age}{_GAP}"
    project = label_project(listing.cwd or listing.project)
    return f"{age}{_GAP}{pad(clip(project, PROJECT_WIDTH), PROJECT_WIDTH, '<')}{_GAP}"


def _render_row(row: PickerRow, head: str, columns: int, *, is_selected: bool) -> list[Fragment]:
    is_text = row.hit is not None and not row.is_titled
    title = join_lines(row.hit.snippet.text) if row.hit and is_text else _title_of(row)
    shown = clip(title, max(columns - measure(head), _MIN_TITLE))
    base = "class:selected" if is_selected else ""
    style = "class:found" if is_text and not is_selected else base
    fill = " " * max(columns - measure(head) - measure(shown), 0)
    return [(base or "class:faint", head), (style, f"{shown}{fill}\n")]


def render_preview(
    state: PickerState, preview: Preview | None, columns: int, lines: int
) -> list[Fragment]:
    """Render the preview of the selected session, or the help."""
    if state.is_help_shown:
        return _render_help(columns)
    row = state.current
    if row is None:
        return []
    head = [("class:title", f"{clip(_title_of(row), columns)}\n")]
    if preview is None:
        return [*head, ("class:faint", "…")]
    facts = [
        ("class:faint", f"{clip(f'{name} {safe_line(value)}'.strip(), columns)}\n")
        for name, value in preview.facts
    ]
    room = max(lines - len(facts) - 2, 0)
    return [*head, *facts, ("", "\n"), *_render_prompts(preview.prompts, columns, room)]


def count_help_lines(columns: int) -> int:
    """Return how many lines the help takes."""
    return sum(text.count("\n") for _, text in _render_help(columns))


def _render_help(columns: int) -> list[Fragment]:
    return [fragment for key, meaning in KEYS for fragment in _explain(key, meaning, columns)]


def _explain(key: str, meaning: str, columns: int) -> list[Fragment]:
    """Render a line of the help, continued on others if the pane is narrow."""
    lines = wrap(meaning, max(columns - _KEY_WIDTH - 1, 1)) or [""]
    names = [key, *[""] * (len(lines) - 1)]
    return [
        fragment
        for name, line in zip(names, lines, strict=True)
        for fragment in (("class:key", f" {pad(name, _KEY_WIDTH, '<')}"), ("", f"{line}\n"))
    ]


def _render_prompts(prompts: Sequence[str], columns: int, room: int) -> list[Fragment]:
    """Render the first and the last prompts."""
    shown = [f"• {safe_line(line)}" for line in prompts]
    if len(shown) > room > 1:
        last = room // 2
        first = room - last - 1
        left_out = f"… {len(prompts) - first - last} more"
        shown = [*shown[:first], left_out, *shown[len(shown) - last :]]
    return [("", f"{clip(line, columns)}\n") for line in shown[:room]]


def render_status(state: PickerState, columns: int) -> list[Fragment]:
    """Render the scope and the number of sessions, or a message."""
    if state.message:
        return [("class:message", clip(join_lines(state.message), columns))]
    filters = (state.branch, "with errors" if state.errors_only else "", state.dates.value)
    shown = ", ".join([state.scope.value, *map(safe_line, filter(None, filters))])
    count = f"{len(state.rows):,} of {len(state.listings):,} sessions, {shown}"
    if unread := list_unread(state):
        count = f"{count}, {len(unread):,} not read yet"
    if state.query and state.is_indexing:
        count = f"{count}. Still indexing: more may be found."
    elif state.note:
        count = f"{count}. {state.note}"
    return [("class:faint", clip(count, columns))]


def _title_of(row: PickerRow) -> str:
    return label_title(row.listing.title, row.listing.first_prompt)
