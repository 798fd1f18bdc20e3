"""Views of content blocks."""

from msgspec import Raw

from recollect.documents.turn_documents import Entries, Entry, Fields, Json, Picture, Plain, Prose
from recollect.records.blocks import (
    ContainerUpload,
    Document,
    Fallback,
    Image,
    ModelName,
    Resource,
    ResourceLink,
    SearchResult,
    Source,
    Text,
    ToolReference,
    UnknownBlock,
)
from recollect.render.views.part_builders import show_blocks


def test_words_are_prose_where_somebody_wrote_them() -> None:
    """Text in a tool result is plain instead; empty text is left out."""
    blocks = (Text(text="*x*"), Text(text=" "), "y")
    assert show_blocks(blocks, as_prose=True) == (Prose("*x*"), Prose("y"))
    assert show_blocks(blocks) == (Plain("*x*"), Plain("y"))


def test_pictures_and_documents_wherever_they_lie() -> None:
    """Bytes, URLs and texts are shown as far as the transcript contains them."""
    assert show_blocks(
        (
            Image(source=Source(media_type="image/png", data="AA")),
            Image(source=Source(type="url", url="https://example.com/x.png")),
            Image(),
            Document(source=Source(type="text", data="words"), title="t"),
            Document(source=Source(media_type="application/pdf", data="BB"), title="t"),
            Document(source=Source(type="content", content=Raw(b"[]"))),
        )
    ) == (
        Picture("image/png", "AA"),
        Picture("application/octet-stream", "", "https://example.com/x.png"),
        Picture("application/octet-stream", ""),
        Plain("words"),
        Fields((("title", "t"),)),
        Picture("application/pdf", "BB", "t"),
        Json("[]"),
    )


def test_other_blocks() -> None:
    """Every kind of block is shown, an unknown one as JSON."""
    assert show_blocks(
        (
            ToolReference(tool_name="Cron"),
            ResourceLink(uri="doc://1", name="One"),
            SearchResult(source="doc://2", title="Two", content=Raw(b"[1]")),
            Resource(resource=Raw(b'{"uri":"doc://3"}')),
            ContainerUpload(file_id="f1"),
            Fallback(origin=ModelName(model="a"), target=ModelName(model="b")),
            UnknownBlock(raw=Raw(b"{}")),
        )
    ) == (
        Entries((Entry("Cron"),)),
        Entries((Entry("One", note="doc://1"),)),
        Entries((Entry("Two", note="doc://2"),)),
        Json("[\n  1\n]"),
        Fields((("uri", "doc://3"),)),
        Fields((("file", "f1"),)),
        Fields((("from", "a"), ("to", "b"))),
        Json("{}"),
    )
