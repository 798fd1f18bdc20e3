"""Tools that search files, code and the web, and tools of and around MCP servers."""

from msgspec import Raw, Struct, field

from recollect.records.tools.tool_values import ContentResult, ToolInput, ToolOutput


class GlobInput(ToolInput, frozen=True):
    """A pattern for file names."""

    pattern: str = ""
    path: str | None = None


class GlobResult(ToolOutput, frozen=True, rename="camel"):
    """Files whose names match."""

    filenames: tuple[str, ...] = ()
    num_files: int | None = None
    duration_ms: float | None = None
    truncated: bool = False
    total_matches: int | None = None
    count_is_complete: bool | None = None


class GrepInput(ToolInput, frozen=True):
    """A pattern for text; the short options are ripgrep's."""

    pattern: str = ""
    path: str | None = None
    glob: str | None = None
    type: str | None = None
    output_mode: str | None = None
    lines_before: int | None = field(default=None, name="-B")
    lines_after: int | None = field(default=None, name="-A")
    lines_around: int | None = field(default=None, name="-C")
    context: int | None = None
    line_numbers: bool | None = field(default=None, name="-n")
    ignore_case: bool | None = field(default=None, name="-i")
    only_matching: bool | None = field(default=None, name="-o")
    multiline: bool | None = None
    head_limit: int | None = None
    offset: int | None = None


class GrepResult(ToolOutput, frozen=True, rename="camel"):
    """Matches: `mode` says whether as lines, as files or as counts."""

    mode: str | None = None
    filenames: tuple[str, ...] = ()
    content: str | None = None
    num_files: int | None = None
    num_lines: int | None = None
    num_matches: int | None = None
    total_files: int | None = None
    total_lines: int | None = None
    applied_limit: int | None = None
    applied_offset: int | None = None


class LsInput(ToolInput, frozen=True):
    """A directory to list; clients 1.0.x return a string, which is a `TextResult`."""

    path: str = ""
    ignore: tuple[str, ...] = ()


class LspInput(ToolInput, frozen=True, rename="camel"):
    """A request to a language server about a position in a file."""

    operation: str = ""
    file_path: str = ""
    line: int | None = None
    character: int | None = None
    query: str | None = None


class LspResult(ToolOutput, frozen=True, rename="camel"):
    """The language server's response, as text."""

    operation: str | None = None
    result: str | None = None
    file_path: str | None = None
    result_count: int | None = None
    file_count: int | None = None


class WebSearchInput(ToolInput, frozen=True):
    """A query, limited to or excluding some domains."""

    query: str = ""
    allowed_domains: tuple[str, ...] | None = None
    blocked_domains: tuple[str, ...] | None = None


class WebHit(Struct, frozen=True, kw_only=True, gc=False):
    """A page that a search found."""

    title: str | None = None
    url: str | None = None
    snippet: str | None = None


class WebHits(Struct, frozen=True, kw_only=True, gc=False):
    """The results of one search by the API."""

    tool_use_id: str | None = None
    content: tuple[WebHit, ...] = ()


class WebSearchResult(ToolOutput, frozen=True, rename="camel"):
    """Search results, and text of the searching model between them."""

    query: str = ""
    results: tuple[WebHits | str, ...] = ()
    duration_seconds: float | None = None
    search_count: int | None = None


class WebFetchInput(ToolInput, frozen=True):
    """A page, and a prompt about it."""

    url: str = ""
    prompt: str | None = None


class WebFetchResult(ToolOutput, frozen=True, rename="camel"):
    """The HTTP status of the page, and the reply of the model that read it."""

    url: str = ""
    code: int | None = None
    code_text: str | None = None
    bytes: int | None = None
    result: str | None = None
    duration_ms: float | None = None
    artifact_read: Raw = Raw()


class McpInput(ToolInput, frozen=True):
    """Arguments of an MCP tool, whose schema only the server knows."""

    server: str = ""
    tool: str = ""
    arguments: Raw = Raw()


class McpResult(ContentResult, frozen=True):
    """The result of an MCP tool; a string is a single block.

    If the result is an object, `raw` is all of it and `blocks` is its `content`.
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
    """The resources; in JSON this is a plain list."""

    resources: tuple[McpResource, ...] = ()


class ReadMcpResourceInput(ToolInput, frozen=True):
    """A resource to read."""

    server: str = ""
    uri: str = ""


class ResourceContents(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Text of a resource, or the file that its bytes were saved to."""

    uri: str = ""
    mime_type: str | None = None
    text: str | None = None
    blob_saved_to: str | None = None


class ReadMcpResourceResult(ToolOutput, frozen=True):
    """The contents of the resource."""

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
    """One server, or all, whose tools should be reloaded."""

    server: str | None = None


class McpRefresh(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The outcome for one server."""

    server: str = ""
    status: str | None = None
    tool_count: int | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    error: str | None = None


class RefreshMcpToolsResult(ToolOutput, frozen=True):
    """The outcome by server; in JSON this is a plain list."""

    servers: tuple[McpRefresh, ...] = ()


class ToolSearchInput(ToolInput, frozen=True):
    """A search for tools whose definitions the model does not have yet."""

    query: str = ""
    max_results: int | None = None


class ToolSearchResult(ToolOutput, frozen=True):
    """Names of the found tools."""

    matches: tuple[str, ...] = ()
    query: str | None = None
    total_deferred_tools: int | None = None
    total_mcp_tools: int | None = None
    pending_mcp_servers: tuple[str, ...] = ()
