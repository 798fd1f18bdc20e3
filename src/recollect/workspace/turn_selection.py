"""Select turns of a session by number, range, branch and segment.

Positive numbers count from 1 through the whole file, so that a number means the same turn whatever
other options are given; negative numbers count from the end of what would be shown. Abandoned
branches are not shown unless requested.
"""

from collections.abc import Sequence

from msgspec import Struct

from recollect.errors import NothingFound, UsageError
from recollect.session.session import Session
from recollect.session.tree import Tree, find_path
from recollect.session.turns import Turn


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


def surround(session: Session, index: int, context: int) -> list[int]:
    """Return the turn at `index` and `context` turns before and after it, of the main path."""
    near = [turn.index for turn in session.turns if turn.is_on_main_path and turn.index != index]
    before = [each for each in near if each < index]
    after = [each for each in near if each > index]
    return [*before[max(len(before) - context, 0) :], index, *after[:context]]


def _select_without_turns(session: Session) -> list[int]:
    """Return the single pseudo-turn of a session without prompts, if anything happened in it."""
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


def list_alternatives(session: Session) -> tuple[str, ...]:
    """Return the first record of each abandoned branch, in order."""
    return tuple(
        option
        for branch in session.branches
        for option in branch.options
        if option != branch.chosen
    )


def _choose_branch(session: Session, branch: str | None) -> list[Turn]:
    if branch == ALL_BRANCHES:
        return list(session.turns)
    if branch is None:
        return [turn for turn in session.turns if turn.is_on_main_path]
    path = _find_path(session, branch)
    return [turn for turn in session.turns if _uuids_of(turn) & path]


def _find_path(session: Session, branch: str) -> set[str]:
    """Return the records from the start of the session to the end of an abandoned branch."""
    others = list_alternatives(session)
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
