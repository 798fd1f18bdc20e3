"""The turns of a session by range, as the views describe them.

A long session need not be read to its end before its first turns can be shown: `quick` answers
from the beginning of the file, says so, and has the rest read meanwhile.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct

from recollect.documents.session_documents import TurnsDocument
from recollect.documents.turns import TurnView
from recollect.library.opening import FIRST_BYTES, price_turn, read_first_part
from recollect.render.views.complete_turns import complete_turn
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session
from recollect.web.api.session_endpoints import (
    Project,
    find_agent,
    find_location,
)
from recollect.web.parameters import MAX_ID, Id
from recollect.web.services import Services
from recollect.workspace.session_catalog import FoundSession

MAX_TURNS: Final = 200
MAX_STEPS: Final = 400
"""Steps after which no further turn is begun: some turns have thousands, most a dozen."""


class TurnsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which turns of which session."""

    id: Id
    project: Project | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000, description="How many turns to skip.")] = 0
    count: Annotated[int, Meta(ge=1, le=MAX_TURNS)] = 20
    at: Annotated[
        str, Meta(max_length=MAX_ID, description="Begin a little before the turn of this record.")
    ] = ""
    offset: (
        Annotated[
            int,
            Meta(ge=0, description="Where in the file it lies, if several records have its uuid."),
        ]
        | None
    ) = None
    agent: Annotated[
        str, Meta(max_length=MAX_ID, description="Of this subagent instead of the session itself.")
    ] = ""
    steps: Annotated[
        int,
        Meta(ge=1, le=MAX_STEPS, description="Begin no further turn after so many steps."),
    ] = MAX_STEPS
    quick: Annotated[
        bool,
        Meta(description="Answer from the beginning of a long file if all of it is not read yet."),
    ] = False


class TurnRange(Struct, frozen=True, kw_only=True):
    """Some turns of a session, and where they stand in it."""

    turns: tuple[TurnView, ...]
    start: int
    total: int | None
    """Turns of the session; None while it has not been read to its end."""
    is_partial: bool
    """Whether only the beginning of the file was read: marks, answers and subagents may differ."""
    costs: tuple[int | None, ...]
    """What each turn cost without its subagents, in millionths of a dollar."""
    at: str = ""
    """The anchor of the record that was asked for."""


def load_turns(
    services: Services, wanted: TurnsParameters, *, is_complete: bool = False
) -> TurnRange:
    """Return the requested turns; their tool calls are whole if `is_complete`."""
    found = services.workspace.locate(wanted.id, wanted.project)
    if wanted.quick and _can_be_quick(services, found, wanted):
        part = read_first_part(found.transcript)
        if wanted.start < part.turn_count or part.is_whole:
            services.workspace.read_ahead(found)
            return _take_first(
                services, part.session, part.turn_count, wanted, is_complete=is_complete
            )
    with services.workspace.use(found) as session:
        owner = find_agent(session, wanted.agent) if wanted.agent else session
        return _take(services, owner, wanted, is_complete=is_complete)


def _can_be_quick(services: Services, found: FoundSession, wanted: TurnsParameters) -> bool:
    is_plain = not wanted.at and not wanted.agent
    is_long = found.listing.size > FIRST_BYTES
    return is_plain and is_long and not services.workspace.is_open(found)


def _take_first(
    services: Services, session: Session, known: int, wanted: TurnsParameters, *, is_complete: bool
) -> TurnRange:
    stop = min(wanted.start + wanted.count, known)
    turns = _cut(session, wanted.start, stop, wanted.steps)
    if is_complete:
        turns = _complete(turns, session)
    return TurnRange(
        turns=turns,
        start=wanted.start,
        total=None,
        is_partial=True,
        costs=_price(services, session, turns),
    )


def _take(
    services: Services, session: Session, wanted: TurnsParameters, *, is_complete: bool
) -> TurnRange:
    total = len(session.turns)
    start, at = wanted.start, ""
    if wanted.at:
        location = find_location(session, wanted.at, wanted.offset)
        start, at = max(location.turn - 1, 0), location.anchor
    turns = _cut(session, start, start + wanted.count, wanted.steps)
    if is_complete:
        turns = _complete(turns, session)
    return TurnRange(
        turns=turns,
        start=start,
        total=total,
        is_partial=False,
        costs=_price(services, session, turns),
        at=at,
    )


def _price(
    services: Services, session: Session, views: tuple[TurnView, ...]
) -> tuple[int | None, ...]:
    turns, prices = session.turns, services.workspace.price_list
    return tuple(
        price_turn(turns[view.number - 1], prices) if view.number <= len(turns) else None
        for view in views
    )


def _cut(session: Session, start: int, stop: int, steps: int) -> tuple[TurnView, ...]:
    """The turns from `start` on, as many as are wanted; always one, however long it is."""
    views: list[TurnView] = []
    while start + len(views) < stop and sum(len(view.steps) for view in views) < steps:
        place = start + len(views)
        found = build_turn_views(session, start=place, stop=place + 1)
        if not found:
            break
        views += found
    return tuple(views)


def _complete(views: tuple[TurnView, ...], session: Session) -> tuple[TurnView, ...]:
    return tuple(complete_turn(view, session) for view in views)


def list_turns(services: Services, wanted: TurnsParameters) -> TurnsDocument:
    """The turns that are wanted, as data."""
    found = load_turns(services, wanted, is_complete=True)
    return TurnsDocument(
        id=wanted.id,
        start=found.start,
        total=found.total,
        is_partial=found.is_partial,
        turns=found.turns,
    )
