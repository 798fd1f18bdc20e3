"""Which turns of a session are meant: by number, by range, by branch, by segment.

Turns are counted from 1 through the whole file, so that a number means the same turn whatever else
is asked for; counted from the end, they are those that would be shown. Of a conversation that was
taken up again at an earlier point, what was left behind is not shown unless it is asked for.
"""

from collections.abc import Sequence

from recollect.cli.show.ranges import Range, Selection
from recollect.errors import NothingFound, UsageError
from recollect.session.session import Session
from recollect.session.tree import Tree, find_main_path
from recollect.session.turns import Turn

ALL_BRANCHES = "all"


def select_turns(session: Session, selection: Selection) -> list[int]:
    """The indices of the turns that are asked for; raises NothingFound when there are none."""
    if not session.turns:
        return _select_happenings(session)
    chosen = _choose_branch(session, selection.branch)
    if selection.segment is not None:
        chosen = _choose_segment(session, chosen, selection.segment)
    wanted = selection.turns
    if wanted is not None:
        if wanted.first == wanted.last > 0:
            # Whoever knows the number of a turn wants to see that turn, left behind or not.
            chosen = list(session.turns)
        reach = _resolve(wanted, chosen)
        chosen = [turn for turn in chosen if turn.index in reach]
    if not chosen:
        count = len(session.turns)
        raise NothingFound(f"There is no such turn here: they are numbered from 1 to {count}.")
    return [turn.index for turn in chosen]


def _select_happenings(session: Session) -> list[int]:
    """A session in which nobody said anything has one turn, if anything happened in it."""
    from recollect.render.views.turns import build_turn_views  # noqa: PLC0415 - loads all views

    if not build_turn_views(session):
        raise NothingFound("Nothing was said in this session. --raw shows what its file holds.")
    return [0]


def _resolve(wanted: Range, turns: Sequence[Turn]) -> range:
    return range(_find_index(wanted.first, turns), _find_index(wanted.last, turns) + 1)


def _find_index(number: int, turns: Sequence[Turn]) -> int:
    if number > 0:
        return number - 1
    if -number <= len(turns):
        return turns[number].index
    return turns[0].index if turns else 0


def list_alternatives(session: Session) -> tuple[str, ...]:
    """The first records of what was left behind, one for each branch, in order."""
    return tuple(
        option
        for branch in session.branches
        for option in branch.options
        if option != branch.chosen
    )


def _find_left_behind(session: Session) -> set[str]:
    """All records on ways that were not followed further, where another one was."""
    found: set[str] = set()
    for branch in session.branches:
        for option in branch.options:
            if branch.chosen not in (None, option):
                found.update(_walk(session.tree, option))
    return found


def _choose_branch(session: Session, branch: str | None) -> list[Turn]:
    if branch == ALL_BRANCHES:
        return list(session.turns)
    if branch is None:
        left = _find_left_behind(session)
        return [turn for turn in session.turns if not _is_within(turn, left)]
    path = _find_path(session, branch)
    return [turn for turn in session.turns if _uuids_of(turn) & path]


def _find_path(session: Session, branch: str) -> set[str]:
    """The records from the start to the end of a branch that was left behind."""
    others = list_alternatives(session)
    if not branch.isdecimal():
        raise UsageError("A branch is named by its number, or `all`.")
    if not 0 < int(branch) <= len(others):
        known = f"they are numbered from 1 to {len(others)}" if others else "there is only one way"
        raise NothingFound(f"There is no branch {branch} in this session: {known}.")
    *_, end = _walk(session.tree, others[int(branch) - 1])
    return set(find_main_path(session.tree, end))


def _walk(tree: Tree, start: str) -> list[str]:
    """`start` and all that follows from it, in the order of the file."""
    found, waiting = {start}, [start]
    while waiting:
        below = [each for each in tree.children.get(waiting.pop(), ()) if each not in found]
        found.update(below)
        waiting += below
    return [uuid for uuid in tree.links if uuid in found]


def _choose_segment(session: Session, turns: Sequence[Turn], number: int) -> list[Turn]:
    from recollect.render.views.places import find_places  # noqa: PLC0415 - loads all views
    from recollect.render.views.turns import find_segment  # noqa: PLC0415

    count = len(session.segments)
    index = number - 1 if number > 0 else count + number
    if not 0 <= index < count:
        raise NothingFound(f"There is no segment {number}: they are numbered from 1 to {count}.")
    places = find_places(session)
    return [turn for turn in turns if find_segment(turn, places) == index]


def _is_within(turn: Turn, records: set[str]) -> bool:
    # A turn of which no record has a name cannot be told to be anywhere.
    return bool(_uuids_of(turn)) and _uuids_of(turn) <= records


def _uuids_of(turn: Turn) -> frozenset[str]:
    return frozenset(uuid for message in turn.messages for uuid in message.uuids)
