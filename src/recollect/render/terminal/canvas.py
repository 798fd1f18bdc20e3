"""How much of a session is drawn, and for what terminal.

The one place where drawings become characters for a terminal.

Whatever was drawn, each line leaves as safe text and colours of our own: rich is used for layout
and emphasis only, links and controls that it might add are dropped, and text is made safe once
more, because entities in Markdown can put back what was taken out before it was parsed.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from enum import StrEnum
from itertools import islice

from msgspec import Struct
from rich.cells import cell_len, chop_cells
from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from recollect.quantities import format_count
from recollect.render.terminal.safe_text import safe_text


class ToolDetail(StrEnum):
    """How much is shown of tool calls."""

    NONE = "none"
    """How many there were."""
    BRIEF = "brief"
    """A line each, and the beginning of what they changed or why they failed."""
    FULL = "full"
    """All that went in and came out."""


class RenderOptions(Struct, frozen=True, kw_only=True):
    """What to draw, and how."""

    columns: int = 80
    is_coloured: bool = False
    tools: ToolDetail = ToolDetail.BRIEF
    thinking: bool = False
    """Whether thoughts are shown whole, instead of their first line."""
    subagents: bool = False
    """Whether subagents are unfolded where they were started."""
    zone: tzinfo | None = None
    """Whose clock; None for the local one."""

    directory: str | None = None
    """Where the session took place: paths below it are shown from there, unless all is wanted."""

    def show_path(self, path: str) -> str:
        """`path`, without the directory that most paths of a session begin with."""
        if self.directory is None or self.is_full:
            return path
        shorter = path.removeprefix(self.directory)
        return shorter[1:] if shorter != path and shorter[:1] in ("/", "\\") else path

    @property
    def is_full(self) -> bool:
        """Whether nothing may be left out."""
        return self.tools is ToolDetail.FULL


TAB = 4
MIN_COLUMNS = 16
"""However deep subagents are nested, their text is not squeezed below this."""

MAX_BRIEF = 10
"""Lines of a change or a failure that are shown where not all is wanted."""

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
    """Draws for one look."""

    def __init__(self, look: RenderOptions) -> None:
        self.look = look
        self._console = Console(
            file=io.StringIO(),
            width=look.columns,
            height=1,
            color_system=None,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            theme=Theme(_STYLES),
            _environ={},
        )

    def draw(self, drawing: RenderableType, columns: int) -> Iterator[str]:
        """Yield the lines of anything that rich can lay out."""
        options = self._console.options.update(width=columns, height=None, highlight=False)
        for line in self._console.render_lines(drawing, options, pad=False):
            yield self._finish(_strip_end(line))

    def wrap(self, text: Text, columns: int) -> Iterator[str]:
        """Yield the lines of words, broken between them."""
        yield from self.draw(text, columns) if text else ("",)

    def fold(self, text: Text, columns: int) -> Iterator[str]:
        """Yield one line in as many as it needs, cut where the room ends: spaces matter in code."""
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
        """A line that fits already."""
        # On its own, rich draws the parts of a text in their styles but not the text in its own.
        whole = Text().append_text(text) if text.style else text
        return self._finish(whole.render(self._console))

    def styled(self, words: str, style: str) -> str:
        """Safe, single-line words in one style."""
        return self.line(Text(words, style))

    def _finish(self, segments: Iterable[Segment]) -> str:
        shown = [segment for segment in segments if not segment.control]
        if not self.look.is_coloured:
            return safe_text("".join(segment.text for segment in shown), single_line=True)
        return "".join(
            _paint(safe_text(segment.text, single_line=True), segment.style) for segment in shown
        )


def _strip_end(line: Sequence[Segment]) -> Sequence[Segment]:
    """The line without the blanks that a table is filled up with."""
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
    """Yield `lines` behind a margin, which may differ in the first of them."""
    margin = first
    for line in lines:
        yield margin + line
        margin = first if rest is None else rest


def cut_lines(lines: Iterable[str], canvas: Canvas) -> Iterator[str]:
    """Yield the first of `lines`, and how many more there are."""
    remaining = iter(lines)
    yield from islice(remaining, MAX_BRIEF)
    more = sum(1 for _ in remaining)
    if more:
        yield canvas.styled(f"… {format_count(more, 'more line')}", "dim")
