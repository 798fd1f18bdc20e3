"""Decode stream messages, and distinguish streams from transcripts.

Messages are decoded by the same steps as records. A wrapper or a terminal may add something before
or after the JSON of a line; it is removed, but then only known messages count, because a torn line
may end in an object that was part of another. Both formats have `user`, `assistant` and `system`:
streams have `session_id`, transcripts `sessionId`. Newer transcripts have both on some lines, so
`sessionId` decides.
"""

from collections.abc import Iterator
from io import BytesIO

import msgspec

from recollect.records.decoding import Vocabulary, decode_slowly, decode_value, repair
from recollect.records.envelope import REFUSED, Span
from recollect.records.stream import stream_messages, system_messages
from recollect.records.stream.control import ControlCancelRequest, ControlRequest, ControlResponse
from recollect.records.stream.partial_messages import StreamEvent

StreamMessage = (
    stream_messages.AssistantMessage
    | stream_messages.UserMessage
    | system_messages.SystemMessage
    | StreamEvent
    | stream_messages.Result
    | stream_messages.ToolProgress
    | stream_messages.ToolUseSummary
    | stream_messages.RateLimitEvent
    | stream_messages.AuthStatus
    | stream_messages.PromptSuggestion
    | stream_messages.ActiveGoal
    | stream_messages.ConversationReset
    | stream_messages.CommandLifecycle
    | stream_messages.KeepAlive
    | stream_messages.TranscriptMirror
    | ControlRequest
    | ControlResponse
    | ControlCancelRequest
    | stream_messages.UnknownMessage
)
"""All messages that have a class."""

MESSAGE_SUBTYPES: dict[str, type[system_messages.SystemMessage]] = {
    "init": system_messages.Init,
    "compact_boundary": system_messages.CompactBoundaryMessage,
    "status": system_messages.Status,
    "api_retry": system_messages.ApiRetry,
    "thinking_tokens": system_messages.ThinkingTokens,
    "permission_denied": system_messages.PermissionDenied,
    "local_command_output": system_messages.LocalCommandOutput,
    "informational": system_messages.InformationalMessage,
    "model_fallback": system_messages.ModelFallbackMessage,
    "model_refusal_fallback": system_messages.ModelRefusalMessage,
    "model_refusal_no_fallback": system_messages.ModelRefusalMessage,
    "hook_started": system_messages.HookStarted,
    "hook_progress": system_messages.HookProgress,
    "hook_response": system_messages.HookResponse,
    "task_started": system_messages.TaskStarted,
    "task_progress": system_messages.TaskProgress,
    "task_updated": system_messages.TaskUpdated,
    "task_notification": system_messages.TaskNotification,
    "background_tasks_changed": system_messages.BackgroundTasksChanged,
    "notification": system_messages.Notification,
    "memory_recall": system_messages.MemoryRecall,
    "files_persisted": system_messages.FilesPersisted,
    "elicitation_complete": system_messages.ElicitationComplete,
    "plugin_install": system_messages.PluginInstall,
    "commands_changed": system_messages.CommandsChanged,
    "session_state_changed": system_messages.SessionStateChanged,
    "session_title_changed": system_messages.SessionTitleChanged,
    "worker_shutting_down": system_messages.WorkerShuttingDown,
    "mirror_error": system_messages.MirrorError,
    "session_writes_lost": system_messages.SessionWritesLost,
    "control_request_progress": system_messages.ControlRequestProgress,
}
"""The subtypes of `system` that have a class."""

_MESSAGES = Vocabulary(
    StreamMessage, system_messages.SystemMessage, MESSAGE_SUBTYPES, stream_messages.UnknownMessage
)
_decode = msgspec.json.Decoder(StreamMessage).decode
_decode_subtype = {
    name: msgspec.json.Decoder(subtype).decode for name, subtype in MESSAGE_SUBTYPES.items()
}


def decode_message(line: bytes, span: Span | None = None) -> StreamMessage | None:
    """Decode a line without its newline; None if it is not JSON."""
    message = _decode_exactly(line) or _decode_without_noise(line)
    if message is not None:
        # Not shared yet, so setting a field of a frozen struct is still construction.
        msgspec.structs.force_setattr(message, "span", span)
    return message


