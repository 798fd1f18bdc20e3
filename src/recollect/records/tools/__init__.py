"""Typed inputs and results of the tools, one module per family of tools.

Records keep `tool_use.input` and `toolUseResult` as JSON text, since most readers never look at
them; `parse_input` and `parse_result` are for those who do. Both take any name and any text.
"""

from recollect.records.tools.files import count_changed_lines
from recollect.records.tools.names import TOOL_ALIASES, canonical_name, split_mcp_name
from recollect.records.tools.parsing import parse_input, parse_result
from recollect.records.tools.patch import LineCount, PatchHunk, count_patch_lines
from recollect.records.tools.values import (
    ContentResult,
    Detached,
    TextResult,
    ToolInput,
    ToolOutput,
    UnknownInput,
    UnknownResult,
)

__all__ = [
    "TOOL_ALIASES",
    "ContentResult",
    "Detached",
    "LineCount",
    "PatchHunk",
    "TextResult",
    "ToolInput",
    "ToolOutput",
    "UnknownInput",
    "UnknownResult",
    "canonical_name",
    "count_changed_lines",
    "count_patch_lines",
    "parse_input",
    "parse_result",
    "split_mcp_name",
]
