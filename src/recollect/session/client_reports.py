"""Reports of the client in `system` records (notices, recaps, failed requests, model changes), and
the events around each reply that explain its cost: thinking, compactions, retries.

Compactions, turn durations and stop hooks are `system` records too, but have separate views. A
request that failed for good is not a report: it is a message of the conversation.

A reply has a note only if there is something to report. This module does not use prices, or decide
which of several copies of a reply counts.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from recollect.records import blocks, conversation_records, decoding, envelope, system_records


class Notice(Struct, frozen=True, kw_only=True):
    """A message from the client; `text` may contain terminal escapes."""

    subtype: str | None
    text: str
    level: str | None
    uuid: str | None
    timestamp: str | None


class Recap(Struct, frozen=True, kw_only=True):
    """A summary for a user who returns to the session."""

    text: str
    uuid: str | None
    timestamp: str | None


class FailedRequest(Struct, frozen=True, kw_only=True):
    """A request to the API that the client retried."""

    message: str
    status: int | None
    retry_attempt: int | None
    max_retries: int | None
    retry_in_ms: float | None
    uuid: str | None
    timestamp: str | None


class ModelChange(Struct, frozen=True, kw_only=True):
    """A switch to another model; `fallback` is None if there was none to switch to."""

    subtype: str | None
    original: str | None
    fallback: str | None
    trigger: str | None
    text: str
    uuid: str | None
    timestamp: str | None


class Reports(Struct, frozen=True, kw_only=True):
    """The reports of a session by kind, each in file order."""

    notices: tuple[Notice, ...] = ()
    away_summaries: tuple[Recap, ...] = ()
    api_errors: tuple[FailedRequest, ...] = ()
    model_changes: tuple[ModelChange, ...] = ()


class _Cause(Struct, frozen=True):
    code: str | None = None
    message: str | None = None


class _ErrorBody(Struct, frozen=True):
    message: str | None = None
    error: _Cause | None = None


class _Error(Struct, frozen=True):
    """`ApiError.error`: `formatted` and `message` now, the SDK's error object earlier."""

    formatted: str | None = None
    message: str | None = None
    status: int | None = None
    error: _ErrorBody | None = None
    cause: _Cause | None = None


_NOTICES = (
    system_records.AgentsKilled,
    system_records.BridgeStatus,
    system_records.CloudSessionStatus,
    system_records.Informational,
    system_records.LocalCommand,
    system_records.MemorySaved,
    system_records.PermissionRetry,
    system_records.ScheduledTaskFire,
)


def build_reports(chain: Sequence[envelope.Chain]) -> Reports:
    """Return the client's reports in `chain`."""
    links = [link for link in chain if isinstance(link, system_records.System)]
    return Reports(
        notices=tuple(_make_notice(link) for link in links if _is_notice(link)),
        away_summaries=tuple(
            Recap(text=link.content or "", uuid=link.uuid, timestamp=link.timestamp)
            for link in links
            if isinstance(link, system_records.AwaySummary)
        ),
        api_errors=tuple(
            _read_error(link) for link in links if isinstance(link, system_records.ApiError)
        ),
        model_changes=tuple(
            _make_change(link) for link in links if isinstance(link, system_records.ModelFallback)
        ),
    )


def _is_notice(link: system_records.System) -> bool:
    """Return whether `link` is a notice; one without a subtype, or of an unknown one, is."""
    return isinstance(link, _NOTICES) or type(link) is system_records.System


def _make_notice(link: system_records.System) -> Notice:
    paths = link.written_paths if isinstance(link, system_records.MemorySaved) else ()
    return Notice(
        subtype=link.subtype,
        text=link.content or "\n".join(paths),
        level=link.level,
        uuid=link.uuid,
        timestamp=link.timestamp,
    )


def _make_change(link: system_records.ModelFallback) -> ModelChange:
    category = link.category if isinstance(link, system_records.ModelRefusal) else None
    return ModelChange(
        subtype=link.subtype,
        original=link.original_model,
        fallback=link.fallback_model,
        trigger=link.trigger or category,
        text=link.content or "",
        uuid=link.uuid,
        timestamp=link.timestamp,
    )


