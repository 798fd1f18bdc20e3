"""Images are shown only as what their bytes are."""

import base64

import pytest

from recollect.documents.turn_documents import Picture
from recollect.render.html.html_parts import MAX_BYTES, render_picture


def _png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4) + height.to_bytes(4)


def _jpeg(width: int, height: int) -> bytes:
    comment = b"\xff\xfe\0\6abcd"
    return (
        b"\xff\xd8"
        + comment
        + b"\xff\xc0\0\x11\x08"
        + (height.to_bytes(2) + width.to_bytes(2) + b"\0" * 10)
    )


def _gif(width: int, height: int) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little")


def _webp(width: int, height: int) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + sides


def _show(data: bytes, media_type: str = "image/png") -> str:
    return str(render_picture(Picture(media_type, base64.b64encode(data).decode())))


@pytest.mark.parametrize(
    ("data", "kind"),
    [(_png(9, 9), "png"), (_jpeg(9, 9), "jpeg"), (_gif(9, 9), "gif"), (_webp(9, 9), "webp")],
)
def test_the_bytes_decide_the_type(data: bytes, kind: str) -> None:
    """The type given in the transcript is only shown as text next to the picture."""
    encoded = base64.b64encode(data).decode()
    assert _show(data, "text/html") == (
        f'<img class="picture" loading="lazy" alt="text/html" src="data:image/{kind};base64,'
        f'{encoded}">'
    )


@pytest.mark.parametrize(
    "data",
    [
        _png(10_000, 10_000),
        _jpeg(60_000, 60_000),
        _gif(60_000, 60_000),
        _webp(10_000, 10_000),
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='x'/>",
        b"<html><script>x</script></html>",
        b"GIF",
        b"",
    ],
)
def test_what_is_no_picture_or_too_large_is_named(data: bytes) -> None:
    """A drawing with scripts, a page and an oversized image are each a line of text."""
    assert _show(data) == f'<span class="picture absent">[image/png, {len(data):,} bytes]</span>'


def test_base64_that_is_none_or_too_long_is_no_picture() -> None:
    """Nothing is decoded that cannot be shown."""
    for data in ("not base64!", "A" * (MAX_BYTES * 4 // 3 + 8)):
        shown = render_picture(Picture("image/png", data))
        assert shown == '<span class="picture absent">[image/png, 0 bytes]</span>'


def test_a_document_is_saved_under_a_tame_name() -> None:
    """Its file name has only letters and digits."""
    data = base64.b64encode(b"%PDF-1.7").decode()
    assert render_picture(Picture("application/pdf", data, "../../r<e>port.pdf")) == (
        f'<a class="document" download="r_e_port.pdf" href="data:application/pdf;base64,{data}">'
        "../../r&lt;e&gt;port.pdf</a>"
    )
