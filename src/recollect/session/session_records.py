"""The records of a session, and the conversation that they form.

`Log` keeps records as they were written, at a constant cost per record. A repeated `uuid` replaces
the first line that had it, in its position, unless text would be lost; sidechain records inside a
main session are kept apart, because they belong to subagents. `read_conversation` leaves out lines
that a resuming client wrote a second time and inserts prompts that are only in the queue.
`find_copied` finds replies copied from another session using this file alone: a fork without marks,
or whose original is gone, can only be detected by comparing all files, as usage does.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice, pairwise, takewhile

import msgspec

from recollect.records import conversation_records, envelope, state, system_records
from recollect.records.blocks import ContentBlock, Text, Thinking, ToolResult, ToolUse
from recollect.session import queue, record_texts, times
from recollect.session.messages import Message

NIL_UUID = "00000000-0000-0000-0000-000000000000"


class Log:
    """The records of a session read so far."""

    def __init__(self) -> None:
        self.record_count = 0
        self.chain: list[envelope.Chain] = []
        """Links of this session's own conversation, each uuid once."""
        self.superseded: list[conversation_records.Assistant] = []
        """Lines replaced by a later line with the same uuid; their usage may be larger."""
        self.sidechain: list[envelope.Chain] = []
        """Lines of subagents that old clients wrote into the session's own file."""
        self.states: list[state.State] = []
        self.queue: list[queue.QueueLine] = []
        """Additions to and removals from the prompt queue, with their positions."""
        self.irregular: list[
            envelope.Damaged | envelope.Torn | envelope.Oversized | envelope.Unknown
        ] = []
        self.starts_in_sidechain: bool | None = None
        """Whether this is a subagent's own transcript; None until the first message."""
        self.rewound_to_start = False
        """Whether the client recorded a rewind to the start."""
        self._places: dict[str, tuple[list[envelope.Chain], int]] = {}
        self._namesakes: dict[str, list[str]] = {}
        """Names of lines with different content under a uuid that is already in use."""

    def extend(self, records: Iterable[envelope.Record]) -> None:
        """Append `records`."""
        for record in records:
            self.record_count += 1
            if isinstance(record, envelope.Chain) and (
                record.uuid or not isinstance(record, envelope.Unknown)
            ):
                self._add_link(record)
            elif isinstance(record, state.State):
                self.states.append(record)
                if isinstance(record, state.LastPrompt) and record.leaf_uuid == NIL_UUID:
                    self.rewound_to_start = True
                elif isinstance(record, state.QueueOperation):
                    line = queue.make_queue_line(len(self.chain), len(self.queue), record)
                    self.queue.append(line)
            if isinstance(
                record, envelope.Damaged | envelope.Torn | envelope.Oversized | envelope.Unknown
            ):
                self.irregular.append(record)

    def find(self, uuid: str) -> envelope.Chain | None:
        """Return the link with this uuid, even if it is a copy or belongs to a subagent."""
        links, index = self._places.get(uuid, ((), 0))
        return links[index] if links else None

    def find_names(self, uuid: str) -> tuple[str, ...]:
        """Return the names of all links that were written with this uuid, in file order."""
        return (uuid, *self._namesakes.get(uuid, ()))

    def _add_link(self, record: envelope.Chain) -> None:
        if self.starts_in_sidechain is None and isinstance(
            record, conversation_records.User | conversation_records.Assistant
        ):
            self.starts_in_sidechain = record.is_sidechain
        is_foreign = record.is_sidechain and self.starts_in_sidechain is False
        links = self.sidechain if is_foreign else self.chain
        if self._namesakes and record.parent_uuid in self._namesakes:
            record = msgspec.structs.replace(
                record, parent_uuid=self._namesakes[record.parent_uuid][-1]
            )
        if not record.uuid:
            links.append(record)
        elif record.uuid in self._places:
            self._add_again(record, record.uuid, links)
        else:
            self._places[record.uuid] = (links, len(links))
            links.append(record)

    def _add_again(self, record: envelope.Chain, uuid: str, links: list[envelope.Chain]) -> None:
        """Add a line whose uuid is known, replacing the line that it repeats, if any."""
        names = self._namesakes.get(uuid, [])
        for name in (uuid, *names):
            place, index = self._places[name]
            replaced = place[index]
            if _words_of(replaced) in _words_of(record):
                if isinstance(replaced, conversation_records.Assistant):
                    self.superseded.append(replaced)
                place[index] = record if name == uuid else _rename(record, replaced)
                return
        name = f"{uuid}-{len(names) + 2}"
        self._namesakes[uuid] = [*names, name]
        self._places[name] = (links, len(links))
        # Attached to the line before it; with its own parent, it would look like a branch.
        above = links[-1].uuid if links else None
        links.append(msgspec.structs.replace(record, uuid=name, parent_uuid=above))


