"""Views of MCP tool calls."""

from recollect.documents.turn_documents import Entries, Entry, Fields, Json, Picture, Plain
from recollect.render.views.tools import ToolView, describe_call
from tests.session.recordings import make_call

TOOL = "mcp__maps__find"


def test_texts_and_pictures() -> None:
    """Blocks of a server are shown by their type."""
    blocks = [
        {"type": "text", "text": "found"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
    ]
    assert describe_call(make_call(TOOL, {"place": "Brest", "near": True}, blocks)) == ToolView(
        title="Brest",
        summary="1 picture · found",
        input=(Fields((("place", "Brest"), ("near", "true"))),),
        output=(Plain("found"), Picture("image/png", "AA")),
    )


def test_structured_answers_are_json() -> None:
    """A text that is JSON is shown as JSON, and so is nested input."""
    view = describe_call(make_call(TOOL, {"at": {"x": 1}}, '{"y":2}'))
    assert (view.input, view.output) == (
        (Json('{\n  "at": {\n    "x": 1\n  }\n}'),),
        (Json('{\n  "y": 2\n}'),),
    )


def test_answer_that_only_the_model_saw() -> None:
    """Without a structured result, a call shows the text for the model."""
    assert describe_call(make_call(TOOL, {}, text="ok")).output == (Plain("ok"),)


def test_resources_and_tools_that_were_found() -> None:
    """Resources and tools are listed by name."""
    resources = [{"uri": "doc://1", "name": "One", "server": "docs"}]
    listed = describe_call(make_call("ListMcpResourcesTool", {"server": "docs"}, resources))
    found = describe_call(make_call("ToolSearch", {"query": "map"}, {"matches": ["a"]}))
    assert (listed.summary, listed.output) == (
        "1 resource",
        (Entries((Entry("One", path="doc://1", note="docs"),)),),
    )
    assert found == ToolView(title="map", summary="1 tool", output=(Entries((Entry("a"),)),))
