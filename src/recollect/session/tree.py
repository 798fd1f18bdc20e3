"""Parent links → a forest without cycles, the main path through it, and its real branches.

Everything is linear in the number of records and nothing recurses: chains of 100,000 links are
normal. `attachment`, `progress` and `system` records are links like any other, but transparent:
they never make a branch. So are asides: commands that nobody answers, and what clients inject.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from recollect.records.conversation import SYNTHETIC_MODEL, Assistant, User
from recollect.records.envelope import Chain
from recollect.records.system import CompactBoundary
from recollect.session.content import iter_tool_results, iter_tool_uses
from recollect.session.prompts import PERSON_KINDS, InputKind, read_kind

_ASIDES = (InputKind.INJECTED, InputKind.COMMAND_OUTPUT, InputKind.SHELL_OUTPUT)

START = ""
"""Stands for the beginning of a file where a record is expected."""

NOWHERE = "<nowhere>"
"""Stands for a record that is lost."""


class Tree(Struct, frozen=True):
    """Who follows whom, by uuid."""

    links: dict[str, Chain]
    parents: dict[str, str | None]
    children: dict[str, tuple[str, ...]]
    roots: tuple[str, ...]
    orphans: frozenset[str]
    """Links whose parent is not in the file."""
    cut: frozenset[str]
    """Links whose parent link was dropped because it closed a circle."""
    before: dict[str, str]
    """What each compaction follows: the record that it names, else the last word before it."""

    def iter_ancestors(self, uuid: str) -> Iterator[str]:
        """`uuid` and all that it follows from, newest first, across compactions."""
        current: str | None = uuid
        seen: set[str] = set()
        while current is not None and current not in seen:
            seen.add(current)
            yield current
            above = self.parents[current]
            current = self.before.get(current) if above is None else above


class Branch(Struct, frozen=True):
    """A place where the conversation was taken up twice.

    `at` is the record both continuations follow ("" for the very start), `options` their first
    records in file order, and `chosen` the one on the main path, if any is.
    """

    at: str
    options: tuple[str, ...]
    chosen: str | None


def build_tree(chain: Sequence[Chain]) -> Tree:
    """The forest of `chain`, in which each uuid stands once."""
    links = {link.uuid: link for link in chain if link.uuid}
    wanted = {uuid: link.parent_uuid or None for uuid, link in links.items()}
    orphans = frozenset(uuid for uuid, above in wanted.items() if above and above not in links)
    cut = _find_circles(wanted)
    lost = orphans | cut
    parents = {uuid: None if uuid in lost else above for uuid, above in wanted.items()}
    children: defaultdict[str, list[str]] = defaultdict(list)
    for uuid, above in parents.items():
        if above is not None:
            children[above].append(uuid)
    return Tree(
        links=links,
        parents=parents,
        children={uuid: tuple(below) for uuid, below in children.items()},
        roots=tuple(uuid for uuid, above in parents.items() if above is None),
        orphans=orphans,
        cut=cut,
        before=_find_before(chain),
    )


def _find_circles(wanted: dict[str, str | None]) -> frozenset[str]:
    """One link of each circle: the earliest in the file, which then becomes a root."""
    order = {uuid: number for number, uuid in enumerate(wanted)}
    settled: set[str] = set()
    cut: set[str] = set()
    for start in wanted:
        path: dict[str, None] = {}
        current: str | None = start
        while current is not None and current in wanted and current not in settled:
            if current in path:
                circle = list(path)[list(path).index(current) :]
                cut.add(min(circle, key=order.__getitem__))
                break
            path[current] = None
            current = wanted[current]
        settled.update(path)
    return frozenset(cut)


def _find_before(chain: Sequence[Chain]) -> dict[str, str]:
    """What stood before each compaction; forks name records that follow it, and some lost ones."""
    before: dict[str, str] = {}
    seen: set[str] = set()
    leaf = None
    for link in chain:
        if isinstance(link, CompactBoundary) and link.uuid:
            named = link.logical_parent_uuid
            found = named if named in seen else leaf
            before |= {link.uuid: found} if found else {}
        if link.uuid:
            seen.add(link.uuid)
            leaf = link.uuid if _is_said(link) else leaf
    return before


def find_leaf(tree: Tree) -> str | None:
    """The live end of the conversation: the last thing said that nothing said follows.

    It is the last by the line that was read: compactions write again what they keep, and some
    clients write again a prompt that was answered long ago.
    """
    said = [uuid for uuid, link in tree.links.items() if _is_said(link)]
    followed: set[str] = set()
    for uuid in said:
        above = tree.parents[uuid]
        while above is not None and above not in followed:
            followed.add(above)
            above = tree.parents[above]
    ends = [uuid for uuid in reversed(said) if uuid not in followed]
    return max(ends, key=lambda uuid: _offset(tree.links[uuid]), default=None)


def _offset(link: Chain) -> int:
    return link.span.offset if link.span else 0


def _is_said(link: Chain) -> bool:
    return isinstance(link, User | Assistant) and not link.is_meta


def find_main_path(tree: Tree, leaf: str | None) -> tuple[str, ...]:
    """From the start of the whole history to `leaf`, with what hangs beside the path spliced in.

    That stands behind the last line of its message, calls before results: between the lines of
    one message nobody else has spoken.
    """
    if leaf is None:
        return ()
    path = list(tree.iter_ancestors(leaf))[::-1]
    on_path = set(path)
    last_lines = {_message_id(tree.links[uuid]) or uuid: uuid for uuid in path}
    beside: defaultdict[str, list[str]] = defaultdict(list)
    for uuid in path:
        anchor = last_lines[_message_id(tree.links[uuid]) or uuid]
        beside[anchor] += _find_beside(tree, uuid, on_path)
    place = {uuid: number for number, uuid in enumerate(tree.links)}

    def order(uuid: str) -> tuple[bool, int]:
        return isinstance(tree.links[uuid], User), place[uuid]

    return tuple(found for uuid in path for found in (uuid, *sorted(beside[uuid], key=order)))


def _find_beside(tree: Tree, uuid: str, on_path: set[str]) -> Iterator[str]:
    """Lines of the message of `uuid`, and results of its calls, that hang beside the path.

    Each result follows the line of its own call, and the conversation goes on from one of them.
    """
    link = tree.links[uuid]
    if not isinstance(link, Assistant):
        return
    called = _calls_of(link)
    waiting = [uuid]
    while waiting:
        current = waiting.pop()
        other = tree.links[current]
        if current != uuid and isinstance(other, User | Assistant):
            if not _belongs(other, link, called):
                continue
            called |= _calls_of(other)
            yield current
        below = tree.children.get(current, ())
        waiting += [child for child in reversed(below) if child not in on_path]


def _message_id(link: Chain) -> str | None:
    return link.message.id if isinstance(link, Assistant) and link.message else None


def _belongs(other: User | Assistant, link: Assistant, called: set[str]) -> bool:
    """Whether `other` is a line of the same message as `link`, or answers a call of it."""
    if other.message is None or link.message is None:
        return False
    if isinstance(other, Assistant):
        return other.message.id is not None and other.message.id == link.message.id
    return any(result.tool_use_id in called for result in iter_tool_results(other.message.content))


def _calls_of(link: User | Assistant) -> set[str]:
    return {use.id for use in iter_tool_uses(link.message.content)} if link.message else set()


def find_branches(
    tree: Tree, main_path: Iterable[str], *, rewound_to_start: bool = False
) -> tuple[Branch, ...]:
    """The real branches: two prompts of a person, or two different replies, after one record.

    Several beginnings are a branch only if a rewind to the start is known: files are also begun
    anew, put together, or without links at all.
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
    on_path = set(main_path)
    groups = [*prompts.items(), *((at, list(firsts.values())) for at, firsts in replies.items())]
    found = [_make_branch(at, options, on_path) for at, options in groups if len(options) > 1]
    place = {uuid: number for number, uuid in enumerate(tree.links)}
    return tuple(sorted(found, key=lambda branch: place[branch.options[1]]))


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
        run = [uuid]
        while (found := anchors.get(run[-1], _find_stop(tree, run[-1], asides))) is None:
            run.append(tree.parents[run[-1]] or START)
        anchors |= dict.fromkeys(run, found)
    return anchors


def _find_stop(tree: Tree, uuid: str, asides: set[str]) -> str | None:
    """The anchor of `uuid` if one can be told without looking further up."""
    if uuid in tree.orphans or uuid in tree.cut:
        return NOWHERE
    above = tree.parents[uuid]
    if above is None:
        return START
    is_opaque = isinstance(tree.links[above], User | Assistant | CompactBoundary)
    return above if is_opaque and above not in asides else None


def _make_branch(at: str, options: list[str], on_path: set[str]) -> Branch:
    chosen = next((option for option in options if option in on_path), None)
    return Branch(at=at, options=tuple(options), chosen=chosen)
