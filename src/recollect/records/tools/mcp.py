"""Calls of MCP tools, the tools around MCP servers, and the search for deferred tools."""

from msgspec import Raw, Struct

from recollect.records.tools.values import ContentResult, ToolInput, ToolOutput


class McpInput(ToolInput, frozen=True):
    """Arguments for a tool of an MCP server, whose shape only the server knows."""

    server: str = ""
    tool: str = ""
    arguments: Raw = Raw()


class McpResult(ContentResult, frozen=True):
    """What an MCP tool returned; a string is a single block.

    `raw` is the whole result where it was an object, of which `blocks` is the `content`.
    """

    server: str = ""
    tool: str = ""
    structured_content: Raw = Raw()
    raw: Raw = Raw()


class ListMcpResourcesInput(ToolInput, frozen=True):
    """Resources of one server, or of all."""

    server: str | None = None


class McpResource(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A resource that a server offers."""

    uri: str = ""
    name: str | None = None
    mime_type: str | None = None
    description: str | None = None
    server: str | None = None


class ListMcpResourcesResult(ToolOutput, frozen=True):
    """The resources; on the wire this is a bare list."""

    resources: tuple[McpResource, ...] = ()


class ReadMcpResourceInput(ToolInput, frozen=True):
    """A resource to read."""

    server: str = ""
    uri: str = ""


class ResourceContents(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Text of a resource, or the file where its bytes were put."""

    uri: str = ""
    mime_type: str | None = None
    text: str | None = None
    blob_saved_to: str | None = None


class ReadMcpResourceResult(ToolOutput, frozen=True):
    """What the resource holds."""

    contents: tuple[ResourceContents, ...] = ()
    error: str | None = None


class ReadMcpResourceDirInput(ToolInput, frozen=True):
    """A directory of resources to list."""

    server: str = ""
    uri: str = ""


class ReadMcpResourceDirResult(ToolOutput, frozen=True):
    """The resources in the directory."""

    resources: tuple[McpResource, ...] = ()
    error: str | None = None


class RefreshMcpToolsInput(ToolInput, frozen=True):
    """One server, or all, to be asked again for its tools."""

    server: str | None = None


class McpRefresh(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """What asking one server brought."""

    server: str = ""
    status: str | None = None
    tool_count: int | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    error: str | None = None


class RefreshMcpToolsResult(ToolOutput, frozen=True):
    """The outcome by server; on the wire this is a bare list."""

    servers: tuple[McpRefresh, ...] = ()


class ToolSearchInput(ToolInput, frozen=True):
    """A search for tools whose definitions the model does not have yet."""

    query: str = ""
    max_results: int | None = None


class ToolSearchResult(ToolOutput, frozen=True):
    """Names of the tools that were found."""

    matches: tuple[str, ...] = ()
    query: str | None = None
    total_deferred_tools: int | None = None
    total_mcp_tools: int | None = None
    pending_mcp_servers: tuple[str, ...] = ()
