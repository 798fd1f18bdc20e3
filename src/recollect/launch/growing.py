"""The block that a model is writing right now, from the pieces that the stream tells.

Pure: an event in, the block as it then is out. It is only ever shown until the whole block comes
as a message of its own, which is the one that counts.
"""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from recollect.records.blocks import ContentBlock, Text, Thinking, ToolUse
from recollect.records.stream.events import (
    AnyEvent,
    BlockDelta,
    ContentBlockDelta,
    ContentBlockStart,
    ContentBlockStop,
    MessageStart,
    MessageStop,
    TextDelta,
    ThinkingDelta,
)


class GrowingKind(StrEnum):
    """What kind of block it is."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL = "tool"


class Growing(Struct, frozen=True):
    """A block that is not whole yet; of a tool's input only the tool's name can be shown."""

    kind: GrowingKind
    text: str = ""
    tool: str = ""


def grow(block: Growing | None, event: AnyEvent | None) -> Growing | None:
    """`block` after `event`; None while nothing is being written."""
    match event:
        case ContentBlockStart(content_block=begun):
            return _begin(begun)
        case ContentBlockDelta(delta=delta) if block is not None:
            return replace(block, text=block.text + _read(delta, block.kind))
        case ContentBlockStop() | MessageStart() | MessageStop():
            return None
    return block


def _begin(block: ContentBlock | None) -> Growing | None:
    match block:
        case Text():
            return Growing(GrowingKind.TEXT, block.words)
        case Thinking(thinking=text):
            return Growing(GrowingKind.THINKING, text or "")
        case ToolUse(name=name):
            return Growing(GrowingKind.TOOL, tool=name or "")
    return None


def _read(delta: BlockDelta | None, kind: GrowingKind) -> str:
    match delta:
        case TextDelta(text=text) if kind is GrowingKind.TEXT:
            return text
        case ThinkingDelta(thinking=text) if kind is GrowingKind.THINKING:
            return text
    return ""
