"""Branches of a conversation, and the main path: everything that was not abandoned.

`attachment`, `progress` and `system` records are links like any other, but transparent: they never
make a branch. The same is true of asides: commands without a reply, and injected texts. Only
messages after a continuation that was not chosen are abandoned; a chain that merely ends is not.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, structs

from recollect.documents.kinds import InputKind
from recollect.records.conversation_records import SYNTHETIC_MODEL, Assistant, User
from recollect.records.envelope import get_offset
from recollect.records.system_records import CompactBoundary
from recollect.session.prompts import USER_KINDS, read_kind
from recollect.session.queue import QueuedPrompt
from recollect.session.tree import Tree, is_message

_MESSAGES = (User, Assistant, QueuedPrompt)
_OPAQUE = (User, Assistant, CompactBoundary)
_ASIDES = (InputKind.INJECTED, InputKind.COMMAND_OUTPUT, InputKind.SHELL_OUTPUT)

START = ""
"""The start of a file, where a record is expected."""

LOST = "<nowhere>"
"""Stands for a record that is lost."""


class Branch(Struct, frozen=True):
    """A record with two continuations.

    `at` is the record that both follow ("" for the very start), `options` their first records in
    file order, and `chosen` the one on the main path, if any.
    """

    at: str
    options: tuple[str, ...]
    chosen: str | None


def list_abandoned(branches: Iterable[Branch]) -> tuple[str, ...]:
    """Return the first record of each abandoned branch, in order."""
    return tuple(
        option for branch in branches for option in branch.options if option != branch.chosen
    )


def find_branches(
    tree: Tree, path: Iterable[str], *, rewound_to_start: bool = False
) -> tuple[Branch, ...]:
    """Find the real branches: two user prompts, or two different replies, after one record.

    Several beginnings are a branch only after a rewind to the start: files are also restarted,
    concatenated, or written without links. `path` leads to the live end.
    """
    kinds = {u: read_kind(link) for u, link in tree.links.items() if isinstance(link, User)}
    asides = {uuid for uuid in kinds if _is_aside(tree, kinds, uuid)}
    anchors = _find_anchors(tree, asides)
    prompts: defaultdict[str, list[str]] = defaultdict(list)
    replies: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for uuid, link in tree.links.items():
        if kinds.get(uuid) in USER_KINDS and uuid not in asides:
            prompts[anchors[uuid]].append(uuid)
        elif isinstance(link, Assistant) and link.message and link.message.model != SYNTHETIC_MODEL:
            replies[anchors[uuid]].setdefault(link.message.id or uuid, uuid)
    prompts.pop(LOST, None)
    replies.pop(LOST, None)
    replies.pop(START, None)
    if not rewound_to_start:
        prompts.pop(START, None)
    on_path = set(path)
    groups = [*prompts.items(), *((at, list(firsts.values())) for at, firsts in replies.items())]
    found = [_make_branch(at, options, on_path) for at, options in groups if len(options) > 1]
    place = {uuid: number for number, uuid in enumerate(tree.links)}
    return tuple(sorted(_decide_detached(tree, found), key=lambda branch: place[branch.options[1]]))


def find_main_path(
    tree: Tree, path: Sequence[str], list_branches: Callable[[], Sequence[Branch]]
) -> tuple[str, ...]:
    """Return `path` with every other message that was not abandoned, each after its predecessor.

    Most sessions are a single path, so branches, which require checking every prompt, are computed
    only if there are other records.
    """
    on_path = set(path)
    beside = [
        u for u, each in tree.links.items() if u not in on_path and isinstance(each, _MESSAGES)
    ]
    if not beside:
        return tuple(path)
    left = find_abandoned(tree, list_branches())
    kept = {uuid for uuid in beside if uuid not in left}
    behind: defaultdict[str, list[str]] = defaultdict(list)
    last = START
    for uuid in tree.links:
        if uuid in kept:
            behind[last].append(uuid)
        elif uuid in on_path:
            last = uuid
    return tuple(each for uuid in (START, *path) for each in (uuid, *behind[uuid]))[1:]


def find_abandoned(tree: Tree, branches: Iterable[Branch]) -> frozenset[str]:
    """Return the continuations that were not chosen, and everything after them."""
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


def _decide_detached(tree: Tree, branches: Sequence[Branch]) -> list[Branch]:
    """Choose between branches in detached pieces of the chain, by their last message."""
    if all(branch.chosen for branch in branches):
        return list(branches)
    left = find_abandoned(tree, branches)
    ends = _find_ends(tree)
    return [
        structs.replace(branch, chosen=max(branch.options, key=lambda option: ends.get(option, -1)))
        if branch.chosen is None and branch.options[0] not in left
        else branch
        for branch in branches
    ]


def _find_ends(tree: Tree) -> dict[str, int]:
    """Return the file rank of the last message that follows each link."""
    ends: dict[str, int] = {}
    messages = sorted(
        (get_offset(each), n, u)
        for n, (u, each) in enumerate(tree.links.items())
        if is_message(each)
    )
    for rank, (_, _, uuid) in reversed(list(enumerate(messages))):
        current: str | None = uuid
        while current is not None and current not in ends:
            ends[current] = rank
            current = tree.parents[current]
    return ends


def _is_aside(tree: Tree, kinds: dict[str, InputKind], uuid: str) -> bool:
    """Return whether `uuid` is not part of the conversation: most commands are for the client."""
    if kinds[uuid] in (InputKind.COMMAND, InputKind.SHELL):
        return not _is_answered(tree, kinds, uuid)
    return kinds[uuid] in _ASIDES


def _is_answered(tree: Tree, kinds: dict[str, InputKind], uuid: str) -> bool:
    """Return whether there is a reply before the next prompt."""
    waiting = list(tree.children.get(uuid, ()))
    while waiting:
        below = waiting.pop()
        if isinstance(tree.links[below], Assistant):
            return True
        if kinds.get(below) not in USER_KINDS:
            waiting += tree.children.get(below, ())
    return False


def _find_anchors(tree: Tree, asides: set[str]) -> dict[str, str]:
    """Return the record that each link continues, past transparent ones; LOST if it is lost."""
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
    """Return the anchor of `uuid` if it can be determined without going further up."""
    above = tree.parents[uuid]
    if above is None:
        return LOST if tree.links[uuid].parent_uuid else START
    is_opaque = isinstance(tree.links[above], _OPAQUE)
    return above if is_opaque and above not in asides else None


def _make_branch(at: str, options: list[str], on_path: set[str]) -> Branch:
    chosen = next((option for option in options if option in on_path), None)
    return Branch(at=at, options=tuple(options), chosen=chosen)
