"""Searching files and code, and the web: one literal per tool, with the whole value."""

import pytest
from msgspec import Raw

from recollect.records.tools import (
    Detached,
    TextResult,
    ToolInput,
    ToolOutput,
    parse_input,
    parse_result,
)
from recollect.records.tools.search import (
    GlobInput,
    GlobResult,
    GrepInput,
    GrepResult,
    LsInput,
    LspInput,
    LspResult,
)
from recollect.records.tools.web import (
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
    """The input of each tool that searches has a class of its own."""
    assert parse_input(name, Raw(text)) == expected


@pytest.mark.parametrize(("name", "text", "expected"), RESULTS)
def test_search_results_are_typed(name: str, text: bytes, expected: ToolOutput) -> None:
    """The result of each tool that searches has a class; one that stepped aside is `Detached`."""
    assert parse_result(name, Raw(text)) == expected