def _rename(record: envelope.Chain, replaced: envelope.Chain) -> envelope.Chain:
    return msgspec.structs.replace(record, uuid=replaced.uuid, parent_uuid=replaced.parent_uuid)


def _words_of(record: envelope.Chain) -> str:
    """Return the text that would be lost if the line of `record` were replaced."""
    if isinstance(record, conversation_records.User | conversation_records.Assistant):
        return record_texts.join_text(
            record_texts.list_blocks(record.message.content if record.message else None)
        )
    return (record.content or "") if isinstance(record, system_records.System) else ""


def find_copies(chain: Sequence[envelope.Chain]) -> dict[str, str]:
    """Return the uuids of lines that repeat an earlier one, with the uuid of that one.

    Copies are only looked for after a second beginning, and only up to the last line that an id
    proves to be one, because users may repeat themselves.
    """
    roots = (pair for pair in enumerate(chain) if not pair[1].parent_uuid)
    starts = [place for place, link in roots if _begins(link)][1:]
    if not starts or not _repeats_id(chain, starts):
        return {}
    originals = _Originals(chain[: starts[0]])
    copies: dict[str, str] = {}
    proven = 0
    for link in chain[starts[0] :]:
        if _begins(link):
            originals.rewind()
        found = originals.find(link)
        if found is None:
            originals.add(link)
        elif link.uuid:
            copies[link.uuid] = found
            proven = len(copies) if _has_id(link) else proven
    return dict(islice(copies.items(), proven))


def _repeats_id(chain: Sequence[envelope.Chain], starts: Sequence[int]) -> bool:
    """Return whether an id occurs after two beginnings; otherwise no copy can be proved."""
    seen: set[str] = set()
    for start, stop in pairwise((0, *starts, len(chain))):
        ids = {each for link in chain[start:stop] for each in _iter_ids(link)}
        if not seen.isdisjoint(ids):
            return True
        seen |= ids
    return False


def _iter_ids(link: envelope.Chain) -> Iterator[str]:
    """Yield the ids of the link's message, of its calls and of the calls it has results for."""
    if isinstance(link, conversation_records.Assistant) and link.message is not None:
        if link.message.id:
            yield link.message.id
        yield from (use.id for use in record_texts.iter_tool_uses(link.message.content))
    elif isinstance(link, conversation_records.User) and link.message is not None:
        yield from (
            result.tool_use_id for result in record_texts.iter_tool_results(link.message.content)
        )


def drop_copies(chain: Sequence[envelope.Chain], copies: dict[str, str]) -> list[envelope.Chain]:
    """Return `chain` without the copies; a child of a copy becomes a child of the original."""
    return [
        msgspec.structs.replace(link, parent_uuid=copies[link.parent_uuid])
        if link.parent_uuid in copies
        else link
        for link in chain
        if link.uuid not in copies
    ]


def _begins(link: envelope.Chain) -> bool:
    """Return whether `link` is a message without a parent, like the first line of a copy."""
    return (
        not link.parent_uuid
        and link.uuid is not None
        and isinstance(link, conversation_records.User | conversation_records.Assistant)
    )


