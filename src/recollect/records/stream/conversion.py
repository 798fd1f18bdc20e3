"""A stream message → the record that the transcript has for it, as far as the stream tells.

The stream knows nothing of the tree (`parent_uuid`), the directory, the branch and the client's
version, and its usage is a placeholder: `joining` brings in the transcript's word. A synthetic
assistant message of 2.1.112 that stands for a local command cannot be told from an error text,
so only those that name their source become a `LocalCommand`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Raw, Struct

from recollect.records import conversation, system
from recollect.records.blocks import Text
from recollect.records.conversation import SYNTHETIC_MODEL, Assistant, McpMeta, User
from recollect.records.decoding import decode_record, decode_value
from recollect.records.envelope import Record, is_absent
from recollect.records.stream.conversation import (
    AssistantMessage,
    ConversationMessage,
    UserMessage,
)
from recollect.records.stream.decoding import StreamMessage
from recollect.records.stream.envelope import Message
from recollect.records.stream.signals import TranscriptMirror
from recollect.records.stream.system import (
    CompactBoundaryMessage,
    Compaction,
    InformationalMessage,
    LocalCommandOutput,
    ModelFallbackMessage,
    ModelRefusalMessage,
)

SUMMARY_OPENING = "This session is being continued from a previous conversation"
"""How every summary of a compaction starts; the stream does not mark it otherwise."""

_MCP_RESULTS = (
    {"content", "structuredContent"},
    {"content", "_meta"},
    {"content", "structuredContent", "_meta"},
)
_OUTPUT_OPENING, _OUTPUT_END = "<local-command-stdout>", "</local-command-stdout>"

S = TypeVar("S", bound=Struct)


def to_record(message: StreamMessage) -> Record | None:
    """The record that a transcript holds for `message`; None for what never is in a file."""
    convert = _CONVERSIONS.get(type(message))
    return None if convert is None else convert(message)


def decode_mirrored(message: TranscriptMirror) -> tuple[Record, ...]:
    """The records of the transcript lines that `message` carries."""
    return tuple(filter(None, (decode_record(bytes(entry)) for entry in message.entries)))


def _convert_assistant(message: AssistantMessage) -> Record:
    if message.local_command_source is not None:
        return system.LocalCommand(
            **_envelope(message),
            timestamp=message.timestamp,
            subtype="local_command",
            content=message.local_command_source,
            command_run=message.local_command_run,
            context_usage=message.context_usage,
            usage_report=message.usage_report,
        )
    is_call = message.message is not None and message.message.model != SYNTHETIC_MODEL
    return Assistant(
        **_thread(message),
        message=message.message,
        request_id=message.request_id,
        is_api_error_message=message.is_api_error_message or not is_absent(message.error),
        error=message.error,
        api_error_status=message.api_error_status,
        api_error_type=message.api_error_type,
        is_aborted_mid_stream=message.aborted,
        thinking_duration_ms=message.thinking_duration_ms,
        thinking_display=message.thinking_display,
        attribution_agent=message.subagent_type if is_call else None,
    )


def _convert_user(message: UserMessage) -> User:
    result, mcp_meta = _unwrap_mcp(message.tool_use_result)
    meta = message.tool_result_meta[0] if message.tool_result_meta else None
    decision = meta.permission_decision if meta else None
    is_summary = not message.is_replay and _opening(message).startswith(SUMMARY_OPENING)
    return User(
        **_thread(message),
        message=message.message,
        tool_use_result=result,
        mcp_meta=mcp_meta,
        tool_denial_kind=meta.non_execution_kind if meta else None,
        permission_decision=_copy(decision, conversation.PermissionDecision),
        origin=_copy(message.origin, conversation.Origin),
        refused_message_id=message.refused_message_id,
        is_meta=message.is_synthetic and not is_summary,
        is_compact_summary=is_summary,
        is_visible_in_transcript_only=is_summary,
    )


def _convert_boundary(message: CompactBoundaryMessage) -> system.CompactBoundary:
    return system.CompactBoundary(
        **_envelope(message),
        subtype=message.subtype,
        logical_parent_uuid=message.logical_parent_uuid,
        compact_metadata=_convert_compaction(message.compact_metadata),
    )


def _convert_compaction(done: Compaction | None) -> system.CompactMetadata | None:
    if done is None:
        return None
    return system.CompactMetadata(
        trigger=done.trigger,
        pre_tokens=done.pre_tokens,
        post_tokens=done.post_tokens,
        duration_ms=done.duration_ms,
        cumulative_dropped_tokens=done.cumulative_dropped_tokens,
        preserved_segment=_copy(done.preserved_segment, system.PreservedSegment),
        preserved_messages=_copy(done.preserved_messages, system.PreservedMessages),
    )


def _convert_informational(message: InformationalMessage) -> system.Informational:
    return system.Informational(
        **_envelope(message),
        subtype=message.subtype,
        content=message.content,
        level=message.level,
        tool_use_id=message.tool_use_id,
    )


def _convert_output(message: LocalCommandOutput) -> system.LocalCommand:
    content = message.content
    if content is not None and not content.startswith(_OUTPUT_OPENING):
        content = f"{_OUTPUT_OPENING}{content}{_OUTPUT_END}"
    return system.LocalCommand(**_envelope(message), subtype="local_command", content=content)


def _convert_fallback(message: ModelFallbackMessage) -> system.ModelFallback:
    return system.ModelFallback(**_envelope(message), **_fallback(message))


def _convert_refusal(message: ModelRefusalMessage) -> system.ModelRefusal:
    return system.ModelRefusal(
        **_envelope(message),
        **_fallback(message),
        request_id=message.request_id,
        category=message.api_refusal_category,
        retracted_message_uuids=message.retracted_message_uuids,
    )


_CONVERSIONS: dict[type[Message], Callable[[Any], Record]] = {
    AssistantMessage: _convert_assistant,
    UserMessage: _convert_user,
    CompactBoundaryMessage: _convert_boundary,
    InformationalMessage: _convert_informational,
    LocalCommandOutput: _convert_output,
    ModelFallbackMessage: _convert_fallback,
    ModelRefusalMessage: _convert_refusal,
}


def _envelope(message: Message) -> dict[str, Any]:
    return {"span": message.span, "uuid": message.uuid, "session_id": message.session_id}


def _thread(message: ConversationMessage) -> dict[str, Any]:
    return _envelope(message) | {
        "timestamp": message.timestamp,
        "agent_id": message.agent_id,
        "is_sidechain": message.parent_tool_use_id is not None or message.agent_id is not None,
    }


def _fallback(message: ModelFallbackMessage) -> dict[str, Any]:
    return {
        "subtype": message.subtype,
        "content": message.content,
        "trigger": message.trigger,
        "original_model": message.original_model,
        "fallback_model": message.fallback_model,
    }


def _copy(value: Struct | None, wanted: type[S]) -> S | None:
    """`value` as the record's type, which has the same field names and other names on the wire."""
    if value is None:
        return None
    return wanted(**{name: getattr(value, name) for name in wanted.__struct_fields__})


def _unwrap_mcp(result: Raw) -> tuple[Raw, McpMeta | None]:
    """The transcript keeps apart what the stream wraps together for an MCP tool."""
    parts = decode_value(result, dict[str, Raw]) if bytes(result) else None
    if parts is None or parts.keys() not in _MCP_RESULTS:
        return result, None
    absent = Raw()
    meta = McpMeta(
        structured_content=parts.get("structuredContent", absent), meta=parts.get("_meta", absent)
    )
    return parts["content"], meta


def _opening(message: UserMessage) -> str:
    content = message.message.content if message.message else None
    if isinstance(content, str):
        return content
    first = content[0] if content else None
    if isinstance(first, Text):
        return first.words
    return first if isinstance(first, str) else ""
