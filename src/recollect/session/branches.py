"""Where a conversation was taken up twice, and the main path: all that was not left behind.

`attachment`, `progress` and `system` records are links like any other, but transparent: they never
make a branch. So are asides: commands that nobody answers, and what clients inject. Only what
stands behind another continuation of the same record was left behind; a chain that merely breaks
off was not.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from recollect.records.conversation import SYNTHETIC_MODEL, Assistant, User
from recollect.records.system import CompactBoundary
from recollect.session.prompts import PERSON_KINDS, InputKind, read_kind
from recollect.session.queue import QueuedPrompt
from recollect.session.tree import Tree, is_said, place_of

_SPOKEN = (User, Assistant, QueuedPrompt)
_OPAQUE = (User, Assistant, CompactBoundary)
_ASIDES = (InputKind.INJECTED, InputKind.COMMAND_OUTPUT, InputKind.SHELL_OUTPUT)

START = ""
"""Stands for the beginning of a file where a record is expected."""

NOWHERE = "<nowhere>"
"""Stands for a record that is lost."""


class Branch(Struct, frozen=True):
    """A place where the conversation was taken up twice.

    `at` is the record both continuations follow ("" for the very start), `options` their first
    records in file order, and `chosen` the one on the main path, if any is.
    """

    at: str
    options: tuple[str, ...]
    chosen: str | None


def find_branches(
    tree: Tree, path: Iterable[str], *, rewound_to_start: bool = False
) -> tuple[Branch, ...]:
    """The real branches: two prompts of a person, or two different replies, after one record.

    Several beginnings are a branch only if a rewind to the start is known: files are also begun
    anew, put together, or without links at all. `path` leads to the live end.
    """
    kinds = {u: read_kind(link) for u, link in tree.links.items() if isinstance(link, User)}
    asides = {uuid for uuid in kinds if _is_aside(tree, kinds, uuid)}
    anchors = _find_anchors(tree, asides)
    prompts: defaultdict[str, list[str]] = defaultdict(list)
    replies: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for uuid, link in tree.links.items():
        if kinds.get(uuid) in PERSON_KINDS and uuid not in asides:
            prompts[anchors[uuid]].append(uuid)
        elif isinstance(link, Assistant) and link.message and link.message.model != SYNTHETIC_MODEL:
            replies[anchors[uuid]].setdefault(link.message.id or uuid, uuid)
    prompts.pop(NOWHERE, None)
    replies.pop(NOWHERE, None)
    replies.pop(START, None)
    if not rewound_to_start:
        prompts.pop(START, None)
    on_path = set(path)
    groups = [*prompts.items(), *((at, list(firsts.values())) for at, firsts in replies.items())]
    found = [_make_branch(at, options, on_path) for at, options in groups if len(options) > 1]
    place = {uuid: number for number, uuid in enumerate(tree.links)}
    return tuple(sorted(_choose_apart(tree, found), key=lambda branch: place[branch.options[1]]))


def find_main_path(
    tree: Tree, path: Sequence[str], list_branches: Callable[[], Sequence[Branch]]
) -> tuple[str, ...]:
    """`path` with all else that was said and not left behind, each behind what precedes it.

    Most sessions are one path: branches, which take a look at every prompt, are asked for only
    where something hangs beside it.
    """
    on_path = set(path)
    beside = [u for u, each in tree.links.items() if u not in on_path and isinstance(each, _SPOKEN)]
    if not beside:
        return tuple(path)
    left = find_left_behind(tree, list_branches())
    kept = {uuid for uuid in beside if uuid not in left}
    behind: defaultdict[str, list[str]] = defaultdict(list)
    last = START
    for uuid in tree.links:
        if uuid in kept:
            behind[last].append(uuid)
        elif uuid in on_path:
            last = uuid
    return tuple(each for uuid in (START, *path) for each in (uuid, *behind[uuid]))[1:]


def find_left_behind(tree: Tree, branches: Iterable[Branch]) -> frozenset[str]:
    """All that follows from a continuation of which another one was chosen."""
    waiting = [
        option
        for branch in branches
        for option in branch.options
        if branch.chosen not in (None, option)
    ]
    found = set(waiting)
    while waiting:
        below = [each for each in tree.children.get(waiting.pop(), ()) if each not in found]
        found.update(below)
        waiting += below
    return frozenset(found)


def _choose_apart(tree: Tree, branches: Sequence[Branch]) -> list[Branch]:
    """`branches`, those in pieces of a broken chain beside the path decided by their last word."""
    if all(branch.chosen for branch in branches):
        return list(branches)
    left = find_left_behind(tree, branches)
    ends = _find_ends(tree)
    return [
        replace(branch, chosen=max(branch.options, key=lambda option: ends.get(option, -1)))
        if branch.chosen is None and branch.options[0] not in left
        else branch
        for branch in branches
    ]


def _find_ends(tree: Tree) -> dict[str, int]:
    """The rank of the last thing said that follows from each link, by the lines of the file."""
    ends: dict[str, int] = {}
    said = sorted(
        (place_of(each), n, u) for n, (u, each) in enumerate(tree.links.items()) if is_said(each)
    )
    for rank, (_, _, uuid) in reversed(list(enumerate(said))):
        current: str | None = uuid
        while current is not None and current not in ends:
            ends[current] = rank
            current = tree.parents[current]
    return ends


def _is_aside(tree: Tree, kinds: dict[str, InputKind], uuid: str) -> bool:
    """Whether the conversation passes `uuid` by: most commands are for the client alone."""
    if kinds[uuid] in (InputKind.COMMAND, InputKind.SHELL):
        return not _is_answered(tree, kinds, uuid)
    return kinds[uuid] in _ASIDES


def _is_answered(tree: Tree, kinds: dict[str, InputKind], uuid: str) -> bool:
    """Whether a reply follows before anybody else asks for something."""
    waiting = list(tree.children.get(uuid, ()))
    while waiting:
        below = waiting.pop()
        if isinstance(tree.links[below], Assistant):
            return True
        if kinds.get(below) not in PERSON_KINDS:
            waiting += tree.children.get(below, ())
    return False


def _find_anchors(tree: Tree, asides: set[str]) -> dict[str, str]:
    """The record that each link continues, past what is transparent; NOWHERE when that is lost."""
    anchors: dict[str, str] = {}
    for uuid in tree.links:
        found = anchors.get(uuid) or _find_stop(tree, uuid, asides)
        if found is not None:
            anchors[uuid] = found
            continue
        run = [uuid]
        while (found := anchors.get(run[-1], _find_stop(tree, run[-1], asides))) is None:
            run.append(tree.parents[run[-1]] or START)
        anchors |= dict.fromkeys(run, found)
    return anchors


def _find_stop(tree: Tree, uuid: str, asides: set[str]) -> str | None:
    """The anchor of `uuid` if one can be told without looking further up."""
    above = tree.parents[uuid]
    if above is None:
        return NOWHERE if tree.links[uuid].parent_uuid else START
    is_opaque = isinstance(tree.links[above], _OPAQUE)
    return above if is_opaque and above not in asides else None


def _make_branch(at: str, options: list[str], on_path: set[str]) -> Branch:
    chosen = next((option for option in options if option in on_path), None)
    return Branch(at=at, options=tuple(options), chosen=chosen)
