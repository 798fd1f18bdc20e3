"""Render options, and the canvas that turns content into lines for a terminal.

Every line is output as safe text with our own colours: rich is used only for layout and emphasis,
any links and control codes that it adds are dropped, and text is made safe a second time, because
entities in Markdown can restore characters that were removed before parsing.
"""

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from enum import StrEnum
from functools import cached_property
from itertools import islice

from msgspec import Struct, structs
from rich.cells import cell_len, chop_cells
from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from recollect.quantities import format_count
from recollect.render.terminal import POINTER, safe_line
from recollect.render.views.part_builders import shorten_path


class ToolDetail(StrEnum):
    """How much of tool calls to show."""

    NONE = "none"
    """Only their number."""
    BRIEF = "brief"
    """One line each, and the start of changes and errors."""
    FULL = "full"
    """Complete input and output."""


class RenderOptions(Struct, frozen=True, kw_only=True):
    """What to render, and how."""

    columns: int = 80
    is_coloured: bool = False
    tools: ToolDetail = ToolDetail.BRIEF
    thinking: bool = False
    """Whether to show thinking completely, not only its first line."""
    subagents: bool = False
    """Whether to show subagents at the calls that started them."""
    zone: tzinfo | None = None
    """The time zone; None for local time."""

    directory: str | None = None
    """The session's directory: paths below it are relative, unless `is_full`."""

    at: str = ""
    """The uuid of a step or a prompt, or `turn-3`, to mark and show completely."""
    agents: Mapping[str, int] = {}
    """Subagents of which to show a single turn, by id, with the index of that turn."""
    marks: tuple[str, ...] = ()
    """Words to highlight wherever they occur."""

    def show_path(self, path: str) -> str:
        """Return `path` relative to the session's directory."""
        return path if self.is_full else shorten_path(path, self.directory)

    @property
    def is_full(self) -> bool:
        """Whether nothing may be left out."""
        return self.tools is ToolDetail.FULL


OPEN_MARK, CLOSE_MARK = "«»"
"""Put around highlighted words if there are no colours."""

_MARKED = Style(color="black", bgcolor="yellow")

TAB = 4
MIN_COLUMNS = 16
"""Minimum width of text, even in deeply nested subagents."""

MAX_BRIEF = 10
"""Maximum number of lines of a change or error, unless everything is shown."""

_STYLES = {
    "markdown.h1": "bold underline",
    "markdown.h2": "bold",
    "markdown.h3": "bold",
    "markdown.h4": "bold dim",
    "markdown.h5": "bold dim",
    "markdown.h6": "bold dim",
    "markdown.code": "cyan",
    "markdown.code_block": "none",
    "markdown.block_quote": "dim",
    "markdown.item.bullet": "dim",
    "markdown.item.number": "dim",
    "markdown.link": "underline",
    "markdown.link_url": "dim",
    "markdown.hr": "dim",
    "markdown.table.border": "dim",
    "markdown.table.header": "bold",
}


