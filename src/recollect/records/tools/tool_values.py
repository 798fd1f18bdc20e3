"""Base classes of tool inputs and results, and results that are not specific to a tool.

Fields that a tool requires are not optional (`command: str = ""`), others may be None. A value says
what was written, not whether the call succeeded: that is `is_error` of the tool result block.
"""

import re

from msgspec import Raw, Struct

from recollect.records.blocks import NestedBlock

_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?[0-9]{1,10})(?![0-9])")


class ToolInput(Struct, frozen=True, kw_only=True, gc=False):
    """The input of a tool call."""


class ToolOutput(Struct, frozen=True, kw_only=True, gc=False):
    """The result of a tool call (`toolUseResult`), not the text that the model saw."""


class UnknownInput(ToolInput, frozen=True):
    """The input of an unknown tool, or with unexpected content."""

    raw: Raw = Raw()


class UnknownResult(ToolOutput, frozen=True):
    """A result without its own class; an empty `raw` means that there is none."""

    raw: Raw = Raw()


class TextResult(ToolOutput, frozen=True):
    """A plain string: an error, a rejection, or the result of a simple tool."""

    text: str = ""

    @property
    def exit_code(self) -> int | None:
        """Return the exit code of a failed shell command, if the text starts with it."""
        match = _EXIT_CODE.match(self.text)
        return int(match[1]) if match else None


class ContentResult(ToolOutput, frozen=True):
    """A list of content blocks, as MCP servers return them."""

    blocks: tuple[NestedBlock | str, ...] = ()


class Detached(ToolOutput, frozen=True):
    """The tool continues in the background."""
