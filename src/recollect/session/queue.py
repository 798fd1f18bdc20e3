"""Insert prompts that are only in queue records into the conversation.

Clients from 2.0.77 to 2.1.36 recorded prompts typed during a turn only in queue records; newer ones
also write an attachment or a user record with the same text, which is then the prompt. A prompt
that was removed from the queue without being sent is kept too.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from recollect.records import attachment_kinds, attachments, blocks, conversation_records, envelope
from recollect.records.state import QueueOperation
from recollect.records.system_records import System
from recollect.session.prompts import read_command
from recollect.session.record_texts import iter_tool_results, join_text, list_blocks

_UNSENT = ("cancel", "clear", "discard", "drop")
"""Substrings of the reasons for removing a prompt from the queue without sending it."""


_ANY_COMMAND = "<command>"


class QueuedPrompt(envelope.Chain, frozen=True, tag="queued-prompt"):
    """A prompt from a queue record; later records show whether it reached the model."""

    prompt: blocks.Content = None
    is_sent: bool = False


class QueueLine(Struct, frozen=True):
    """A queue record, and the number of conversation links before it."""

    place: int
    number: int
    record: QueueOperation
    words: str
    """The text that was added or removed."""


def make_queue_line(place: int, number: int, record: QueueOperation) -> QueueLine:
    """Return the queue line of `record`."""
    return QueueLine(place, number, record, join_text(list_blocks(record.content)).strip())


class _Exit(Struct, frozen=True):
    """How and where a prompt left the queue."""

    entry: QueueLine
    place: int
    is_sent: bool


QUEUED_PREFIX = "queue-"


def name_queued(span: envelope.Span | None, number: int = 0) -> str:
    """Return the name for a prompt without a uuid: the offset of its line, or else its number."""
    return f"{QUEUED_PREFIX}{span.offset if span else number}"


def insert_queued(
    chain: Sequence[envelope.Chain], lines: Sequence[QueueLine]
) -> Sequence[envelope.Chain]:
    """Return `chain` with the prompts that are only in `lines`, each where it left the queue."""
    entered = [line for line in lines if line.record.operation == "enqueue"]
    if all(_is_recorded_next(chain, line) for line in entered):
        return chain
    added: defaultdict[int, list[_Exit]] = defaultdict(list)
    recorded = _Recorded(chain, entered)
    # Backwards, because a record belongs to the closest of equal prompts before it.
    for gone in sorted(_iter_exits(lines), key=lambda gone: -gone.entry.number):
        if gone.entry.words and not recorded.take(gone.entry):
            added[_find_place(chain, gone)].insert(0, gone)
    if not added:
        return chain
    whole: list[envelope.Chain] = []
    for place in range(len(chain) + 1):
        for gone in added.get(place, ()):
            whole.append(_make_link(gone, whole[-1] if whole else None))
        whole += chain[place : place + 1]
    return whole


def _is_recorded_next(chain: Sequence[envelope.Chain], line: QueueLine) -> bool:
    """Return whether the next link is the prompt that `line` added, as in headless clients."""
    if not line.words:
        return True
    link = chain[line.place] if line.place < len(chain) else None
    message = link.message if isinstance(link, conversation_records.User) else None
    return message is not None and message.content == line.record.content


def _iter_exits(lines: Sequence[QueueLine]) -> Iterator[_Exit]:
    """Yield how each prompt left the queue; prompts that are still in it were not sent."""
    waiting: list[QueueLine] = []
    for line in lines:
        operation = line.record.operation
        if operation == "enqueue":
            waiting.append(line)
            continue
        # A dequeued prompt becomes a user record, unless it was cancelled.
        is_sent = operation == "remove" and not _is_unsent(line.record.reason)
        for entry in _choose_leaving(waiting, line):
            waiting.remove(entry)
            yield _Exit(entry, line.place, is_sent)
    for entry in waiting:
        yield _Exit(entry, entry.place, is_sent=False)


def _choose_leaving(waiting: list[QueueLine], line: QueueLine) -> list[QueueLine]:
    """Return the prompts that `line` removes: the one with its text, or else all or the first."""
    if words := line.words:
        return [entry for entry in waiting if entry.words == words][:1]
    return list(waiting) if line.record.operation == "popAll" else waiting[:1]


def _is_unsent(reason: str | None) -> bool:
    return reason is not None and any(part in reason for part in _UNSENT)


def split_prompts(prompts: Iterable[str]) -> frozenset[str]:
    """Return the lines of all these prompts."""
    return frozenset(line for words in prompts for line in words.split("\n"))


def find_joined(text: str, prompts: Iterable[str], lines: Collection[str]) -> list[str]:
    """Return the prompts that a client joined with line breaks into `text`.

    `lines` are those of all prompts: a text with any other line was typed as a whole.
    """
    if "\n" not in text or not all(line in lines for line in text.split("\n")):
        return []
    return [words for words in prompts if f"\n{words}\n" in f"\n{text}\n"]


class _Recorded:
    """The queued prompts that the conversation itself contains."""

    def __init__(self, chain: Sequence[envelope.Chain], entered: Sequence[QueueLine]) -> None:
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self._wanted = {line.words for line in entered}
        self._lines = split_prompts(self._wanted)
        for place, link in enumerate(chain):
            if not isinstance(link, conversation_records.Assistant) and (
                content := _content_of(link)
            ):
                for words in self._iter_forms(content):
                    self._places[words].append(place)

    def take(self, entry: QueueLine) -> bool:
        """Claim a link after `entry` with the same text; return whether there was one."""
        # A command may be recorded under another name.
        for words in (entry.words, *([_ANY_COMMAND] if entry.words.startswith("/") else [])):
            places = self._places.get(words, [])
            found = next((place for place in places if place >= entry.place), None)
            if found is not None:
                places.remove(found)
                return True
        return False

    def _iter_forms(self, content: blocks.Content) -> Iterator[str]:
        """Yield the forms of a text in the queue: a command, or one of several joined texts."""
        texts = [join_text((block,)).strip() for block in list_blocks(content)]
        whole = "\n".join(texts).strip()
        command = read_command(whole)
        named = f"{command.name} {command.arguments}".strip() if command else None
        forms = {whole, *texts, named or whole} & self._wanted
        yield from forms or ([_ANY_COMMAND] if named else [])
        if not forms:
            yield from find_joined(whole, self._wanted, self._lines)


def _content_of(link: envelope.Chain) -> blocks.Content:
    """Return the text that may have been queued before it became `link`."""
    if isinstance(link, conversation_records.User):
        content = link.message.content if link.message else None
        return None if any(iter_tool_results(content)) else content
    if isinstance(link, attachments.Attachment) and isinstance(
        link.attachment, attachment_kinds.QueuedCommand
    ):
        return link.attachment.prompt
    return link.content if isinstance(link, System) else None


def _find_place(chain: Sequence[envelope.Chain], gone: _Exit) -> int:
    """Return the position before the reply: results sent with the prompt may come after it."""
    if not gone.is_sent:
        return gone.place
    for place in range(gone.place, len(chain)):
        link = chain[place]
        if isinstance(link, conversation_records.Assistant):
            return place
        if isinstance(link, conversation_records.User) and not link.is_meta and _content_of(link):
            break
    return gone.place


def _make_link(gone: _Exit, above: envelope.Chain | None) -> QueuedPrompt:
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
