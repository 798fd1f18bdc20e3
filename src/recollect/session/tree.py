"""Build a forest from parent links, without cycles, and find paths through it.

Everything is linear in the number of records and nothing recurses: chains of 100,000 links are
normal. If a chain is broken, by a lost line or by a client that started a second one, its pieces
are joined in file order.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from recollect.records import conversation_records, envelope, system_records
from recollect.session.record_texts import iter_tool_results, iter_tool_uses

_MESSAGES = (conversation_records.User, conversation_records.Assistant)
"""A tuple, because `User | Assistant` would be built again for every link."""


class Tree(Struct, frozen=True):
    """Parents and children, by uuid."""

    links: dict[str, envelope.Chain]
    parents: dict[str, str | None]
    children: dict[str, tuple[str, ...]]
    roots: tuple[str, ...]
    orphans: frozenset[str]
    """Links whose parent is not in the file."""
    cut: frozenset[str]
    """Links whose parent was dropped because it closed a cycle."""
    before: dict[str, str]
    """The predecessor of each later root: the record that its compaction names, or else the last
    message before it in the file."""
    gaps: frozenset[str]
    """Roots with a predecessor that no link names."""

    def iter_ancestors(self, uuid: str) -> Iterator[str]:
        """Yield `uuid` and its ancestors, newest first, across compactions and gaps."""
        current: str | None = uuid
        seen: set[str] = set()
        while current is not None and current not in seen:
            seen.add(current)
            yield current
            above = self.parents[current]
            current = self.before.get(current) if above is None else above


def build_tree(chain: Sequence[envelope.Chain], *, rewound_to_start: bool = False) -> Tree:
    """Build the forest of `chain`, in which each uuid occurs once.

    After a rewind to the start, a root without a parent is another beginning and follows nothing.
    """
    links = {link.uuid: link for link in chain if link.uuid}
    wanted = {uuid: link.parent_uuid or None for uuid, link in links.items()}
    orphans = frozenset(uuid for uuid, above in wanted.items() if above and above not in links)
    cut = _find_cycles(wanted)
    lost = orphans | cut
    parents = {uuid: None if uuid in lost else above for uuid, above in wanted.items()}
    children: defaultdict[str, list[str]] = defaultdict(list)
    for uuid, above in parents.items():
        if above is not None:
            children[above].append(uuid)
    roots = tuple(uuid for uuid, above in parents.items() if above is None)
    before = _find_before(chain)
    is_broken = any(uuid not in before for uuid in roots[1:])
    joined = _join_roots(links, parents, roots) if is_broken else {}
    if rewound_to_start:
        joined = {uuid: above for uuid, above in joined.items() if uuid in lost}
    # In a file where no record has a parent, no link is missing either.
    gaps = joined.keys() - before.keys() if children else joined.keys() & lost
    return Tree(
        links=links,
        parents=parents,
        children={uuid: tuple(below) for uuid, below in children.items()},
        roots=roots,
        orphans=orphans,
        cut=cut,
        before=joined | before,
        gaps=frozenset(gaps),
    )


def _find_cycles(wanted: dict[str, str | None]) -> frozenset[str]:
    """Return one link of each cycle: the earliest in the file, which then becomes a root."""
    if not _has_late_parent(wanted):
        return frozenset()
    order = {uuid: number for number, uuid in enumerate(wanted)}
    visited: set[str] = set()
    cut: set[str] = set()
    for start in wanted:
        path: dict[str, None] = {}
        current: str | None = start
        while current is not None and current in wanted and current not in visited:
            if current in path:
                cycle = list(path)[list(path).index(current) :]
                cut.add(min(cycle, key=order.__getitem__))
                break
            path[current] = None
            current = wanted[current]
        visited.update(path)
    return frozenset(cut)


def _has_late_parent(wanted: dict[str, str | None]) -> bool:
    """Return whether a link is written before its parent; a cycle has at least one such link."""
    seen: set[str | None] = set()
    for uuid, above in wanted.items():
        seen.add(uuid)
        if above is not None and above not in seen and above in wanted:
            return True
        if above == uuid:
            return True
    return False


def _find_before(chain: Sequence[envelope.Chain]) -> dict[str, str]:
    """Return the record before each compaction; forks may name a later or a lost one."""
    before: dict[str, str] = {}
    if not any(isinstance(link, system_records.CompactBoundary) for link in chain):
        return before
    seen: set[str] = set()
    leaf = None
    for link in chain:
        if isinstance(link, system_records.CompactBoundary) and link.uuid:
            named = link.logical_parent_uuid
            found = named if named in seen else leaf
            before |= {link.uuid: found} if found else {}
        if link.uuid:
            seen.add(link.uuid)
            leaf = link.uuid if is_message(link) else leaf
    return before


def _join_roots(
    links: dict[str, envelope.Chain], parents: dict[str, str | None], roots: Sequence[str]
) -> dict[str, str]:
    """Return the last message before each root that has a conversation below it.

    Only if that message belongs to an earlier root: otherwise a child written before its parent
    would close a cycle.
    """
    root_of = _find_roots(parents)
    with_messages = {root_of[uuid] for uuid, link in links.items() if is_message(link)}
    rank = {uuid: number for number, uuid in enumerate(roots)}
    joined: dict[str, str] = {}
    last = None
    for uuid, link in links.items():
        if uuid in rank and uuid in with_messages and last and rank[root_of[last]] < rank[uuid]:
            joined[uuid] = last
        last = uuid if is_message(link) else last
    return joined


def _find_roots(parents: dict[str, str | None]) -> dict[str, str]:
    """Return the root of each link."""
    root_of: dict[str, str] = {}
    for uuid in parents:
        run, current = [uuid], uuid
        while current not in root_of and (above := parents[current]) is not None:
            run.append(current := above)
        root_of |= dict.fromkeys(run, root_of.get(current, current))
    return root_of


def find_leaf(tree: Tree) -> str | None:
    """Return the live end of the conversation: the last message that no other message follows.

    "Last" is by position in the file: compactions write the messages they keep again, and some
    clients repeat a prompt that was answered long ago.
    """
    messages = [uuid for uuid, link in tree.links.items() if is_message(link)]
    followed: set[str] = set()
    for uuid in messages:
        above = tree.parents[uuid]
        while above is not None and above not in followed:
            followed.add(above)
            above = tree.parents[above]
    ends = [uuid for uuid in reversed(messages) if uuid not in followed]
    return max(ends, key=lambda uuid: envelope.get_offset(tree.links[uuid]), default=None)


def is_message(link: envelope.Chain) -> bool:
    """Return whether `link` is a message, not one that the client marks as meta."""
    return isinstance(link, _MESSAGES) and not link.is_meta


def find_path(tree: Tree, leaf: str | None) -> tuple[str, ...]:
    """Return the path from the start of the history to `leaf`, with side links merged in.

    A side link goes after the last line of its message, calls before results: nothing else is said
    between the lines of one message.
    """
    if leaf is None:
        return ()
    path = list(tree.iter_ancestors(leaf))[::-1]
    on_path = set(path)
    forks = [uuid for uuid in path if not on_path.issuperset(tree.children.get(uuid, ()))]
    if not forks:
        return tuple(path)
    last_lines = {_message_id(tree.links[uuid]) or uuid: uuid for uuid in path}
    beside: defaultdict[str, list[str]] = defaultdict(list)
    for uuid in forks:
        anchor = last_lines[_message_id(tree.links[uuid]) or uuid]
        beside[anchor] += _iter_side_links(tree, uuid, on_path)
    place = {uuid: number for number, uuid in enumerate(tree.links)}

    def order(uuid: str) -> tuple[bool, int]:
        return isinstance(tree.links[uuid], conversation_records.User), place[uuid]

    return tuple(
        found for uuid in path for found in (uuid, *sorted(beside.get(uuid, ()), key=order))
    )


def _iter_side_links(tree: Tree, uuid: str, on_path: set[str]) -> Iterator[str]:
    """Yield lines of the message of `uuid`, and results of its calls, that are not on the path.

    Each result follows the line of its own call, and the conversation continues from one of them.
    """
    link = tree.links[uuid]
    if not isinstance(link, conversation_records.Assistant):
        return
    called = _calls_of(link)
    waiting = [uuid]
    while waiting:
        current = waiting.pop()
        other = tree.links[current]
        if current != uuid and isinstance(
            other, conversation_records.User | conversation_records.Assistant
        ):
            if not _belongs(other, link, called):
                continue
            called |= _calls_of(other)
            yield current
        below = tree.children.get(current, ())
        waiting += [child for child in reversed(below) if child not in on_path]


def _message_id(link: envelope.Chain) -> str | None:
    return (
        link.message.id
        if isinstance(link, conversation_records.Assistant) and link.message
        else None
    )


def _belongs(
    other: conversation_records.User | conversation_records.Assistant,
    link: conversation_records.Assistant,
    called: set[str],
) -> bool:
    """Return whether `other` is a line of the link's message, or the result of one of its calls."""
    if other.message is None or link.message is None:
        return False
    if isinstance(other, conversation_records.Assistant):
        return other.message.id is not None and other.message.id == link.message.id
    return any(result.tool_use_id in called for result in iter_tool_results(other.message.content))


def _calls_of(link: conversation_records.User | conversation_records.Assistant) -> set[str]:
    return {use.id for use in iter_tool_uses(link.message.content)} if link.message else set()
