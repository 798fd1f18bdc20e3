"""What the picker shows and how a key changes it, without a terminal.

Letters search, so letters can be commands only once somebody has gone to the list: an arrow goes
there, and typing anything that is no command goes back to the search.
"""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from recollect.store.listings import Listing


class Scope(StrEnum):
    """Which sessions are looked at."""

    PROJECT = "this project"
    EVERYWHERE = "everywhere"


class Row(Struct, frozen=True):
    """A session in the list, and the words in it that were found when its title does not say."""

    listing: Listing
    found: str | None = None


class Deed(StrEnum):
    """What was asked for when the picker was left."""

    SHOW = "show"
    RESUME = "resume"


class Pick(Struct, frozen=True):
    """A session, and what to do with it."""

    deed: Deed
    listing: Listing


class State(Struct, frozen=True, kw_only=True):
    """All that the screen shows."""

    listings: tuple[Listing, ...]
    """Every session, the most recently active first."""
    directory: str
    """Where the picker was called: what "this project" means."""
    scope: Scope = Scope.EVERYWHERE
    query: str = ""
    rows: tuple[Row, ...] = ()
    selected: int = 0
    is_choosing: bool = False
    """Whether the person has gone to the list, where letters are commands."""
    is_help_shown: bool = False
    message: str = ""

    @property
    def current(self) -> Row | None:
        """The row that is chosen; None in an empty list."""
        return self.rows[self.selected] if self.rows else None


def open_state(listings: Sequence[Listing], directory: str) -> State:
    """The first screen: this project if it has sessions, else all of them."""
    state = State(listings=tuple(listings), directory=directory, scope=Scope.PROJECT)
    has_project = any(is_in_project(each, directory) for each in listings)
    return show_matches(state if has_project else replace(state, scope=Scope.EVERYWHERE))


def is_in_project(listing: Listing, directory: str) -> bool:
    """Whether the session worked in `directory` or below it."""
    where = (listing.cwd or "").rstrip("/\\")
    base = directory.rstrip("/\\")
    return bool(base) and (where == base or where.startswith((f"{base}/", f"{base}\\")))


def type_query(state: State, query: str) -> State:
    """Look for other words; the list starts from its top again."""
    typed = replace(
        state, query=query, selected=0, is_choosing=False, is_help_shown=False, message=""
    )
    return show_matches(typed)


def switch_scope(state: State) -> State:
    """This project, or everywhere."""
    other = Scope.EVERYWHERE if state.scope is Scope.PROJECT else Scope.PROJECT
    return show_matches(replace(state, scope=other, selected=0, message=""))


def move(state: State, steps: int) -> State:
    """Go down the list, or up; the ends hold."""
    place = min(max(state.selected + steps, 0), max(len(state.rows) - 1, 0))
    return replace(state, selected=place, is_choosing=True, message="")


def show_matches(state: State) -> State:
    """The rows whose title, prompt, project, branch or id holds every word of the query."""
    words = state.query.casefold().split()
    rows = tuple(Row(each) for each in list_scope(state) if _holds(each, words))
    return replace(state, rows=rows, selected=min(state.selected, max(len(rows) - 1, 0)))


def add_found(state: State, query: str, found: dict[str, str]) -> State:
    """Sessions that hold the words in their text, behind those that hold them in their title.

    An answer to a query that is no longer there changes nothing.
    """
    if query != state.query:
        return state
    shown = {row.listing.id for row in state.rows}
    by_id = {each.id: each for each in list_scope(state)}
    more = [
        Row(by_id[session_id], words)
        for session_id, words in found.items()
        if session_id in by_id and session_id not in shown
    ]
    return replace(state, rows=(*state.rows, *more))


def list_scope(state: State) -> list[Listing]:
    """The sessions that the scope leaves."""
    if state.scope is Scope.EVERYWHERE:
        return list(state.listings)
    return [each for each in state.listings if is_in_project(each, state.directory)]


def _holds(listing: Listing, words: Sequence[str]) -> bool:
    fields = (
        listing.title,
        listing.first_prompt,
        listing.cwd,
        listing.git_branch,
        listing.id,
    )
    text = "\n".join(filter(None, fields)).casefold()
    return all(word in text for word in words)
