"""Render each kind of part as HTML; images and documents only if they are what they claim to be.

Data is shown as an image only if it starts like a raster image, and only as that type: a web page
or a drawing with scripts that is labelled as an image becomes a line of text. The browser decodes
images; one whose header declares more pixels than fit in memory is rejected.

Parts have structure and class names only: the look is up to the style sheet, because a page may not
contain styles. The lines of a hunk are highlighted together, without their signs: a lexer needs the
lines around a line, and old and new ones are close enough for that.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup, escape
from msgspec import Struct

from recollect.documents import turn_documents
from recollect.render.html import html_text
from recollect.render.terminal.ansi_output import TextRunStyle, iter_runs
from recollect.render.views.part_builders import shorten_entries

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


def render_picture(picture: turn_documents.Picture) -> Markup:
    """Render an image, a link that saves a document, or a line that describes the data."""
    data = _decode(picture.data)
    kind = _recognise(data)
    name = picture.name or picture.media_type
    encoded = base64.b64encode(data).decode()
    if kind == _PDF:
        return Markup('<a class="document" download="{}" href="data:{};base64,{}">{}</a>').format(
            _file_name(picture.name), kind, encoded, html_text.show_text(name)
        )
    if kind is None or _count_pixels(data, kind) > MAX_PIXELS:
        return Markup('<span class="picture absent">[{}, {:,} bytes]</span>').format(
            html_text.show_text(name), len(data)
        )
    return Markup('<img class="picture" loading="lazy" alt="{}" src="data:{};base64,{}">').format(
        html_text.show_text(name), kind, encoded
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
    """Return a file name of letters, digits and a few signs, whatever name the transcript has."""
    kept = "".join(c if c.isalnum() or c in "-_." else "_" for c in (name or "")[-80:])
    stem = kept.strip("._").removesuffix(".pdf") or "document"
    return f"{stem}.pdf"


_PLAIN = TextRunStyle()
_EMPHASIS = ("bold", "dim", "italic", "underline", "strike", "reverse")


class PartOptions(Struct, frozen=True, kw_only=True):
    """Options that depend on the page around the parts."""

    show_picture: Callable[[turn_documents.Picture], Markup] = render_picture
    max_coloured: int = html_text.MAX_COLOURED_LENGTH
    """Maximum number of characters of code to highlight."""
    translate: Callable[[str], str] = str
    """Translates names of fields, and notes about omissions."""
    directory: str | None = None
    """The session's directory: listed paths below it are relative."""


DEFAULT_OPTIONS = PartOptions()


def render_output(text: str, kind: str = "") -> Markup:
    """Render program output; line breaks of other systems are treated as ours."""
    runs = "".join([_render_run(run, ink) for run, ink in iter_runs(text.replace("\r\n", "\n"))])
    css_class = f"output {kind}" if kind else "output"
    return Markup(f'<pre class="{css_class}">{runs}</pre>')  # noqa: S704 - each run was escaped


def _render_run(text: str, ink: TextRunStyle) -> Markup:
    if ink == _PLAIN:
        return escape(text)
    return Markup('<span class="{}">{}</span>').format(" ".join(_iter_classes(ink)), text)


def _iter_classes(ink: TextRunStyle) -> Iterator[str]:
    if ink.hue:
        yield f"ink-{ink.hue}"
    for name in _EMPHASIS:
        if getattr(ink, name):
            yield f"ink-{name}"


_GAP = Markup('<tr class="gap"><td colspan="4">@@ -{},{} +{},{} @@</td></tr>')
_CLASSES = {"+": "added", "-": "removed", " ": "kept"}


def render_diff(
    diff: turn_documents.Diff, max_coloured: int = html_text.MAX_COLOURED_LENGTH
) -> Markup:
    """Render a change as a table under the name of its file."""
    caption = (
        Markup("<figcaption>{}</figcaption>").format(html_text.show_text(diff.path))
        if diff.path
        else ""
    )
    rows = "".join(
        row
        for number, hunk in enumerate(diff.hunks)
        for row in _iter_rows(
            hunk, diff.path, max_coloured, is_first=number == 0 and diff.is_new_file
        )
    )
    return Markup('<figure class="diff">{}<table><tbody>{}</tbody></table></figure>').format(
        caption,
        Markup(rows),  # noqa: S704 - numbers, and lines that were escaped
    )


def _iter_rows(
    hunk: turn_documents.Hunk, path: str | None, max_coloured: int, *, is_first: bool
) -> Iterator[str]:
    if not is_first:
        yield _GAP.format(hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines)
    text = "\n".join(line[1:] for line in hunk.lines)
    coloured = html_text.colour_lines(text, path=path, max_coloured=max_coloured)
    old, new = hunk.old_start, hunk.new_start
    # A line that ends in a carriage return, or is empty at the end, may have no highlighted line.
    for line, shown in zip(hunk.lines, coloured, strict=False):
        sign = line[:1] or " "
        if sign not in _CLASSES:
            yield _render_row("remark", "", "", "", html_text.show_text(line.lstrip("\\ ")))
            continue
        yield _render_row(
            _CLASSES[sign],
            "" if sign == "+" else str(old),
            "" if sign == "-" else str(new),
            "" if sign == " " else sign,
            shown,
        )
        old += sign != "+"
        new += sign != "-"


def _render_row(css_class: str, old: str, new: str, sign: str, shown: str) -> str:
    # A string: there are thousands of rows, and formatting Markup is slow.
    return (
        f'<tr class="{css_class}"><td class="number" data-line="{old}"></td>'
        f'<td class="number" data-line="{new}"></td><td class="sign" data-sign="{sign}"></td>'
        f'<td class="text"><code>{shown}</code></td></tr>'
    )


