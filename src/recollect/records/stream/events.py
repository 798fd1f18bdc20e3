"""`stream_event` messages: the response while it is being made (`--include-partial-messages`).

The whole block follows as an `assistant` message before its `content_block_stop`, so that whoever
shows both must drop one of them.
"""

from msgspec import Raw, Struct

from recollect.records.blocks import ContentBlock
from recollect.records.conversation import ApiMessage
from recollect.records.stream.envelope import Message
from recollect.records.usage import Usage


class Delta(Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    """A piece that is added to a content block."""


class TextDelta(Delta, frozen=True, tag="text_delta"):
    """Words."""

    text: str = ""


class InputJsonDelta(Delta, frozen=True, tag="input_json_delta"):
    """Part of a tool's input: JSON text that is whole only when the block ends."""

    partial_json: str = ""


class ThinkingDelta(Delta, frozen=True, tag="thinking_delta"):
    """Reasoning; `estimated_tokens` is sent when the words are withheld."""

    thinking: str = ""
    estimated_tokens: int | None = None


class SignatureDelta(Delta, frozen=True, tag="signature_delta"):
    """The signature of the reasoning."""

    signature: str = ""


class CitationsDelta(Delta, frozen=True, tag="citations_delta"):
    """A source for the words."""

    citation: Raw = Raw()


class OtherDelta(Delta, frozen=True, tag="<other>"):
    """A kind that is not known here, with all that was in it."""

    kind: str | None = None
    raw: Raw = Raw()


BlockDelta = (
    TextDelta | InputJsonDelta | ThinkingDelta | SignatureDelta | CitationsDelta | OtherDelta
)
"""Every piece that a content block can grow by."""


class Event(Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    """One event of the Messages API."""


class MessageStart(Event, frozen=True, tag="message_start"):
    """A response begins; its usage is that of the prompt."""

    message: ApiMessage | None = None


class ContentBlockStart(Event, frozen=True, tag="content_block_start"):
    """A block begins, empty."""

    index: int | None = None
    content_block: ContentBlock | None = None


class ContentBlockDelta(Event, frozen=True, tag="content_block_delta"):
    """A block grows."""

    index: int | None = None
    delta: BlockDelta | None = None


class ContentBlockStop(Event, frozen=True, tag="content_block_stop"):
    """A block is whole."""

    index: int | None = None


class StopDelta(Struct, frozen=True, kw_only=True, gc=False):
    """Why the response ended."""

    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Raw = Raw()
    container: Raw = Raw()


class MessageDelta(Event, frozen=True, tag="message_delta"):
    """The response's end, with its final usage."""

    delta: StopDelta | None = None
    usage: Usage | None = None
    context_management: Raw = Raw()


class MessageStop(Event, frozen=True, tag="message_stop"):
    """The response is whole."""


class Ping(Event, frozen=True, tag="ping"):
    """Nothing happened."""


class ErrorEvent(Event, frozen=True, tag="error"):
    """The response broke off."""

    error: Raw = Raw()


class OtherEvent(Event, frozen=True, tag="<other>"):
    """A kind that is not known here, with all that was in it."""

    kind: str | None = None
    raw: Raw = Raw()


AnyEvent = (
    MessageStart
    | ContentBlockStart
    | ContentBlockDelta
    | ContentBlockStop
    | MessageDelta
    | MessageStop
    | Ping
    | ErrorEvent
    | OtherEvent
)
"""Every event that a `stream_event` can carry."""


class StreamEvent(Message, frozen=True, tag="stream_event"):
    """One event of a response that is being made."""

    event: AnyEvent | None = None
    parent_tool_use_id: str | None = None
    api_message_id: str | None = None
    thinking_display: str | None = None
    ttft_ms: float | None = None
    user_message_uuid: str | None = None
    user_message_uuids: tuple[str, ...] = ()
    resume_reason: str | None = None
