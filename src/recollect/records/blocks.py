"""Content blocks of messages: one tagged union, with `UnknownBlock` for what no version had yet.

Empty blocks are kept: they are links of the conversation. `tool_use.input` stays `Raw`, to which
`recollect.records.tools` gives a type, and so do the bodies of server tool results.
"""

from __future__ import annotations

from msgspec import Raw, Struct, field


class Block(Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    """One content block."""


class UnknownBlock(Block, frozen=True, tag="<unknown>"):
    """A block of a type that is not known here, with all that was in it."""

    block_type: str | None = None
    raw: Raw = Raw()


class Text(Block, frozen=True, tag="text"):
    """Words; some writers put them under `content`."""

    text: str | None = None
    content: str | None = None
    citations: Raw = Raw()
    cache_control: Raw = Raw()

    @property
    def words(self) -> str:
        """The text, wherever it was written."""
        return self.text or self.content or ""


class Thinking(Block, frozen=True, tag="thinking"):
    """Reasoning; newer clients often keep the signature and blank the text."""

    thinking: str = ""
    signature: str = ""


class RedactedThinking(Block, frozen=True, tag="redacted_thinking"):
    """Reasoning that only the API can read."""

    data: str = ""


class Caller(Struct, frozen=True, kw_only=True, gc=False):
    """Who made a tool call: the model itself, or code that it runs on the server."""

    type: str | None = None
    tool_id: str | None = None


class ToolUse(Block, frozen=True, tag="tool_use"):
    """A call of a tool of the client."""

    id: str = ""
    name: str = ""
    input: Raw = Raw()
    caller: Caller | None = None
    cache_control: Raw = Raw()


class ServerToolUseBlock(Block, frozen=True, tag="server_tool_use"):
    """A call of a tool that runs on the API's side."""

    id: str = ""
    name: str = ""
    input: Raw = Raw()
    caller: Caller | None = None


class McpToolUse(Block, frozen=True, tag="mcp_tool_use"):
    """A call of an MCP tool that runs on the API's side."""

    id: str = ""
    name: str = ""
    server_name: str | None = None
    input: Raw = Raw()


class Source(Struct, frozen=True, kw_only=True, gc=False):
    """Where an image or document is: base64 `data`, a `url`, a `file_id` or `content`."""

    type: str | None = None
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    content: Raw = Raw()


class Image(Block, frozen=True, tag="image"):
    """A picture."""

    source: Source | None = None
    cache_control: Raw = Raw()


class Document(Block, frozen=True, tag="document"):
    """A PDF, a text or a page."""

    source: Source | None = None
    title: str | None = None
    context: str | None = None
    citations: Raw = Raw()
    cache_control: Raw = Raw()


class ToolReference(Block, frozen=True, tag="tool_reference"):
    """A deferred tool that a tool search found."""

    tool_name: str = ""


class SearchResult(Block, frozen=True, tag="search_result"):
    """A citable search hit that a tool returned."""

    source: str | None = None
    title: str | None = None
    content: Raw = Raw()
    citations: Raw = Raw()


class Resource(Block, frozen=True, tag="resource"):
    """An MCP resource, embedded."""

    resource: Raw = Raw()


class ResourceLink(Block, frozen=True, tag="resource_link"):
    """An MCP resource, by its address."""

    uri: str | None = None
    name: str | None = None
    description: str | None = None
    mime_type: str | None = field(default=None, name="mimeType")


NestedBlock = (
    Text | Image | Document | ToolReference | SearchResult | Resource | ResourceLink | UnknownBlock
)
"""What may stand inside a tool result."""


class ToolResult(Block, frozen=True, tag="tool_result"):
    """The answer to a `ToolUse`; `is_error` missing means success, just as false does."""

    tool_use_id: str = ""
    content: str | tuple[NestedBlock | str, ...] | None = None
    is_error: bool | None = None
    cache_control: Raw = Raw()


class ServerToolResult(Block, frozen=True):
    """The answer to a tool on the API's side; it stands in an assistant message."""

    tool_use_id: str = ""
    content: Raw = Raw()
    caller: Caller | None = None


class WebSearchToolResult(ServerToolResult, frozen=True, tag="web_search_tool_result"):
    """Hits, or an error object."""


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
    """What an editor command did on the server."""


class ToolSearchToolResult(ServerToolResult, frozen=True, tag="tool_search_tool_result"):
    """Tools that a search on the server found."""


class AdvisorToolResult(ServerToolResult, frozen=True, tag="advisor_tool_result"):
    """The answer of an advising model."""


class McpToolResult(ServerToolResult, frozen=True, tag="mcp_tool_result"):
    """The answer of an MCP tool on the API's side."""

    is_error: bool | None = None


class ContainerUpload(Block, frozen=True, tag="container_upload"):
    """A file handed to the server's container."""

    file_id: str | None = None


class ModelName(Struct, frozen=True, kw_only=True, gc=False):
    """A model named by a fallback block."""

    model: str | None = None


class Fallback(Block, frozen=True, tag="fallback"):
    """The API changed the model inside one response."""

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
"""Every block that a message may hold."""

Content = str | tuple[ContentBlock | str, ...] | None
"""`message.content`: plain text, or blocks among which bare strings have been seen."""