MAX_BLOCK_LENGTH = 200_000
"""Maximum number of characters of one block in a page; the raw record has the rest."""


def render_parts(
    parts: Iterable[turn_documents.Part], options: PartOptions = DEFAULT_OPTIONS
) -> Markup:
    """Render parts one after the other."""
    drawn = "\n".join([render_part(part, options) for part in parts])
    return Markup(drawn)  # noqa: S704 - each part is safe


def render_part(part: turn_documents.Part, options: PartOptions = DEFAULT_OPTIONS) -> Markup:
    """Render `part` as a block."""
    if isinstance(part, turn_documents.Json):
        part = turn_documents.Code(part.text, language="json")
    match part:
        case turn_documents.Picture():
            return options.show_picture(part)
        case turn_documents.Diff():
            return render_diff(part, options.max_coloured)
        case turn_documents.Code():
            return _render_code(part, options.max_coloured)
        case turn_documents.Fields():
            return _render_fields(part, options.translate)
        case turn_documents.Entries():
            return _render_entries(shorten_entries(part, options.directory), options.translate)
    return _RENDERERS[type(part)](part)


def _cut(text: str) -> str:
    if len(text) <= MAX_BLOCK_LENGTH:
        return text
    return f"{text[:MAX_BLOCK_LENGTH]}\n… {len(text) - MAX_BLOCK_LENGTH:,} more characters"


def _render_checklist(checklist: turn_documents.Checklist) -> Markup:
    row = Markup('<li class="{}" data-state="{}">{}{}</li>')
    rows = (
        row.format(
            item.state.value.replace("_", "-"),
            item.state,
            html_text.show_text(item.text),
            _note(item.note),
        )
        for item in checklist.items
    )
    return Markup('<ul class="checklist">{}</ul>').format(Markup().join(rows))


def _note(note: str | None) -> Markup:
    return (
        Markup(' <small class="note">{}</small>').format(html_text.show_text(note))
        if note
        else Markup()
    )


def _render_entries(entries: turn_documents.Entries, translate: Callable[[str], str]) -> Markup:
    rows = "".join([_render_entry(entry) for entry in entries.entries])
    omitted = escape(translate(f"… {entries.omitted:,} more"))
    more = f'<li class="more">{omitted}</li>' if entries.omitted else ""
    return Markup(f'<ul class="entries">{rows}{more}</ul>')  # noqa: S704 - all of it was escaped


def _render_entry(entry: turn_documents.Entry) -> str:
    # Strings: lists of files and matches are long, and formatting Markup is slow.
    place = ""
    if entry.path and entry.path != entry.text:
        line = "" if entry.line is None else f":{entry.line}"
        place = f'<span class="path">{html_text.show_text(entry.path)}{line}</span> '
    text = html_text.show_text(entry.text)
    if entry.url and _is_web_url(entry.url):
        link = Markup('<a href="{}" target="_blank" rel="noopener noreferrer nofollow">{}</a>')
        text = link.format(html_text.show_text(entry.url), text)
    note = _note(entry.note) if entry.note else ""
    return f"<li>{place}<span>{text}</span>{note}</li>"


def _is_web_url(url: str) -> bool:
    try:
        return urlsplit(url).scheme in {"http", "https"}
    except ValueError:
        return False


def _render_fields(fields: turn_documents.Fields, translate: Callable[[str], str]) -> Markup:
    rows = "".join(
        f"<dt>{html_text.show_text(translate(name))}</dt>"
        f"<dd>{html_text.show_text(_cut(value))}</dd>"
        for name, value in fields.fields
    )
    return Markup(f'<dl class="fields">{rows}</dl>')  # noqa: S704 - all of it was escaped


def _render_question(question: turn_documents.Question) -> Markup:
    row = Markup('<li class="{}"><strong>{}</strong> {}</li>')
    choices = (
        row.format(
            "chosen" if choice.is_chosen else "offered",
            html_text.show_text(choice.label),
            html_text.show_text(choice.description),
        )
        for choice in question.choices
    )
    answer = (
        Markup('<p class="answer">{}</p>').format(html_text.show_text(question.answer))
        if question.answer
        else Markup()
    )
    return Markup(
        '<div class="question"><p><small>{}</small> {}</p><ul class="choices">{}</ul>{}</div>'
    ).format(
        html_text.show_text(question.header),
        html_text.show_text(question.text),
        Markup().join(choices),
        answer,
    )


def _render_code(code: turn_documents.Code, max_coloured: int) -> Markup:
    return html_text.render_code(
        _cut(code.text),
        path=code.path,
        language=code.language,
        first_line=code.first_line,
        max_coloured=max_coloured,
    )


def _name_stream(output: turn_documents.Output) -> str:
    return "error" if output.is_error else "stderr" if output.is_stderr else ""


_RENDERERS: dict[type[turn_documents.Part], Callable[[Any], Markup]] = {
    turn_documents.Prose: lambda prose: Markup(  # noqa: S704 - rendering makes it safe
        f'<div class="prose">{html_text.render_markdown(_cut(prose.text))}</div>'
    ),
    turn_documents.Plain: lambda plain: html_text.show_block(_cut(plain.text), "plain"),
    turn_documents.Output: lambda output: render_output(_cut(output.text), _name_stream(output)),
    turn_documents.Checklist: _render_checklist,
    turn_documents.Question: _render_question,
}
