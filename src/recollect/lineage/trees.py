"""Build trees of sessions: forks, continuations and subagents below their parents.

Uses only listings. So a fork whose file starts in the middle of its parent, as after a compaction,
is recognised only if its records name the parent. Sessions whose parent is not listed are roots.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from recollect.documents.session_listing import SessionListing
from recollect.library.session_filters import find_start
from recollect.records.usage import is_unique


class Relation(StrEnum):
    """The relation of a session to its parent."""

    SUBAGENT = "subagent"
    FORK = "fork"
    CONTINUATION = "continuation"


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


_Link = tuple[str, Relation]
"""The path of the parent, and the relation to it."""


def build_trees(listings: Sequence[SessionListing]) -> tuple[SessionTree, ...]:
    """Return the trees of `listings`, ordered by the first listing of each."""
    links = _cut_cycles(_find_links(listings))
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


def find_relatives(listing: SessionListing, listings: Sequence[SessionListing]) -> Relatives:
    """Return the session among `listings` that one comes from, and those that come from it.

    A subagent is part of its session and comes from none.
    """
    links = _cut_cycles(_find_links(listings))
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


def _find_links(listings: Sequence[SessionListing]) -> dict[str, _Link]:
    """Return the parent of each listing that has one, by the most reliable evidence."""
    sessions = [each for each in listings if not each.is_subagent]
    paths_by_id = {each.id: each.path for each in reversed(sessions)}
    continued = {each.continued_in: each.path for each in sessions if each.continued_in}
    originals: dict[Hashable, str] = {}
    for each in sorted(sessions, key=_start_key):
        if each.first_reply_id:
            originals.setdefault(_conversation_key(each), each.path)
    links: dict[str, _Link] = {}
    for each in listings:
        candidates = (
            (paths_by_id.get(each.parent_id or ""), Relation.SUBAGENT),
            (continued.get(each.id), Relation.CONTINUATION),
            (paths_by_id.get(each.forked_from or ""), Relation.FORK),
            (originals.get(_conversation_key(each)), Relation.FORK),
        )
        possible = candidates[:1] if each.is_subagent else candidates[1:]
        for path, relation in possible:
            if path is not None and path != each.path:
                links[each.path] = (path, relation)
                break
    return links


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
