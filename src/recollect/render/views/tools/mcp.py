"""Calls of MCP tools, and the tools around MCP servers."""

from msgspec import Raw

from recollect.records.blocks import NestedBlock
from recollect.records.decoding import decode_value
from recollect.records.envelope import is_absent
from recollect.records.tools.mcp import (
    ListMcpResourcesInput,
    ListMcpResourcesResult,
    McpInput,
    McpRefresh,
    McpResource,
    McpResult,
    ReadMcpResourceDirInput,
    ReadMcpResourceDirResult,
    ReadMcpResourceInput,
    ReadMcpResourceResult,
    RefreshMcpToolsInput,
    RefreshMcpToolsResult,
    ResourceContents,
    ToolSearchInput,
    ToolSearchResult,
)
from recollect.render.views.blocks import show_blocks
from recollect.render.views.parts import Entry, Output, Part, Picture, Plain
from recollect.render.views.tools.default import find_title, show_answer
from recollect.render.views.tools.view import Case, ToolView
from recollect.render.views.values import (
    show_entries,
    show_fields,
    show_json,
    show_plain,
    show_value,
)
from recollect.render.views.words import count_of, join_facts, take_line

_JSON_STARTS = ("{", "[")


def describe_mcp(case: Case) -> ToolView | None:
    """A call of a tool of an MCP server."""
    wanted = case.input
    if not isinstance(wanted, McpInput):
        return None
    output = _show_result(case)
    return ToolView(
        title=find_title(wanted.arguments),
        summary=_summarise(output),
        input=show_value(wanted.arguments),
        output=output,
    )


def _show_result(case: Case) -> tuple[Part, ...]:
    """What the server returned: its blocks where they were kept, else what the model saw."""
    result = case.result
    if not isinstance(result, McpResult):
        return show_answer(case)
    parts = tuple(part for block in result.blocks for part in _show_block(block))
    if not parts and not is_absent(result.structured_content):
        return show_value(result.structured_content)
    if not parts and not is_absent(result.raw):
        return show_value(result.raw)
    return parts or show_answer(case)


def _show_block(block: NestedBlock | str) -> tuple[Part, ...]:
    """A block; a text that is JSON is shown as such."""
    parts = show_blocks((block,))
    match parts:
        case (Plain(text=text),) if text.lstrip().startswith(_JSON_STARTS):
            data = text.encode(errors="replace")
            return parts if decode_value(data, Raw) is None else (show_json(data),)
    return parts


def _summarise(output: tuple[Part, ...]) -> str:
    pictures = sum(isinstance(part, Picture) for part in output)
    text = next((part.text for part in output if isinstance(part, Plain)), "")
    return join_facts(count_of(pictures, "picture") if pictures else None, take_line(text))


def describe_resources(case: Case) -> ToolView | None:
    """Resources that servers offer."""
    match case.input:
        case ListMcpResourcesInput(server=server):
            title = server or ""
        case ReadMcpResourceDirInput() as wanted:
            title = join_facts(wanted.server, wanted.uri)
        case _:
            return None
    match case.result:
        case ListMcpResourcesResult(resources=found) | ReadMcpResourceDirResult(resources=found):
            listed = show_entries(map(_show_resource, found))
            return ToolView(title=title, summary=count_of(len(found), "resource"), output=listed)
    return ToolView(title=title, summary=take_line(case.text), output=show_answer(case))


def _show_resource(resource: McpResource) -> Entry:
    note = join_facts(resource.server, resource.mime_type, resource.description)
    return Entry(resource.name or resource.uri, path=resource.uri or None, note=note or None)


def describe_resource(case: Case) -> ToolView | None:
    """A resource that was read."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, ReadMcpResourceInput) or not wanted.uri:
        return None
    title = join_facts(wanted.server, wanted.uri)
    if not isinstance(result, ReadMcpResourceResult):
        return ToolView(title=title, output=show_answer(case))
    failure = (Output(result.error, is_error=True),) if result.error else ()
    found = tuple(part for contents in result.contents for part in _show_contents(contents))
    return ToolView(title=title, summary=take_line(result.error or ""), output=(*failure, *found))


def _show_contents(contents: ResourceContents) -> tuple[Part, ...]:
    return (*show_plain(contents.text), *show_fields(("saved to", contents.blob_saved_to)))


def describe_refresh(case: Case) -> ToolView | None:
    """Servers that were asked again for their tools."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, RefreshMcpToolsInput):
        return None
    if not isinstance(result, RefreshMcpToolsResult):
        return ToolView(title=wanted.server or "", output=show_answer(case))
    return ToolView(
        title=wanted.server or "",
        summary=count_of(len(result.servers), "server"),
        output=show_entries(map(_show_refresh, result.servers)),
    )


def _show_refresh(found: McpRefresh) -> Entry:
    tools = None if found.tool_count is None else count_of(found.tool_count, "tool")
    return Entry(found.server, note=join_facts(found.status, tools, found.error) or None)


def describe_tool_search(case: Case) -> ToolView | None:
    """Tools that the model looked for."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, ToolSearchInput) or not wanted.query:
        return None
    if not isinstance(result, ToolSearchResult):
        return ToolView(title=take_line(wanted.query), output=show_answer(case))
    return ToolView(
        title=take_line(wanted.query),
        summary=count_of(len(result.matches), "tool"),
        output=show_entries(map(Entry, result.matches)),
    )
