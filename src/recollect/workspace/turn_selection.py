"""Select turns of a session by number, range, branch and segment, and load some of them, a range or
those around a record, with their costs.

Positive numbers count from 1 through the whole file, so that a number means the same turn whatever
other options are given; negative numbers count from the end of what would be shown. Abandoned
branches are not shown unless requested.

The first turns of a long session can be shown before all of it is read: a quick result comes from
the beginning of the file and is marked as partial.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from recollect.documents.session_documents import TokenShares
from recollect.documents.turn_documents import ToolStep, TurnView
from recollect.errors import NothingFound, UsageError
from recollect.library.opening import FIRST_BYTES, price_turn, read_partial_session
from recollect.locations.place_names import PlaceName
from recollect.render.views.turn_views import build_turn_views, complete_turn
from recollect.session.branches import list_abandoned
from recollect.session.session import Session
from recollect.session.tree import Tree, find_path
from recollect.session.turns import Turn
from recollect.workspace.session_places import RecordLocation, find_agent, find_location, locate

if TYPE_CHECKING:
    from recollect.pricing.prices import Prices
    from recollect.workspace.served_workspace import ServedWorkspace
    from recollect.workspace.session_catalog import FoundSession
    from recollect.workspace.workspace import Workspace


class TurnBounds(Struct, frozen=True):
    """A range of turns, inclusive; negative numbers count from the end."""

    first: int = 1
    last: int = -1


class TurnSelection(Struct, frozen=True, kw_only=True):
    """The turns that are requested."""

    turns: TurnBounds | None = None
    branch: str | None = None
    """The number of an abandoned branch, or `all`; None for the main path."""
    segment: int | None = None
    """0 is before the first compaction; negative numbers count from the end."""


ALL_BRANCHES = "all"

_NUMBER: Final = re.compile(r"-?\d{1,9}")
_RANGE: Final = re.compile(r"(-?\d{1,9})?(?:-|\.\.)(-?\d{1,9})?")


def parse_turns(text: str) -> TurnBounds:
    """Parse `2-5`, `4-`, `-3..-1` or a single number; raises UsageError."""
    if _NUMBER.fullmatch(text) and int(text):
        return TurnBounds(int(text), int(text))
    found = _RANGE.fullmatch(text)
    if found is None or not all(int(each or 1) for each in found.groups()):
        raise UsageError(f"{text!r} is not a valid range (try 2-5, 4- or -3..-1).")
    return TurnBounds(int(found[1] or 1), int(found[2] or -1))


def parse_segment(text: str) -> int:
    """Parse the number of a segment; raises UsageError."""
    if not _NUMBER.fullmatch(text):
        raise UsageError(
            f"{text!r} is not a valid segment (try 0 for the first, or -1 for the last)."
        )
    return int(text)


def select_turns(session: Session, selection: TurnSelection) -> list[int]:
    """Return the indices of the selected turns; raise NothingFound if there are none."""
    if not session.turns:
        return _select_without_turns(session)
    chosen = _choose_branch(session, selection.branch)
    if selection.segment is not None:
        chosen = _choose_segment(session, chosen, selection.segment)
    wanted = selection.turns
    if wanted is not None:
        if wanted.first == wanted.last > 0:
            # A turn that is selected by its number is shown even if it was abandoned.
            chosen = list(session.turns)
        indices = _resolve(wanted, chosen)
        chosen = [turn for turn in chosen if turn.index in indices]
    if not chosen:
        count = len(session.turns)
        raise NothingFound(f"No such turn: this session has turns 1 to {count}.")
    return [turn.index for turn in chosen]


def choose_turns(session: Session, selection: TurnSelection) -> tuple[int, ...] | None:
    """Return the indices of the selected turns, None for the whole session.

    Raises NothingFound if there are none, also for a session without messages.
    """
    turns = tuple(select_turns(session, selection))
    return None if selection == TurnSelection() else turns


class OpenedTurns(Struct, frozen=True):
    """An opened session, and its requested turns."""

    session: Session
    at: RecordLocation | None
    """Where the requested place is shown, if any."""
    turns: list[int] | None
    """Their indices; None for the whole session, including records that are in no turn."""
    shares: TokenShares | None = None
    """Its own tokens, if requested and known."""


class TurnRequest(Struct, frozen=True, kw_only=True):
    """A session, and the turns to show."""

    name: str
    """A name of a session, or of a place in it."""
    place: PlaceName | None = None
    """A place in the session, if `name` has none."""
    selection: TurnSelection = TurnSelection()
    context: int = 0
    """Turns before and after a place."""
    words: tuple[str, ...] = ()
    """Words that choose between several steps that show the same record."""
    with_prices: bool = False
    with_rest: bool = False
    """Whether a request without any selection means the whole file."""
    with_tokens: bool = False
    """Whether to determine the session's own tokens, if the whole session is requested."""


