"""`stream_event` messages: the response while it is generated (`--include-partial-messages`).

The complete block follows as an `assistant` message before its `content_block_stop`, so a program
that shows both must drop one of them.
"""

from msgspec import Raw, Struct

from recollect.records import blocks, conversation_records, token_usage
from recollect.records.stream.stream_messages import Message


class Delta(Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    """A part of a content block."""


class TextDelta(Delta, frozen=True, tag="text_delta"):
    """Text."""

    text: str = ""


class InputJsonDelta(Delta, frozen=True, tag="input_json_delta"):
    """Part of a tool's input: JSON text that is complete only at the end of the block."""

    partial_json: str = ""


class ThinkingDelta(Delta, frozen=True, tag="thinking_delta"):
    """Thinking; `estimated_tokens` is sent if the text is withheld."""

    thinking: str = ""
    estimated_tokens: int | None = None


class SignatureDelta(Delta, frozen=True, tag="signature_delta"):
    """The signature of thinking."""

    signature: str = ""


class CitationsDelta(Delta, frozen=True, tag="citations_delta"):
    """A citation."""

    citation: Raw = Raw()


class OtherDelta(Delta, frozen=True, tag="<other>"):
    """An unknown kind, with its JSON."""

    kind: str | None = None
    raw: Raw = Raw()


BlockDelta = (
    TextDelta | InputJsonDelta | ThinkingDelta | SignatureDelta | CitationsDelta | OtherDelta
)
"""All deltas that have a class."""


class Event(Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    """A streaming event of the Messages API."""


class MessageStart(Event, frozen=True, tag="message_start"):
    """A response starts; its usage is that of the prompt."""

    message: conversation_records.ApiMessage | None = None


class ContentBlockStart(Event, frozen=True, tag="content_block_start"):
    """An empty block starts."""

    index: int | None = None
    content_block: blocks.ContentBlock | None = None


class ContentBlockDelta(Event, frozen=True, tag="content_block_delta"):
    """A block is extended."""

    index: int | None = None
    delta: BlockDelta | None = None


class ContentBlockStop(Event, frozen=True, tag="content_block_stop"):
    """A block is complete."""

    index: int | None = None


class StopDelta(Struct, frozen=True, kw_only=True, gc=False):
    """Why the response ended."""

    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Raw = Raw()
    container: Raw = Raw()


class MessageDelta(Event, frozen=True, tag="message_delta"):
    """The end of the response, with the final usage."""

    delta: StopDelta | None = None
    usage: token_usage.Usage | None = None
    context_management: Raw = Raw()


class MessageStop(Event, frozen=True, tag="message_stop"):
    """The response is complete."""


class Ping(Event, frozen=True, tag="ping"):
    """A keep-alive."""


class ErrorEvent(Event, frozen=True, tag="error"):
    """The response was aborted by an error."""

    error: Raw = Raw()


class OtherEvent(Event, frozen=True, tag="<other>"):
    """An unknown kind, with its JSON."""

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
"""All events that have a class."""


class StreamEvent(Message, frozen=True, tag="stream_event"):
    """One event of a response in progress."""

    event: AnyEvent | None = None
    parent_tool_use_id: str | None = None
    api_message_id: str | None = None
    thinking_display: str | None = None
    ttft_ms: float | None = None
    user_message_uuid: str | None = None
    user_message_uuids: tuple[str, ...] = ()
    resume_reason: str | None = None
