"""A record → its documents: the texts that can be searched for, each with what it is.

Knows nothing of terms or tables. The number of a document is its place among those of its record,
so that a text is found again from the record's bytes alone. Of a tool result the words that the
model saw are taken, not the client's structured copy of them, and pictures have no words.
"""

import hashlib
from collections.abc import Iterator
from functools import partial
from typing import Final

from msgspec import Raw, Struct

from recollect.records.attachments import AnyAttachment, Attachment
from recollect.records.attachments.files import (
    EditedTextFile,
    FileKind,
    OpenedFileInIde,
    QueuedCommand,
    SelectedLines,
)
from recollect.records.attachments.notices import PlanFileReference
from recollect.records.blocks import (
    McpToolUse,
    ServerToolResult,
    ServerToolUseBlock,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    UnknownBlock,
)
from recollect.records.conversation import Assistant, User
from recollect.records.decoding import decode_value
from recollect.records.envelope import Record
from recollect.records.irregular import Unknown
from recollect.records.state import AiTitle, CustomTitle, Summary, Tag
from recollect.records.system import System
from recollect.session.content import list_blocks, result_text
from recollect.session.prompts import PERSON_KINDS, InputKind, Prompt, read_prompt, read_queued
from recollect.store.text import Part

_MOST_LEVELS: Final = 20
_EDGE: Final = 128


class Document(Struct, frozen=True, gc=False):
    """One text of a record; `owner` is the id of the message or call that it belongs to."""

    part: Part
    text: str
    tool: str | None = None
    owner: str = ""
    is_error: bool = False


def list_documents(record: Record, *, is_subagent: bool = False) -> list[Document]:
    """The documents of a record, in an order that depends on the record alone."""
    match record:
        case User():
            return [*_iter_user(record, is_subagent=is_subagent)]
        case Assistant():
            return [*_iter_assistant(record)]
        case System() if record.content:
            is_error = record.level == "error"
            return [Document(Part.NOTICE, record.content, owner=_uuid(record), is_error=is_error)]
        case Attachment():
            return [*_iter_attached(record)]
        case Unknown():
            return [Document(Part.OTHER, _join_strings(record.raw), owner=_uuid(record))]
    title = _title_of(record)
    return [Document(Part.TITLE, title, owner=getattr(record, "session_id", "") or "")] * bool(
        title
    )


def make_key(document: Document, timestamp: str | None) -> int:
    """A number that copies of a document in other files share, and hardly anything else."""
    text = document.text
    # Of a long text both ends and the length: its owner and its time are its own already.
    shown = text if len(text) <= 2 * _EDGE else f"{text[:_EDGE]}{len(text)}{text[-_EDGE:]}"
    return hash_name(f"{int(document.part)}|{document.owner}|{timestamp or ''}|{shown}")


def hash_name(name: str) -> int:
    """A number for a text, such as the id of a call, by which its results are found."""
    digest = hashlib.blake2b(name.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _iter_user(record: User, *, is_subagent: bool) -> Iterator[Document]:
    blocks = list_blocks(record.message.content if record.message else None)
    if not any(isinstance(block, ToolResult) for block in blocks):
        yield from _iter_prompt(read_prompt(record, is_subagent=is_subagent), "")
        return
    for block in blocks:
        if isinstance(block, ToolResult):
            text, is_error = result_text(block), bool(block.is_error)
            yield Document(Part.TOOL_RESULT, text, None, block.tool_use_id, is_error)
        elif isinstance(block, Text):
            yield Document(Part.NOTICE, block.words)


def _iter_prompt(prompt: Prompt, owner: str) -> Iterator[Document]:
    words = prompt.words
    if prompt.command is not None:
        words = f"{prompt.command.name} {prompt.command.arguments}".strip()
    yield Document(_part_of(prompt.kind), words, owner=owner)
    if prompt.contexts:
        yield Document(Part.NOTICE, "\n".join(context.text for context in prompt.contexts))


def _part_of(kind: InputKind) -> Part:
    if kind in {InputKind.COMMAND, InputKind.SHELL}:
        return Part.COMMAND
    if kind is InputKind.COMPACTION_SUMMARY:
        return Part.SUMMARY
    is_asked = kind in PERSON_KINDS or kind is InputKind.SUBAGENT_TASK
    return Part.PROMPT if is_asked else Part.NOTICE


def _iter_assistant(record: Assistant) -> Iterator[Document]:
    message = record.message
    owner = (message.id if message else None) or _uuid(record)
    make = partial(Document, owner=owner, is_error=record.is_api_error_message)
    for block in list_blocks(message.content if message else None):
        match block:
            case Text():
                yield make(Part.REPLY, block.words)
            case Thinking():
                yield make(Part.THINKING, block.thinking)
            case ToolUse() | ServerToolUseBlock() | McpToolUse():
                yield Document(Part.TOOL_INPUT, _join_strings(block.input), block.name, block.id)
            case ServerToolResult():
                text = _join_strings(block.content)
                yield Document(Part.TOOL_RESULT, text, None, block.tool_use_id)
            case UnknownBlock():
                yield make(Part.OTHER, _join_strings(block.raw))


def _iter_attached(record: Attachment) -> Iterator[Document]:
    if isinstance(record.attachment, QueuedCommand):
        yield from _iter_prompt(read_queued(record.attachment), _uuid(record))
    elif words := _words_of(record.attachment):
        yield Document(Part.NOTICE, words, owner=_uuid(record))


def _words_of(attachment: AnyAttachment | None) -> str:
    """What a person put beside the conversation: files they named or changed, lines they marked."""
    match attachment:
        case FileKind():
            words = [attachment.filename, _join_strings(attachment.content)]
        case EditedTextFile():
            words = [attachment.filename, attachment.snippet]
        case SelectedLines():
            words = [attachment.filename, attachment.content]
        case OpenedFileInIde():
            words = [attachment.filename]
        case PlanFileReference():
            words = [attachment.plan_file_path, attachment.plan_content]
        case _:
            return ""
    return "\n".join(filter(None, words))


def _title_of(record: Record) -> str:
    match record:
        case CustomTitle():
            return record.custom_title or ""
        case AiTitle():
            return record.ai_title or ""
        case Summary():
            return record.summary or ""
        case Tag():
            return record.tag or ""
    return ""


def _uuid(record: Record) -> str:
    return getattr(record, "uuid", None) or ""


def _join_strings(raw: Raw) -> str:
    """The strings in a JSON text, one a line: what a person would read of it."""
    found: list[str] = []
    if bytes(raw):
        _collect_strings(decode_value(raw, object), _MOST_LEVELS, found)
    return "\n".join(found)


def _collect_strings(value: object, levels: int, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value)
    elif levels and isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            _collect_strings(member, levels - 1, found)