def decode_output(data: bytes) -> tuple[StreamMessage, ...]:
    """Decode the whole output of a client, as `json` (plain or verbose) or `stream-json`.

    Lines that are not messages are skipped; gaps between the spans show where. Messages of a JSON
    array have no spans.
    """
    text = data.strip()
    if text.startswith(b"["):
        values = decode_value(text, tuple[msgspec.Raw, ...])
        if values is not None:
            return tuple(filter(None, map(decode_message, map(bytes, values))))
    if text.startswith((b"{\n", b"{\r\n")):
        whole = decode_message(text, Span("", 0, len(data)))
        if whole is not None:
            return (whole,)
    return tuple(_iter_lines(data))


def strip_noise(line: bytes) -> bytes | None:
    """Return the part from the first `{` to the last `}`; None if that is all or nothing."""
    start, end = line.find(b"{"), line.rfind(b"}") + 1
    return line[start:end] if 0 <= start < end and end - start < len(line) else None


def _decode_exactly(line: bytes) -> StreamMessage | None:
    try:
        message: StreamMessage = _decode(line)
        if type(message) is system_messages.SystemMessage and message.subtype in _decode_subtype:
            message = _decode_subtype[message.subtype](line)
    except REFUSED:
        found: StreamMessage | None = decode_slowly(line, _MESSAGES, [])
        if found is None:
            return None
        message = found
    return _keep_text(message, line) if type(message) is system_messages.SystemMessage else message


def _keep_text(
    message: system_messages.SystemMessage, line: bytes
) -> stream_messages.UnknownMessage:
    """Keep the JSON of a subtype without a class, because a stream need not be in any file."""
    kind = f"system/{message.subtype}" if message.subtype else "system"
    raw = msgspec.Raw(repair(line))
    return stream_messages.UnknownMessage(
        kind=kind, raw=raw, uuid=message.uuid, session_id=message.session_id
    )


def _decode_without_noise(line: bytes) -> StreamMessage | None:
    inner = strip_noise(line)
    message = None if inner is None else _decode_exactly(inner)
    return None if isinstance(message, stream_messages.UnknownMessage) else message


def _iter_lines(data: bytes) -> Iterator[StreamMessage]:
    offset = 0
    for line in BytesIO(data):
        message = decode_message(line, Span("", offset, len(line)))
        offset += len(line)
        if message is not None:
            yield message


STREAM_TYPES = frozenset(
    {
        "stream_event",
        "tool_progress",
        "tool_use_summary",
        "rate_limit_event",
        "auth_status",
        "prompt_suggestion",
        "active_goal",
        "conversation_reset",
        "command_lifecycle",
        "keep_alive",
        "transcript_mirror",
        "control_request",
        "control_response",
        "control_cancel_request",
    }
)
"""Types that do not occur in transcripts."""


class _Outline(msgspec.Struct, frozen=True, gc=False):
    """The fields that distinguish streams from transcripts."""

    type: str | None = None
    subtype: str | None = None
    stream_session: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="session_id")
    parent_tool_use_id: msgspec.Raw = msgspec.Raw()
    duration_ms: msgspec.Raw = msgspec.Raw()
    transcript_session: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="sessionId")
    parent_uuid: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="parentUuid")


def looks_like_stream(line: bytes) -> bool:
    """Whether a line is a stream message, or an array of them, and not a transcript record."""
    outline = _find_outline(line)
    if outline is None or outline.type is None:
        return False
    if outline.type in STREAM_TYPES:
        return True
    if bytes(outline.transcript_session) or bytes(outline.parent_uuid):
        return False
    if bytes(outline.stream_session) or bytes(outline.parent_tool_use_id):
        return True
    kind = (outline.type, outline.subtype)
    return kind == ("system", "init") or (
        outline.type == "result" and bytes(outline.duration_ms) != b""
    )


def looks_like_transcript(line: bytes) -> bool:
    """Return whether a line is a chain record of a transcript, which no stream has."""
    outline = _find_outline(line)
    return outline is not None and bytes(outline.parent_uuid) != b""


def _find_outline(line: bytes) -> _Outline | None:
    if line.lstrip().startswith(b"["):
        outlines = decode_value(line, tuple[_Outline, ...])
        if outlines:
            return outlines[0]
    outline = decode_value(line, _Outline)
    inner = strip_noise(line) if outline is None else None
    return outline if inner is None else decode_value(inner, _Outline)
