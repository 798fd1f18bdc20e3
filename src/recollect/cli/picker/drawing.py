"""The picker's state → styled text, sized to the screen.

Every string that comes from a transcript is made safe here, and is on a single line afterwards.
"""

from collections.abc import Sequence
from datetime import datetime

from recollect.cli.picker.sources import Preview
from recollect.cli.picker.state import Row, Scope, State
from recollect.cli.session_labels import join_lines, label_project, label_title
from recollect.cli.tables import pad
from recollect.cli.times import show_age
from recollect.render.terminal import clip, measure, safe_text

Fragment = tuple[str, str]
"""A class of the style sheet, and the text in it."""

PROJECT_WIDTH = 16
AGE_WIDTH = 10

KEYS: tuple[tuple[str, str], ...] = (
    ("type", "search titles, prompts and all texts"),
    ("↑ ↓", "choose; PgUp PgDn Home End as well"),
    ("Enter", "show the session"),
    ("r", "resume it, once chosen with an arrow (Alt-R always)"),
    ("c", "copy the resume command (Alt-C always)"),
    ("Ctrl-R", "this project / everywhere"),
    ("/", "back to the search"),
    ("?", "this list"),
    ("Esc", "leave"),
)
HINTS = "↑↓ choose  Enter show  r resume  c copy command  Ctrl-R scope  ? keys  Esc leave"


def draw_rows(state: State, columns: int, lines: int, now: datetime) -> list[Fragment]:
    """The part of the list around the chosen row."""
    if not state.rows:
        return [("class:faint", "  Nothing fits. Ctrl-R looks elsewhere.")]
    first = max(0, min(state.selected - lines // 2, len(state.rows) - lines))
    fragments: list[Fragment] = []
    for number, row in enumerate(state.rows[first : first + lines], first):
        mark = "▸ " if number == state.selected else "  "
        head = f"{mark}{_draw_head(row, now, with_project=state.scope is Scope.EVERYWHERE)}"
        fragments += _draw_row(row, head, columns, is_selected=number == state.selected)
    return fragments


def _draw_head(row: Row, now: datetime, *, with_project: bool) -> str:
    listing = row.listing
    age = pad(show_age(listing.activity, now), AGE_WIDTH, "<")
    if not with_project:
        return f"{age}  "
    project = label_project(listing.cwd or listing.project)
    return f"{age}  {pad(clip(project, PROJECT_WIDTH), PROJECT_WIDTH, '<')}  "


def _draw_row(row: Row, head: str, columns: int, *, is_selected: bool) -> list[Fragment]:
    title = join_lines(row.found) if row.found else _title_of(row)
    shown = clip(title, max(columns - measure(head), 8))
    base = "class:selected" if is_selected else ""
    style = "class:found" if row.found and not is_selected else base
    fill = " " * max(columns - measure(head) - measure(shown), 0)
    return [(base or "class:faint", head), (style, f"{shown}{fill}\n")]


def draw_preview(state: State, preview: Preview | None, columns: int, lines: int) -> list[Fragment]:
    """What the chosen session is about; the list of keys when it was asked for."""
    if state.is_help_shown:
        return [
            fragment
            for key, meaning in KEYS
            for fragment in (("class:key", f" {pad(key, 8, '<')}"), ("", f"{meaning}\n"))
        ]
    row = state.current
    if row is None:
        return []
    head = [("class:title", f"{clip(_title_of(row), columns)}\n")]
    if preview is None:
        return [*head, ("class:faint", "…")]
    facts = [
        ("class:faint", f"{clip(f'{name} {_safe(value)}'.strip(), columns)}\n")
        for name, value in preview.facts
    ]
    room = max(lines - len(facts) - 2, 0)
    return [*head, *facts, ("", "\n"), *_draw_prompts(preview.prompts, columns, room)]


def _draw_prompts(prompts: Sequence[str], columns: int, room: int) -> list[Fragment]:
    """The first and the last prompts: what was asked for, and where it ended."""
    shown = [f"• {_safe(line)}" for line in prompts]
    if len(shown) > room > 1:
        last = room // 2
        first = room - last - 1
        left_out = f"… {len(prompts) - first - last} more"
        shown = [*shown[:first], left_out, *shown[len(shown) - last :]]
    return [("", f"{clip(line, columns)}\n") for line in shown[:room]]


def draw_status(state: State, columns: int) -> list[Fragment]:
    """The scope, how many sessions there are, and what just happened."""
    if state.message:
        return [("class:message", clip(_safe(state.message), columns))]
    count = f"{len(state.rows):,} of {len(state.listings):,} sessions, {state.scope.value}"
    return [("class:faint", clip(count, columns))]


def _title_of(row: Row) -> str:
    return label_title(row.listing.title, row.listing.first_prompt)


def _safe(text: str) -> str:
    return safe_text(text, single_line=True)
