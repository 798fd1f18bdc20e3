"""Render images and documents, if they are what they claim to be.

Only bytes that start like a raster image are shown, and only as that type: a web page or a drawing
with scripts that claims to be an image stays a line of text. The browser decodes images; one whose
header claims more pixels than fit in memory is rejected.
"""

import base64
import binascii

from markupsafe import Markup

from recollect.documents.turns import Picture
from recollect.render.html.html_code import show_text

MAX_BYTES = 8_000_000
MAX_PIXELS = 20_000_000

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_PDF = "application/pdf"
_MARKER = 0xFF
_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def render_picture(picture: Picture) -> Markup:
    """Render an image, a link that saves a document, or a line that describes the data."""
    data = _decode(picture.data)
    kind = _recognise(data)
    name = picture.name or picture.media_type
    encoded = base64.b64encode(data).decode()
    if kind == _PDF:
        return Markup('<a class="document" download="{}" href="data:{};base64,{}">{}</a>').format(
            _file_name(picture.name), kind, encoded, show_text(name)
        )
    if kind is None or _count_pixels(data, kind) > MAX_PIXELS:
        return Markup('<span class="picture absent">[{}, {:,} bytes]</span>').format(
            show_text(name), len(data)
        )
    return Markup('<img class="picture" loading="lazy" alt="{}" src="data:{};base64,{}">').format(
        show_text(name), kind, encoded
    )


def recognise_image(data: bytes) -> str | None:
    """Return the type of an image that can be shown; None for anything else."""
    kind = _recognise(data)
    is_shown = kind not in (None, _PDF) and len(data) <= MAX_BYTES
    return kind if is_shown and _count_pixels(data, kind or "") <= MAX_PIXELS else None


def _decode(data: str) -> bytes:
    if len(data) * 3 // 4 > MAX_BYTES:
        return b""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _recognise(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data.startswith(b"%PDF-"):
        return _PDF
    return next((kind for signature, kind in _SIGNATURES if data.startswith(signature)), None)


def _count_pixels(data: bytes, kind: str) -> int:
    """Return width times height from the header; 0 if they are deeper in the file."""
    match kind:
        case "image/png":
            return int.from_bytes(data[16:20]) * int.from_bytes(data[20:24])
        case "image/gif":
            return int.from_bytes(data[6:8], "little") * int.from_bytes(data[8:10], "little")
        case "image/jpeg":
            return _count_jpeg_pixels(data)
        case "image/webp":
            return _count_webp_pixels(data)
    return 0


def _count_jpeg_pixels(data: bytes) -> int:
    """Read the first frame header: markers follow each other, each with the length of its part."""
    place = 2
    while place + 9 < len(data) and data[place] == _MARKER:
        if data[place + 1] in _FRAME_HEADERS:
            height, width = data[place + 5 : place + 7], data[place + 7 : place + 9]
            return int.from_bytes(height) * int.from_bytes(width)
        place += 2 + int.from_bytes(data[place + 2 : place + 4])
    return 0


def _count_webp_pixels(data: bytes) -> int:
    """Read the header of the first chunk, which has three forms."""
    match data[12:16]:
        case b"VP8X":
            return (int.from_bytes(data[24:27], "little") + 1) * (
                int.from_bytes(data[27:30], "little") + 1
            )
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return ((bits & 0x3FFF) + 1) * ((bits >> 14 & 0x3FFF) + 1)
        case _:
            width, height = data[26:28], data[28:30]
            return (int.from_bytes(width, "little") & 0x3FFF) * (
                int.from_bytes(height, "little") & 0x3FFF
            )


def _file_name(name: str | None) -> str:
    """Return a file name of letters, digits and a few signs, whatever the transcript says."""
    kept = "".join(c if c.isalnum() or c in "-_." else "_" for c in (name or "")[-80:])
    stem = kept.strip("._").removesuffix(".pdf") or "document"
    return f"{stem}.pdf"
