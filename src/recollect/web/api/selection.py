"""Which sessions a list is about, in which order, page by page.

Works on what is in memory, so that ten thousand sessions take a few milliseconds.
"""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Final

from msgspec import Struct

from recollect.library.selection import find_beginning
from recollect.locations.project_directories import work_directory
from recollect.store.listings import Listing
from recollect.sync.selection import Conditions, select
from recollect.web.shelf import Known

_DAY: Final = timedelta(days=1)


class SessionOrder(StrEnum):
    """What comes first in a list."""

    ACTIVITY = "activity"
    CREATED = "created"
    SIZE = "size"
    COST = "cost"
    TOKENS = "tokens"


class Selection(Struct, frozen=True, kw_only=True):
    """Which sessions are wanted; an empty text wants all."""

    project: str = ""
    """A work directory, or the name of a project's directory."""
    text: str = ""
    branch: str = ""
    model: str = ""
    since: date | None = None
    until: date | None = None
    """The last day that is wanted."""
    subagents: bool = False
    is_live: bool = False
    has_errors: bool = False
    order: SessionOrder = SessionOrder.ACTIVITY


def select_sessions(known: Known, selection: Selection) -> list[Listing]:
    """The sessions that are wanted, in order."""
    belongs = _belongs_to(selection.project)
    candidates = [
        each
        for each in known.sessions
        if (selection.subagents or not each.is_subagent)
        and (not selection.is_live or each.id in known.live)
        and belongs(each)
    ]
    found = select(candidates, _make_conditions(selection))
    key = _ORDERS.get(selection.order)
    return found if key is None else sorted(found, key=key(known), reverse=True)


def _make_conditions(wanted: Selection) -> Conditions:
    return Conditions(
        text=wanted.text or None,
        branch=wanted.branch or None,
        model=wanted.model or None,
        since=None if wanted.since is None else _midnight(wanted.since),
        until=None if wanted.until in (None, date.max) else _midnight(wanted.until + _DAY),
        has_errors=wanted.has_errors,
    )


def _belongs_to(project: str) -> Callable[[Listing], bool]:
    """By the name of the project's directory, or by the work directory as everywhere else."""
    if not project:
        return lambda _: True
    place = work_directory(project)

    # Comparing paths is slow, and thousands of sessions have a few dozen of them.
    @cache
    def is_there(name: str, cwd: str | None) -> bool:
        if name == project or (cwd and place.is_at(cwd)):
            return True
        return place.is_named(name) and (cwd is None or not place.collides_with(cwd))

    return lambda listing: is_there(listing.project, listing.cwd)


def _midnight(day: date) -> datetime:
    """The start of a day where the server runs, which is where the person is."""
    moment = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - made local below
    try:
        return moment.astimezone()
    except (OverflowError, OSError, ValueError):
        return moment


Key = Callable[[Listing], tuple[float, float]]


def _by_created(_: Known) -> Key:
    return lambda each: (find_beginning(each.created, each.modified), each.activity)


def _by_size(_: Known) -> Key:
    return lambda each: (each.size, each.activity)


def _by_cost(known: Known) -> Key:
    def key(each: Listing) -> tuple[float, float]:
        usage = known.usage.get(each.id)
        return (usage.totals.cost if usage else -1, each.activity)

    return key


def _by_tokens(known: Known) -> Key:
    def key(each: Listing) -> tuple[float, float]:
        usage = known.usage.get(each.id)
        return (usage.totals.tokens if usage else -1, each.activity)

    return key


_ORDERS: Final[dict[SessionOrder, Callable[[Known], Key]]] = {
    SessionOrder.CREATED: _by_created,
    SessionOrder.SIZE: _by_size,
    SessionOrder.COST: _by_cost,
    SessionOrder.TOKENS: _by_tokens,
}