class _Originals:
    """Lines that are not copies, by their fingerprints, in file order."""

    def __init__(self, chain: Sequence[envelope.Chain]) -> None:
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self._uuids: list[str] = []
        self._reached = 0
        for link in chain:
            self.add(link)

    def add(self, link: envelope.Chain) -> None:
        """Add a line that is not a copy."""
        if link.uuid:
            for mark in _list_marks(link):
                self._places[mark].append(len(self._uuids))
            self._uuids.append(link.uuid)

    def rewind(self) -> None:
        """Start comparing with the first line again."""
        self._reached = 0

    def find(self, link: envelope.Chain) -> str | None:
        """Return the line that `link` repeats, no earlier than the last one found."""
        found = [self._find_place(mark) for mark in _list_marks(link)]
        places = [place for place in found if place is not None]
        if not places or len(places) < len(found):
            return None
        self._reached = max(places)
        return self._uuids[self._reached]

    def _find_place(self, mark: str) -> int | None:
        places = self._places.get(mark, [])
        at = bisect_left(places, self._reached)
        return places[at] if at < len(places) else None


def _has_id(link: envelope.Chain) -> bool:
    """Return whether a line is identified by an id, not only by its content."""
    message = (
        link.message
        if isinstance(link, conversation_records.User | conversation_records.Assistant)
        else None
    )
    if message is None:
        return False
    return bool(getattr(message, "id", None)) or any(
        record_texts.iter_tool_results(message.content)
    )


def _list_marks(link: envelope.Chain) -> list[str]:
    """Return the parts of each block that stay the same in a copy."""
    if (
        not isinstance(link, conversation_records.User | conversation_records.Assistant)
        or link.message is None
    ):
        return []
    blocks = record_texts.list_blocks(link.message.content)
    owner = link.message.id if isinstance(link, conversation_records.Assistant) else None
    return [_mark_block(block, owner) for block in blocks]


def _mark_block(block: ContentBlock, owner: str | None) -> str:
    match block:
        case ToolUse():
            return f"call {block.id}"
        case ToolResult():
            return f"result {block.tool_use_id}"
        case Text():
            return f"said {owner} {block.words}"
        case Thinking():
            return f"thought {owner} {block.thinking}"
    return f"{type(block).__name__} {owner} {hash(msgspec.json.encode(block))}"


def find_copied(
    chain: Iterable[envelope.Chain], states: Iterable[state.State], messages: Iterable[Message]
) -> frozenset[str]:
    """Return the ids of copied replies."""
    replies = [m for m in messages if m.role == "assistant" and not m.is_synthetic]
    began = _find_beginning(chain, states)
    older = {m.id for m in replies if _is_forked(m) or _is_before(m, began)}
    return frozenset(older | _find_without_request(replies))


def _find_beginning(
    chain: Iterable[envelope.Chain], states: Iterable[state.State]
) -> datetime | None:
    """Return the time of the first record in the file that has one."""
    firsts = (
        next((each for each in records if each.timestamp), None) for records in (chain, states)
    )
    found = [each for each in firsts if each is not None]
    return times.parse_time(min(found, key=envelope.get_offset).timestamp) if found else None


def _find_without_request(replies: Sequence[Message]) -> set[str]:
    """Return replies at the start without a request id, if later ones have one."""
    if not any(reply.request_id for reply in replies):
        return set()
    return {reply.id for reply in takewhile(lambda reply: not reply.request_id, replies)}


def _is_forked(message: Message) -> bool:
    return message.records[0].forked_from is not None


def _is_before(message: Message, began: datetime | None) -> bool:
    moment = times.parse_time(message.timestamp)
    return began is not None and moment is not None and moment < began


class Conversation(msgspec.Struct, frozen=True):
    """Links in file order, each uuid once."""

    chain: Sequence[envelope.Chain]
    superseded: Sequence[conversation_records.Assistant]
    """Lines replaced by others; their usage may be larger."""
    copies: dict[str, str]
    """Uuids of the omitted lines, with the uuids of those that they repeat."""


def read_conversation(log: Log) -> Conversation:
    """Return the conversation in `log`."""
    chain = queue.insert_queued(log.chain, log.queue) if log.queue else log.chain
    copies = find_copies(chain)
    if not copies:
        return Conversation(chain, log.superseded, {})
    repeated = [
        each
        for each in chain
        if each.uuid in copies and isinstance(each, conversation_records.Assistant)
    ]
    return Conversation(drop_copies(chain, copies), [*log.superseded, *repeated], copies)
