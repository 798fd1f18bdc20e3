"""`/s/{id}/thread`: the sessions that continue each other, read as one conversation.

Turns are numbered through the whole thread. A page shows some of them; without scripts, it has
links to the others.
"""

from collections.abc import Iterator
from itertools import accumulate
from typing import Annotated

from markupsafe import Markup
from msgspec import Meta, Struct

from recollect.documents.session_listing import SessionListing
from recollect.lineage import Relation
from recollect.web import http_messages, session_endpoints, templating
from recollect.web.pages.session_page import make_session_url, render_nested_turns
from recollect.web.services import Services
from recollect.workspace.thread_parts import ServedPart, list_parts

COUNT = 30
"""Number of turns on a page."""


class ThreadParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The session, and the position in its thread."""

    id: http_messages.Id
    project: session_endpoints.Project | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000)] = 0


class ThreadEntry(Struct, frozen=True, kw_only=True):
    """A session of a thread."""

    session: SessionListing
    url: str
    relation: Relation | None
    start: int
    """The number of turns before it in the thread."""
    count: int
    """How many of its turns are not copies."""


class TurnsOfEntry(Struct, frozen=True, kw_only=True):
    """The turns of one session on a page."""

    entry: ThreadEntry
    is_begun: bool
    """Whether they include its first turn."""
    turns: tuple[Markup, ...]


class ThreadPage(Struct, frozen=True, kw_only=True):
    """Some turns of a thread."""

    session: SessionListing
    url: str
    entries: tuple[ThreadEntry, ...]
    shown: tuple[TurnsOfEntry, ...]
    start: int
    next_start: int
    total: int


def render_thread_page(
    services: Services, wanted: ThreadParameters, translator: templating.Translator
) -> templating.PageContent:
    """Render turns of the thread of a session."""
    found = services.workspace.locate(wanted.id, wanted.project)
    parts = list_parts(services.workspace, found.listing)
    starts = list(accumulate((len(part.turns) for part in parts), initial=0))
    entries = tuple(
        ThreadEntry(
            session=part.listing,
            url=make_session_url(part.listing.id),
            relation=part.relation,
            start=start,
            count=len(part.turns),
        )
        for part, start in zip(parts, starts, strict=False)
    )
    pairs = list(zip(entries, parts, strict=True))
    shown = tuple(_render_parts(services, pairs, wanted, translator))
    page = ThreadPage(
        session=services.workspace.complete(found.listing),
        url=make_session_url(found.listing.id),
        entries=entries,
        shown=shown,
        start=wanted.start,
        next_start=wanted.start + sum(len(each.turns) for each in shown),
        total=starts[-1],
    )
    return templating.PageContent("thread.html", page, title="thread.title", section="sessions")


def _render_parts(
    services: Services,
    parts: list[tuple[ThreadEntry, ServedPart]],
    wanted: ThreadParameters,
    translator: templating.Translator,
) -> Iterator[TurnsOfEntry]:
    """Yield the requested turns, session by session, as many as fit on a page."""
    position, room = wanted.start, COUNT
    for entry, part in parts:
        skipped = position - entry.start
        asked = min(entry.count - skipped, room)
        if skipped < 0 or asked <= 0:
            continue
        window = session_endpoints.TurnsParameters(
            id=part.listing.id,
            project=part.listing.project,
            start=part.turns.start + skipped,
            count=asked,
        )
        turns = render_nested_turns(services, window, translator)
        yield TurnsOfEntry(entry=entry, is_begun=skipped == 0, turns=turns)
        if len(turns) < asked:
            # A page with long turns has fewer of them.
            return
        position, room = position + len(turns), room - len(turns)
