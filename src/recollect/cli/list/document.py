"""What `recollect list` shows of a session beside what the index knows: who has it open, how long
it will be there, what it is to others.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, structs

from recollect.health.retention import Retention, find_end, read_retention
from recollect.library.processes import find_live_processes
from recollect.lineage.trees import Tree
from recollect.session.live_process import LiveProcess
from recollect.store.listings import Listing

SCHEMA = "recollect.list/1"


class Entry(Listing, frozen=True, kw_only=True):
    """A session in the list."""

    is_running: bool = False
    """Whether a client has it open right now."""
    status: str | None = None
    """What that client says it does, such as `busy`."""
    expires: str | None = None
    """When Claude Code may delete its transcript."""
    relation: str | None = None
    """With `--tree`, what it is to the session above it: subagent, fork or continuation."""
    children: "tuple[Entry, ...]" = ()
    """With `--tree`, the sessions that descend from it."""


class ListDocument(Struct, frozen=True, kw_only=True):
    """What `--json` prints: one page of sessions, and how many there are in all."""

    schema: str = SCHEMA
    total: int
    sessions: tuple[Entry, ...]


class Present(Struct, frozen=True):
    """What is true at the moment, whatever the files hold: running clients and days left."""

    live: dict[str, LiveProcess]
    retentions: dict[str, Retention]
    """By the path of each transcript."""


def look_around(roots: Iterable[Path], paths: Iterable[str]) -> Present:
    """What running clients, and the settings of each root, say about the transcripts at `paths`."""
    live: dict[str, LiveProcess] = {}
    retentions: dict[str, Retention] = {}
    for root in roots:
        live.update(find_live_processes(root))
        retentions[f"{root}{os.sep}"] = read_retention(root)
    by_path = {
        path: retention
        for path in paths
        for place, retention in retentions.items()
        if path.startswith(place)
    }
    return Present(live, by_path)


def make_entry(tree: Tree, present: Present) -> Entry:
    """A session, and what hangs under it, as the list shows it now."""
    listing = tree.listing
    process = None if listing.is_subagent else present.live.get(listing.id)
    retention = None if listing.is_subagent else present.retentions.get(listing.path)
    expires = None if retention is None else find_end(listing.modified, retention)
    return Entry(
        **structs.asdict(listing),
        is_running=process is not None,
        status=process.status if process else None,
        expires=None if expires is None else expires.isoformat(timespec="seconds"),
        relation=tree.relation.value if tree.relation else None,
        children=tuple(make_entry(each, present) for each in tree.children),
    )
