"""Convert stream messages to transcript records, and merge both sources.

The stream does not have the tree (`parent_uuid`), the directory, the branch or the client version,
and its usage is a placeholder. Records of both sources have the same `uuid`; the transcript takes
precedence, because it was written when the response was complete. Booleans are never filled in: a
missing one is False. A synthetic assistant message of 2.1.112 for a local command looks like an
error text, so only those that name their source become a `LocalCommand`.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from msgspec import Raw, Struct, structs

from recollect.records import blocks, conversation_records, decoding, envelope, system_records
from recollect.records.conversation_records import (
    COMPACTION_MARK,
    SYNTHETIC_MODEL,
    Assistant,
    McpMeta,
    User,
)
from recollect.records.stream import stream_messages, system_messages
from recollect.records.stream.message_decoding import StreamMessage

_MCP_RESULTS = (
    {"content", "structuredContent"},
    {"content", "_meta"},
    {"content", "structuredContent", "_meta"},
)
_OUTPUT_OPENING, _OUTPUT_END = "<local-command-stdout>", "</local-command-stdout>"

S = TypeVar("S", bound=Struct)


def to_record(message: StreamMessage) -> envelope.Record | None:
    """Return the transcript record of a message; None if it is never written to a transcript."""
    convert = _CONVERSIONS.get(type(message))
    return None if convert is None else convert(message)


def _convert_assistant(message: stream_messages.AssistantMessage) -> envelope.Record:
    if message.local_command_source is not None:
        return system_records.LocalCommand(
            **_envelope_fields(message),
            timestamp=message.timestamp,
            subtype="local_command",
            content=message.local_command_source,
            command_run=message.local_command_run,
            context_usage=message.context_usage,
            usage_report=message.usage_report,
        )
    is_call = message.message is not None and message.message.model != SYNTHETIC_MODEL
    return Assistant(
        **_thread_fields(message),
        message=message.message,
        request_id=message.request_id,
        is_api_error_message=message.is_api_error_message or not envelope.is_absent(message.error),
        error=message.error,
        api_error_status=message.api_error_status,
        api_error_type=message.api_error_type,
        is_aborted_mid_stream=message.aborted,
        thinking_duration_ms=message.thinking_duration_ms,
        thinking_display=message.thinking_display,
        attribution_agent=message.subagent_type if is_call else None,
        is_meta=message.is_meta,
    )


def _convert_user(message: stream_messages.UserMessage) -> User:
    result, mcp_meta = _unwrap_mcp(message.tool_use_result)
    meta = message.tool_result_meta[0] if message.tool_result_meta else None
    decision = meta.permission_decision if meta else None
    is_summary = not message.is_replay and _opening(message).startswith(COMPACTION_MARK)
    return User(
        **_thread_fields(message),
        message=message.message,
        tool_use_result=result,
        mcp_meta=mcp_meta,
        tool_denial_kind=meta.non_execution_kind if meta else None,
        permission_decision=_copy(decision, conversation_records.PermissionDecision),
        origin=_copy(message.origin, conversation_records.Origin),
        refused_message_id=message.refused_message_id,
        is_meta=(message.is_synthetic or message.is_meta) and not is_summary,
        is_compact_summary=is_summary,
        is_visible_in_transcript_only=is_summary,
    )


def _convert_boundary(
    message: system_messages.CompactBoundaryMessage,
) -> system_records.CompactBoundary:
    return system_records.CompactBoundary(
        **_envelope_fields(message),
        subtype=message.subtype,
        logical_parent_uuid=message.logical_parent_uuid,
        compact_metadata=_convert_compaction(message.compact_metadata),
    )


def _convert_compaction(
    compaction: system_messages.Compaction | None,
) -> system_records.CompactMetadata | None:
    if compaction is None:
        return None
    return system_records.CompactMetadata(
        trigger=compaction.trigger,
        pre_tokens=compaction.pre_tokens,
        post_tokens=compaction.post_tokens,
        duration_ms=compaction.duration_ms,
        cumulative_dropped_tokens=compaction.cumulative_dropped_tokens,
        preserved_segment=_copy(compaction.preserved_segment, system_records.PreservedSegment),
        preserved_messages=_copy(compaction.preserved_messages, system_records.PreservedMessages),
    )


def _convert_informational(
    message: system_messages.InformationalMessage,
) -> system_records.Informational:
    return system_records.Informational(
        **_envelope_fields(message),
        subtype=message.subtype,
        content=message.content,
        level=message.level,
        tool_use_id=message.tool_use_id,
    )


def _convert_output(message: system_messages.LocalCommandOutput) -> system_records.LocalCommand:
    content = message.content
    if content is not None and not content.startswith(_OUTPUT_OPENING):
        content = f"{_OUTPUT_OPENING}{content}{_OUTPUT_END}"
    return system_records.LocalCommand(
        **_envelope_fields(message), subtype="local_command", content=content
    )


def _convert_fallback(
    message: system_messages.ModelFallbackMessage,
) -> system_records.ModelFallback:
    return system_records.ModelFallback(**_envelope_fields(message), **_fallback_fields(message))


def _convert_refusal(message: system_messages.ModelRefusalMessage) -> system_records.ModelRefusal:
    return system_records.ModelRefusal(
        **_envelope_fields(message),
        **_fallback_fields(message),
        request_id=message.request_id,
        category=message.api_refusal_category,
        retracted_message_uuids=message.retracted_message_uuids,
    )


_CONVERSIONS: dict[type[stream_messages.Message], Callable[[Any], envelope.Record]] = {
    stream_messages.AssistantMessage: _convert_assistant,
    stream_messages.UserMessage: _convert_user,
    system_messages.CompactBoundaryMessage: _convert_boundary,
    system_messages.InformationalMessage: _convert_informational,
    system_messages.LocalCommandOutput: _convert_output,
    system_messages.ModelFallbackMessage: _convert_fallback,
    system_messages.ModelRefusalMessage: _convert_refusal,
}


def _envelope_fields(message: stream_messages.Message) -> dict[str, Any]:
    return {"span": message.span, "uuid": message.uuid, "session_id": message.session_id}


def _thread_fields(message: stream_messages.ConversationMessage) -> dict[str, Any]:
    return _envelope_fields(message) | {
        "timestamp": message.timestamp,
        "agent_id": message.agent_id,
        "is_sidechain": message.parent_tool_use_id is not None or message.agent_id is not None,
    }


def _fallback_fields(message: system_messages.ModelFallbackMessage) -> dict[str, Any]:
    return {
        "subtype": message.subtype,
        "content": message.content,
        "trigger": message.trigger,
        "original_model": message.original_model,
        "fallback_model": message.fallback_model,
    }


def _copy(value: Struct | None, wanted: type[S]) -> S | None:
    """Convert to the type of the record, which has the same fields with other JSON names."""
    if value is None:
        return None
    return wanted(**{name: getattr(value, name) for name in wanted.__struct_fields__})


def _unwrap_mcp(result: Raw) -> tuple[Raw, McpMeta | None]:
    """Split an MCP result as in transcripts: the stream wraps content and metadata together."""
    parts = decoding.decode_value(result, dict[str, Raw]) if bytes(result) else None
    if parts is None or parts.keys() not in _MCP_RESULTS:
        return result, None
    absent = Raw()
    meta = McpMeta(
        structured_content=parts.get("structuredContent", absent), meta=parts.get("_meta", absent)
    )
    return parts["content"], meta


def _opening(message: stream_messages.UserMessage) -> str:
    content = message.message.content if message.message else None
    if isinstance(content, str):
        return content
    first = content[0] if content else None
    if isinstance(first, blocks.Text):
        return first.words
    return first if isinstance(first, str) else ""


R = TypeVar("R", bound=Struct)


def merge(file_record: R, stream_record: envelope.Record) -> R:
    """Return `file_record`, completed from `stream_record`; unchanged if their types differ."""
    if type(file_record) is not type(stream_record):
        return file_record
    return _fill(file_record, stream_record)


def join(
    records: Iterable[envelope.Record], messages: Iterable[StreamMessage]
) -> tuple[envelope.Record, ...]:
    """Return `records` merged with the stream, followed by what only the stream has so far.

    Messages without a `uuid` (1.0.x) are omitted, because they cannot be matched with `records`.
    """
    pending = _index_by_uuid(messages)
    streamed = dict(pending)
    joined: list[envelope.Record] = []
    for record in records:
        uuid = record.uuid if isinstance(record, envelope.Chain) else None
        joined.append(merge(record, streamed[uuid]) if uuid in streamed else record)
        pending.pop(uuid, None)
    return (*joined, *pending.values())


def _index_by_uuid(messages: Iterable[StreamMessage]) -> dict[str | None, envelope.Record]:
    found = filter(None, map(to_record, messages))
    return {
        record.uuid: record
        for record in found
        if isinstance(record, envelope.Chain) and record.uuid
    }


def _fill(first: R, second: Struct) -> R:
    changes: dict[str, Any] = {}
    for name in first.__struct_fields__:
        mine, other = getattr(first, name), getattr(second, name)
        if _is_missing(mine):
            changes[name] = other
        elif name == "message" and type(mine) is type(other):
            # One level only: mixing two usages would make a third that was never reported.
            changes[name] = _fill(mine, other)
    return structs.replace(first, **changes)


def _is_missing(value: Any) -> bool:
    return envelope.is_absent(value) if isinstance(value, Raw) else value is None or value == ()