def _read_error(link: system_records.ApiError) -> FailedRequest:
    error = decoding.decode_value(link.error, _Error) or _Error()
    return FailedRequest(
        message=_choose_message(error, decoding.decode_value(link.cause, _Cause)),
        status=error.status,
        retry_attempt=link.retry_attempt,
        max_retries=link.max_retries,
        retry_in_ms=link.retry_in_ms,
        uuid=link.uuid,
        timestamp=link.timestamp,
    )


def _choose_message(error: _Error, cause: _Cause | None) -> str:
    """Return the most informative text about a failure; old clients often left none."""
    body = error.error or _ErrorBody()
    inner = body.error or _Cause()
    cause = error.cause or cause or _Cause()
    words = (
        error.formatted,
        inner.message,
        body.message,
        error.message,
        cause.message,
        cause.code,
    )
    return next((text for text in words if text), "")


CHARACTERS_PER_TOKEN: Final = 4
"""Number of characters of visible text per token, for estimates where the thinking was not kept."""


class ReplyNote(Struct, frozen=True, array_like=True):
    """Notes about one reply."""

    message_id: str
    thinking_tokens: int = 0
    """Output tokens of thinking; estimated unless the API reported them."""
    follows_compaction: bool = False
    """Whether it is the first reply after a compaction."""
    follows_error: bool = False
    """Whether it is the first reply after a failed request."""
    is_superseded: bool = False
    """Whether the same request was answered again, replacing this reply."""


class _Reply:
    """Values that the lines of one reply share."""

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

    def add(self, message: conversation_records.ApiMessage) -> None:
        """Add another line of the reply."""
        usage = message.usage
        if usage is not None:
            self.output = max(self.output, usage.output_tokens)
            if usage.output_tokens_details is not None:
                said = usage.output_tokens_details.thinking_tokens
                self.reported = max(self.reported or 0, said)
        for block in message.content if isinstance(message.content, tuple) else ():
            if isinstance(block, blocks.Thinking | blocks.RedactedThinking):
                self.has_thinking = True
                self.thought += len(block.thinking) if isinstance(block, blocks.Thinking) else 0
            elif isinstance(block, blocks.Text):
                self.visible += len(block.words or "")
            elif isinstance(block, blocks.ToolUse):
                self.visible += len(bytes(block.input))

    def count_thinking(self) -> int:
        """Return how many of the output tokens were thinking.

        Uses the number reported by the API, or else counts characters. If the thinking was not
        kept, it is the output without the estimated visible text.
        """
        if self.reported is not None:
            return min(self.reported, self.output)
        if not self.has_thinking:
            return 0
        if self.thought:
            return self.output * self.thought // (self.thought + self.visible)
        return max(self.output - -(-self.visible // CHARACTERS_PER_TOKEN), 0)


def list_reply_notes(records: Iterable[envelope.Record]) -> tuple[ReplyNote, ...]:
    """Return the notes on the replies of a transcript, in their order."""
    replies: dict[str, _Reply] = {}
    after_compaction = after_error = False
    for record in records:
        if isinstance(record, system_records.CompactBoundary) or _is_summary(record):
            after_compaction = True
        elif isinstance(record, system_records.ApiError) or _is_failure(record):
            after_error = True
        elif (
            isinstance(record, conversation_records.Assistant)
            and record.message
            and record.message.id
        ):
            message = record.message
            reply = replies.get(record.message.id)
            if reply is None and message.model != conversation_records.SYNTHETIC_MODEL:
                reply = _Reply(record.message.id, record.parent_uuid)
                reply.follows_compaction, reply.follows_error = after_compaction, after_error
                replies[reply.message_id] = reply
                after_compaction = after_error = False
            if reply is not None:
                reply.add(message)
    return tuple(_make_notes(list(replies.values())))


def _is_summary(record: envelope.Record) -> bool:
    return isinstance(record, conversation_records.User) and record.is_compact_summary


def _is_failure(record: envelope.Record) -> bool:
    return isinstance(record, conversation_records.Assistant) and record.is_api_error_message


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
