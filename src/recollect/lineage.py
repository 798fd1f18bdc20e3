"""Relations between sessions: trees of forks, continuations and subagents below their parents, and
threads: sessions that continue each other, to be read as one conversation.

Trees are built from listings only, which name the parent of a fork where the files reveal it.
Sessions whose parent is not listed are roots.

Continuations, sessions after a `/clear`, and the copies that older clients made to resume a session
follow the one before them. A copy repeats what it was made of; `find_unrepeated_turns` says which
turns of each session are to be read, so that nothing is read twice, and nothing that the original
says after the copy was made. Threads also need the ids in turns; opening sessions is up to the
caller.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from recollect.documents.session_listing import SessionListing
from recollect.library.session_filters import find_start
from recollect.library.sidecar_files import TypedPrompt
from recollect.records.token_usage import is_unique
from recollect.session.session import Session
from recollect.session.times import parse_time


class Relation(StrEnum):
    """The relation of a session to its parent."""

    SUBAGENT = "subagent"
    FORK = "fork"
    CONTINUATION = "continuation"
    CLEAR = "clear"
    """It begins with a `/clear` in the parent."""


class SessionTree(Struct, frozen=True):
    """A session and its descendants, the earliest first."""

    listing: SessionListing
    relation: Relation | None = None
    children: "tuple[SessionTree, ...]" = ()

    def __iter__(self) -> Iterator[SessionListing]:
        """Iterate over all sessions of the tree, each before its descendants."""
        yield self.listing
        for child in self.children:
            yield from child


_CLEAR_SECONDS = 2.0
"""Maximum time between a `/clear` and the new session's first record: 5 to 65 ms were seen."""

_Link = tuple[str, Relation]
"""The path of the parent, and the relation to it."""


def build_trees(
    listings: Sequence[SessionListing], clears: Sequence[TypedPrompt] = ()
) -> tuple[SessionTree, ...]:
    """Return the trees of `listings`, ordered by the first listing of each."""
    links = find_links(listings, clears)
    depths = {each.path: len(_list_ancestors(each.path, links)) for each in listings}
    children: defaultdict[str, list[SessionTree]] = defaultdict(list)
    roots: dict[str, SessionTree] = {}
    # From the deepest up, so that the children of a session are built before it.
    for each in sorted(listings, key=lambda one: (-depths[one.path], *_start_key(one))):
        parent, relation = links.get(each.path, (None, None))
        tree = SessionTree(each, relation, tuple(children[each.path]))
        if parent is None:
            roots[each.path] = tree
        else:
            children[parent].append(tree)
    order = dict.fromkeys(_list_ancestors(each.path, links)[-1] for each in listings)
    return tuple(roots[path] for path in order)


class Relatives(NamedTuple):
    """The sessions before and after one."""

    origin: SessionListing | None
    relation: Relation | None
    """To the origin."""
    successors: tuple[tuple[Relation, SessionListing], ...]
    """Continuations and forks, the earliest first."""


def find_relatives(
    listing: SessionListing,
    listings: Sequence[SessionListing],
    clears: Sequence[TypedPrompt] = (),
) -> Relatives:
    """Return the session among `listings` that one comes from, and those that come from it.

    A subagent is part of its session and comes from none.
    """
    links = find_links(listings, clears)
    by_path = {each.path: each for each in listings}
    parent, relation = links.get(listing.path, (None, None))
    if relation is Relation.SUBAGENT:
        parent = relation = None
    children = [
        (kind, by_path[path])
        for path, (owner, kind) in links.items()
        if owner == listing.path and kind is not Relation.SUBAGENT
    ]
    children.sort(key=lambda child: _start_key(child[1]))
    return Relatives(by_path[parent] if parent else None, relation, tuple(children))


def _start_key(listing: SessionListing) -> tuple[float, str]:
    return find_start(listing), listing.path


def find_links(
    listings: Sequence[SessionListing], clears: Sequence[TypedPrompt] = ()
) -> dict[str, _Link]:
    """Return the parent of each listing that has one, by its path, without cycles.

    The most reliable evidence counts. `clears` are the `/clear` lines of the prompt histories.
    """
    return _cut_cycles(_collect_links(listings, clears))


def _collect_links(
    listings: Sequence[SessionListing], clears: Sequence[TypedPrompt]
) -> dict[str, _Link]:
    sessions = [each for each in listings if not each.is_subagent]
    paths_by_id = {each.id: each.path for each in reversed(sessions)}
    continued = {each.continued_in: each.path for each in sessions if each.continued_in}
    originals: dict[Hashable, str] = {}
    for each in sorted(sessions, key=_start_key):
        if each.first_reply_id:
            originals.setdefault(_conversation_key(each), each.path)
    cleared = _find_cleared(sessions, clears)
    links: dict[str, _Link] = {}
    for each in listings:
        candidates = (
            (paths_by_id.get(each.parent_id or ""), Relation.SUBAGENT),
            (continued.get(each.id), Relation.CONTINUATION),
            (paths_by_id.get(each.forked_from or ""), Relation.FORK),
            (originals.get(_conversation_key(each)), Relation.FORK),
            (paths_by_id.get(cleared.get(each.id, "")), Relation.CLEAR),
        )
        possible = candidates[:1] if each.is_subagent else candidates[1:]
        for path, relation in possible:
            if path is not None and path != each.path:
                links[each.path] = (path, relation)
                break
    return links


