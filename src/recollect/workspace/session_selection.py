"""The sessions that match a query, before they are divided into pages: their totals, how many of
them each filter would keep, and groups of them.

All of it comes from one snapshot, so the figures add up to what the list shows.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from msgspec import Struct

from recollect.documents.session_listing import SessionListing
from recollect.workspace import session_queries
from recollect.workspace.session_marks import NO_MARK

Key = TypeVar("Key", bound=Hashable)


class SelectionTotals(Struct, frozen=True, kw_only=True):
    """The usage of sessions, with their subagents."""

    sessions: int
    tokens: int
    cost_usd: float | None
    """None if no price is known."""


class FilterCounts(Struct, frozen=True, kw_only=True):
    """How many sessions each filter would keep."""

    live: int
    starred: int
    errors: int
    compacted: int
    expiring: int


class SessionSelection(Struct, frozen=True):
    """The sessions that match a query, in its order."""

    sessions: Sequence[SessionListing]
    present: session_queries.RuntimeState

    def complete(self, listings: Iterable[SessionListing]) -> tuple[SessionListing, ...]:
        """Return listings with their usage, their running client and their expiry."""
        return tuple(session_queries.complete_listing(each, self.present) for each in listings)

    def add_up(self, listings: Sequence[SessionListing]) -> SelectionTotals:
        """Return the totals; several files with one id have the same usage, which counts once.

        Subagents add nothing: their usage is part of that of their session.
        """
        usage = self.present.usage
        ids = {each.id for each in listings if not each.is_subagent}
        known = [usage[each] for each in ids if each in usage]
        costs = [each.cost_usd for each in known if each.cost_usd is not None]
        return SelectionTotals(
            sessions=len(listings),
            tokens=sum(each.tokens for each in known),
            # Costs are whole millionths; sums of fractions are not.
            cost_usd=round(sum(costs), 6) if costs else None,
        )

    def count_filters(self, expiry: datetime) -> FilterCounts:
        """Return how many of the sessions each filter keeps; `expiry` is that of the last one."""
        live, marks = self.present.live, self.present.marks
        return FilterCounts(
            live=sum(each.id in live for each in self.sessions),
            starred=sum(marks.get(each.id, NO_MARK).starred for each in self.sessions),
            errors=sum(bool(each.error_count) for each in self.sessions),
            compacted=sum(bool(each.compaction_count) for each in self.sessions),
            expiring=len(self.list_expiring(expiry)),
        )

    def list_expiring(self, expiry: datetime) -> list[SessionListing]:
        """Return the sessions that Claude Code may delete at that time or before."""
        # Rules out nearly all sessions: looking at the paths of 10,000 takes 13 ms.
        last_change = session_queries.find_last_change(expiry, self.present)
        old = (each for each in self.sessions if each.modified <= last_change)
        return [each for each in old if session_queries.expires_by(each, expiry, self.present)]

    def group(self, find_key: Callable[[SessionListing], Key]) -> dict[Key, list[SessionListing]]:
        """Return the sessions by key, in order of first occurrence."""
        groups: defaultdict[Key, list[SessionListing]] = defaultdict(list)
        for each in self.sessions:
            groups[find_key(each)].append(each)
        return dict(groups)
