"""The turns of a session by range, as the views describe them.

A long session need not be read to its end before its first turns can be shown: `quick` answers
from the beginning of the file, says so, and has the rest read meanwhile.
"""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct, structs

from recollect.library.first_part import FIRST_BYTES, read_first_part
from recollect.library.turn_costs import price_turn
from recollect.render.views.conversation import Called, Noted, Said, Thought, TurnView
from recollect.render.views.turns import build_turn_views
from recollect.session.session import Session, Subagent
from recollect.web.api.finding import find_agent, find_turn
from recollect.web.api.sessions import Project, SessionParameters, locate
from recollect.web.parameters import Id
from recollect.web.services import Services
from recollect.web.shelf import Found

MOST_TURNS: Final = 200
MOST_STEPS: Final = 400
"""Steps after which no further turn is begun: some turns have thousands, most a dozen."""


class TurnsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which turns of which session."""

    id: Id
    project: Project | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000, description="Counted from 0.")] = 0
    count: Annotated[int, Meta(ge=1, le=MOST_TURNS)] = 20
    at: Annotated[
        str, Meta(max_length=200, description="Begin a little before the turn of this record.")
    ] = ""
    agent: Annotated[
        str, Meta(max_length=200, description="Of this subagent instead of the session itself.")
    ] = ""
    steps: Annotated[
        int,
        Meta(ge=1, le=MOST_STEPS, description="Begin no further turn after so many steps."),
    ] = MOST_STEPS
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


def load_turns(services: Services, wanted: TurnsParameters) -> TurnRange:
    """The turns that are wanted."""
    found = locate(services, SessionParameters(id=wanted.id, project=wanted.project))
    if wanted.quick and _can_be_quick(services, found, wanted):
        part = read_first_part(found.transcript)
        if wanted.start < part.turn_count or part.is_whole:
            return _take_first(services, found, wanted, part.session, part.turn_count)
    with services.opened.use(found) as session:
        owner = find_agent(session, wanted.agent) if wanted.agent else session
        return _take(services, owner, wanted)


def _can_be_quick(services: Services, found: Found, wanted: TurnsParameters) -> bool:
    is_plain = not wanted.at and not wanted.agent
    is_long = found.listing.size > FIRST_BYTES
    return is_plain and is_long and not services.opened.is_open(found)


def _take_first(
    services: Services, found: Found, wanted: TurnsParameters, session: Session, known: int
) -> TurnRange:
    stop = min(wanted.start + wanted.count, known)
    services.read_ahead(found)
    turns = _cut(session, wanted.start, stop, wanted.steps)
    return TurnRange(
        turns=turns,
        start=wanted.start,
        total=None,
        is_partial=True,
        costs=_price(services, session, turns),
    )


def _take(services: Services, session: Session, wanted: TurnsParameters) -> TurnRange:
    total = len(session.turns)
    start = wanted.start
    if wanted.at:
        start = max(find_turn(session, wanted.at) - 1, 0)
    turns = _cut(session, start, start + wanted.count, wanted.steps)
    return TurnRange(
        turns=turns,
        start=start,
        total=total,
        is_partial=False,
        costs=_price(services, session, turns),
    )


def _price(
    services: Services, session: Session, views: tuple[TurnView, ...]
) -> tuple[int | None, ...]:
    turns = session.turns
    return tuple(
        price_turn(turns[view.index], services.prices) if view.index < len(turns) else None
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


class SubagentMention(Struct, frozen=True, kw_only=True):
    """A subagent that a call started; its turns are asked for by its id."""

    agent_id: str
    kind: str
    agent_type: str | None
    description: str | None
    turns: int


def _derive(kind: type[Struct], changed: dict[str, Any]) -> type[Struct]:
    """The same type with other types of fields; tags and names stay, so the JSON does too."""
    fields: list[Any] = []
    for each in structs.fields(kind):
        declared = changed.get(each.name, each.type)
        if each.default is not msgspec.NODEFAULT:
            fields.append((each.name, declared, each.default))
        else:
            fields.append((each.name, declared))
    tag = kind.__struct_config__.tag
    derived = msgspec.defstruct(kind.__name__, fields, kw_only=True, frozen=True, tag=tag)
    derived.__doc__ = kind.__doc__
    return derived


# The views hold sessions, which are no data: where a subagent stands, a mention of it goes out.
CalledDocument: Any = _derive(Called, {"subagents": tuple[SubagentMention, ...]})
StepDocument: Any = Said | Thought | CalledDocument | Noted
TurnDocument: Any = _derive(TurnView, {"steps": tuple[StepDocument, ...]})


class TurnsDocument(Struct, frozen=True, kw_only=True):
    """Some turns of a session."""

    id: str
    start: int
    total: int | None
    is_partial: bool
    turns: tuple[TurnDocument, ...]


def list_turns(services: Services, wanted: TurnsParameters) -> TurnsDocument:
    """The turns that are wanted, as data."""
    found = load_turns(services, wanted)
    return TurnsDocument(
        id=wanted.id,
        start=found.start,
        total=found.total,
        is_partial=found.is_partial,
        turns=tuple(map(_describe_turn, found.turns)),
    )


def _describe_turn(view: TurnView) -> object:
    steps = [_describe_call(step) if isinstance(step, Called) else step for step in view.steps]
    return TurnDocument(**{**structs.asdict(view), "steps": tuple(steps)})


def _describe_call(call: Called) -> object:
    mentions = tuple(map(_mention, call.subagents))
    return CalledDocument(**{**structs.asdict(call), "subagents": mentions})


def _mention(child: Subagent) -> SubagentMention:
    return SubagentMention(
        agent_id=child.agent_id,
        kind=child.kind.value,
        agent_type=child.agent_type,
        description=child.description,
        turns=len(child.session.turns),
    )
