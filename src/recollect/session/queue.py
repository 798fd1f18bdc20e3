"""Prompts that only the records of the queue hold, as links of the conversation.

Clients from 2.0.77 to 2.1.36 wrote what a person typed in the middle of a turn into the queue's
records and nowhere else; newer ones write an attachment, or a user record, with the same words,
which then is the prompt. What left the queue without reaching the model was said all the same.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from recollect.records.attachment_kinds import QueuedCommand
from recollect.records.attachments import Attachment
from recollect.records.blocks import Content
from recollect.records.conversation import Assistant, User
from recollect.records.envelope import Chain, Span
from recollect.records.state import QueueOperation
from recollect.records.system import System
from recollect.session.content import iter_tool_results, join_text, list_blocks
from recollect.session.prompts import read_command

_UNSENT = ("cancel", "clear", "discard", "drop")
"""Parts of the reasons for which a prompt leaves the queue unread."""


_ANY_COMMAND = "<command>"


class QueuedPrompt(Chain, frozen=True, tag="queued-prompt"):
    """A prompt as its line in the queue has it; whether the model took it up is known later."""

    prompt: Content = None
    is_sent: bool = False


class QueueLine(Struct, frozen=True):
    """A record of the queue, and how many links of the conversation stand before it."""

    place: int
    number: int
    record: QueueOperation
    words: str
    """What was put in or taken out."""


def make_queue_line(place: int, number: int, record: QueueOperation) -> QueueLine:
    """The line of the queue that `record` is."""
    return QueueLine(place, number, record, join_text(list_blocks(record.content)).strip())


class _Exit(Struct, frozen=True):
    """How and where a prompt left the queue."""

    entry: QueueLine
    place: int
    is_sent: bool


def name_queued(span: Span | None, number: int = 0) -> str:
    """What a prompt goes by that has no uuid: where its line stands, else its number."""
    return f"queue-{span.offset if span else number}"


def insert_queued(chain: Sequence[Chain], lines: Sequence[QueueLine]) -> Sequence[Chain]:
    """`chain` with the prompts that only `lines` hold, each where it was taken up."""
    entered = [line for line in lines if line.record.operation == "enqueue"]
    if all(_is_recorded_next(chain, line) for line in entered):
        return chain
    added: defaultdict[int, list[_Exit]] = defaultdict(list)
    recorded = _Recorded(chain, entered)
    # The last first: of two equal prompts a record is that of the one that came just before it.
    for gone in sorted(_iter_exits(lines), key=lambda gone: -gone.entry.number):
        if gone.entry.words and not recorded.take(gone.entry):
            added[_find_place(chain, gone)].insert(0, gone)
    if not added:
        return chain
    whole: list[Chain] = []
    for place in range(len(chain) + 1):
        for gone in added.get(place, ()):
            whole.append(_make_link(gone, whole[-1] if whole else None))
        whole += chain[place : place + 1]
    return whole


def _is_recorded_next(chain: Sequence[Chain], line: QueueLine) -> bool:
    """Whether the next link is the prompt that `line` put in, as with headless clients."""
    if not line.words:
        return True
    link = chain[line.place] if line.place < len(chain) else None
    message = link.message if isinstance(link, User) else None
    return message is not None and message.content == line.record.content


def _iter_exits(lines: Sequence[QueueLine]) -> Iterator[_Exit]:
    """How each prompt left the queue; what is still in it was not sent."""
    waiting: list[QueueLine] = []
    for line in lines:
        operation = line.record.operation
        if operation == "enqueue":
            waiting.append(line)
            continue
        # What is dequeued becomes a user record, unless somebody cancelled it.
        is_sent = operation == "remove" and not _is_unsent(line.record.reason)
        for entry in _choose_leaving(waiting, line):
            waiting.remove(entry)
            yield _Exit(entry, line.place, is_sent)
    for entry in waiting:
        yield _Exit(entry, entry.place, is_sent=False)


def _choose_leaving(waiting: list[QueueLine], line: QueueLine) -> list[QueueLine]:
    """The prompts that `line` takes out: the one it names, else all of them or the first."""
    if words := line.words:
        return [entry for entry in waiting if entry.words == words][:1]
    return list(waiting) if line.record.operation == "popAll" else waiting[:1]


def _is_unsent(reason: str | None) -> bool:
    return reason is not None and any(part in reason for part in _UNSENT)


def split_prompts(prompts: Iterable[str]) -> frozenset[str]:
    """Return the lines of all these prompts."""
    return frozenset(line for words in prompts for line in words.split("\n"))


def find_joined(text: str, prompts: Iterable[str], lines: Collection[str]) -> list[str]:
    """Return those of the prompts that a client joined into `text`, by line breaks.

    `lines` are those of all prompts: a text with any other line was typed as it is.
    """
    if "\n" not in text or not all(line in lines for line in text.split("\n")):
        return []
    return [words for words in prompts if f"\n{words}\n" in f"\n{text}\n"]


class _Recorded:
    """The prompts of the queue that the conversation itself holds."""

    def __init__(self, chain: Sequence[Chain], entered: Sequence[QueueLine]) -> None:
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self._wanted = {line.words for line in entered}
        self._lines = split_prompts(self._wanted)
        for place, link in enumerate(chain):
            if not isinstance(link, Assistant) and (content := _content_of(link)):
                for words in self._iter_forms(content):
                    self._places[words].append(place)

    def take(self, entry: QueueLine) -> bool:
        """Whether a link behind `entry` holds its words, and no entry before it took that."""
        # A command may be recorded by another of its names.
        for words in (entry.words, *([_ANY_COMMAND] if entry.words.startswith("/") else [])):
            places = self._places.get(words, [])
            found = next((place for place in places if place >= entry.place), None)
            if found is not None:
                places.remove(found)
                return True
        return False

    def _iter_forms(self, content: Content) -> Iterator[str]:
        """A text as it may stand in the queue: as a command, or one of several that were joined."""
        texts = [join_text((block,)).strip() for block in list_blocks(content)]
        whole = "\n".join(texts).strip()
        command = read_command(whole)
        named = f"{command.name} {command.arguments}".strip() if command else None
        forms = {whole, *texts, named or whole} & self._wanted
        yield from forms or ([_ANY_COMMAND] if named else [])
        if not forms:
            yield from find_joined(whole, self._wanted, self._lines)


def _content_of(link: Chain) -> Content:
    """What may have waited in the queue before it became `link`."""
    if isinstance(link, User):
        content = link.message.content if link.message else None
        return None if any(iter_tool_results(content)) else content
    if isinstance(link, Attachment) and isinstance(link.attachment, QueuedCommand):
        return link.attachment.prompt
    return link.content if isinstance(link, System) else None


def _find_place(chain: Sequence[Chain], gone: _Exit) -> int:
    """Before the reply to it: results that the model saw with it may be written behind it."""
    if not gone.is_sent:
        return gone.place
    for place in range(gone.place, len(chain)):
        link = chain[place]
        if isinstance(link, Assistant):
            return place
        if isinstance(link, User) and not link.is_meta and _content_of(link):
            break
    return gone.place


def _make_link(gone: _Exit, above: Chain | None) -> QueuedPrompt:
    record = gone.entry.record
    return QueuedPrompt(
        span=record.span,
        uuid=name_queued(record.span, gone.entry.number),
        parent_uuid=above.uuid if above else None,
        session_id=record.session_id,
        timestamp=record.timestamp,
        prompt=record.content,
        is_sent=gone.is_sent,
    )
