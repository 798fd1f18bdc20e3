"""What a tool's view is made of, and what it is made from.

A view answers None for a call whose input is not what its tool expects: the default view then
shows all of it, instead of an empty form.
"""

from collections.abc import Callable

from msgspec import Struct

from recollect.records.tools import ToolInput, ToolOutput
from recollect.render.views.parts import Part
from recollect.session.tool_calls import ToolCall


class Case(Struct, frozen=True):
    """A call with its input and result, each parsed once; `text` is what the model saw."""

    call: ToolCall
    input: ToolInput
    result: ToolOutput
    text: str


class ToolView(Struct, frozen=True, kw_only=True):
    """A call to show: one line about its input, one about its answer, and what is behind each."""

    title: str = ""
    summary: str = ""
    input: tuple[Part, ...] = ()
    output: tuple[Part, ...] = ()


Describe = Callable[[Case], ToolView | None]
"""How the calls of one tool are described; the answer of a call that failed is not its concern."""
