"""Blocks and text of a message, whatever form its content has, and the texts of a record outside
the conversation, each with the name of its field.

Messages, tool inputs and results are read elsewhere. All other texts are found here by type, so
that a known record is never less visible than an unknown one: every text is searched and shown,
except those in `UNREAD`, each with a reason.
"""

from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import Final, NamedTuple, cast, get_args

from msgspec import Raw, Struct, structs

from recollect.records import (
    attachment_kinds,
    attachments,
    blocks,
    conversation_records,
    decoding,
    envelope,
    state,
    system_records,
)
from recollect.records import attachment_kinds as kinds
from recollect.records.blocks import Content, ContentBlock, NestedBlock, Text, ToolResult, ToolUse
from recollect.records.state import JournalResult, JournalRow

AnyBlock = ContentBlock | NestedBlock


def list_blocks(content: Content) -> tuple[ContentBlock, ...]:
    """Return the blocks of `content`; a plain string becomes a `Text` block."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(text=content),)
    if str not in map(type, content):
        # Clients nearly always write blocks, and this runs several times per record.
        return cast(tuple[ContentBlock, ...], content)
    return tuple(Text(text=block) if isinstance(block, str) else block for block in content)


def join_text(blocks: tuple[AnyBlock, ...]) -> str:
    """Return the text of the text blocks, one block per line."""
    return "\n".join(block.words for block in blocks if isinstance(block, Text))


def iter_tool_uses(content: Content) -> Iterator[ToolUse]:
    """Yield the tool calls of a message."""
    return (block for block in list_blocks(content) if isinstance(block, ToolUse))


def iter_tool_results(content: Content) -> Iterator[ToolResult]:
    """Yield the tool results of a message."""
    if isinstance(content, tuple):
        yield from (block for block in content if isinstance(block, ToolResult))


def result_text(result: ToolResult) -> str:
    """Return the text of a tool result."""
    if isinstance(result.content, str):
        return result.content
    if result.content is None:
        return ""
    return "\n".join(
        part if isinstance(part, str) else part.words
        for part in result.content
        if isinstance(part, str | Text)
    )


MAX_DEPTH: Final = 20
"""Maximum nesting depth of JSON."""

_ID = "an id or a hash: `recollect show` finds records by id"
_ENVELOPE = "where and when a record was written: searches have fields for that"
_FIXED_VALUE = "one of a few fixed values, repeated in thousands of records"
_COPY = "a copy of text in another record"
_SAME_EVERYWHERE = "sent to the model in every session, not specific to one"
_PROGRESS = "progress of a tool: its call and result contain the same"
ELSEWHERE = "read by other code"
_FIGURES = "bookkeeping of the client or the API, without prose"
_OPAQUE = "encrypted or encoded, so not readable"

UNREAD: Final[dict[type[Struct], dict[str, str]]] = {
    envelope.Record: {"span": _ENVELOPE},
    envelope.Chain: dict.fromkeys(envelope.Chain.__struct_fields__, _ENVELOPE),
    state.State: {"session_id": _ID, "timestamp": _ENVELOPE},
    blocks.Text: {"citations": _COPY, "cache_control": _FIGURES},
    blocks.UnknownBlock: {"block_type": _FIXED_VALUE},
    blocks.Source: {"type": _FIXED_VALUE, "media_type": _FIXED_VALUE, "data": _OPAQUE},
    blocks.Image: {"cache_control": _FIGURES},
    blocks.Document: {"citations": _FIGURES, "cache_control": _FIGURES},
    blocks.SearchResult: {"citations": _FIGURES},
    blocks.ResourceLink: {"mime_type": _FIXED_VALUE},
    blocks.Thinking: {"signature": _OPAQUE},
    blocks.RedactedThinking: {"data": _OPAQUE},
    blocks.Caller: {"type": _FIXED_VALUE, "tool_id": _ID},
    **{
        kind: dict.fromkeys(kind.__struct_fields__, ELSEWHERE)
        for kind in (blocks.ToolUse, blocks.ServerToolUseBlock, blocks.McpToolUse)
    },
    blocks.ToolResult: {"tool_use_id": _ID, "content": ELSEWHERE, "cache_control": _FIGURES},
    blocks.ServerToolResult: {"tool_use_id": _ID, "content": ELSEWHERE},
    conversation_records.User: {
        "message": ELSEWHERE,
        "contexts": ELSEWHERE,
        **dict.fromkeys(("tool_use_result", "mcp_meta"), _COPY),
        **dict.fromkeys(
            (
                "prompt_id",
                "source_tool_assistant_uuid",
                "source_tool_use_id",
                "summarized_turn_prompt_uuids",
                "interrupted_message_id",
                "refused_message_id",
                "joined_notice_run_ids",
            ),
            _ID,
        ),
        **dict.fromkeys(
            ("prompt_source", "turn_origin", "permission_mode", "tool_denial_kind"), _FIXED_VALUE
        ),
        **dict.fromkeys(
            (
                "turn_position",
                "mcp_call_not_read_only",
                "summarize_metadata",
                "image_paste_ids",
                "thinking_metadata",
                "turn_companion",
                "queue_skip_attachments",
                "queue_transcript_only",
                "holds_persons_words",
                "server_classifier_context",
                "classifier_meta_lines",
                "joined_notice_lengths",
                "joined_notice_own",
            ),
            _FIGURES,
        ),
    },
    conversation_records.Origin: {
        "kind": _FIXED_VALUE,
        "producer": _FIXED_VALUE,
        "run_id": _ID,
    },
    conversation_records.PermissionDecision: dict.fromkeys(
        conversation_records.PermissionDecision.__struct_fields__, _FIXED_VALUE
    ),
    conversation_records.ApiMessage: {
        "id": _ID,
        "content": ELSEWHERE,
        **dict.fromkeys(("type", "role", "model", "stop_reason"), _FIXED_VALUE),
        **dict.fromkeys(
            ("usage", "container", "context_management", "diagnostics", "input_transformations"),
            _FIGURES,
        ),
    },
    conversation_records.Assistant: {
        "message": ELSEWHERE,
        "wire_tool_inputs": _COPY,
        "wire_ingest_context": _ENVELOPE,
        **dict.fromkeys(("request_id", "request_ref"), _ID),
        **dict.fromkeys(
            (
                "requested_model",
                "prompt_cache_requested",
                "effort",
                "per_turn_effort",
                "made_by",
                "thinking_display",
                "advisor_model",
                "attribution_agent",
                "attribution_skill",
                "attribution_plugin",
                "attribution_mcp_server",
                "attribution_mcp_tool",
            ),
            _FIXED_VALUE,
        ),
        **dict.fromkeys(("quota_limits", "server_classifier_request"), _FIGURES),
    },
    system_records.System: {"subtype": _FIXED_VALUE, "level": _FIXED_VALUE, "tool_use_id": _ID},
    system_records.CompactMetadata: {
        "trigger": _FIXED_VALUE,
        "pre_compact_discovered_tools": _FIXED_VALUE,
        "preserved_segment": _ID,
        "preserved_messages": _ID,
    },
    system_records.MicrocompactMetadata: dict.fromkeys(
        system_records.MicrocompactMetadata.__struct_fields__, _FIGURES
    ),
    system_records.LocalCommand: {
        "command_run": _COPY,
        "context_usage": _FIGURES,
        "usage_report": _FIGURES,
    },
    system_records.ApiError: {"source": _FIXED_VALUE},
    system_records.ModelRefusal: {"request_id": _ID, "retracted_message_uuids": _ID},
    attachments.Attachment: {
        "rendered": _COPY,
        "rendered_role": _FIXED_VALUE,
        "rendered_in_human_turn": _FIGURES,
    },
    attachment_kinds.OtherAttachment: {"kind": _FIXED_VALUE},
    kinds.QueuedCommand: {
        "prompt": ELSEWHERE,
        "timestamp": _ENVELOPE,
        **dict.fromkeys(("source_uuid", "delivery_id", "run_id"), _ID),
        **dict.fromkeys(("command_mode", "tools_used_delta"), _FIXED_VALUE),
        **dict.fromkeys(("image_paste_ids", "usage"), _FIGURES),
    },
    kinds.FileKind: {"saved_copy_framing": _FIGURES},
    kinds.EditedImageFile: {"content": _OPAQUE},
    kinds.SelectedLines: {"ide_name": _FIXED_VALUE},
    kinds.HookKind: {"tool_use_id": _ID, "hook_event": _FIXED_VALUE},
    kinds.AsyncHookResponse: {"process_id": _ID},
    kinds.PlanKind: {"reminder_type": _FIXED_VALUE},
    kinds.StructuredOutput: {"tool_use_id": _ID},
    kinds.CommandPermissions: {"model": _FIXED_VALUE, "allowed_tools": _FIXED_VALUE},
    kinds.TextReminder: {"text": _SAME_EVERYWHERE},
    **{
        kind: dict.fromkeys(kind.__struct_fields__, _SAME_EVERYWHERE)
        for kind in (
            kinds.AgentListingDelta,
            kinds.Date,
            kinds.DateChange,
            kinds.DeferredToolsDelta,
            kinds.DeferredToolsRecord,
            kinds.Environment,
            kinds.Instructions,
            kinds.InvokedSkills,
            kinds.McpInstructionsDelta,
            kinds.ModelKind,
            kinds.OutputStyle,
            kinds.PromptSnapshot,
            kinds.SessionContext,
            kinds.SkillListing,
        )
    },
    system_records.Progress: {"tool_use_id": _ID, "parent_tool_use_id": _ID},
    system_records.HookProgress: dict.fromkeys(("hook_event", "hook_name", "command"), _COPY),
    system_records.OtherProgress: {"kind": _FIXED_VALUE},
    system_records.SavedHookContext: {"tool_use_id": _ID, "hook_event": _FIXED_VALUE},
    **{
        kind: dict.fromkeys(kind.__struct_fields__, _PROGRESS)
        for kind in (
            system_records.AgentProgress,
            system_records.McpProgress,
            system_records.QueryUpdate,
            system_records.SearchResultsReceived,
            system_records.ShellProgress,
            system_records.WaitingForTask,
        )
    },
    state.Summary: {"leaf_uuid": _ID},
    state.QueueOperation: {
        "operation": _FIXED_VALUE,
        "content": ELSEWHERE,
        "reason": _FIXED_VALUE,
        "command_uuid": _ID,
        "delivery_id": _ID,
    },
    state.FileHistorySnapshot: {"message_id": _ID, "snapshot": _FIGURES},
    state.FileHistoryDelta: {
        "message_id": _ID,
        "snapshot_message_id": _ID,
        "tracking_path": _COPY,
        "backup": _FIGURES,
    },
    state.LastPrompt: {"last_prompt": _COPY, "leaf_uuid": _ID},
    state.AgentColor: {"agent_color": _FIXED_VALUE},
    state.Mode: {"mode": _FIXED_VALUE},
    state.PermissionMode: {"permission_mode": _FIXED_VALUE},
    state.WorktreeSession: {"original_head_commit": _ID, "session_id": _ID},
    state.ContinuedIn: {"continued_in_session_id": _ID},
    state.Replacement: {"kind": _FIXED_VALUE, "tool_use_id": _ID},
    state.ContentReplacement: {"agent_id": _ID},
    state.ForkContextRef: dict.fromkeys(("agent_id", "parent_session_id", "parent_last_uuid"), _ID),
    state.BridgeSession: dict.fromkeys(
        ("bridge_session_id", "owner_account_uuid", "owner_organization_uuid"), _ID
    ),
    state.CostState: {"model_usage": _FIGURES},
    state.ToolsUsed: {"tools": _FIXED_VALUE},
    state.AtisLatch: {"atis": _FIXED_VALUE},
    state.IsolationLatch: {"side": _FIXED_VALUE},
    state.MemoryMode: {"mode": _FIXED_VALUE, "after_uuid": _ID},
    state.HistorySuppression: {"cause": _FIXED_VALUE, "ts": _ENVELOPE},
    state.ArtifactCommentMonitor: {"artifacts": _FIGURES},
    state.ArtifactAutoreactLedger: {"account_uuid": _ID, "artifacts": _FIGURES},
    state.AttributionSnapshot: {"message_id": _ID},
    state.AgentMetadata: {"agent_id": _ID, "agent_type": _FIXED_VALUE},
    **{
        kind: dict.fromkeys(kind.__struct_fields__, _COPY)
        for kind in (state.ApiRequestShape, state.ApiRequestBlob, state.ApiRequest)
    },
    JournalRow: {"key": _ID, "agent_id": _ID},
    JournalResult: {"tools_used": _FIXED_VALUE},
}
"""Fields that are neither searched nor shown, with the reason; a subclass inherits them."""

_ABSENT: Final = conversation_records.ApiMessage().stop_details
"""The default, a single object shared by all messages."""

NamedText = tuple[str, str]
"""The name of a field, and a text in it."""


def list_texts(value: envelope.Record | blocks.Block) -> list[NamedText]:
    """Return the texts of a record or block that no other module reads, with their field names."""
    found: list[NamedText] = []
    _add_fields(value, found)
    if isinstance(value, conversation_records.Assistant):
        message = value.message
        # Checked here because most records are messages, and few have a stop reason.
        if message is not None and (message.stop_sequence or message.stop_details is not _ABSENT):
            _add_fields(message, found)
    return found


def find_unread(kind: type[Struct]) -> dict[str, str]:
    """Return the fields of a type that are left out, with the reasons."""
    return {name: why for each in kind.__mro__ for name, why in UNREAD.get(each, {}).items()}


class _Fields(NamedTuple):
    """The fields of a type that may hold texts, and their defaults."""

    names: tuple[str, ...]
    read: Callable[[Struct], tuple[object, ...]]
    defaults: tuple[object, ...]


@cache
def _find_fields(kind: type[Struct]) -> _Fields:
    unread = find_unread(kind)
    known = [
        each
        for each in structs.fields(kind)
        if each.name not in unread and _may_contain_text(each.type)
    ]
    names = tuple(each.name for each in known)
    return _Fields(names, _make_getter(names), tuple(each.default for each in known))


def _make_getter(names: tuple[str, ...]) -> Callable[[Struct], tuple[object, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    # With a single name, attrgetter returns the value itself, not a tuple.
    return lambda value: tuple(getattr(value, name) for name in names)


def _may_contain_text(kind: object) -> bool:
    return not {*(get_args(kind) or (kind,))} <= {bool, int, float, NoneType}


def _add_texts(value: object, name: str, found: list[NamedText]) -> None:
    if isinstance(value, str):
        if value:
            found.append((name, value))
    elif isinstance(value, Raw):
        found += ((name, text) for text in read_strings(value))
    elif isinstance(value, Struct):
        if isinstance(value, blocks.Source) and value.type == "text" and value.data:
            found.append((name, value.data))
        _add_fields(value, found)
    elif isinstance(value, tuple | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            _add_texts(inner, name, found)


def _add_fields(value: Struct, found: list[NamedText]) -> None:
    known = _find_fields(type(value))
    texts = known.read(value)
    # Nearly all records have no such text: their values are the default objects.
    if texts == known.defaults:
        return
    for name, text, default in zip(known.names, texts, known.defaults, strict=True):
        if text is not default:
            _add_texts(text, name, found)


def read_strings(raw: Raw) -> list[str]:
    """Return the strings in a JSON text, in order."""
    found: list[str] = []
    if bytes(raw):
        _collect(decoding.decode_value(raw, object), MAX_DEPTH, found.append)
    return found


def _collect(value: object, depth: int, add: Callable[[str], None]) -> None:
    if isinstance(value, str):
        add(value)
    elif depth and isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            _collect(inner, depth - 1, add)
