"""What happened around each reply that explains its cost: thinking, compactions, retries.

A reply has a note only if there is something to say. Nothing here knows prices, or which of several
copies of a reply counts.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from recollect.records.blocks import RedactedThinking, Text, Thinking, ToolUse
from recollect.records.conversation import SYNTHETIC_MODEL, ApiMessage, Assistant, User
from recollect.records.envelope import Record
from recollect.records.system import ApiError, CompactBoundary

CHARACTERS_PER_TOKEN: Final = 4
"""Of visible text, where the thinking itself was not kept."""


class ReplyNote(Struct, frozen=True, array_like=True):
    """What is known about one reply."""

    message_id: str
    thinking_tokens: int = 0
    """Output tokens that were thinking; estimated unless the API said so."""
    follows_compaction: bool = False
    """Whether it is the first reply after a compaction."""
    follows_error: bool = False
    """Whether it is the first reply after a failed request."""
    is_superseded: bool = False
    """Whether the same request was answered once more, in its place."""


class _Reply:
    """What the lines of one reply have in common."""

    def __init__(self, message_id: str, parent: str | None) -> None:
        self.message_id = message_id
        self.parent = parent
        self.output = 0
        self.reported: int | None = None
        self.thought = 0
        self.visible = 0
        self.has_thinking = False
        self.follows_compaction = False
        self.follows_error = False

    def add(self, message: ApiMessage) -> None:
        """Take another line into account."""
        usage = message.usage
        if usage is not None:
            self.output = max(self.output, usage.output_tokens)
            if usage.output_tokens_details is not None:
                said = usage.output_tokens_details.thinking_tokens
                self.reported = max(self.reported or 0, said)
        for block in message.content if isinstance(message.content, tuple) else ():
            if isinstance(block, Thinking | RedactedThinking):
                self.has_thinking = True
                self.thought += len(block.thinking) if isinstance(block, Thinking) else 0
            elif isinstance(block, Text):
                self.visible += len(block.words or "")
            elif isinstance(block, ToolUse):
                self.visible += len(bytes(block.input))

    def count_thinking(self) -> int:
        """Return how much of the output was thinking.

        As the API reported it; else by characters; if the thinking was not kept, what the visible
        text leaves of the output.
        """
        if self.reported is not None:
            return min(self.reported, self.output)
        if not self.has_thinking:
            return 0
        if self.thought:
            return self.output * self.thought // (self.thought + self.visible)
        return max(self.output - -(-self.visible // CHARACTERS_PER_TOKEN), 0)


def list_reply_notes(records: Iterable[Record]) -> tuple[ReplyNote, ...]:
    """Return the notes on the replies of a transcript, in their order."""
    replies: dict[str, _Reply] = {}
    after_compaction = after_error = False
    for record in records:
        if isinstance(record, CompactBoundary) or _is_summary(record):
            after_compaction = True
        elif isinstance(record, ApiError) or _is_failure(record):
            after_error = True
        elif isinstance(record, Assistant) and record.message and record.message.id:
            message = record.message
            reply = replies.get(record.message.id)
            if reply is None and message.model != SYNTHETIC_MODEL:
                reply = _Reply(record.message.id, record.parent_uuid)
                reply.follows_compaction, reply.follows_error = after_compaction, after_error
                replies[reply.message_id] = reply
                after_compaction = after_error = False
            if reply is not None:
                reply.add(message)
    return tuple(_make_notes(list(replies.values())))


def _is_summary(record: Record) -> bool:
    return isinstance(record, User) and record.is_compact_summary


def _is_failure(record: Record) -> bool:
    return isinstance(record, Assistant) and record.is_api_error_message


def _make_notes(replies: list[_Reply]) -> Iterable[ReplyNote]:
    last_of = {reply.parent: reply.message_id for reply in replies if reply.parent}
    for reply in replies:
        note = ReplyNote(
            reply.message_id,
            reply.count_thinking(),
            reply.follows_compaction,
            reply.follows_error,
            reply.parent is not None and last_of[reply.parent] != reply.message_id,
        )
        if note != ReplyNote(reply.message_id):
            yield note
