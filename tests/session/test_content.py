"""Message content in all the forms that clients and proxies write."""

import pytest

from recollect.records.blocks import Content, Image, Text, Thinking, ToolResult, ToolUse
from recollect.session.record_texts import (
    iter_tool_results,
    iter_tool_uses,
    join_text,
    list_blocks,
    result_text,
)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, ()),
        ("words", (Text(text="words"),)),
        (("bare", Text(text="block")), (Text(text="bare"), Text(text="block"))),
        ((), ()),
    ],
)
def test_content_is_blocks(content: Content, expected: tuple[Text, ...]) -> None:
    """Plain text and bare strings become text blocks; missing content has none."""
    assert list_blocks(content) == expected


def test_words_are_those_of_text_blocks() -> None:
    """Each text block is a line, in whichever field its text is; other blocks have none."""
    blocks = (Text(text="one"), Thinking(thinking="hm"), Text(content="two"), Image())
    assert join_text(blocks) == "one\ntwo"


def test_calls_and_results_are_found_among_other_blocks() -> None:
    """Tool uses and tool results are found in a list of blocks; text has neither."""
    call, answer = ToolUse(id="t1"), ToolResult(tool_use_id="t1")
    content = ("bare", Text(text="words"), call, answer)
    assert list(iter_tool_uses(content)) == [call]
    assert list(iter_tool_results(content)) == [answer]
    assert list(iter_tool_uses("words")) == []
    assert list(iter_tool_results("words")) == []


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ToolResult(content="all of it"), "all of it"),
        (ToolResult(content=("bare", Image(), Text(text="block"))), "bare\nblock"),
        (ToolResult(), ""),
    ],
)
def test_a_result_has_words(result: ToolResult, expected: str) -> None:
    """A result is text, blocks with text among them, or nothing."""
    assert result_text(result) == expected
