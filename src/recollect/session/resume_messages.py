"""What the client would restore if this session were resumed.

The history starts at the last compaction: its summary, the messages that it kept, and what came
after. Like the client's own reader, except that a cycle or a lost parent ends the chain there
instead of losing all of it.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from msgspec import Struct

from recollect.records.envelope import Chain
from recollect.records.system import CompactBoundary
from recollect.session.messages import Message
from recollect.session.tree import Tree


class PlainMessage(Struct, frozen=True):
    """A message for the simplest consumers."""

    role: str
    content: str


def find_loaded_links(tree: Tree, path: Sequence[str]) -> tuple[Chain, ...]:
    """Return the links that a resume loads, in order; `path` leads to the live end."""
    # A client follows only links: it does not know what comes before a gap.
    starts = (n for n, uuid in enumerate(path) if _is_start(tree, uuid))
    links = [tree.links[uuid] for uuid in path[max(starts, default=0) :]]
    return tuple(_insert_preserved(links, tree))


def _is_start(tree: Tree, uuid: str) -> bool:
    return tree.parents[uuid] is None or isinstance(tree.links[uuid], CompactBoundary)


def _insert_preserved(links: Sequence[Chain], tree: Tree) -> Iterator[Chain]:
    """Yield `links` with the records that the preceding compaction kept, after their anchor."""
    present = {link.uuid for link in links}
    anchor, uuids = _find_preserved(links[0], tree) if links else (None, ())
    kept = [tree.links[uuid] for uuid in uuids if uuid in tree.links and uuid not in present]
    if anchor not in present and links:
        anchor = links[0].uuid
    for link in links:
        yield link
        if link.uuid == anchor:
            yield from kept


def _find_preserved(first: Chain, tree: Tree) -> tuple[str | None, Sequence[str]]:
    """Return the anchor of the records that the compaction kept, and which they are."""
    facts = first.compact_metadata if isinstance(first, CompactBoundary) else None
    if facts is None:
        return None, ()
    if facts.preserved_messages is not None:
        return facts.preserved_messages.anchor_uuid, facts.preserved_messages.uuids
    stretch = facts.preserved_segment
    if stretch is None or stretch.tail_uuid not in tree.links:
        return None, ()
    uuids: list[str] = []
    for uuid in tree.iter_ancestors(stretch.tail_uuid):
        uuids.append(uuid)
        if uuid == stretch.head_uuid:
            return stretch.anchor_uuid, uuids[::-1]
    return None, ()


def select_loaded(messages: Iterable[Message], loaded: Iterable[Chain]) -> tuple[Message, ...]:
    """Return the messages in `loaded`, in that order."""
    place = {record.uuid: number for number, record in enumerate(loaded)}
    found: list[tuple[int, Message]] = []
    for message in messages:
        places = [place[uuid] for uuid in message.uuids if uuid in place]
        if places:
            found.append((min(places), message))
    return tuple(message for _, message in sorted(found, key=itemgetter(0)))


def simplify(messages: Iterable[Message]) -> tuple[PlainMessage, ...]:
    """Return role and text of what a person would call messages."""
    return tuple(
        PlainMessage(message.role, message.text)
        for message in messages
        if message.is_visible and message.text
    )
