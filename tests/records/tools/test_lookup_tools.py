"""Tests of recollect.records.tools.lookup_tools."""

import pytest
from msgspec import Raw

from recollect.records.blocks import Image, Source, Text, UnknownBlock
from recollect.records.tools import (
    ContentResult,
    Detached,
    TextResult,
    ToolInput,
    ToolOutput,
    parse_input,
    parse_result,
    split_mcp_name,
)
from recollect.records.tools.lookup_tools import (
    GlobInput,
    GlobResult,
    GrepInput,
    GrepResult,
    ListMcpResourcesInput,
    ListMcpResourcesResult,
    LsInput,
    LspInput,
    LspResult,
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
    WebFetchInput,
    WebFetchResult,
    WebHit,
    WebHits,
    WebSearchInput,
    WebSearchResult,
)

INPUTS: list[tuple[str, bytes, ToolInput]] = [
    ("Glob", b'{"pattern":"*.py","path":"/s"}', GlobInput(pattern="*.py", path="/s")),
    (
        "Grep",
        (
            b'{"pattern":"x","path":"/s","glob":"*.py","type":"py","output_mode":"content","-B":1,'
            b'"-A":2,"-C":3,"context":4,"-n":true,"-i":false,"-o":true,"multiline":true,'
            b'"head_limit":5,"offset":6}'
        ),
        GrepInput(
            pattern="x",
            path="/s",
            glob="*.py",
            type="py",
            output_mode="content",
            lines_before=1,
            lines_after=2,
            lines_around=3,
            context=4,
            line_numbers=True,
            ignore_case=False,
            only_matching=True,
            multiline=True,
            head_limit=5,
            offset=6,
        ),
    ),
    ("LS", b'{"path":"/s","ignore":["*.o"]}', LsInput(path="/s", ignore=("*.o",))),
    (
        "LSP",
        b'{"operation":"hover","filePath":"/a","line":1,"character":2,"query":"f"}',
        LspInput(operation="hover", file_path="/a", line=1, character=2, query="f"),
    ),
    (
        "WebSearch",
        b'{"query":"q","allowed_domains":["a.org"],"blocked_domains":["b.org"]}',
        WebSearchInput(query="q", allowed_domains=("a.org",), blocked_domains=("b.org",)),
    ),
    (
        "WebFetch",
        b'{"url":"https://a.org","prompt":"why"}',
        WebFetchInput(url="https://a.org", prompt="why"),
    ),
]

RESULTS: list[tuple[str, bytes, ToolOutput]] = [
    (
        "Glob",
        (
            b'{"filenames":["a.py"],"durationMs":3,"numFiles":1,"truncated":true,"totalMatches":9,'
            b'"countIsComplete":false}'
        ),
        GlobResult(
            filenames=("a.py",),
            duration_ms=3,
            num_files=1,
            truncated=True,
            total_matches=9,
            count_is_complete=False,
        ),
    ),
    (
        "Grep",
        (
            b'{"mode":"content","numFiles":1,"filenames":["a"],"content":"a:1:x","numLines":1,'
            b'"numMatches":2,"totalFiles":3,"totalLines":4,"appliedLimit":5,"appliedOffset":6}'
        ),
        GrepResult(
            mode="content",
            filenames=("a",),
            content="a:1:x",
            num_files=1,
            num_lines=1,
            num_matches=2,
            total_files=3,
            total_lines=4,
            applied_limit=5,
            applied_offset=6,
        ),
    ),
    ("LS", b'"- /s/\\n  - a"', TextResult(text="- /s/\n  - a")),
    (
        "LSP",
        b'{"operation":"hover","result":"int","filePath":"/a","resultCount":1,"fileCount":2}',
        LspResult(operation="hover", result="int", file_path="/a", result_count=1, file_count=2),
    ),
    (
        "WebSearch",
        (
            b'{"query":"q","results":[{"tool_use_id":"s1","content":[{"title":"T",'
            b'"url":"https://a.org","snippet":"S"}]},"and so on"],"durationSeconds":0.5,'
            b'"searchCount":1}'
        ),
        WebSearchResult(
            query="q",
            results=(
                WebHits(
                    tool_use_id="s1",
                    content=(WebHit(title="T", url="https://a.org", snippet="S"),),
                ),
                "and so on",
            ),
            duration_seconds=0.5,
            search_count=1,
        ),
    ),
    (
        "WebFetch",
        b'{"bytes":9,"code":200,"codeText":"OK","result":"R","durationMs":7,"url":"https://a.org"}',
        WebFetchResult(
            url="https://a.org", code=200, code_text="OK", bytes=9, result="R", duration_ms=7
        ),
    ),
    ("WebFetch", b'{"detachedToolCall":true}', Detached()),
]


@pytest.mark.parametrize(("name", "text", "expected"), INPUTS)
def test_search_inputs_are_typed(name: str, text: bytes, expected: ToolInput) -> None:
    """The input of each search tool has a class."""
    assert parse_input(name, Raw(text)) == expected


@pytest.mark.parametrize(("name", "text", "expected"), RESULTS)
def test_search_results_are_typed(name: str, text: bytes, expected: ToolOutput) -> None:
    """The result of each search tool has a class; one in the background is `Detached`."""
    assert parse_result(name, Raw(text)) == expected


