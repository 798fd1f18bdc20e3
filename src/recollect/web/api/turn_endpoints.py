"""The turns of a session by range, as the views describe them.

A long session need not be read to its end before its first turns can be shown: `quick` answers
from the beginning of the file, says so, and has the rest read meanwhile.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct, structs

from recollect.library.opening import FIRST_BYTES, price_turn, read_first_part
from recollect.render.views.parts import NoticeStep, TextStep, ThinkingStep, ToolStep, TurnView
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session, Subagent
from recollect.web.api.session_endpoints import (
    Project,
    SessionParameters,
    find_agent,
    find_location,
    locate,
)
from recollect.web.parameters import MAX_ID, Id
from recollect.web.services import Services
from recollect.web.session_catalog import FoundSession

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


def _can_be_quick(services: Services, found: FoundSession, wanted: TurnsParameters) -> bool:
    is_plain = not wanted.at and not wanted.agent
    is_long = found.listing.size > FIRST_BYTES
    return is_plain and is_long and not services.opened.is_open(found)


def _take_first(
    services: Services, found: FoundSession, wanted: TurnsParameters, session: Session, known: int
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
    start, at = wanted.start, ""
    if wanted.at:
        location = find_location(session, wanted.at, wanted.offset)
        start, at = max(location.turn - 1, 0), location.anchor
    turns = _cut(session, start, start + wanted.count, wanted.steps)
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


def _derive(
    kind: type[Struct], changed: dict[str, Any], renamed: Mapping[str, str] = MappingProxyType({})
) -> type[Struct]:
    """The same type with other types and names of fields; tags stay, so the JSON does too."""
    fields: list[Any] = []
    for each in structs.fields(kind):
        name, declared = renamed.get(each.name, each.name), changed.get(each.name, each.type)
        if each.default is not msgspec.NODEFAULT:
            fields.append((name, declared, each.default))
        else:
            fields.append((name, declared))
    tag = kind.__struct_config__.tag
    derived = msgspec.defstruct(kind.__name__, fields, kw_only=True, frozen=True, tag=tag)
    derived.__doc__ = kind.__doc__
    return derived


# The views hold sessions, which are no data: where a subagent stands, a mention of it goes out.
CalledDocument: Any = _derive(ToolStep, {"subagents": tuple[SubagentMention, ...]})
StepDocument: Any = TextStep | ThinkingStep | CalledDocument | NoticeStep
TurnDocument: Any = _derive(TurnView, {"steps": tuple[StepDocument, ...]}, {"index": "number"})


class TurnsDocument(Struct, frozen=True, kw_only=True):
    """Some turns of a session."""

    id: str
    start: int
    """How many turns come before the first one here; turns themselves are numbered from 1."""
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
    steps = [_describe_call(step) if isinstance(step, ToolStep) else step for step in view.steps]
    fields = structs.asdict(view)
    number = fields.pop("index") + 1
    return TurnDocument(**{**fields, "number": number, "steps": tuple(steps)})


def _describe_call(call: ToolStep) -> object:
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
