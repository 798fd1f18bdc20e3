"""Bytes that the client printed → stream messages, by the same steps as records.

A wrapper or a terminal may put something before or behind the JSON of a line. It is cut off, but
then only a known message counts: a torn line may end in an object that was part of another.
"""

from collections.abc import Iterator
from io import BytesIO

import msgspec
from msgspec import Raw
from msgspec.structs import force_setattr

from recollect.records.decoding import REFUSED, Vocabulary, decode_slowly, decode_value
from recollect.records.repair import repair
from recollect.records.span import Span
from recollect.records.stream import notices, signals, system, tasks
from recollect.records.stream.control import ControlCancelRequest, ControlRequest, ControlResponse
from recollect.records.stream.conversation import AssistantMessage, UserMessage
from recollect.records.stream.envelope import UnknownMessage
from recollect.records.stream.events import StreamEvent
from recollect.records.stream.result import Result
from recollect.records.stream.system import SystemMessage

StreamMessage = (
    AssistantMessage
    | UserMessage
    | SystemMessage
    | StreamEvent
    | Result
    | signals.ToolProgress
    | signals.ToolUseSummary
    | signals.RateLimitEvent
    | signals.AuthStatus
    | signals.PromptSuggestion
    | signals.ActiveGoal
    | signals.ConversationReset
    | signals.KeepAlive
    | signals.TranscriptMirror
    | ControlRequest
    | ControlResponse
    | ControlCancelRequest
    | UnknownMessage
)
"""Every message that a line can be."""

MESSAGE_SUBTYPES: dict[str, type[SystemMessage]] = {
    "init": system.Init,
    "compact_boundary": system.CompactBoundaryMessage,
    "status": system.Status,
    "api_retry": system.ApiRetry,
    "thinking_tokens": system.ThinkingTokens,
    "permission_denied": system.PermissionDenied,
    "local_command_output": system.LocalCommandOutput,
    "informational": system.InformationalMessage,
    "model_fallback": system.ModelFallbackMessage,
    "model_refusal_fallback": system.ModelRefusalMessage,
    "model_refusal_no_fallback": system.ModelRefusalMessage,
    "hook_started": tasks.HookStarted,
    "hook_progress": tasks.HookProgress,
    "hook_response": tasks.HookResponse,
    "task_started": tasks.TaskStarted,
    "task_progress": tasks.TaskProgress,
    "task_updated": tasks.TaskUpdated,
    "task_notification": tasks.TaskNotification,
    "background_tasks_changed": tasks.BackgroundTasksChanged,
    "notification": notices.Notification,
    "memory_recall": notices.MemoryRecall,
    "files_persisted": notices.FilesPersisted,
    "elicitation_complete": notices.ElicitationComplete,
    "plugin_install": notices.PluginInstall,
    "commands_changed": notices.CommandsChanged,
    "session_state_changed": notices.SessionStateChanged,
    "session_title_changed": notices.SessionTitleChanged,
    "worker_shutting_down": notices.WorkerShuttingDown,
    "mirror_error": notices.MirrorError,
    "session_writes_lost": notices.SessionWritesLost,
    "control_request_progress": notices.ControlRequestProgress,
}
"""The subtypes of `system` that have a class."""

_MESSAGES = Vocabulary(StreamMessage, SystemMessage, MESSAGE_SUBTYPES, UnknownMessage)
_decode = msgspec.json.Decoder(StreamMessage).decode
_decode_subtype = {
    name: msgspec.json.Decoder(subtype).decode for name, subtype in MESSAGE_SUBTYPES.items()
}


def decode_message(line: bytes, span: Span | None = None) -> StreamMessage | None:
    """The message on `line`, which is one line without its end; None when it holds no JSON."""
    message = _decode_exactly(line) or _decode_amid_noise(line)
    if message is not None:
        # Not shared yet, so that setting a field of a frozen value is still building it.
        force_setattr(message, "span", span)
    return message


def decode_output(data: bytes) -> tuple[StreamMessage, ...]:
    """The messages in all that a client printed, as `json` (plain or verbose) or `stream-json`.

    Lines that are no messages are left out; the spans of the others show where they are missing.
    The messages of a JSON array have no spans.
    """
    text = data.strip()
    if text.startswith(b"["):
        values = decode_value(text, tuple[Raw, ...])
        if values is not None:
            return tuple(filter(None, map(decode_message, map(bytes, values))))
    if text.startswith((b"{\n", b"{\r\n")):
        whole = decode_message(text, Span("", 0, len(data)))
        if whole is not None:
            return (whole,)
    return tuple(_iter_lines(data))


def cut_noise(line: bytes) -> bytes | None:
    """The part of `line` from its first `{` to its last `}`; None when that is all or nothing."""
    start, end = line.find(b"{"), line.rfind(b"}") + 1
    return line[start:end] if 0 <= start < end and end - start < len(line) else None


def _decode_exactly(line: bytes) -> StreamMessage | None:
    try:
        message: StreamMessage = _decode(line)
        if type(message) is SystemMessage and message.subtype in _decode_subtype:
            message = _decode_subtype[message.subtype](line)
    except REFUSED:
        found: StreamMessage | None = decode_slowly(line, _MESSAGES, [])
        if found is None:
            return None
        message = found
    return _keep_text(message, line) if type(message) is SystemMessage else message


def _keep_text(message: SystemMessage, line: bytes) -> UnknownMessage:
    """A stream may be in no file, so that what has no class must keep its text."""
    kind = f"system/{message.subtype}" if message.subtype else "system"
    raw = Raw(repair(line))
    return UnknownMessage(kind=kind, raw=raw, uuid=message.uuid, session_id=message.session_id)


def _decode_amid_noise(line: bytes) -> StreamMessage | None:
    inner = cut_noise(line)
    message = None if inner is None else _decode_exactly(inner)
    return None if isinstance(message, UnknownMessage) else message


def _iter_lines(data: bytes) -> Iterator[StreamMessage]:
    offset = 0
    for line in BytesIO(data):
        message = decode_message(line, Span("", offset, len(line)))
        offset += len(line)
        if message is not None:
            yield message