def open_turns(workspace: "Workspace", request: TurnRequest) -> OpenedTurns:
    """Open a session and select the requested turns; raises NothingFound if there are none."""
    found = workspace.find_place(request.name)
    session = workspace.open_found(found, with_prices=request.with_prices)
    at = locate(session, request.place or found.place, request.words)
    is_any = request.selection == TurnSelection()
    if at is not None:
        if not is_any:
            raise UsageError("A place cannot be used with --turn, --turns, --branch or --segment.")
        return OpenedTurns(session, at, select_around(session, at.turn, request.context))
    if is_any and request.with_rest:
        return OpenedTurns(session, None, None)
    turns = select_turns(session, request.selection)
    is_counted = is_any and request.with_tokens
    files = [found.transcript] if is_counted else []
    shares = workspace.attribute_tokens(files).get(found.transcript.file)
    return OpenedTurns(session, None, turns, shares)


def select_around(session: Session, index: int, context: int) -> list[int]:
    """Return the turn at `index` and `context` turns before and after it, of the main path."""
    near = [turn.index for turn in session.turns if turn.is_on_main_path and turn.index != index]
    before = [each for each in near if each < index]
    after = [each for each in near if each > index]
    return [*before[max(len(before) - context, 0) :], index, *after[:context]]


def _select_without_turns(session: Session) -> list[int]:
    """Return the single pseudo-turn of a session without prompts, if it has any records to show."""
    from recollect.render.views.turn_views import build_turn_views  # loads all views

    if not build_turn_views(session):
        raise NothingFound(
            "This session has no messages. Use --raw to show what its file contains."
        )
    return [0]


def _resolve(wanted: TurnBounds, turns: Sequence[Turn]) -> range:
    return range(_find_index(wanted.first, turns), _find_index(wanted.last, turns) + 1)


def _find_index(number: int, turns: Sequence[Turn]) -> int:
    if number > 0:
        return number - 1
    if -number <= len(turns):
        return turns[number].index
    return turns[0].index if turns else 0


def _choose_branch(session: Session, branch: str | None) -> list[Turn]:
    if branch == ALL_BRANCHES:
        return list(session.turns)
    if branch is None:
        return [turn for turn in session.turns if turn.is_on_main_path]
    path = _find_path(session, branch)
    return [turn for turn in session.turns if _uuids_of(turn) & path]


def _find_path(session: Session, branch: str) -> set[str]:
    """Return the records from the start of the session to the end of an abandoned branch."""
    others = list_abandoned(session.branches)
    if not branch.isdecimal():
        raise UsageError("A branch is a number or `all`.")
    if not 0 < int(branch) <= len(others):
        known = f"branches 1 to {len(others)}" if others else "no abandoned branches"
        raise NothingFound(f"No branch {branch}: this session has {known}.")
    *_, end = _walk(session.tree, others[int(branch) - 1])
    return set(find_path(session.tree, end))


def _walk(tree: Tree, start: str) -> list[str]:
    """Return `start` and all its descendants, in file order."""
    found, waiting = {start}, [start]
    while waiting:
        below = [each for each in tree.children.get(waiting.pop(), ()) if each not in found]
        found.update(below)
        waiting += below
    return [uuid for uuid in tree.links if uuid in found]