MCP_INPUTS: list[tuple[str, bytes, ToolInput]] = [
    (
        "mcp__files__get",
        b'{"path":"/a"}',
        McpInput(server="files", tool="get", arguments=Raw(b'{"path":"/a"}')),
    ),
    ("ListMcpResources", b"{}", ListMcpResourcesInput()),
    ("ListMcpResourcesTool", b'{"server":"s"}', ListMcpResourcesInput(server="s")),
    (
        "ReadMcpResourceTool",
        b'{"server":"s","uri":"x:1"}',
        ReadMcpResourceInput(server="s", uri="x:1"),
    ),
    (
        "ReadMcpResourceDir",
        b'{"server":"s","uri":"x:/"}',
        ReadMcpResourceDirInput(server="s", uri="x:/"),
    ),
    ("RefreshMcpTools", b'{"server":"s"}', RefreshMcpToolsInput(server="s")),
    (
        "ToolSearch",
        b'{"query":"select:Read","max_results":5}',
        ToolSearchInput(query="select:Read", max_results=5),
    ),
]

MCP_RESULTS: list[tuple[str, bytes, ToolOutput]] = [
    (
        "mcp__files__get",
        (
            b'[{"type":"text","text":"hi"},{"type":"image","source":{"type":"base64",'
            b'"media_type":"image/png","data":"AA=="}},{"type":"smell","of":"roses"}]'
        ),
        McpResult(
            server="files",
            tool="get",
            blocks=(
                Text(text="hi"),
                Image(source=Source(type="base64", media_type="image/png", data="AA==")),
                UnknownBlock(block_type="smell", raw=Raw(b'{"type":"smell","of":"roses"}')),
            ),
        ),
    ),
    (
        "mcp__files__get",
        b'"{\\"n\\":1}"',
        McpResult(server="files", tool="get", blocks=('{"n":1}',)),
    ),
    ("mcp__files__get", b'"Error: no"', TextResult(text="Error: no")),
    ("mcp__files__get", b'"User rejected tool use"', TextResult(text="User rejected tool use")),
    (
        "mcp__files__get",
        b'{"content":"hi","structuredContent":{"n":1}}',
        McpResult(
            server="files",
            tool="get",
            blocks=("hi",),
            structured_content=Raw(b'{"n":1}'),
            raw=Raw(b'{"content":"hi","structuredContent":{"n":1}}'),
        ),
    ),
    (
        "mcp__files__get",
        b'{"content":[{"type":"text","text":"hi"}]}',
        McpResult(
            server="files",
            tool="get",
            blocks=(Text(text="hi"),),
            raw=Raw(b'{"content":[{"type":"text","text":"hi"}]}'),
        ),
    ),
    (
        "mcp__files__get",
        b'{"server":"not ours"}',
        McpResult(server="files", tool="get", raw=Raw(b'{"server":"not ours"}')),
    ),
    ("mcp__files__get", b'{"detachedToolCall":true}', Detached()),
    (
        "ListMcpResourcesTool",
        b'[{"uri":"x:1","name":"n","mimeType":"text/plain","description":"d","server":"s"}]',
        ListMcpResourcesResult(
            resources=(
                McpResource(
                    uri="x:1", name="n", mime_type="text/plain", description="d", server="s"
                ),
            )
        ),
    ),
    ("ListMcpResources", b"[]", ListMcpResourcesResult()),
    (
        "ListMcpResources",
        b'[{"type":"text","text":"none"}]',
        ContentResult(blocks=(Text(text="none"),)),
    ),
    (
        "ReadMcpResource",
        b'{"contents":[{"uri":"x:1","mimeType":"text/plain","text":"t","blobSavedTo":"/b"}]}',
        ReadMcpResourceResult(
            contents=(
                ResourceContents(uri="x:1", mime_type="text/plain", text="t", blob_saved_to="/b"),
            )
        ),
    ),
    (
        "ReadMcpResourceDir",
        b'{"resources":[{"uri":"x:1","name":"n"}],"error":"E"}',
        ReadMcpResourceDirResult(resources=(McpResource(uri="x:1", name="n"),), error="E"),
    ),
    (
        "RefreshMcpTools",
        b'[{"server":"s","status":"refreshed","toolCount":2,"added":["a"],"removed":["b"]}]',
        RefreshMcpToolsResult(
            servers=(
                McpRefresh(
                    server="s", status="refreshed", tool_count=2, added=("a",), removed=("b",)
                ),
            )
        ),
    ),
    (
        "ToolSearch",
        (
            b'{"matches":["Read"],"query":"q","total_deferred_tools":5,"total_mcp_tools":1,'
            b'"pending_mcp_servers":["s"]}'
        ),
        ToolSearchResult(
            matches=("Read",),
            query="q",
            total_deferred_tools=5,
            total_mcp_tools=1,
            pending_mcp_servers=("s",),
        ),
    ),
]


@pytest.mark.parametrize(("name", "text", "expected"), MCP_INPUTS)
def test_mcp_inputs_are_typed(name: str, text: bytes, expected: ToolInput) -> None:
    """Arguments for MCP tools stay raw, the tools around them have classes."""
    assert parse_input(name, Raw(text)) == expected


@pytest.mark.parametrize(("name", "text", "expected"), MCP_RESULTS)
def test_mcp_results_are_typed(name: str, text: bytes, expected: ToolOutput) -> None:
    """Lists, strings and objects of an MCP tool all end in blocks, errors in text."""
    assert parse_result(name, Raw(text)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mcp__files__get", ("files", "get")),
        ("mcp__plugin_a_b__get-docs", ("plugin_a_b", "get-docs")),
        ("mcp__files__get__all", ("files", "get__all")),
        ("mcp__files", None),
        ("mcp__files__", None),
        ("mcp____get", None),
        ("mcp__", None),
        ("Bash", None),
        ("", None),
    ],
)
def test_mcp_names_are_split(name: str, expected: tuple[str, str] | None) -> None:
    """The server ends at the first double underscore after the prefix, and neither is empty."""
    assert split_mcp_name(name) == expected
