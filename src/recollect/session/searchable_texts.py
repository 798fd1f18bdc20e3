"""Extract the searchable texts of a record, each with its kind.

Independent of terms and tables. The number of a document is its position among those of its record,
so a text can be found again from the record's bytes alone. A todo list or task file of a session
counts as a record with one text. For a tool result, the text that the model saw is used, not
the client's structured copy of it; images have no text. Which other texts are left out,
and why, is in `record_texts`.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from msgspec import Raw, Struct

from recollect.digests import blake2b
from recollect.documents.kinds import Context, InputKind, TextKind
from recollect.records import (
    attachment_kinds,
    attachments,
    blocks,
    conversation_records,
    decoding,
    state,
)
from recollect.records.envelope import Record, Unknown
from recollect.records.system_records import System
from recollect.records.token_usage import is_unique
from recollect.session import record_texts
from recollect.session.prompts import USER_KINDS, Prompt, read_prompt, read_queued, read_unrecorded

_EDGE: Final = 128


class ListFile(Record, frozen=True, tag="<list>"):
    """A todo list or a task, as in its file."""

    raw: Raw = Raw()


class SearchableText(Struct, frozen=True, gc=False):
    """One text of a record; `owner` is the id of the message or call that it belongs to."""

    part: TextKind
    text: str
    tool: str | None = None
    owner: str = ""
    is_error: bool = False
    is_input: bool = False
    """Whether it may have been in the prompt queue."""


def list_searchable_texts(record: Record, *, is_subagent: bool = False) -> list[SearchableText]:
    """Return the texts of a record, in an order that depends only on the record."""
    match record:
        case conversation_records.User():
            return [*_iter_user(record, is_subagent=is_subagent), *_list_beside(record)]
        case conversation_records.Assistant():
            return [*_iter_assistant(record), *_list_beside(record)]
        case (
            attachments.Attachment(attachment=attachment_kinds.QueuedCommand())
            | state.QueueOperation(operation="enqueue")
        ):
            return [*_iter_queued(record)]
        case Unknown() | ListFile():
            return [_describe_raw(record)]
        case state.CustomTitle() | state.AiTitle() | state.Summary() | state.Tag():
            texts = (text for _, text in record_texts.list_texts(record))
            return [
                SearchableText(TextKind.TITLE, text, owner=record.session_id or "")
                for text in texts
            ]
    return _list_beside(record)


def read_list(record: ListFile) -> str:
    """Return the text of a list, without states and ids."""
    # Imports the types of all tools, which a search of an up-to-date index does not need.
    from recollect.records.tools.planning_tools import Task, Todo

    todos = decoding.decode_value(record.raw, tuple[Todo, ...])
    if todos is not None:
        texts = [text for todo in todos for text in (todo.content, todo.active_form)]
    else:
        task = decoding.decode_value(record.raw, Task) or Task()
        texts = [task.subject, task.description]
    return "\n".join(text for text in texts if text)


def _describe_raw(record: Unknown | ListFile) -> SearchableText:
    if isinstance(record, ListFile):
        # The file name distinguishes it from an equal list of another session, which is not a copy.
        owner = record.span.file if record.span else ""
        return SearchableText(TextKind.NOTICE, read_list(record), owner=owner)
    return SearchableText(TextKind.OTHER, _join_strings(record.raw), owner=_uuid(record))


def make_key(document: SearchableText, timestamp: str | None) -> int:
    """Return a number that a text shares with its copies in other files, and with hardly any other.

    Copies by old clients have different times, so the time is left out if the owner's id never
    repeats.
    """
    text = document.text
    time = "" if is_unique(document.owner) else timestamp or ""
    # For a long text both ends and the length are enough, together with its owner and time.
    shown = text if len(text) <= 2 * _EDGE else f"{text[:_EDGE]}{len(text)}{text[-_EDGE:]}"
    return hash_name(f"{int(document.part)}|{document.owner}|{time}|{shown}")


def hash_name(name: str) -> int:
    """Return a number for a text such as the id of a call, used to find its results."""
    digest = blake2b(name.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _list_beside(record: Record) -> list[SearchableText]:
    """Return the texts of a record outside the conversation, joined into one, if there are any."""
    texts = record_texts.list_texts(record)
    if not texts:
        return []
    words = "\n".join(text for _, text in texts)
    is_error = isinstance(record, System) and record.level == "error"
    owner = _uuid(record) or getattr(record, "session_id", None) or ""
    return [SearchableText(TextKind.NOTICE, words, owner=owner, is_error=is_error)]


def _iter_user(record: conversation_records.User, *, is_subagent: bool) -> Iterator[SearchableText]:
    content = record_texts.list_blocks(record.message.content if record.message else None)
    is_answer = any(isinstance(block, blocks.ToolResult) for block in content)
    if not is_answer:
        yield from _iter_prompt(read_prompt(record, is_subagent=is_subagent), "")
    make = partial(SearchableText, owner=_uuid(record))
    for block in content:
        if not isinstance(block, blocks.Text):
            yield _describe_block(block, make)
        elif is_answer:
            yield SearchableText(TextKind.NOTICE, block.words)


def _read_result(result: blocks.ToolResult) -> str:
    """Return the text of a tool result, including its documents and links."""
    text = record_texts.result_text(result)
    if isinstance(result.content, tuple):
        others = (part for part in result.content if not isinstance(part, str | blocks.Text))
        return "\n".join(filter(None, (text, *map(_read_block, others))))
    return text


def _read_block(block: blocks.Block) -> str:
    return "\n".join(text for _, text in record_texts.list_texts(block))


def _iter_prompt(prompt: Prompt, owner: str) -> Iterator[SearchableText]:
    words = prompt.words
    if prompt.command is not None:
        words = f"{prompt.command.name} {prompt.command.arguments}".strip()
    yield SearchableText(_part_of(prompt.kind), words, owner=owner, is_input=True)
    if prompt.contexts:
        yield SearchableText(TextKind.NOTICE, "\n".join(map(_read_context, prompt.contexts)))


def _iter_queued(record: attachments.Attachment | state.QueueOperation) -> Iterator[SearchableText]:
    if isinstance(record, state.QueueOperation):
        words = read_unrecorded(record.content, is_sent=True).words
        yield SearchableText(TextKind.QUEUED, words, is_input=True)
    elif isinstance(record.attachment, attachment_kinds.QueuedCommand):
        yield from _iter_prompt(read_queued(record.attachment), _uuid(record))
        yield from _list_beside(record)


def _read_context(context: Context) -> str:
    path = context.path
    return f"{path}\n{context.text}" if path and path not in context.text else context.text


def _part_of(kind: InputKind) -> TextKind:
    if kind in {InputKind.COMMAND, InputKind.SHELL}:
        return TextKind.COMMAND
    if kind is InputKind.COMPACTION_SUMMARY:
        return TextKind.SUMMARY
    is_asked = kind in USER_KINDS or kind is InputKind.SUBAGENT_TASK
    return TextKind.PROMPT if is_asked else TextKind.NOTICE


def _iter_assistant(record: conversation_records.Assistant) -> Iterator[SearchableText]:
    message = record.message
    owner = (message.id if message else None) or _uuid(record)
    make = partial(SearchableText, owner=owner, is_error=record.is_api_error_message)
    for block in record_texts.list_blocks(message.content if message else None):
        if isinstance(block, blocks.Text):
            yield make(TextKind.REPLY, block.words)
        else:
            yield _describe_block(block, make)


def _describe_block(
    block: record_texts.AnyBlock, make: Callable[[TextKind, str], SearchableText]
) -> SearchableText:
    match block:
        case blocks.ToolUse() | blocks.ServerToolUseBlock() | blocks.McpToolUse():
            return SearchableText(TextKind.TOOL_INPUT, _read_call(block), block.name, block.id)
        case blocks.ToolResult():
            text, is_error = _read_result(block), bool(block.is_error)
            return SearchableText(TextKind.TOOL_RESULT, text, None, block.tool_use_id, is_error)
        case blocks.Thinking():
            return make(TextKind.THINKING, block.thinking)
        case blocks.ServerToolResult():
            text = _join_strings(block.content)
            return SearchableText(TextKind.TOOL_RESULT, text, None, block.tool_use_id)
    return make(TextKind.OTHER, _read_block(block))


def _read_call(block: blocks.ToolUse | blocks.ServerToolUseBlock | blocks.McpToolUse) -> str:
    """Return the text of a call, with an MCP tool's name; `Read` would match too often."""
    words = _join_strings(block.input)
    return f"{block.name}\n{words}" if block.name.startswith(blocks.MCP_PREFIX) else words


def _uuid(record: Record) -> str:
    return getattr(record, "uuid", None) or ""


def _join_strings(raw: Raw) -> str:
    return "\n".join(record_texts.read_strings(raw))
