"""JSON text of a tool call → the typed input or result, for any text, shape and name.

An object that shares no field with the tool's class becomes the `Unknown…` value: since every
field has a default, it would otherwise pass for an empty input or result and hide what it says.
"""

from typing import TypeVar

from msgspec import Raw, Struct

from recollect.records.blocks import NestedBlock, UnknownBlock
from recollect.records.decoding import decode_value
from recollect.records.fitting import fit
from recollect.records.repair import repair
from recollect.records.tools.agents import StructuredOutputInput
from recollect.records.tools.known import INPUTS, RESULTS, Variants
from recollect.records.tools.mcp import (
    ListMcpResourcesResult,
    McpInput,
    McpRefresh,
    McpResource,
    McpResult,
    RefreshMcpToolsResult,
)
from recollect.records.tools.names import canonical_name, split_mcp_name
from recollect.records.tools.values import (
    ContentResult,
    Detached,
    TextResult,
    ToolInput,
    ToolOutput,
    UnknownInput,
    UnknownResult,
)

S = TypeVar("S", bound=Struct)
V = TypeVar("V")

_OF_THE_CLIENT = ("Error: ", "InputValidationError: ", "User rejected tool use")
"""How strings begin that the client wrote in place of a result."""


def parse_input(name: str, raw: Raw) -> ToolInput:
    """The input of a call of the tool `name`; never raises, what does not fit is `UnknownInput`."""
    parts = decode_value(raw, dict[str, Raw])
    if parts is None:
        return UnknownInput(raw=raw)
    mcp_name = split_mcp_name(name)
    if mcp_name is not None:
        return McpInput(server=mcp_name[0], tool=mcp_name[1], arguments=raw)
    if name == "StructuredOutput":
        return StructuredOutputInput(value=raw)
    for wanted in _entries(INPUTS, name):
        found = _decode_known(raw, parts, wanted)
        if found is not None:
            return found
    return UnknownInput(raw=raw)


def parse_result(name: str, raw: Raw) -> ToolOutput:
    """The result of a call of the tool `name`; never raises, what does not fit is `UnknownResult`.

    An empty `raw`, which is how records say that a field is absent, is an `UnknownResult` too.
    """
    found: ToolOutput | None = None
    match bytes(raw).lstrip()[:1]:
        case b'"':
            found = _parse_text(name, raw)
        case b"[":
            found = _parse_list(name, raw)
        case b"{":
            found = _parse_object(name, raw)
    return UnknownResult(raw=raw) if found is None else found


def _parse_text(name: str, raw: Raw) -> ToolOutput | None:
    text = decode_value(raw, str)
    if text is None:
        return None
    mcp_name = split_mcp_name(name)
    if mcp_name is None or text.startswith(_OF_THE_CLIENT):
        return TextResult(text=text)
    return McpResult(server=mcp_name[0], tool=mcp_name[1], blocks=(text,))


def _parse_list(name: str, raw: Raw) -> ToolOutput | None:
    blocks = _decode_blocks(raw)
    if blocks is None:
        return None
    mcp_name = split_mcp_name(name)
    if mcp_name is not None:
        return McpResult(server=mcp_name[0], tool=mcp_name[1], blocks=blocks)
    found = _parse_rows(canonical_name(name), raw, len(blocks))
    if found is None and not (blocks and all(isinstance(block, UnknownBlock) for block in blocks)):
        found = ContentResult(blocks=blocks)
    return found


def _parse_rows(name: str, raw: Raw, count: int) -> ToolOutput | None:
    """The result of a tool whose lists hold rows of its own, if all `count` of them are such."""
    if name == "ListMcpResources":
        resources = decode_value(raw, tuple[McpResource, ...]) or ()
        if sum(resource.uri != "" for resource in resources) == count:
            return ListMcpResourcesResult(resources=resources)
    if name == "RefreshMcpTools":
        servers = decode_value(raw, tuple[McpRefresh, ...]) or ()
        if sum(server.server != "" for server in servers) == count:
            return RefreshMcpToolsResult(servers=servers)
    return None


def _parse_object(name: str, raw: Raw) -> ToolOutput | None:
    parts = decode_value(raw, dict[str, Raw])
    if parts is None:
        return None
    if bytes(parts.get("detachedToolCall", b"")) == b"true":
        return Detached()
    mcp_name = split_mcp_name(name)
    if mcp_name is not None:
        return _parse_mcp_object(mcp_name, raw, parts)
    for entry in _entries(RESULTS, name):
        wanted = _choose(entry, parts)
        found = None if wanted is None else _decode_known(raw, parts, wanted)
        if found is not None:
            return found
    return None


def _parse_mcp_object(mcp_name: tuple[str, str], raw: Raw, parts: dict[str, Raw]) -> McpResult:
    content = parts.get("content", Raw())
    text = decode_value(content, str)
    return McpResult(
        server=mcp_name[0],
        tool=mcp_name[1],
        blocks=(_decode_blocks(content) or ()) if text is None else (text,),
        structured_content=parts.get("structuredContent", Raw()),
        raw=raw,
    )


def _decode_blocks(raw: Raw) -> tuple[NestedBlock | str, ...] | None:
    return decode_value(raw, tuple[NestedBlock | str, ...])


def _entries(table: dict[str, V], name: str) -> list[V]:
    """What the table says of the name as written, then of the name that the tool has now."""
    names = dict.fromkeys((name, canonical_name(name)))
    return [table[name] for name in names if name in table]


def _choose(entry: type[ToolOutput] | Variants, parts: dict[str, Raw]) -> type[ToolOutput] | None:
    if not isinstance(entry, Variants):
        return entry
    part = parts.get(entry.key)
    value = None if part is None else decode_value(part, str) or ""
    return entry.classes.get(value, entry.otherwise)


def _decode_known(raw: Raw, parts: dict[str, Raw], wanted: type[S]) -> S | None:
    found = decode_value(raw, wanted)
    if not parts or found is None or found != wanted():
        return found
    return found if _says_so(raw, parts, wanted) else None


def _says_so(raw: Raw, parts: dict[str, Raw], wanted: type[Struct]) -> bool:
    """Whether a value with nothing but defaults is what was written, not what was lost."""
    known = {*wanted.__struct_encode_fields__, wanted.__struct_config__.tag_field}
    misfits: list[str] = []
    fit(repair(bytes(raw)), wanted, "", misfits)
    return not known.isdisjoint(parts) and not misfits
