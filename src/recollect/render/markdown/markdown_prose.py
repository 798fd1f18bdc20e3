"""Text from a transcript as part of a Markdown document.

What people and models write is Markdown already, but not made to be put into another document: it
has headings of its own, fences that are never closed, HTML and images from elsewhere. Lines are
rewritten as little as possible, and the result is checked with a real parser: whatever still has
HTML in it, or swallows what follows, becomes a code block.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import comrak

from recollect.render.terminal import safe_text

if TYPE_CHECKING:
    from comrak import ExtensionOptions

_FENCE: Final = re.compile(r" {0,12}(?:[-*+>] +|\d{1,3}[.)] +)*(`{3,}|~{3,})([^`\n]*)")
_HEADING: Final = re.compile(r"( {0,3})(#{1,6})(?=[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_TEXT_LINE: Final = re.compile(r" {0,3}(?![-*+>#|]|\d+[.)]\s)\S")
_CODE_SPAN: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_AUTOLINK: Final = re.compile(r"<(https?://[^\s<>]+|[\w.+-]+@[\w.-]+)>")
_IMAGE: Final = re.compile(r"!\[([^\]\n]*)\](?=\(|\[)")
_SPECIAL: Final = re.compile(r"[\\`*\[\]<>|~&]|(?<![^\W_])_|_(?![^\W_])|^(?:[#+-]|\d+[.)])(?=\s)")
_BACKTICKS: Final = re.compile(r"`+")
_OMITTED: Final = "<!-- raw HTML omitted -->"
_SHALLOW: Final = re.compile(r"<h[123]>")
_SENTINEL: Final = "recollect-sentinel"
_INNERMOST: Final = 6
_DEMOTED: Final = 3
"""Headings of the document itself use three levels."""


def write_prose(text: str) -> str:
    """Return Markdown text so that it can stand in a document, without a line end at its end."""
    text = safe_text(text).strip("\n")
    written = "\n".join(_iter_lines(text.split("\n")))
    return written if _is_contained(written) else write_block(text)


def write_block(text: str, language: str = "") -> str:
    """Return text as a code block, with a fence that the text does not contain."""
    text = safe_text(text).strip("\n")
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def write_code(text: str) -> str:
    """Return text as a code span on one line."""
    line = " ".join(safe_text(text).split())
    longest = max((len(run) for run in _BACKTICKS.findall(line)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}" if line else ""


def write_words(text: str) -> str:
    """Return plain text on one line, with what Markdown would interpret escaped."""
    line = " ".join(safe_text(text).split())
    return _SPECIAL.sub(lambda found: _escape(found[0]), line)


def quote(text: str) -> str:
    """Return Markdown as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _escape(found: str) -> str:
    return f"{found[:-1]}\\{found[-1]}"


def _iter_lines(lines: list[str]) -> Iterator[str]:
    """Yield lines with headings demoted, HTML escaped, images as links, and all fences closed."""
    fence = ""
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
            yield line
        elif found:
            fence = found[1]
            yield line
        elif _is_underline(lines, number):
            continue
        elif number + 1 < len(lines) and _is_underline(lines, number + 1):
            yield "#" * (_DEMOTED + 1) + " " + _rewrite(line.strip())
        else:
            yield _rewrite(_demote(line))
    if fence:
        yield fence


def _is_underline(lines: list[str], number: int) -> bool:
    """Return whether a line makes a heading of the line above it."""
    if number == 0 or not _UNDERLINE.fullmatch(lines[number]):
        return False
    is_first = number == 1 or not lines[number - 2].strip()
    return is_first and _TEXT_LINE.match(lines[number - 1]) is not None


def _demote(line: str) -> str:
    found = _HEADING.match(line)
    if found is None:
        return line
    level = min(len(found[2]) + _DEMOTED, _INNERMOST)
    return f"{found[1]}{'#' * level}{line[found.end() :]}"


def _rewrite(line: str) -> str:
    """Escape the HTML of a line and turn its images into links, except in code spans."""
    if "<" not in line and "![" not in line:
        return line
    pieces, at = [], 0
    for code in _CODE_SPAN.finditer(line):
        pieces += [_rewrite_text(line[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*pieces, _rewrite_text(line[at:])])


def _rewrite_text(text: str) -> str:
    text = _IMAGE.sub(lambda found: f"[{found[1] or 'image'}]", text)
    links = _AUTOLINK.finditer(text)
    kept = {link.start() for link in links}
    return _TAG.sub(lambda found: found[0] if found.start() in kept else f"\\{found[0]}", text)


def _is_contained(written: str) -> bool:
    """Return whether a parser finds no HTML, no heading of ours, and an end where the text ends."""
    # Without tables, what looks like one may be part of a heading.
    readers = (_extensions(), None) if "|" in written else (_extensions(),)
    return all(_is_contained_for(written, extensions) for extensions in readers)


def _is_contained_for(written: str, extensions: "ExtensionOptions | None") -> bool:
    rendered = comrak.render_markdown(f"{written}\n\n{_SENTINEL}\n", extensions)
    return (
        rendered.endswith(f"<p>{_SENTINEL}</p>\n")
        and _OMITTED not in rendered
        and _SHALLOW.search(rendered) is None
        and "<img" not in rendered
    )


@lru_cache(maxsize=1)
def _extensions() -> "ExtensionOptions":
    extensions = comrak.ExtensionOptions()
    extensions.table = extensions.strikethrough = extensions.tasklist = True
    return extensions
