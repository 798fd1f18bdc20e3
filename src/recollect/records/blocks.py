"""Content blocks of messages: a tagged union, with `UnknownBlock` for types of newer versions.

Empty blocks are kept, because they are part of the conversation. `tool_use.input` stays `Raw`, to
be parsed by `recollect.records.tools`, and so do the results of server tools.
"""

from __future__ import annotations

from msgspec import Raw, Struct, field

MCP_PREFIX = "mcp__"
"""How the names of MCP tools start: `mcp__server__tool`."""


class Block(Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    """A content block."""


class UnknownBlock(Block, frozen=True, tag="<unknown>"):
    """A block of an unknown type, with its JSON."""

    block_type: str | None = None
    raw: Raw = Raw()


class Text(Block, frozen=True, tag="text"):
    """Text; some writers put it into `content`."""

    text: str | None = None
    content: str | None = None
    citations: Raw = Raw()
    cache_control: Raw = Raw()

    @property
    def words(self) -> str:
        """Return the text, whichever field it is in."""
        return self.text or self.content or ""


class Thinking(Block, frozen=True, tag="thinking"):
    """Thinking; newer clients often keep only the signature and leave the text empty."""

    thinking: str = ""
    signature: str = ""


class RedactedThinking(Block, frozen=True, tag="redacted_thinking"):
    """Thinking that only the API can read."""

    data: str = ""


class Caller(Struct, frozen=True, kw_only=True, gc=False):
    """Who called a tool: the model itself, or code that it runs on the server."""

    type: str | None = None
    tool_id: str | None = None


class ToolUse(Block, frozen=True, tag="tool_use"):
    """A tool call that the client executes."""

    id: str = ""
    name: str = ""
    input: Raw = Raw()
    caller: Caller | None = None
    cache_control: Raw = Raw()


class ServerToolUseBlock(Block, frozen=True, tag="server_tool_use"):
    """A tool call that the API executes."""

    id: str = ""
    name: str = ""
    input: Raw = Raw()
    caller: Caller | None = None


class McpToolUse(Block, frozen=True, tag="mcp_tool_use"):
    """An MCP tool call that the API executes."""

    id: str = ""
    name: str = ""
    server_name: str | None = None
    input: Raw = Raw()


class Source(Struct, frozen=True, kw_only=True, gc=False):
    """The content of an image or document: base64 `data`, a `url`, a `file_id` or `content`."""

    type: str | None = None
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    content: Raw = Raw()


class Image(Block, frozen=True, tag="image"):
    """An image."""

    source: Source | None = None
    cache_control: Raw = Raw()


class Document(Block, frozen=True, tag="document"):
    """A PDF, a text file or a page."""

    source: Source | None = None
    title: str | None = None
    context: str | None = None
    citations: Raw = Raw()
    cache_control: Raw = Raw()


class ToolReference(Block, frozen=True, tag="tool_reference"):
    """A deferred tool that a tool search found."""

    tool_name: str = ""


class SearchResult(Block, frozen=True, tag="search_result"):
    """A citable search result that a tool returned."""

    source: str | None = None
    title: str | None = None
    content: Raw = Raw()
    citations: Raw = Raw()


class Resource(Block, frozen=True, tag="resource"):
    """An embedded MCP resource."""

    resource: Raw = Raw()


class ResourceLink(Block, frozen=True, tag="resource_link"):
    """A link to an MCP resource."""

    uri: str | None = None
    name: str | None = None
    description: str | None = None
    mime_type: str | None = field(default=None, name="mimeType")


NestedBlock = (
    Text | Image | Document | ToolReference | SearchResult | Resource | ResourceLink | UnknownBlock
)
"""All blocks that a tool result may contain."""


class ToolResult(Block, frozen=True, tag="tool_result"):
    """The result of a `ToolUse`; a missing `is_error` means success."""

    tool_use_id: str = ""
    content: str | tuple[NestedBlock | str, ...] | None = None
    is_error: bool | None = None
    cache_control: Raw = Raw()


class ServerToolResult(Block, frozen=True):
    """The result of a tool that the API executed; it is part of an assistant message."""

    tool_use_id: str = ""
    content: Raw = Raw()
    caller: Caller | None = None


class WebSearchToolResult(ServerToolResult, frozen=True, tag="web_search_tool_result"):
    """Search results, or an error object."""


class WebFetchToolResult(ServerToolResult, frozen=True, tag="web_fetch_tool_result"):
    """A page that the API fetched."""


class CodeExecutionToolResult(ServerToolResult, frozen=True, tag="code_execution_tool_result"):
    """Output of code that ran on the server."""


class BashCodeExecutionToolResult(
    ServerToolResult, frozen=True, tag="bash_code_execution_tool_result"
):
    """Output of a shell command that ran on the server."""


class TextEditorCodeExecutionToolResult(
    ServerToolResult, frozen=True, tag="text_editor_code_execution_tool_result"
):
    """The result of an editor command on the server."""


class ToolSearchToolResult(ServerToolResult, frozen=True, tag="tool_search_tool_result"):
    """Tools found by a search on the server."""


class AdvisorToolResult(ServerToolResult, frozen=True, tag="advisor_tool_result"):
    """The reply of an advisor model."""


class McpToolResult(ServerToolResult, frozen=True, tag="mcp_tool_result"):
    """The result of an MCP tool that the API executed."""

    is_error: bool | None = None


class ContainerUpload(Block, frozen=True, tag="container_upload"):
    """A file uploaded to the server's container."""

    file_id: str | None = None


class ModelName(Struct, frozen=True, kw_only=True, gc=False):
    """A model named by a fallback block."""

    model: str | None = None


class Fallback(Block, frozen=True, tag="fallback"):
    """The API switched models within a response."""

    origin: ModelName | None = field(default=None, name="from")
    target: ModelName | None = field(default=None, name="to")


ContentBlock = (
    Text
    | Thinking
    | RedactedThinking
    | ToolUse
    | ToolResult
    | Image
    | Document
    | ServerToolUseBlock
    | WebSearchToolResult
    | WebFetchToolResult
    | CodeExecutionToolResult
    | BashCodeExecutionToolResult
    | TextEditorCodeExecutionToolResult
    | ToolSearchToolResult
    | AdvisorToolResult
    | McpToolUse
    | McpToolResult
    | ToolReference
    | SearchResult
    | Resource
    | ResourceLink
    | ContainerUpload
    | Fallback
    | UnknownBlock
)
"""All blocks that a message may contain."""

Content = str | tuple[ContentBlock | str, ...] | None
"""`message.content`: plain text, or blocks; plain strings among the blocks have been seen."""
