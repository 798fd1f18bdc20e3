"""How long Claude Code keeps transcripts, and which of them it deletes next.

Knows the user's settings and the modification time of each file. Project and managed settings,
which may shorten the time, are not read. Claude Code deletes old transcripts only when it starts,
so overdue ones may still exist.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from recollect.library.processes import read_small
from recollect.locations import Transcript, TranscriptKind
from recollect.sources.source import find_stamp

SETTINGS_NAME: Final = "settings.json"
SETTING: Final = "cleanupPeriodDays"
DEFAULT_DAYS: Final = 30
SOON: Final = timedelta(days=7)
"""How far ahead to warn about deletions."""

_NANOSECONDS: Final = 1_000_000_000
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How many days transcripts of a root are kept after the last change."""

    days: float = DEFAULT_DAYS
    is_set: bool = False
    """Whether it is set by the user; otherwise it is Claude Code's default."""
    problem: str | None = None
    """Why the settings could not be used."""


class Expiry(msgspec.Struct, frozen=True):
    """A session, and when its transcript may be deleted."""

    transcript: Transcript
    at: datetime


def read_retention(root: Path) -> Retention:
    """Read the retention from the settings of the Claude directory `root`."""
    path = root / SETTINGS_NAME
    data = read_small(path)
    if data is None:
        return Retention(
            problem=f"{SETTINGS_NAME} cannot be read" if find_stamp(str(path)) else None
        )
    try:
        settings = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Retention(problem=f"{SETTINGS_NAME} is not valid JSON")
    days = settings.get(SETTING) if isinstance(settings, dict) else None
    if days is None:
        return Retention()
    # A bool is an int in Python; Claude Code rejects 0 since 2.1.89.
    if isinstance(days, bool) or not isinstance(days, int | float) or days <= 0:
        return Retention(problem=f"{SETTING} is not a positive number")
    return Retention(days=days, is_set=True)


def read_retentions(roots: Iterable[Path]) -> dict[str, Retention]:
    """Read the retention of each Claude directory, by its path."""
    return {str(root): read_retention(root) for root in roots}


def find_expiry(path: str, modified: float, retentions: Mapping[str, Retention]) -> datetime | None:
    """Return when the transcript at `path` may be deleted; None for never.

    None also for a path outside all roots. If roots are nested, the innermost one applies.
    """
    roots = [root for root in retentions if path.startswith(root.rstrip(os.sep) + os.sep)]
    end = find_deletion_time(modified, retentions[max(roots, key=len)]) if roots else _NEVER
    return None if end == _NEVER else end


def list_expiries(transcripts: Iterable[Transcript], retention: Retention) -> list[Expiry]:
    """Return when each session may be deleted, the earliest first."""
    expiries = [
        Expiry(each, find_deletion_time(each.mtime_ns / _NANOSECONDS, retention))
        for each in transcripts
        if each.kind is TranscriptKind.SESSION
    ]
    return sorted(expiries, key=lambda expiry: (expiry.at, str(expiry.transcript.path)))


def select_until(expiries: Sequence[Expiry], moment: datetime) -> list[Expiry]:
    """Return the expiries up to and including `moment`."""
    return [expiry for expiry in expiries if expiry.at <= moment]


def find_deletion_time(modified: float, retention: Retention) -> datetime:
    """Return when a transcript changed at `modified`, in seconds since 1970, may be deleted."""
    last_change = datetime.fromtimestamp(modified, UTC)
    try:
        return last_change + timedelta(days=retention.days)
    except OverflowError:
        # People set 99999999 to keep everything, which exceeds the range of datetime.
        return _NEVER
