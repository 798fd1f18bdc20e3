"""The structure of a tool view, and the default view for any tool.

A view returns None for a call whose input is not what its tool expects: the default view then shows
all of it instead of an empty form.
"""

from collections.abc import Callable

from msgspec import Raw, Struct

from recollect.documents.turn_documents import Part, Plain
from recollect.records.blocks import Document, Image, ServerToolResult, ToolResult
from recollect.records.decoding import decode_value
from recollect.records.tools import ToolInput, ToolOutput
from recollect.render.views.part_builders import show_blocks, show_value, take_line
from recollect.session.tool_calls import ToolCall


class Case(Struct, frozen=True):
    """A call with its input and result, each parsed once; `text` is what the model saw."""

    call: ToolCall
    input: ToolInput
    result: ToolOutput | None
    text: str


class ToolView(Struct, frozen=True, kw_only=True):
    """A call to show: one line for its input, one for its result, and the details of each."""

    title: str = ""
    description: str = ""
    """The model's own description of the call."""
    summary: str = ""
    input: tuple[Part, ...] = ()
    output: tuple[Part, ...] = ()


Describe = Callable[[Case], ToolView | None]
"""Describes the calls of one tool; results of failed calls are handled elsewhere."""


def describe_any(case: Case) -> ToolView:
    """Describe a call of an unknown tool."""
    return ToolView(
        title=find_title(case.call.raw_input),
        summary=take_line(case.text),
        input=show_value(case.call.raw_input),
        output=show_answer(case),
    )


def find_title(raw: Raw) -> str:
    """Return the first string in an input: the most important field usually comes first."""
    values = decode_value(raw, dict[str, Raw]) or {}
    strings = (value for value in values.values() if bytes(value).lstrip().startswith(b'"'))
    texts = (decode_value(value, str) for value in strings)
    return take_line(next((text for text in texts if text and text.strip()), ""))


def find_media(call: ToolCall) -> tuple[Part, ...]:
    """Return the images and documents that the model saw in the result."""
    content = call.block.content if isinstance(call.block, ToolResult) else None
    if not isinstance(content, tuple):
        return ()
    return show_blocks(block for block in content if isinstance(block, Image | Document))


def show_answer(case: Case) -> tuple[Part, ...]:
    """Return what the model saw; if that is empty, what the client kept."""
    block = case.call.block
    match block:
        case ToolResult(content=str(text)) if text.strip():
            return (Plain(text),)
        case ToolResult(content=tuple() as content):
            parts = show_blocks(content)
            if parts:
                return parts
        case ServerToolResult(content=raw):
            return show_value(raw)
    return show_value(case.call.raw_result)
