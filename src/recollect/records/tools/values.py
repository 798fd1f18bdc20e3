"""What all tool inputs and results have in common, and the results that no single tool owns.

Fields that a tool cannot do without are plain (`command: str = ""`), the others may be None. A
value here says what was written, not whether the call went well: `is_error` of the tool result
block decides that.
"""

import re

from msgspec import Raw, Struct

from recollect.records.blocks import NestedBlock

_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?[0-9]{1,10})(?![0-9])")


class ToolInput(Struct, frozen=True, kw_only=True, gc=False):
    """What a tool was called with."""


class ToolOutput(Struct, frozen=True, kw_only=True, gc=False):
    """What a tool gave back to the client: `toolUseResult`, not the text that the model saw."""


class UnknownInput(ToolInput, frozen=True):
    """The input of a tool, or of a shape, that is not known here."""

    raw: Raw = Raw()


class UnknownResult(ToolOutput, frozen=True):
    """A result that no class here describes; an empty `raw` means that none was written."""

    raw: Raw = Raw()


class TextResult(ToolOutput, frozen=True):
    """A bare string: an error, a rejection, or all that a simple tool has to say."""

    text: str = ""

    @property
    def exit_code(self) -> int | None:
        """The code that a failed shell command ended with, where the text begins by naming it."""
        match = _EXIT_CODE.match(self.text)
        return int(match[1]) if match else None


class ContentResult(ToolOutput, frozen=True):
    """A list of content blocks, as MCP servers return them."""

    blocks: tuple[NestedBlock | str, ...] = ()


class Detached(ToolOutput, frozen=True):
    """The tool stepped aside and goes on in the background."""
