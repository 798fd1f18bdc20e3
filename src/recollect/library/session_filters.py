"""Conditions on sessions that every list has: a text, and a stretch of time.

Knows values only, so that lists from files and lists from an index cannot differ in what fits.
"""

from datetime import UTC, datetime
from typing import Protocol

from recollect.session.times import parse_time


def holds(wanted: str | None, *texts: str | None) -> bool:
    """Whether one of `texts` holds what is wanted, in any case of letters."""
    return not wanted or any(wanted.casefold() in (text or "").casefold() for text in texts)


class Lasting(Protocol):
    """What took a while: a session in a list."""

    @property
    def created(self) -> str | None:
        """The time of its first record."""

    @property
    def modified(self) -> float:
        """When its file was last written."""

    @property
    def activity(self) -> float:
        """When something last happened in it."""


def is_under_way(what: Lasting, since: datetime | None, until: datetime | None) -> bool:
    """Whether a session was under way between the two moments.

    A moment without a time zone is in UTC; `until` is the first one that is too late.
    """
    return (since is None or what.activity >= _seconds(since)) and (
        until is None or find_beginning(what.created, what.modified) < _seconds(until)
    )


def find_beginning(created: str | None, modified: float) -> float:
    """When a session began, in seconds since 1970; without a record of it, when it was written."""
    moment = parse_time(created)
    return modified if moment is None else moment.timestamp()


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
