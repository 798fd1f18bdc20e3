"""Any call of any tool: its input as it is, and what the model saw of the answer."""

from msgspec import Raw

from recollect.records.blocks import ServerToolResult, ToolResult
from recollect.records.decoding import decode_value
from recollect.render.views.blocks import show_blocks
from recollect.render.views.parts import Part, Plain
from recollect.render.views.tools.view import Case, ToolView
from recollect.render.views.values import show_value
from recollect.render.views.words import take_line


def describe_any(case: Case) -> ToolView:
    """A call of a tool that nothing is known about."""
    return ToolView(
        title=find_title(case.call.raw_input),
        summary=take_line(case.text),
        input=show_value(case.call.raw_input),
        output=show_answer(case),
    )


def find_title(raw: Raw) -> str:
    """The first text in an input: tools tend to name the most telling thing first."""
    values = decode_value(raw, dict[str, Raw]) or {}
    strings = (value for value in values.values() if bytes(value).lstrip().startswith(b'"'))
    texts = (decode_value(value, str) for value in strings)
    return take_line(next((text for text in texts if text and text.strip()), ""))


def show_answer(case: Case) -> tuple[Part, ...]:
    """What the model saw; where that is nothing, what the client kept."""
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
