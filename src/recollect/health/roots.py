"""A Claude directory as such: who may look into it, what will be deleted, what was left behind."""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from recollect.health.orphans import find_orphans
from recollect.health.report import Expiring, RootReport
from recollect.health.retention import SOON, Expiry, list_expiries, read_retention, select_until
from recollect.health.sources import Naming, describe_place, naming_for
from recollect.locations import discover_root
from recollect.locations.entries import is_directory
from recollect.locations.names import PROJECTS_DIRECTORY
from recollect.locations.roots import find_home

_OTHERS = 0o077


def examine_roots(
    places: Sequence[Path], now: datetime, environment: Mapping[str, str] = os.environ
) -> tuple[RootReport, ...]:
    """What there is to say about those of `places` that are Claude directories."""
    home = find_home(environment)
    roots = [place for place in places if is_directory(place / PROJECTS_DIRECTORY)]
    return tuple(
        _examine(root, naming_for(root, home, is_one_of_many=len(places) > 1), now)
        for root in roots
    )


def _examine(root: Path, naming: Naming, now: datetime) -> RootReport:
    transcripts = discover_root(root).transcripts
    retention = read_retention(root)
    expiries = list_expiries(transcripts, retention)
    mode = stat.S_IMODE(root.stat().st_mode) if os.name == "posix" else None
    owners = {each.session_id for each in transcripts if each.session_id}
    return RootReport(
        path=describe_place(root),
        sessions=len(expiries),
        permissions=None if mode is None else f"{mode:04o}",
        is_private=not (mode or 0) & _OTHERS,
        retention_days=retention.days,
        retention_is_set=retention.is_set,
        retention_problem=retention.problem,
        expiring=tuple(_iter_expiring(select_until(expiries, now + SOON), naming)),
        overdue=len(select_until(expiries, now)),
        next_expiry=format_time(expiries[0].at) if expiries else None,
        orphans=find_orphans(root, owners, naming),
    )


def _iter_expiring(expiries: Iterable[Expiry], naming: Naming) -> Iterable[Expiring]:
    for expiry in expiries:
        yield Expiring(file=naming.name(expiry.transcript.path), after=format_time(expiry.at))


def format_time(moment: datetime) -> str:
    """A moment in UTC, to the second."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"
