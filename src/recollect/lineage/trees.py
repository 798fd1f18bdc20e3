"""A list of sessions → trees: what was forked, continued or started as a subagent under its parent.

Goes by what lists know, so a fork whose file begins in the middle of its parent, as after a
compaction, is found only where its records name the parent. A parent that is not in the list leaves
its children on their own.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from recollect.library.selection import find_beginning
from recollect.store.listings import Listing


class Relation(StrEnum):
    """What a session is to the one above it."""

    SUBAGENT = "subagent"
    FORK = "fork"
    CONTINUATION = "continuation"


class Tree(Struct, frozen=True):
    """A session with those that descend from it, the earliest first."""

    listing: Listing
    relation: Relation | None = None
    children: "tuple[Tree, ...]" = ()

    def __iter__(self) -> Iterator[Listing]:
        """All sessions of the tree, each before those that descend from it."""
        yield self.listing
        for child in self.children:
            yield from child


_Link = tuple[str, Relation]
"""The path of the parent, and what the child is to it."""


def build_trees(listings: Sequence[Listing]) -> tuple[Tree, ...]:
    """The trees that `listings` form, in the order of the first that each holds."""
    links = _cut_cycles(_find_links(listings))
    depths = {each.path: len(_climb(each.path, links)) for each in listings}
    grown: defaultdict[str, list[Tree]] = defaultdict(list)
    roots: dict[str, Tree] = {}
    # From the deepest up, so that whatever hangs below a session is there before it.
    for each in sorted(listings, key=lambda one: (-depths[one.path], *_begun(one))):
        parent, relation = links.get(each.path, (None, None))
        tree = Tree(each, relation, tuple(grown[each.path]))
        if parent is None:
            roots[each.path] = tree
        else:
            grown[parent].append(tree)
    order = dict.fromkeys(_climb(each.path, links)[-1] for each in listings)
    return tuple(roots[path] for path in order)


def _begun(listing: Listing) -> tuple[float, str]:
    return find_beginning(listing.created, listing.modified), listing.path


def _find_links(listings: Sequence[Listing]) -> dict[str, _Link]:
    """The parent of each listing that has one, the most certain evidence first."""
    sessions = [each for each in listings if not each.is_subagent]
    path_of = {each.id: each.path for each in reversed(sessions)}
    continued = {each.continued_in: each.path for each in sessions if each.continued_in}
    eldest: dict[str, str] = {}
    for each in sorted(sessions, key=_begun):
        if each.first_reply_id:
            eldest.setdefault(each.first_reply_id, each.path)
    links: dict[str, _Link] = {}
    for each in listings:
        candidates = (
            (path_of.get(each.parent_id or ""), Relation.SUBAGENT),
            (continued.get(each.id), Relation.CONTINUATION),
            (path_of.get(each.forked_from or ""), Relation.FORK),
            (eldest.get(each.first_reply_id or ""), Relation.FORK),
        )
        wanted = candidates[:1] if each.is_subagent else candidates[1:]
        for path, relation in wanted:
            if path is not None and path != each.path:
                links[each.path] = (path, relation)
                break
    return links


def _cut_cycles(links: Mapping[str, _Link]) -> dict[str, _Link]:
    """`links` without those by which a session would descend from itself."""
    kept: dict[str, _Link] = {}
    for path, link in links.items():
        if _climb(link[0], kept)[-1] != path:
            kept[path] = link
    return kept


def _climb(path: str, links: Mapping[str, _Link]) -> list[str]:
    """`path`, its parent, and so on up to the root."""
    found = [path]
    while found[-1] in links:
        found.append(links[found[-1]][0])
    return found
