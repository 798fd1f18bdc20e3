"""Render Markdown, source code and diffs as lines in the terminal's colours, without losing
anything.

Languages are found by name or path. Highlighting is optional: long text, long lines and unknown
languages stay plain, because a lexer may take seconds for something that nobody reads.

Markdown can hide text from a reader: comments, definitions, titles of links, cells beyond the last
column. Here tags are text, definitions are paragraphs, URLs are written out, and if a single letter
would be missing, the source is shown instead.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise, takewhile
from pathlib import PurePosixPath
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token as MarkdownToken
from pygments.token import Comment, Error, Generic, Keyword, Name, Number, Operator, String, Token
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, ListItem, Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.table import Table
from rich.text import Text

from recollect.documents.turn_documents import Code, Diff, Hunk
from recollect.records.tools.file_tools import count_patch_lines
from recollect.render.terminal import safe_line, safe_text
from recollect.render.terminal.canvas import TAB, Canvas

MAX_HIGHLIGHTED = 64_000
MAX_LINE_LENGTH = 2_000

# Only hues that are readable on dark and light backgrounds.
_THEME = ANSISyntaxTheme(
    {
        Token: Style(),
        Comment: Style(dim=True, italic=True),
        Keyword: Style(color="magenta"),
        Keyword.Constant: Style(color="blue"),
        Operator.Word: Style(color="magenta"),
        Name.Builtin: Style(color="cyan"),
        Name.Function: Style(color="blue", bold=True),
        Name.Class: Style(color="blue", bold=True),
        Name.Decorator: Style(color="cyan"),
        Name.Exception: Style(color="red"),
        Name.Tag: Style(color="blue"),
        Name.Attribute: Style(color="cyan"),
        String: Style(color="green"),
        String.Doc: Style(color="green", italic=True),
        Number: Style(color="cyan"),
        Generic.Deleted: Style(color="red"),
        Generic.Inserted: Style(color="green"),
        Generic.Heading: Style(bold=True),
        Generic.Subheading: Style(color="cyan"),
        Generic.Emph: Style(italic=True),
        Generic.Strong: Style(bold=True),
        Error: Style(),
    }
)


def highlight(text: str, *, language: str | None = None, path: str | None = None) -> Text:
    """Return safe `text`, highlighted if its language is known and it is not too long."""
    # Lexers would do that too, and lengths would then differ.
    text = text.expandtabs(TAB)
    name = language or _guess(path)
    is_short = len(text) <= MAX_HIGHLIGHTED and max(map(len, text.split("\n"))) <= MAX_LINE_LENGTH
    if not name or not is_short:
        return Text(text)
    shown = Syntax("", name, theme=_THEME, tab_size=TAB).highlight(text)
    shown.rstrip()
    # A lexer may drop what it does not understand, such as blank lines at the end.
    return shown if shown.plain == text.rstrip() else Text(text)


def render_code(part: Code, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield lines of source code, numbered if the number of the first line is known."""
    text = safe_text(part.text.replace("\r\n", "\n")).rstrip("\n")
    shown = highlight(text, language=part.language, path=part.path)
    lines = shown.split("\n", allow_blank=True)
    first = part.first_line
    width = 0 if first is None else len(str(first + len(lines))) + 1
    for number, line in enumerate(lines, first or 0):
        margin = canvas.styled(f"{number:>{width - 1}} ", "dim") if width else ""
        for piece in canvas.fold(line, max(columns - width, 1)):
            yield margin + piece
            margin = " " * width


def _guess(path: str | None) -> str | None:
    if path is None:
        return None
    from pygments.lexers import find_lexer_class_for_filename  # a table of hundreds

    name = PurePosixPath(path.replace("\\", "/")).name
    found = find_lexer_class_for_filename(name)
    return found.aliases[0] if found and found.aliases else None


MAX_DIGITS = 7
"""Maximum width of line numbers; longer ones are invalid and may stick out, but must not narrow the
text."""

MIN_SIMILARITY = 0.4
"""Minimum similarity of two lines for marking their differences."""

_STYLES = {"+": "green", "-": "red"}
_SIGNS = ("+", "-", " ")


