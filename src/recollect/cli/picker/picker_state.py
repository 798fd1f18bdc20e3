"""The picker without a terminal: lookups, state changes, and rendering to styled text.

Letters always search; actions and filters are on Ctrl and Alt keys. Lookups are slow and run in
threads; they never raise for a half-typed query. Text from transcripts is made safe and single-line
here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from textwrap import wrap
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from recollect.cli.session_labels import join_lines, label_project, label_title
from recollect.cli.tables import pad
from recollect.documents.search_results import Hit
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

    def find(self, query: str) -> dict[str, Hit]:
        """Return the sessions that match the query, best first, each with its best hit."""
        from recollect.search.engine import SearchOptions  # not needed at start
        from recollect.workspace.searching import search_as_is

        options = SearchOptions(limit=SESSIONS_FOUND, per_session=1, width=SNIPPET_WIDTH)
        try:
            result = search_as_is(
                self._workspace, query, self._transcripts, options, REBUILD_SECONDS
            )
        except RecollectError:
            return {}
        return {hit.session_id: hit for hit in result.hits}

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
    """A session in the list, with its best hit if its text matches the query."""

    listing: SessionListing
    hit: Hit | None = None
    is_titled: bool = True
    """Whether what the list shows of the session matches by itself."""


class PickAction(StrEnum):
    """What to do with the picked session."""

    SHOW = "show"
    RESUME = "resume"


class Pick(Struct, frozen=True):
    """A picked session and what to do with it."""

    action: PickAction
    listing: SessionListing
    hit: Hit | None = None
    """Where to read it."""


class DateFilter(StrEnum):
    """Since when sessions are listed."""

    ALWAYS = ""
    TODAY = "today"
    WEEK = "last 7 days"
    MONTH = "last 30 days"


_DAYS = {DateFilter.TODAY: 1, DateFilter.WEEK: 7, DateFilter.MONTH: 30}


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
    branch: str | None = None
    """Only sessions on this git branch."""
    errors_only: bool = False
    dates: DateFilter = DateFilter.ALWAYS
    since: float | None = None
    """When the first day of `dates` started, as a Unix timestamp."""
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
    return show_matches(replace(state, query=query, selected=0, is_help_shown=False, message=""))


def switch_scope(state: PickerState) -> PickerState:
    """Switch between this project and everywhere."""
    other = PickerScope.EVERYWHERE if state.scope is PickerScope.PROJECT else PickerScope.PROJECT
    return show_matches(replace(state, scope=other, selected=0, message=""))


def switch_branch(state: PickerState) -> PickerState:
    """List only sessions on the branch of the selected one, or all again."""
    row = state.current
    branch = row.listing.git_branch if row and state.branch is None else None
    if branch is None and state.branch is None:
        return replace(state, message="The selected session has no git branch.")
    return show_matches(replace(state, branch=branch, selected=0, message=""))


def switch_errors(state: PickerState) -> PickerState:
    """List only sessions with failures, or all again."""
    only = not state.errors_only
    return show_matches(replace(state, errors_only=only, selected=0, message=""))


def switch_dates(state: PickerState, now: datetime) -> PickerState:
    """Go on to the next range of dates: today, a week, a month, all."""
    choices = list(DateFilter)
    dates = choices[(choices.index(state.dates) + 1) % len(choices)]
    today = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    days = _DAYS.get(dates)
    since = None if days is None else (today - timedelta(days=days - 1)).timestamp()
    return show_matches(replace(state, dates=dates, since=since, selected=0, message=""))


def move(state: PickerState, steps: int) -> PickerState:
    """Move the selection, stopping at the ends."""
    selected = min(max(state.selected + steps, 0), max(len(state.rows) - 1, 0))
    return replace(state, selected=selected, message="")


def show_matches(state: PickerState) -> PickerState:
    """List the sessions whose title, prompt, project, branch or id contains all query words."""
    words = state.query.casefold().split()
    rows = tuple(PickerRow(each) for each in list_scope(state) if _matches(each, words))
    return replace(state, rows=rows, selected=min(state.selected, max(len(rows) - 1, 0)))


def add_found(state: PickerState, query: str, found: Mapping[str, Hit]) -> PickerState:
    """Append the sessions whose text matches to those whose title matches, and note all hits.

    Results for an outdated query are ignored.
    """
    if query != state.query:
        return state
    titled = [row for row in state.rows if row.is_titled]
    shown = {row.listing.id for row in titled}
    by_id = {each.id: each for each in list_scope(state)}
    noted = [replace(row, hit=found.get(row.listing.id)) for row in titled]
    more = [
        PickerRow(by_id[session_id], hit, is_titled=False)
        for session_id, hit in found.items()
        if session_id in by_id and session_id not in shown
    ]
    return replace(state, rows=(*noted, *more))


def list_scope(state: PickerState) -> list[SessionListing]:
    """Return the sessions in the current scope that no filter leaves out."""
    return [each for each in state.listings if _passes(each, state)]


def _passes(listing: SessionListing, state: PickerState) -> bool:
    is_here = state.scope is PickerScope.EVERYWHERE or is_in_project(listing, state.directory)
    is_new = state.since is None or listing.activity >= state.since
    has_branch = state.branch is None or listing.git_branch == state.branch
    return is_here and is_new and has_branch and not (state.errors_only and not listing.error_count)


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
    ("Enter", "read it, at the match if there is one; q comes back here"),
    ("Alt-R", "resume it in Claude Code"),
    ("Alt-C", "copy the resume command"),
    ("Alt-P", "this project or everywhere; also Ctrl-R"),
    ("Alt-B", "only the branch of the selected session"),
    ("Alt-E", "only sessions with failures"),
    ("Alt-D", "only today, the last 7 or 30 days"),
    ("F1", "toggle this help; also ? before you type"),
    ("Esc", "quit"),
)
_KEY_WIDTH = 8
HINTS: tuple[str, ...] = (
    "Enter read",
    "F1 help",
    "Esc quit",
    "Alt-R resume",
    "Alt-C copy command",
    "Alt-P project",
    "Alt-B branch",
    "Alt-E failures",
    "Alt-D date",
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
        mark = "▸ " if number == state.selected else "  "
        head = f"{mark}{_render_head(row, now, with_project=state.scope is PickerScope.EVERYWHERE)}"
        fragments += _render_row(row, head, columns, is_selected=number == state.selected)
    return fragments


def _suggest(state: PickerState) -> str:
    """Return which key would list more."""
    if state.errors_only:
        return "Alt-E lists sessions without failures too."
    if state.branch is not None:
        return "Alt-B lists other branches too."
    if state.dates is not DateFilter.ALWAYS:
        return "Alt-D lists older sessions too."
    is_narrow = state.scope is PickerScope.PROJECT
    return "Alt-P looks everywhere." if is_narrow else "Try fewer words."


def _render_head(row: PickerRow, now: datetime, *, with_project: bool) -> str:
    listing = row.listing
    age = pad(format_age(listing.activity, now), AGE_WIDTH, "<")
    if not with_project:
        return f"{age}  "
    project = label_project(listing.cwd or listing.project)
    return f"{age}  {pad(clip(project, PROJECT_WIDTH), PROJECT_WIDTH, '<')}  "


def _render_row(row: PickerRow, head: str, columns: int, *, is_selected: bool) -> list[Fragment]:
    is_text = row.hit is not None and not row.is_titled
    title = join_lines(row.hit.snippet.text) if row.hit and is_text else _title_of(row)
    shown = clip(title, max(columns - measure(head), 8))
    base = "class:selected" if is_selected else ""
    style = "class:found" if is_text and not is_selected else base
    fill = " " * max(columns - measure(head) - measure(shown), 0)
    return [(base or "class:faint", head), (style, f"{shown}{fill}\n")]


def render_preview(
    state: PickerState, preview: Preview | None, columns: int, lines: int
) -> list[Fragment]:
    """Render the preview of the selected session, or the help."""
    if state.is_help_shown:
        return [fragment for key, meaning in KEYS for fragment in _explain(key, meaning, columns)]
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
        return [("class:message", clip(join_lines(state.message), columns))]
    filters = (state.branch, "with failures" if state.errors_only else "", state.dates.value)
    shown = ", ".join([state.scope.value, *map(_safe, filter(None, filters))])
    count = f"{len(state.rows):,} of {len(state.listings):,} sessions, {shown}"
    return [("class:faint", clip(count, columns))]


def _title_of(row: PickerRow) -> str:
    return label_title(row.listing.title, row.listing.first_prompt)


def _safe(text: str) -> str:
    return safe_text(text, single_line=True)