def _find_cleared(
    sessions: Sequence[SessionListing], clears: Sequence[TypedPrompt]
) -> dict[str, str]:
    """Return, by id, the session whose `/clear` started each one.

    No record links the two: it is the session in the same directory that starts right then.
    """
    found: dict[str, str] = {}
    starts = {each.id: (each.cwd, find_start(each)) for each in sessions} if clears else {}
    for typed in clears:
        at = (typed.timestamp or 0) / 1000
        late = {
            name: start - at
            for name, (directory, start) in starts.items()
            if directory == typed.project and name != typed.session_id and name not in found
        }
        name = min(late, key=lambda each: abs(late[each]), default=None)
        if name is not None and -_CLEAR_SECONDS < late[name] < _CLEAR_SECONDS:
            found[name] = typed.session_id or ""
    return found


def _conversation_key(listing: SessionListing) -> Hashable:
    """Return a key that is equal for sessions that started as the same conversation.

    That is the id of the first reply. If the id is not globally unique, the first prompt and its
    time must be equal too, as they are in copies made by current clients.
    """
    first = listing.first_reply_id
    if first is None or is_unique(first):
        return first
    return first, listing.first_prompt, listing.first_prompt_time


def _cut_cycles(links: Mapping[str, _Link]) -> dict[str, _Link]:
    """Return `links` without those that would make a session its own descendant."""
    kept: dict[str, _Link] = {}
    for path, link in links.items():
        if _list_ancestors(link[0], kept)[-1] != path:
            kept[path] = link
    return kept


def _list_ancestors(path: str, links: Mapping[str, _Link]) -> list[str]:
    """Return `path`, its parent, and so on up to the root."""
    found = [path]
    while found[-1] in links:
        found.append(links[found[-1]][0])
    return found


class ThreadPart(NamedTuple):
    """A session of a thread."""

    listing: SessionListing
    relation: Relation | None
    """To the one before it; None for the first."""


def find_thread(
    listing: SessionListing,
    listings: Sequence[SessionListing],
    clears: Sequence[TypedPrompt] = (),
) -> tuple[ThreadPart, ...]:
    """Return the sessions before and after one that are one conversation with it, in order."""
    links = find_links(listings, clears)
    by_path = {each.path: each for each in listings}
    parts = [ThreadPart(listing, None)]
    while parts[0].listing.path in links:
        parent, relation = links[parts[0].listing.path]
        if relation is Relation.SUBAGENT:
            break
        parts[0] = parts[0]._replace(relation=relation)
        parts.insert(0, ThreadPart(by_path[parent], None))
    while following := _find_next(parts[-1].listing, by_path, links):
        parts.append(following)
    return tuple(parts)


def _find_next(
    listing: SessionListing,
    by_path: dict[str, SessionListing],
    links: dict[str, tuple[str, Relation]],
) -> ThreadPart | None:
    """Return the earliest session that continues one."""
    found = [
        ThreadPart(by_path[path], relation)
        for path, (parent, relation) in links.items()
        if parent == listing.path and _may_continue(listing, by_path[path], relation)
    ]
    return min(found, key=lambda part: find_start(part.listing), default=None)


def _may_continue(before: SessionListing, after: SessionListing, relation: Relation) -> bool:
    """Return whether a session may come next; for a copy, its turns decide."""
    if relation is Relation.FORK:
        end, later = parse_time(before.last_active), parse_time(after.last_active)
        return end is not None and later is not None and end < later
    return relation in (Relation.CONTINUATION, Relation.CLEAR)


def list_turn_keys(session: Session) -> list[frozenset[str]]:
    """Return what identifies each turn in copies too: ids of its replies, uuids of its records."""
    return [
        frozenset(name for said in turn.messages for name in (said.id, *said.uuids))
        for turn in session.turns
    ]


class PartTurns(NamedTuple):
    """Keys that identify the turns of a session in a thread."""

    keys: Sequence[AbstractSet[str]]
    """The keys of each turn."""
    is_copy: bool
    """Whether it begins as a copy of the session before it."""


def find_unrepeated_turns(parts: Sequence[PartTurns], wanted: int) -> list[range]:
    """Return the turns of each session in the thread of the session at `wanted`, without repeats.

    A copy that was made in the middle of that session or a later one is an alternative to its
    remaining turns, so the thread ends before such a copy.
    """
    ranges = [range(len(part.keys)) for part in parts[:1]]
    for before, part in pairwise(parts):
        shared, last = _find_shared(before.keys, part.keys) if part.is_copy else (0, None)
        is_alternative = last is not None and last + 1 < len(before.keys)
        if is_alternative and len(ranges) > wanted:
            break
        if last is not None:
            ranges[-1] = range(ranges[-1].start, max(last + 1, ranges[-1].start))
        ranges.append(range(shared, len(part.keys)))
    return ranges


def _find_shared(
    original: Sequence[AbstractSet[str]], copy: Sequence[AbstractSet[str]]
) -> tuple[int, int | None]:
    """Return how many turns a copy begins with, and the last of the original that it has."""
    known, own = frozenset[str]().union(*original), frozenset[str]().union(*copy)
    repeated = [at for at, keys in enumerate(copy) if keys & known]
    copied = [at for at, keys in enumerate(original) if keys & own]
    return (repeated[-1] + 1, copied[-1]) if repeated else (0, None)
