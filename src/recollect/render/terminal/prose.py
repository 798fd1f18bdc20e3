"""Render Markdown as lines, with its emphasis and nothing lost.

Markdown can hide text from a reader: comments, definitions, titles of links, cells beyond the last
column. Here tags are text, definitions are paragraphs, URLs are written out, and if the drawing
would lack a single letter, the text is shown as it was written.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, ListItem, Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from recollect.render.terminal.canvas import TAB, Canvas
from recollect.render.terminal.safe_text import safe_text
from recollect.render.terminal.source_code import highlight

MAX_LENGTH = 100_000
"""Maximum length of Markdown in characters; longer text is shown as it is, which takes no time."""

_OUR_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_CODE_MARGIN = "  "


def draw_prose(text: str, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the lines of `text` as Markdown, or as it is if that would hide something."""
    text = safe_text(text.replace("\r\n", "\n")).strip("\n")
    if len(text) <= MAX_LENGTH:
        lines = _trim(list(canvas.draw(_Prose(text), columns)))
        if not _count_letters(text) - _count_letters(_OUR_COLOURS.sub("", "".join(lines))):
            yield from lines
            return
    yield from draw_plain(text, canvas, columns)


def draw_plain(text: str, canvas: Canvas, columns: int, style: str = "") -> Iterator[str]:
    """Yield the lines of `text` as written, wrapped between words."""
    for line in safe_text(text.replace("\r\n", "\n")).strip("\n").split("\n"):
        yield from canvas.wrap(Text(line, style, tab_size=TAB), columns)


def _trim(lines: list[str]) -> list[str]:
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _count_letters(text: str) -> Counter[str]:
    return Counter(filter(str.isalpha, text))


class _LeftHeading(Heading):
    """A left-aligned heading; rich would centre the largest."""

    LEVEL_ALIGN: ClassVar = {}


class _Code(CodeBlock):
    """A code block without a background, with the language that it claims to be in."""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> "_Code":
        return cls(token.info.strip(), "")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.lexer_name:
            yield Text(_CODE_MARGIN + self.lexer_name, "dim")
        room = options.max_width - len(_CODE_MARGIN)
        language = self.lexer_name.partition(" ")[0]
        for line in highlight(str(self.text).rstrip("\n"), language=language).split("\n"):
            for piece in line.wrap(console, room, overflow="fold", tab_size=TAB):
                yield Text(_CODE_MARGIN).append_text(piece)


class _Item(ListItem):
    """A list item whose text starts right after its bullet or number."""

    def render_bullet(self, console: Console, options: ConsoleOptions) -> RenderResult:
        style = console.get_style("markdown.item.bullet")
        yield from self._draw(Segment("• ", style), console, options)

    def render_number(
        self, console: Console, options: ConsoleOptions, number: int, last_number: int
    ) -> RenderResult:
        style = console.get_style("markdown.item.number")
        label = f"{number}. ".rjust(len(str(last_number)) + 2)
        yield from self._draw(Segment(label, style), console, options)

    def _draw(self, label: Segment, console: Console, options: ConsoleOptions) -> RenderResult:
        width = len(label.text)
        inner = options.update(width=max(options.max_width - width, 1))
        for line in console.render_lines(self.elements, inner, style=self.style):
            yield label
            yield from line
            yield Segment.line()
            label = Segment(" " * width)


class _FoldingTable(TableElement):
    """A table that breaks long words instead of cutting them off."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(
            box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, style="markdown.table.border"
        )
        for cell in self.header.row.cells if self.header and self.header.row else ():
            heading = cell.content.copy()
            heading.stylize("markdown.table.header")
            table.add_column(heading, overflow="fold")
        for row in self.body.rows if self.body else ():
            table.add_row(*(cell.content for cell in row.cells))
        yield table


class _Prose(Markdown):
    """Markdown that shows what rich would skip."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _Code,
        "code_block": _Code,
        "list_item_open": _Item,
        "table_open": _FoldingTable,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = list(_rewrite(_make_parser().parse(text)))


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    # Reference links keep their brackets, so that their definitions stay visible, too.
    parser.disable("reference")
    # As written: an encoded or decoded URL is no longer the one that was given.
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return parser


def _rewrite(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield tokens that rich shows completely: entities are safe, images and links are text."""
    for token in tokens:
        token.content = safe_text(token.content)
        token.info = safe_text(token.info, single_line=True)
        if token.type == "link_open":
            token.attrs["href"] = _address_of(token)
        if token.type == "image":
            yield _make_text(f"[image: {token.content}] ({_address_of(token)})")
            continue
        if token.children:
            token.children = list(_join_autolinks(_rewrite(token.children)))
        yield token


def _address_of(token: Token) -> str:
    address = str(token.attrs.get("href") or token.attrs.get("src") or "")
    title = token.attrs.get("title")
    return safe_text(f'{address} "{title}"' if title else address)


def _join_autolinks(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield `tokens`; for a link whose text is its URL, only the text."""
    waiting: list[Token] = []
    for token in tokens:
        if token.type == "link_open" or waiting:
            waiting.append(token)
        else:
            yield token
        if token.type == "link_close":
            yield from waiting[1:-1] if _is_its_own_address(waiting) else waiting
            waiting = []
    yield from waiting


def _is_its_own_address(link: list[Token]) -> bool:
    return "".join(token.content for token in link[1:-1]) == link[0].attrs.get("href")


def _make_text(words: str) -> Token:
    return Token("text", "", 0, content=words)
