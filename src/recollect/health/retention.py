"""How long Claude Code keeps transcripts, and which of them it deletes next.

Knows the user's setting and the time of each file; refuses to know settings of projects and of an
administrator, which may shorten the time. Claude Code goes by the time of the file, and only when
it starts: what is overdue here is gone at its next start.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from recollect.library.small_files import read_small
from recollect.locations import Transcript, TranscriptKind

SETTINGS_NAME: Final = "settings.json"
SETTING: Final = "cleanupPeriodDays"
DEFAULT_DAYS: Final = 30
SOON: Final = timedelta(days=7)
"""How far ahead a deletion counts as near."""

_NANOSECONDS: Final = 1_000_000_000
_FAR: Final = datetime.max.replace(tzinfo=UTC)


class Retention(Struct, frozen=True, kw_only=True):
    """For how many days a root's transcripts are kept after they were last written to."""

    days: float = DEFAULT_DAYS
    is_set: bool = False
    """Whether the settings say so; otherwise it is what Claude Code does by default."""
    problem: str | None = None
    """Why the settings could not be followed."""


class Expiry(Struct, frozen=True):
    """A session, and when its transcript is old enough to be deleted."""

    transcript: Transcript
    at: datetime


def read_retention(root: Path) -> Retention:
    """What the settings of the Claude directory `root` say."""
    path = root / SETTINGS_NAME
    data = read_small(path)
    if data is None:
        return Retention(problem=f"{SETTINGS_NAME} cannot be read" if path.exists() else None)
    try:
        settings = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Retention(problem=f"{SETTINGS_NAME} is no JSON")
    stated = settings.get(SETTING) if isinstance(settings, dict) else None
    if stated is None:
        return Retention()
    # JSON's true is an int to Python; 0 is refused by Claude Code since 2.1.89.
    if isinstance(stated, bool) or not isinstance(stated, int | float) or stated <= 0:
        return Retention(problem=f"{SETTING} is no number of days")
    return Retention(days=stated, is_set=True)


def list_expiries(transcripts: Iterable[Transcript], retention: Retention) -> list[Expiry]:
    """When each session's transcript is deleted, the next one first."""
    expiries = [
        Expiry(each, find_end(each.mtime_ns / _NANOSECONDS, retention))
        for each in transcripts
        if each.kind is TranscriptKind.SESSION
    ]
    return sorted(expiries, key=lambda expiry: (expiry.at, str(expiry.transcript.path)))


def select_until(expiries: Sequence[Expiry], moment: datetime) -> list[Expiry]:
    """Those that are over by `moment`."""
    return [expiry for expiry in expiries if expiry.at <= moment]


def find_end(modified: float, retention: Retention) -> datetime:
    """When a transcript that was last written at `modified`, in seconds since 1970, is over."""
    written = datetime.fromtimestamp(modified, UTC)
    try:
        return written + timedelta(days=retention.days)
    except OverflowError:
        # People write 99999999 to keep everything, and the calendar ends before that.
        return _FAR
