"""The picker without a terminal: lookups, state changes, and rendering to styled text.

Typing searches, so letters are commands only after an arrow key has moved the focus to the list;
any other letter returns to the search. Lookups are slow and run in threads; they never raise for a
half-typed query. Text from transcripts is made safe and single-line here.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from recollect.cli.session_labels import join_lines, label_project, label_title
from recollect.cli.tables import pad
from recollect.documents.session_listing import SessionListing
from recollect.errors import RecollectError
from recollect.locations import Transcript
from recollect.quantities import format_age
from recollect.render.terminal import clip, measure, safe_text

if TYPE_CHECKING:
    from recollect.workspace.workspace import Workspace


SESSIONS_FOUND = 50
SNIPPET_WIDTH = 32
"""Characters that fit in a row next to age and project in a typical terminal."""
PROMPTS_SHOWN = 200
REBUILD_SECONDS = 2.0
"""How long a search may spend on rebuilding a damaged index."""


class Preview(Struct, frozen=True):
    """The facts of a session, and the first line of each prompt."""

    facts: tuple[tuple[str, str], ...]
    prompts: tuple[str, ...]


class Sources:
    """The workspace that the picker reads."""

    def __init__(self, workspace: "Workspace", transcripts: Sequence[Transcript]) -> None:
        self._workspace = workspace
        self._transcripts = transcripts
        self._by_path = {each.file: each for each in transcripts}

    def find(self, query: str) -> dict[str, str]:
        """Return the sessions that match the query, best first, each with a snippet."""
        from recollect.search.engine import SearchOptions  # not needed at start
        from recollect.workspace.searching import search_as_is

        options = SearchOptions(limit=SESSIONS_FOUND, per_session=1, width=SNIPPET_WIDTH)
        try:
            result = search_as_is(
                self._workspace, query, self._transcripts, options, REBUILD_SECONDS
            )
        except RecollectError:
            return {}
        return {hit.session_id: hit.snippet.text for hit in result.hits}

    def preview(self, listing: SessionListing) -> Preview:
        """Read the preview of a session from its transcript."""
        from recollect.library.opening import open_transcript  # the whole model
        from recollect.render.views.overview import build_outline

        transcript = self._by_path.get(listing.path)
        if transcript is None:
            return Preview((("", "The transcript no longer exists."),), ())
        try:
            session = open_transcript(transcript)
        except RecollectError as error:
            return Preview((("", str(error)),), ())
        prompts = [entry.line for entry in build_outline(session) if entry.is_by_person]
        return Preview(_list_facts(listing), tuple(prompts[:PROMPTS_SHOWN]))

    def index_some(self, seconds: float) -> bool:
        """Index texts for at most `seconds`; return True when everything is indexed."""
        from recollect.workspace.searching import index_some

        try:
            return index_some(self._workspace, self._transcripts, seconds)
        except RecollectError:
            # Titles and prompts can still be searched; `recollect doctor` reports the reason.
            return True


def _list_facts(listing: SessionListing) -> tuple[tuple[str, str], ...]:
    facts = (
        ("session", listing.id),
        ("directory", listing.cwd),
        ("branch", listing.git_branch),
        ("client", listing.version),
    )
    return tuple((name, value) for name, value in facts if value)


class PickerScope(StrEnum):
    """Which sessions are listed."""

    PROJECT = "this project"
    EVERYWHERE = "everywhere"


class PickerRow(Struct, frozen=True):
    """A session in the list, with a snippet if only its text matched."""

    listing: SessionListing
    found: str | None = None


class PickAction(StrEnum):
    """What to do with the picked session."""

    SHOW = "show"
    RESUME = "resume"


class Pick(Struct, frozen=True):
    """A picked session and what to do with it."""

    action: PickAction
    listing: SessionListing


class PickerState(Struct, frozen=True, kw_only=True):
    """Everything that the screen shows."""

    listings: tuple[SessionListing, ...]
    """All sessions, most recently active first."""
    directory: str
    """The current directory, which defines "this project"."""
    scope: PickerScope = PickerScope.EVERYWHERE
    query: str = ""
    rows: tuple[PickerRow, ...] = ()
    selected: int = 0
    is_choosing: bool = False
    """Whether the list has the focus, so that letters are commands."""
    is_help_shown: bool = False
    message: str = ""

    @property
    def current(self) -> PickerRow | None:
        """The selected row; None if the list is empty."""
        return self.rows[self.selected] if self.rows else None


def open_state(listings: Sequence[SessionListing], directory: str) -> PickerState:
    """Return the initial state: this project if it has sessions, or else all."""
    state = PickerState(listings=tuple(listings), directory=directory, scope=PickerScope.PROJECT)
    has_project = any(is_in_project(each, directory) for each in listings)
    return show_matches(state if has_project else replace(state, scope=PickerScope.EVERYWHERE))


def is_in_project(listing: SessionListing, directory: str) -> bool:
    """Return whether the session ran in `directory` or below it."""
    where = (listing.cwd or "").rstrip("/\\")
    base = directory.rstrip("/\\")
    return bool(base) and (where == base or where.startswith((f"{base}/", f"{base}\\")))


def type_query(state: PickerState, query: str) -> PickerState:
    """Change the query and return to the top of the list."""
    typed = replace(
        state, query=query, selected=0, is_choosing=False, is_help_shown=False, message=""
    )
    return show_matches(typed)


def switch_scope(state: PickerState) -> PickerState:
    """Switch between this project and everywhere."""
    other = PickerScope.EVERYWHERE if state.scope is PickerScope.PROJECT else PickerScope.PROJECT
    return show_matches(replace(state, scope=other, selected=0, message=""))


def move(state: PickerState, steps: int) -> PickerState:
    """Move the selection, stopping at the ends."""
    selected = min(max(state.selected + steps, 0), max(len(state.rows) - 1, 0))
    return replace(state, selected=selected, is_choosing=True, message="")


def show_matches(state: PickerState) -> PickerState:
    """List the sessions whose title, prompt, project, branch or id contains all query words."""
    words = state.query.casefold().split()
    rows = tuple(PickerRow(each) for each in list_scope(state) if _matches(each, words))
    return replace(state, rows=rows, selected=min(state.selected, max(len(rows) - 1, 0)))


def add_found(state: PickerState, query: str, found: dict[str, str]) -> PickerState:
    """Append the sessions whose text matches to those whose title matches.

    Results for an outdated query are ignored.
    """
    if query != state.query:
        return state
    shown = {row.listing.id for row in state.rows}
    by_id = {each.id: each for each in list_scope(state)}
    more = [
        PickerRow(by_id[session_id], words)
        for session_id, words in found.items()
        if session_id in by_id and session_id not in shown
    ]
    return replace(state, rows=(*state.rows, *more))


def list_scope(state: PickerState) -> list[SessionListing]:
    """Return the sessions in the current scope."""
    if state.scope is PickerScope.EVERYWHERE:
        return list(state.listings)
    return [each for each in state.listings if is_in_project(each, state.directory)]


def _matches(listing: SessionListing, words: Sequence[str]) -> bool:
    fields = (
        listing.title,
        listing.first_prompt,
        listing.cwd,
        listing.git_branch,
        listing.id,
    )
    text = "\n".join(filter(None, fields)).casefold()
    return all(word in text for word in words)


Fragment = tuple[str, str]
"""A style class and its text."""

PROJECT_WIDTH = 16
AGE_WIDTH = 10

KEYS: tuple[tuple[str, str], ...] = (
    ("type", "search titles, prompts and full text"),
    ("↑ ↓", "select; also PgUp PgDn Home End"),
    ("Enter", "show the session"),
    ("r", "resume it, once selected with an arrow (Alt-R always)"),
    ("c", "copy the resume command (Alt-C always)"),
    ("Ctrl-R", "switch between this project and everywhere"),
    ("/", "back to search"),
    ("?", "toggle this help"),
    ("Esc", "quit"),
)
HINTS = "↑↓ select  Enter show  r resume  c copy command  Ctrl-R scope  ? help  Esc quit"


def render_rows(state: PickerState, columns: int, lines: int, now: datetime) -> list[Fragment]:
    """Render the part of the list around the selected row."""
    if not state.rows:
        return [("class:faint", "  No matches. Ctrl-R changes the scope.")]
    first = max(0, min(state.selected - lines // 2, len(state.rows) - lines))
    fragments: list[Fragment] = []
    for number, row in enumerate(state.rows[first : first + lines], first):
        mark = "▸ " if number == state.selected else "  "
        head = f"{mark}{_render_head(row, now, with_project=state.scope is PickerScope.EVERYWHERE)}"
        fragments += _render_row(row, head, columns, is_selected=number == state.selected)
    return fragments


def _render_head(row: PickerRow, now: datetime, *, with_project: bool) -> str:
    listing = row.listing
    age = pad(format_age(listing.activity, now), AGE_WIDTH, "<")
    if not with_project:
        return f"{age}  "
    project = label_project(listing.cwd or listing.project)
    return f"{age}  {pad(clip(project, PROJECT_WIDTH), PROJECT_WIDTH, '<')}  "


def _render_row(row: PickerRow, head: str, columns: int, *, is_selected: bool) -> list[Fragment]:
    title = join_lines(row.found) if row.found else _title_of(row)
    shown = clip(title, max(columns - measure(head), 8))
    base = "class:selected" if is_selected else ""
    style = "class:found" if row.found and not is_selected else base
    fill = " " * max(columns - measure(head) - measure(shown), 0)
    return [(base or "class:faint", head), (style, f"{shown}{fill}\n")]


def render_preview(
    state: PickerState, preview: Preview | None, columns: int, lines: int
) -> list[Fragment]:
    """Render the preview of the selected session, or the help."""
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
    return [*head, *facts, ("", "\n"), *_render_prompts(preview.prompts, columns, room)]


def _render_prompts(prompts: Sequence[str], columns: int, room: int) -> list[Fragment]:
    """Render the first and the last prompts."""
    shown = [f"• {_safe(line)}" for line in prompts]
    if len(shown) > room > 1:
        last = room // 2
        first = room - last - 1
        left_out = f"… {len(prompts) - first - last} more"
        shown = [*shown[:first], left_out, *shown[len(shown) - last :]]
    return [("", f"{clip(line, columns)}\n") for line in shown[:room]]


def render_status(state: PickerState, columns: int) -> list[Fragment]:
    """Render the scope and the number of sessions, or a message."""
    if state.message:
        return [("class:message", clip(_safe(state.message), columns))]
    count = f"{len(state.rows):,} of {len(state.listings):,} sessions, {state.scope.value}"
    return [("class:faint", clip(count, columns))]


def _title_of(row: PickerRow) -> str:
    return label_title(row.listing.title, row.listing.first_prompt)


def _safe(text: str) -> str:
    return safe_text(text, single_line=True)
