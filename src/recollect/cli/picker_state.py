"""The picker without a terminal: lookups and state changes.

Letters always search; actions and filters are on Ctrl and Alt keys. Lookups are slow and run in
threads; they never raise for a half-typed query.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from recollect.documents.search_results import Hit
from recollect.documents.session_listing import SessionListing
from recollect.errors import RecollectError
from recollect.library.session_filters import has_words
from recollect.locations import Transcript

if TYPE_CHECKING:
    from recollect.workspace.workspace import Workspace


SESSIONS_FOUND = 50
TITLE = "title"
PROMPTS_SHOWN = 200
REBUILD_SECONDS = 2.0
"""How long a search may spend on rebuilding a damaged index."""


class Preview(Struct, frozen=True):
    """The facts of a session, and the first line of each prompt."""

    facts: tuple[tuple[str, str], ...]
    prompts: tuple[str, ...]


class FoundHits(Struct, frozen=True):
    """Sessions whose text matches."""

    hits: Mapping[str, Hit] = {}
    """The best hit of each session, by its id, the best session first."""
    note: str = ""
    """How the search differs from the input."""


class Sources:
    """The workspace that the picker reads."""

    def __init__(self, workspace: "Workspace", transcripts: Sequence[Transcript]) -> None:
        self._workspace = workspace
        self._transcripts = transcripts
        self._by_path = {each.file: each for each in transcripts}

    def find(self, query: str, width: int) -> FoundHits:
        """Return the sessions that match the query, with snippets of at most `width` characters."""
        from recollect.cli.commands.search_command import list_notes  # not needed at start
        from recollect.search.engine import SearchOptions
        from recollect.workspace.searching import search_as_is

        options = SearchOptions(limit=SESSIONS_FOUND, per_session=3, width=width)
        try:
            result = search_as_is(
                self._workspace, query, self._transcripts, options, REBUILD_SECONDS
            )
        except RecollectError:
            return FoundHits()
        # The list already shows the title; jump to a text instead.
        texts = [hit for hit in result.hits if hit.part != TITLE]
        hits = {hit.session_id: hit for hit in (*result.hits, *reversed(texts))}
        return FoundHits(hits, " ".join(list_notes(result)))

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

    def update_text_index(self, seconds: float) -> bool:
        """Index texts for at most `seconds`; return True when everything is indexed."""
        from recollect.workspace.searching import update_text_index

        try:
            return update_text_index(self._workspace, self._transcripts, seconds, is_quiet=True)
        except RecollectError:
            # Titles and prompts can still be searched; `recollect doctor` reports the reason.
            return True

    def count_failures(self, listings: Sequence[SessionListing], seconds: float) -> dict[str, int]:
        """Return the failures by path, of as many sessions as can be read in `seconds`."""
        from recollect.workspace.session_queries import count_failures

        found = [self._by_path[each.path] for each in listings if each.path in self._by_path]
        gone = {each.path: 0 for each in listings if each.path not in self._by_path}
        return gone | count_failures(self._workspace, found, seconds)


def _list_facts(listing: SessionListing) -> tuple[tuple[str, str], ...]:
    facts = (
        ("session", listing.id),
        ("directory", listing.cwd),
        ("branch", listing.git_branch),
        ("client", listing.version),
    )
    return tuple((name, value) for name, value in facts if value)


class PickerScope(StrEnum):
    """The sessions to list."""

    PROJECT = "this project"
    EVERYWHERE = "everywhere"


class PickerRow(Struct, frozen=True):
    """A session in the list, with its best hit if its text matches the query."""

    listing: SessionListing
    hit: Hit | None = None
    is_titled: bool = True
    """Whether the title, prompt or other listed text matches on its own."""


class PickAction(StrEnum):
    """An action on the picked session."""

    SHOW = "show"
    RESUME = "resume"


class Pick(Struct, frozen=True):
    """A picked session and the action on it."""

    action: PickAction
    listing: SessionListing
    hit: Hit | None = None
    """The hit to open it at."""


class DateFilter(StrEnum):
    """The date range of the list."""

    ALWAYS = ""
    TODAY = "today"
    WEEK = "last 7 days"
    MONTH = "last 30 days"


_DAYS = {DateFilter.TODAY: 1, DateFilter.WEEK: 7, DateFilter.MONTH: 30}


class PickerState(Struct, frozen=True, kw_only=True):
    """The state of the screen."""

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
    is_indexing: bool = False
    """Whether indexing takes more than a moment."""
    note: str = ""
    """How the search differs from the input."""
    message: str = ""

    @property
    def current(self) -> PickerRow | None:
        """The selected row; None if the list is empty."""
        return self.rows[self.selected] if self.rows else None


def open_state(listings: Sequence[SessionListing], directory: str) -> PickerState:
    """Return the initial state: this project if it has sessions, or else all."""
    state = PickerState(listings=tuple(listings), directory=directory, scope=PickerScope.PROJECT)
    has_project = any(is_in_project(each, directory) for each in listings)
    return show_matches(
        state if has_project else structs.replace(state, scope=PickerScope.EVERYWHERE)
    )


def is_in_project(listing: SessionListing, directory: str) -> bool:
    """Return whether the session ran in `directory` or below it."""
    where = (listing.cwd or "").rstrip("/\\")
    base = directory.rstrip("/\\")
    return bool(base) and (where == base or where.startswith((f"{base}/", f"{base}\\")))


def type_query(state: PickerState, query: str) -> PickerState:
    """Change the query and return to the top of the list."""
    return show_matches(
        structs.replace(state, query=query, selected=0, is_help_shown=False, note="", message="")
    )


def switch_scope(state: PickerState) -> PickerState:
    """Switch between this project and everywhere."""
    other = PickerScope.EVERYWHERE if state.scope is PickerScope.PROJECT else PickerScope.PROJECT
    return show_matches(structs.replace(state, scope=other, selected=0, message=""))


def switch_branch(state: PickerState) -> PickerState:
    """List only sessions on the branch of the selected one, or all again."""
    row = state.current
    branch = row.listing.git_branch if row and state.branch is None else None
    if branch is None and state.branch is None:
        return structs.replace(state, message="The selected session has no git branch.")
    return show_matches(structs.replace(state, branch=branch, selected=0, message=""))


def switch_errors(state: PickerState) -> PickerState:
    """List only sessions with failures, or all again."""
    only = not state.errors_only
    return show_matches(structs.replace(state, errors_only=only, selected=0, message=""))


def add_failures(state: PickerState, counts: Mapping[str, int]) -> PickerState:
    """Add the numbers of failures by path that were not known; the same session stays selected."""
    listings = tuple(
        structs.replace(each, error_count=counts.get(each.path, each.error_count))
        for each in state.listings
    )
    return _select_again(show_matches(structs.replace(state, listings=listings)), state.current)


def list_unread(state: PickerState) -> list[SessionListing]:
    """Return the sessions that are left out because their failures have not been counted yet."""
    if not state.errors_only:
        return []
    all_scope = structs.replace(state, errors_only=False)
    return [each for each in list_scope(all_scope) if each.error_count is None]


def switch_dates(state: PickerState, now: datetime) -> PickerState:
    """Switch to the next date range: today, a week, a month, all."""
    choices = list(DateFilter)
    dates = choices[(choices.index(state.dates) + 1) % len(choices)]
    today = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    days = _DAYS.get(dates)
    since = None if days is None else (today - timedelta(days=days - 1)).timestamp()
    return show_matches(structs.replace(state, dates=dates, since=since, selected=0, message=""))


def move(state: PickerState, steps: int) -> PickerState:
    """Move the selection, stopping at the ends."""
    selected = min(max(state.selected + steps, 0), max(len(state.rows) - 1, 0))
    return structs.replace(state, selected=selected, message="")


def show_matches(state: PickerState) -> PickerState:
    """List the sessions whose title, prompt, project, branch or id contains all query words."""
    rows = tuple(PickerRow(each) for each in list_scope(state) if _matches(each, state.query))
    return structs.replace(state, rows=rows, selected=min(state.selected, max(len(rows) - 1, 0)))


def add_found(state: PickerState, query: str, found: FoundHits) -> PickerState:
    """Append the sessions found by `query`, with their hits, unless the query is outdated.

    A session that was chosen below the first row stays selected.
    """
    if query != state.query:
        return state
    titled = [row for row in state.rows if row.is_titled]
    shown = {row.listing.id for row in titled}
    by_id = {each.id: each for each in list_scope(state)}
    noted = [structs.replace(row, hit=found.hits.get(row.listing.id)) for row in titled]
    more = [
        PickerRow(by_id[session_id], hit, is_titled=False)
        for session_id, hit in found.hits.items()
        if session_id in by_id and session_id not in shown
    ]
    listed = structs.replace(state, rows=(*noted, *more), note=found.note)
    return _select_again(listed, state.current) if state.selected else listed


def _select_again(state: PickerState, row: PickerRow | None) -> PickerState:
    """Select the session of `row`, if it is still listed."""
    paths = [each.listing.path for each in state.rows]
    if row is None or row.listing.path not in paths:
        return structs.replace(state, selected=min(state.selected, max(len(paths) - 1, 0)))
    return structs.replace(state, selected=paths.index(row.listing.path))


def list_scope(state: PickerState) -> list[SessionListing]:
    """Return the sessions in the current scope that pass all filters."""
    return [each for each in state.listings if _passes(each, state)]


def _passes(listing: SessionListing, state: PickerState) -> bool:
    is_here = state.scope is PickerScope.EVERYWHERE or is_in_project(listing, state.directory)
    is_new = state.since is None or listing.activity >= state.since
    has_branch = state.branch is None or listing.git_branch == state.branch
    return is_here and is_new and has_branch and not (state.errors_only and not listing.error_count)


def _matches(listing: SessionListing, query: str) -> bool:
    shown = (listing.title, listing.first_prompt, listing.cwd, listing.git_branch, listing.id)
    return has_words(query, *shown)
