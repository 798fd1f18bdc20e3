"""Read sessions that continue each other as one thread: find them, and their turns that belong to
it.

A command opens them all; a server reads the turns of one session at a time, as they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from recollect import lineage
from recollect.library.opening import open_transcript
from recollect.library.sidecar_files import load_clears

if TYPE_CHECKING:
    from recollect.documents.session_listing import SessionListing
    from recollect.locations import Transcript
    from recollect.session.session import Session
    from recollect.workspace.served_workspace import ServedWorkspace
    from recollect.workspace.workspace import Workspace


class OpenedPart(NamedTuple):
    """An opened session of a thread, and its turns that belong to the thread."""

    relation: lineage.Relation | None
    """The relation to the previous session; None for the first."""
    session: Session
    turns: range


def open_thread(workspace: Workspace, transcript: Transcript) -> list[OpenedPart]:
    """Open all sessions in the thread of a session."""
    listings = workspace.sessions().sessions
    listing = next((each for each in listings if each.path == transcript.file), None)
    if listing is None:
        # It was named by its path, and is outside the Claude directories.
        session = open_transcript(transcript)
        return [OpenedPart(None, session, range(len(session.turns)))]
    parts = lineage.find_thread(listing, listings, load_clears(workspace.roots))
    sessions = [open_transcript(workspace.find(each.listing.path)) for each in parts]
    turns = _cut(parts, [lineage.list_turn_keys(each) for each in sessions], listing)
    # The thread may end before a session that turned out to be an alternative.
    return [
        OpenedPart(part.relation, session, span)
        for part, session, span in zip(parts, sessions, turns, strict=False)
    ]


class ServedPart(NamedTuple):
    """A session of a thread, and its turns that belong to the thread."""

    listing: SessionListing
    relation: lineage.Relation | None
    turns: range


def list_parts(workspace: ServedWorkspace, listing: SessionListing) -> list[ServedPart]:
    """Return all sessions in the thread of a session."""
    parts = lineage.find_thread(
        listing, workspace.list_related(listing), load_clears(workspace.roots)
    )
    keys = []
    for each in parts:
        with workspace.use(workspace.locate(each.listing.id, each.listing.project)) as session:
            keys.append(lineage.list_turn_keys(session))
    return [
        ServedPart(workspace.complete(part.listing), part.relation, span)
        for part, span in zip(parts, _cut(parts, keys, listing), strict=False)
    ]


def _cut(
    parts: Sequence[lineage.ThreadPart],
    keys: Sequence[list[frozenset[str]]],
    listing: SessionListing,
) -> list[range]:
    wanted = next(at for at, each in enumerate(parts) if each.listing.path == listing.path)
    turns = [
        lineage.PartTurns(each, part.relation is lineage.Relation.FORK)
        for part, each in zip(parts, keys, strict=True)
    ]
    return lineage.find_unrepeated_turns(turns, wanted)