def render_diff(part: Diff, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the lines of a patch, each with its line number."""
    # A fragment is compared with another: its position in the file is unknown.
    last = 0 if part.is_fragment else max(map(_last_number, part.hunks), default=0)
    width = min(len(str(last)), MAX_DIGITS) + 1 if last else 0
    for place, hunk in enumerate(part.hunks):
        if place:
            yield canvas.styled(f"{'⋮':>{max(width - 1, 1)}}", "dim")
        changed = _find_changed(hunk.lines)
        for row, (number, line) in enumerate(_iter_numbered(hunk)):
            label = f"{'' if number is None else number:>{width - 1}} " if width else ""
            text = _mark(line, changed.get(row))
            yield from _render_line(label, line[:1], text, canvas, columns)


def describe_change(part: Diff) -> str:
    """Return the size of a change, such as `new file, +3 -0`."""
    count = count_patch_lines(part.hunks)
    change = show_change(count.added, count.removed)
    return f"new file, {change}" if part.is_new_file else change


def show_change(added: int, removed: int) -> str:
    """Return the lines added and removed, such as `+3 -1`."""
    return f"+{added:,} -{removed:,}"


def _last_number(hunk: Hunk) -> int:
    return max(hunk.old_start, hunk.new_start, 0) + len(hunk.lines)


def _iter_numbered(hunk: Hunk) -> Iterator[tuple[int | None, str]]:
    """Yield the lines of a hunk; removed ones have the numbers of the old file."""
    old, new = hunk.old_start, hunk.new_start
    for line in hunk.lines:
        sign = line[:1]
        if sign == "\\":
            yield None, line
            continue
        yield (old if sign == "-" else new), line
        old += sign != "+"
        new += sign != "-"


def _find_changed(lines: Sequence[str]) -> dict[int, slice]:
    """Return the characters that changed in lines that changed partly, by row.

    Only an equal number of removed and added lines can be compared one by one.
    """
    found: dict[int, slice] = {}
    rows = [
        (sign, list(group))
        for sign, group in groupby(range(len(lines)), lambda row: lines[row][:1])
    ]
    for (before, old), (after, new) in pairwise(rows):
        if (before, after) == ("-", "+") and len(old) == len(new):
            for first, second in zip(old, new, strict=True):
                found.update(_compare(first, second, lines[first], lines[second]))
    return found


def _compare(first: int, second: int, old: str, new: str) -> dict[int, slice]:
    start = _count_alike(old[1:], new[1:]) + 1
    end = _count_alike(old[: start - 1 : -1], new[: start - 1 : -1])
    if start - 1 + end < MIN_SIMILARITY * max(len(old), len(new)):
        return {}
    return {first: slice(start, len(old) - end), second: slice(start, len(new) - end)}


def _count_alike(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _mark(line: str, changed: slice | None) -> Text:
    """Return the text of a line in its colour, with changes reversed."""
    sign, words = line[:1], line[1:] if line[:1] in _SIGNS else line
    style = _STYLES.get(sign, "")
    if changed is None:
        return Text(_make_safe(words), style)
    start, stop = changed.start - 1, changed.stop - 1
    pieces = [words[:start], words[start:stop], words[stop:]]
    styles = [style, f"{style} reverse", style]
    return Text.assemble(*zip(map(_make_safe, pieces), styles, strict=True))


def _make_safe(words: str) -> str:
    return safe_line(words.removesuffix("\r").expandtabs(TAB))


def _render_line(label: str, sign: str, text: Text, canvas: Canvas, columns: int) -> Iterator[str]:
    shown = f"{sign} " if sign in _SIGNS else "  "
    margin = canvas.line(Text.assemble((label, "dim"), (shown, _STYLES.get(sign, ""))))
    gap = len(label) + 2
    for piece in canvas.fold(text, max(columns - gap, 1)):
        yield margin + piece
        margin = " " * gap


MAX_LENGTH = 100_000
"""Maximum length of Markdown in characters; longer text is shown as plain text."""

_OUR_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_CODE_MARGIN = "  "


def render_prose(text: str, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the lines of `text` as Markdown, or as plain text if that would hide something."""
    text = safe_text(text.replace("\r\n", "\n")).strip("\n")
    if len(text) <= MAX_LENGTH:
        lines = _trim(list(canvas.render(_Prose(text), columns)))
        if not _count_letters(text) - _count_letters(_OUR_COLOURS.sub("", "".join(lines))):
            yield from lines
            return
    yield from render_plain(text, canvas, columns)


def render_plain(text: str, canvas: Canvas, columns: int, style: str = "") -> Iterator[str]:
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
    """A code block without a background, with its stated language."""

    @classmethod
    def create(cls, markdown: Markdown, token: MarkdownToken) -> "_Code":
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
        yield from self._render(Segment("• ", style), console, options)

    def render_number(
        self, console: Console, options: ConsoleOptions, number: int, last_number: int
    ) -> RenderResult:
        style = console.get_style("markdown.item.number")
        label = f"{number}. ".rjust(len(str(last_number)) + 2)
        yield from self._render(Segment(label, style), console, options)

    def _render(self, label: Segment, console: Console, options: ConsoleOptions) -> RenderResult:
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
    """Markdown without the omissions of rich."""

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
    # Reference links keep their brackets, so that their definitions stay visible too.
    parser.disable("reference")
    # As written: encoding or decoding would change the URL.
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return parser


def _rewrite(tokens: Iterable[MarkdownToken]) -> Iterator[MarkdownToken]:
    """Yield tokens that rich shows completely: entities are safe, images and links are text."""
    for token in tokens:
        token.content = safe_text(token.content)
        token.info = safe_line(token.info)
        if token.type == "softbreak":
            # Line breaks by users and models are intended.
            token.type = "hardbreak"
        if token.type == "link_open":
            token.attrs["href"] = _url_of(token)
        if token.type == "image":
            yield _make_text(f"[image: {token.content}] ({_url_of(token)})")
            continue
        if token.children:
            token.children = list(_join_autolinks(_rewrite(token.children)))
        yield token


def _url_of(token: MarkdownToken) -> str:
    url = str(token.attrs.get("href") or token.attrs.get("src") or "")
    title = token.attrs.get("title")
    return safe_text(f'{url} "{title}"' if title else url)


def _join_autolinks(tokens: Iterable[MarkdownToken]) -> Iterator[MarkdownToken]:
    """Yield `tokens`; for a link whose text is its URL, only the text."""
    waiting: list[MarkdownToken] = []
    for token in tokens:
        if token.type == "link_open" or waiting:
            waiting.append(token)
        else:
            yield token
        if token.type == "link_close":
            yield from waiting[1:-1] if _is_its_own_url(waiting) else waiting
            waiting = []
    yield from waiting


def _is_its_own_url(link: list[MarkdownToken]) -> bool:
    return "".join(token.content for token in link[1:-1]) == link[0].attrs.get("href")


def _make_text(words: str) -> MarkdownToken:
    return MarkdownToken("text", "", 0, content=words)
