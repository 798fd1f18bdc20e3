"""Views of web searches and pages."""

from msgspec import Raw

from recollect.documents.kinds import ToolStatus
from recollect.documents.turn_documents import Entries, Entry, Prose
from recollect.records.blocks import WebSearchToolResult
from recollect.render.views.tools import ToolView, describe_call
from recollect.session.tool_calls import ToolCall
from tests.session.recordings import make_call


def test_search_lists_pages_and_words() -> None:
    """Pages are entries with their URL, and text between them is prose."""
    hit = {"title": "Docs", "url": "https://example.com", "snippet": "all of it"}
    result = {"query": "q", "results": [{"tool_use_id": "s", "content": [hit]}, "So *it* is."]}
    assert describe_call(make_call("WebSearch", {"query": "q"}, result)) == ToolView(
        title="q",
        summary="1 result",
        output=(
            Entries((Entry("Docs", url="https://example.com", note="all of it"),)),
            Prose("So *it* is."),
        ),
    )


def test_page_with_its_answer() -> None:
    """A page is a link, with its HTTP status and the answer."""
    wanted = {"url": "https://example.com", "prompt": "What is it?"}
    result = {
        "url": "https://example.com",
        "code": 200,
        "codeText": "OK",
        "bytes": 12,
        "result": "It",
    }
    assert describe_call(make_call("WebFetch", wanted, result)) == ToolView(
        title="https://example.com",
        summary="200 OK · 12 bytes",
        input=(
            Entries((Entry("https://example.com", url="https://example.com"),)),
            Prose("What is it?"),
        ),
        output=(Prose("It"),),
    )


def test_search_on_the_side_of_the_api() -> None:
    """A search by the API is shown the same, even if its input is JSON in a string."""
    hits = b'[{"type":"web_search_result","title":"Docs","url":"https://example.com"}]'
    views = [
        describe_call(
            ToolCall(
                id="s1",
                name="web_search",
                recorded_name="web_search",
                raw_input=Raw(raw),
                message_id="m1",
                call_uuid="c1",
                status=ToolStatus.SUCCESS,
                block=WebSearchToolResult(tool_use_id="s1", content=Raw(hits)),
            )
        )
        for raw in (b'{"query":"q"}', b'"{\\"query\\": \\"q\\"}"')
    ]
    entries = Entries((Entry("Docs", url="https://example.com"),))
    assert views == [ToolView(title="q", summary="1 result", output=(entries,))] * 2
