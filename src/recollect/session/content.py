"""Blocks and text of a message, whichever form its content has."""

from collections.abc import Iterator
from typing import cast

from recollect.records.blocks import Content, ContentBlock, NestedBlock, Text, ToolResult, ToolUse

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
