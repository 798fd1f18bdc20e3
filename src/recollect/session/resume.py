"""What the client would restore if this session were resumed.

The history starts at the last compaction: its summary, the messages that it kept, and what came
after. Like the client's own reader, except that a circle or a lost parent ends the chain there
instead of losing all of it.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from msgspec import Struct

from recollect.records.conversation import Assistant, User
from recollect.records.envelope import Chain
from recollect.records.system import CompactBoundary
from recollect.session.messages import Message
from recollect.session.tree import Tree


class PlainMessage(Struct, frozen=True):
    """A message as the simplest consumers want it."""

    role: str
    content: str


def find_resume_chain(tree: Tree, main_path: Sequence[str]) -> tuple[User | Assistant, ...]:
    """The records that a resume loads, in order."""
    path = [tree.links[uuid] for uuid in main_path]
    start = max((n for n, link in enumerate(path) if isinstance(link, CompactBoundary)), default=0)
    loaded = _hang_preserved(path[start:], tree)
    return tuple(link for link in loaded if isinstance(link, User | Assistant))


def _hang_preserved(links: Sequence[Chain], tree: Tree) -> Iterator[Chain]:
    """`links` with the records that the compaction before them kept, behind their anchor."""
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
    """Where the compaction wants the records that it kept, and which they are."""
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


def simplify(messages: Iterable[Message], loaded: Iterable[Chain]) -> tuple[PlainMessage, ...]:
    """Role and text of the loaded messages that a person would call messages, as loaded."""
    place = {record.uuid: number for number, record in enumerate(loaded)}
    found: list[tuple[int, PlainMessage]] = []
    for message in messages:
        places = [place[uuid] for uuid in message.uuids if uuid in place]
        if places and message.is_visible and message.text:
            found.append((min(places), PlainMessage(message.role, message.text)))
    return tuple(plain for _, plain in sorted(found, key=itemgetter(0)))