class Canvas:
    """Renders with the given options."""

    def __init__(self, options: RenderOptions) -> None:
        self.options = options
        self._marks = _compile_marks(options.marks)
        self._console = Console(
            file=io.StringIO(),
            width=options.columns,
            height=1,
            color_system=None,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            theme=Theme(_STYLES),
            _environ={},
        )

    @cached_property
    def complete(self) -> "Canvas":
        """Return a canvas that leaves nothing out, narrower by the margin of a marked step."""
        columns = max(self.options.columns - len(POINTER), MIN_COLUMNS)
        options = structs.replace(
            self.options, columns=columns, tools=ToolDetail.FULL, thinking=True, at=""
        )
        return Canvas(options)

    def resize(self, columns: int) -> None:
        """Use another width from now on."""
        if columns != self.options.columns:
            self.options = structs.replace(self.options, columns=columns)
            self.__dict__.pop("complete", None)

    def render(self, content: RenderableType, columns: int) -> Iterator[str]:
        """Yield the lines of anything that rich can lay out."""
        layout = self._console.options.update(width=columns, height=None, highlight=False)
        for line in self._console.render_lines(content, layout, pad=False):
            yield self._finish(_strip_end(line))

    def wrap(self, text: Text, columns: int) -> Iterator[str]:
        """Yield lines of text, wrapped between words."""
        yield from self.render(text, columns) if text else ("",)

    def fold(self, text: Text, columns: int) -> Iterator[str]:
        """Yield a line split at any character to fit, because spaces matter in code."""
        if "\t" in text.plain:
            text = text.copy()
            text.expand_tabs(TAB)
        if cell_len(text.plain) <= columns:
            yield self.line(text)
            return
        places: list[int] = []
        for piece in chop_cells(text.plain, columns):
            places.append((places[-1] if places else 0) + len(piece))
        yield from map(self.line, text.divide(places[:-1]))

    def line(self, text: Text) -> str:
        """Return a line that already fits."""
        # rich draws the spans of a text in their styles, but not a text in its own.
        whole = Text().append_text(text) if text.style else text
        return self._finish(whole.render(self._console))

    def styled(self, words: str, style: str) -> str:
        """Return safe, single-line text in one style."""
        return self.line(Text(words, style))

    def _finish(self, segments: Iterable[Segment]) -> str:
        shown = [segment for segment in segments if not segment.control]
        if self._marks is not None:
            shown = list(_mark(shown, self._marks, is_coloured=self.options.is_coloured))
        if not self.options.is_coloured:
            return safe_line("".join(segment.text for segment in shown))
        return "".join(_paint(safe_line(segment.text), segment.style) for segment in shown)


def _compile_marks(words: Sequence[str]) -> re.Pattern[str] | None:
    longest_first = sorted(filter(None, words), key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first))
    return re.compile(pattern, re.IGNORECASE) if pattern else None


def _mark(
    segments: Sequence[Segment], pattern: re.Pattern[str], *, is_coloured: bool
) -> Iterator[Segment]:
    """Yield the segments of a line with matches highlighted, or in «guillemets»."""
    spans = [found.span() for found in pattern.finditer("".join(each.text for each in segments))]
    start = 0
    for segment in segments:
        end = start + len(segment.text)
        at = start
        for first, last in spans:
            if last <= start or first >= end:
                continue
            yield Segment(segment.text[at - start : max(first, start) - start], segment.style)
            text = segment.text[max(first, start) - start : min(last, end) - start]
            if is_coloured:
                yield Segment(text, _MARKED if segment.style is None else segment.style + _MARKED)
            else:
                left = OPEN_MARK if first >= start else ""
                yield Segment(f"{left}{text}{CLOSE_MARK if last <= end else ''}", segment.style)
            at = min(last, end)
        yield Segment(segment.text[at - start :], segment.style)
        start = end


def _strip_end(line: Sequence[Segment]) -> Sequence[Segment]:
    """Return the line without the padding of a table."""
    end = len(line)
    while end and not line[end - 1].text.strip() and not _is_filled(line[end - 1].style):
        end -= 1
    return line[:end]


def _is_filled(style: Style | None) -> bool:
    return style is not None and bool(style.reverse)


def _paint(text: str, style: Style | None) -> str:
    if style is None or not text:
        return text
    plain = style.update_link(None) if style.link else style
    return plain.render(text, color_system=ColorSystem.STANDARD)


def indent(lines: Iterable[str], first: str, rest: str | None = None) -> Iterator[str]:
    """Yield `lines` with a margin, which may differ for the first one."""
    margin = first
    for line in lines:
        yield margin + line
        margin = first if rest is None else rest


def cut_lines(lines: Iterable[str], canvas: Canvas) -> Iterator[str]:
    """Yield the first of `lines`, and a note about how many more there are."""
    remaining = iter(lines)
    yield from islice(remaining, MAX_BRIEF)
    more = sum(1 for _ in remaining)
    if more:
        yield canvas.styled(f"… {format_count(more, 'more line')}", "dim")
