"""Load some turns of a session: a range, or those around a record, with their costs.

A long session need not be read completely before its first turns can be shown: a quick answer comes
from the beginning of the file and says that it is partial.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from recollect.documents.turns import ToolStep, TurnView
from recollect.library.opening import FIRST_BYTES, price_turn, read_first_part
from recollect.pricing import Prices
from recollect.render.views.complete_turns import complete_turn
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session
from recollect.session.turns import Turn
from recollect.workspace.session_catalog import FoundSession
from recollect.workspace.session_places import RecordLocation, find_agent, find_location

if TYPE_CHECKING:
    from recollect.workspace.served_workspace import ServedWorkspace

MAX_STEPS: Final = 400
"""Steps after which no further turn is started: some turns have thousands, most a dozen."""


class TurnWindow(Struct, frozen=True, kw_only=True):
    """Which turns are requested."""

    start: int = 0
    count: int = 20
    at: str = ""
    """The uuid of a record: start a little before its turn."""
    offset: int | None = None
    """Where that record is in the file, if several have its uuid."""
    words: tuple[str, ...] = ()
    """Words in it: of several steps that show the record, the one with most of them is meant."""
    agent: str = ""
    """Turns of this subagent instead of the session."""
    steps: int = MAX_STEPS
    """Start no further turn after this many steps."""
    is_quick: bool = False
    """Answer from the beginning of a long file if the rest has not been read yet."""
    is_complete: bool = False
    """With whole inputs and results of tool calls."""


class TurnRange(Struct, frozen=True, kw_only=True):
    """Some turns of a session, and where they are in it."""

    turns: tuple[TurnView, ...]
    start: int
    total: int | None
    """Turns of the session; None if it has not been read completely."""
    is_partial: bool
    """Whether only the beginning of the file was read: marks, results and subagents may differ."""
    costs: tuple[int | None, ...]
    """The cost of each turn without its subagents, in millionths of a dollar."""
    location: RecordLocation | None = None
    """Where the requested record is shown."""
    cost_before: int | None = None
    """The cost of the turns before these, subagents not included; None if not known."""
    agent_costs: Mapping[str, int | None] = {}
    """The cost of each subagent that these turns started, by its id."""

    @property
    def at(self) -> str:
        """The anchor of the requested record among these turns."""
        return self.location.anchor if self.location else ""


def load_turns(workspace: "ServedWorkspace", found: FoundSession, wanted: TurnWindow) -> TurnRange:
    """Return the requested turns of a session."""
    if wanted.is_quick and _can_be_quick(workspace, found, wanted):
        part = read_first_part(found.transcript)
        if wanted.start < part.turn_count or part.is_whole:
            workspace.read_ahead(found)
            stop = min(wanted.start + wanted.count, part.turn_count)
            turns = _cut(part.session, wanted.start, stop, wanted)
            return TurnRange(
                turns=turns,
                start=wanted.start,
                total=None,
                is_partial=True,
                costs=_price(workspace, part.session, turns),
                cost_before=None if wanted.start else 0,
            )
    with workspace.use(found) as session:
        owner = find_agent(session, wanted.agent) if wanted.agent else session
        return _take(workspace, owner, wanted)


def _can_be_quick(workspace: "ServedWorkspace", found: FoundSession, wanted: TurnWindow) -> bool:
    is_plain = not wanted.at and not wanted.agent
    is_long = found.listing.size > FIRST_BYTES
    return is_plain and is_long and not workspace.is_open(found)


def _take(workspace: "ServedWorkspace", session: Session, wanted: TurnWindow) -> TurnRange:
    total = len(session.turns)
    start, location = wanted.start, None
    if wanted.at:
        location = find_location(session, wanted.at, wanted.offset, wanted.words)
        start = max(location.turn - 1, 0)
    turns = _cut(session, start, start + wanted.count, wanted)
    return TurnRange(
        turns=turns,
        start=start,
        total=total,
        is_partial=False,
        costs=_price(workspace, session, turns),
        location=location,
        cost_before=workspace.add_up_costs(session)[min(start, total)],
        agent_costs=_price_agents(workspace, session, turns),
    )


def _price_agents(
    workspace: "ServedWorkspace", session: Session, views: tuple[TurnView, ...]
) -> dict[str, int | None]:
    wanted = {
        each.agent_id
        for view in views
        for step in view.steps
        if isinstance(step, ToolStep)
        for each in step.subagents
    }
    prices = workspace.price_list
    return {
        each.agent_id: _add_up(price_turn(turn, prices) for turn in each.session.turns)
        for each in session.subagents
        if each.agent_id in wanted
    }


def _add_up(costs: Iterable[int | None]) -> int | None:
    """Return the sum of the known costs; None if some are given and none is known."""
    given = list(costs)
    known = [cost for cost in given if cost is not None]
    return sum(known) if known or not given else None


def accumulate_costs(turns: Iterable[Turn], prices: Prices) -> list[int | None]:
    """Return the costs of the first turns: of none, one, two and so on; None if none is known."""
    totals: list[int | None] = [0]
    total: int | None = None
    for turn in turns:
        cost = price_turn(turn, prices)
        total = total if cost is None else (total or 0) + cost
        totals.append(total)
    return totals


def _price(
    workspace: "ServedWorkspace", session: Session, views: tuple[TurnView, ...]
) -> tuple[int | None, ...]:
    turns, prices = session.turns, workspace.price_list
    return tuple(
        price_turn(turns[view.number - 1], prices) if view.number <= len(turns) else None
        for view in views
    )


def _cut(session: Session, start: int, stop: int, wanted: TurnWindow) -> tuple[TurnView, ...]:
    """Return the turns from `start` on, always at least one, however long it is."""
    views: list[TurnView] = []
    while start + len(views) < stop and sum(len(view.steps) for view in views) < wanted.steps:
        index = start + len(views)
        found = build_turn_views(session, start=index, stop=index + 1)
        if not found:
            break
        views += found
    if wanted.is_complete:
        return tuple(complete_turn(view, session) for view in views)
    return tuple(views)