def _choose_segment(session: Session, turns: Sequence[Turn], number: int) -> list[Turn]:
    from recollect.render.views.timeline import build_timeline  # loads all views
    from recollect.render.views.turn_views import find_segment

    count = len(session.segments)
    index = number if number >= 0 else count + number
    if not 0 <= index < count:
        last = count - 1
        raise NothingFound(f"No segment {number}: this session has segments 0 to {last}.")
    timeline = build_timeline(session)
    return [turn for turn in turns if find_segment(turn, timeline) == index]


def _uuids_of(turn: Turn) -> frozenset[str]:
    return frozenset(uuid for message in turn.messages for uuid in message.uuids)


MAX_STEPS: Final = 400
"""Number of steps after which no further turn is started: most have a dozen, some thousands."""


class TurnWindow(Struct, frozen=True, kw_only=True):
    """Which turns are requested."""

    start: int = 0
    count: int = 20
    at: str = ""
    """The uuid of a record: start a little before its turn."""
    offset: int | None = None
    """Where that record is in the file, if several have its uuid."""
    words: tuple[str, ...] = ()
    """Words that choose between several steps that show the record: the one with most of them."""
    agent: str = ""
    """Turns of this subagent instead of the session."""
    steps: int = MAX_STEPS
    """Do not start another turn after this many steps."""
    is_quick: bool = False
    """Use only the beginning of a long file if the rest has not been read yet."""
    is_complete: bool = False
    """Include the whole inputs and results of tool calls."""


class TurnRange(Struct, frozen=True, kw_only=True):
    """Some turns of a session, and their position in it."""

    turns: tuple[TurnView, ...]
    start: int
    total: int | None
    """Number of turns in the session; None if it has not been read completely."""
    is_partial: bool
    """Whether only the beginning of the file was read: marks, results and subagents may differ."""
    costs: tuple[int | None, ...]
    """The cost of each turn without its subagents, in millionths of a dollar."""
    location: RecordLocation | None = None
    """Where the requested record is shown."""
    cost_before: int | None = None
    """The cost of the turns before these, without subagents; None if not known."""
    agent_costs: Mapping[str, int | None] = {}
    """The cost of each subagent that these turns started, by its id."""
    messages: int | None = None
    """Number of prompts and replies; None if the session has not been read completely."""
    branches: int = 0
    """Number of abandoned branches; 0 until the session has been read completely."""
    segments: int = 1
    """Number of segments; 1 until then."""

    @property
    def at(self) -> str:
        """The anchor of the requested record among these turns."""
        return self.location.anchor if self.location else ""


def load_turns(
    workspace: "ServedWorkspace", found: "FoundSession", wanted: TurnWindow
) -> TurnRange:
    """Return the requested turns of a session."""
    if wanted.is_quick and _can_be_quick(workspace, found, wanted):
        part = read_partial_session(found.transcript)
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


def _can_be_quick(workspace: "ServedWorkspace", found: "FoundSession", wanted: TurnWindow) -> bool:
    is_plain = not wanted.at and not wanted.agent
    is_long = found.listing.size > FIRST_BYTES
    return is_plain and is_long and not workspace.is_open(found)


def _take(workspace: "ServedWorkspace", session: Session, wanted: TurnWindow) -> TurnRange:
    contents = session.contents
    total = len(contents.turns)
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
        cost_before=workspace.accumulate_costs(session)[min(start, total)],
        agent_costs=_price_agents(workspace, session, turns),
        messages=contents.metadata.message_count,
        branches=len(list_abandoned(contents.branches)),
        segments=len(contents.segments),
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
        for each in session.contents.subagents
        if each.agent_id in wanted
    }


def _add_up(costs: Iterable[int | None]) -> int | None:
    """Return the sum of the known costs; None if some are given and none is known."""
    given = list(costs)
    known = [cost for cost in given if cost is not None]
    return sum(known) if known or not given else None


def accumulate_costs(turns: Iterable[Turn], prices: "Prices") -> list[int | None]:
    """Return the cumulative costs of turns: of none, one, two and so on; None if none is known."""
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
    turns, prices = session.contents.turns, workspace.price_list
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
