"""Source text → lines in the terminal's own colours.

Knows how to find a language by name or path. Highlighting is a courtesy: long text, long lines and
unknown languages are shown plain, because a lexer may take seconds for what nobody will read.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from pygments.token import (
    Comment,
    Error,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    String,
    Token,
)
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.text import Text

from recollect.render.terminal.canvas import TAB, Canvas
from recollect.render.terminal.text import safe_text
from recollect.render.views.parts import Code

MOST_HIGHLIGHTED = 64_000
LONGEST_LINE = 2_000

# Only hues that can be read on a dark and on a light ground.
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
    """Safe `text`, with colours if its language is known and it is not too long."""
    # Lexers would do it too, and then nothing would be as long as before.
    text = text.expandtabs(TAB)
    name = language or _guess(path)
    is_short = len(text) <= MOST_HIGHLIGHTED and max(map(len, text.split("\n"))) <= LONGEST_LINE
    if not name or not is_short:
        return Text(text)
    shown = Syntax("", name, theme=_THEME, tab_size=TAB).highlight(text)
    shown.rstrip()
    # A lexer may drop what it does not understand, such as blank lines at an end.
    return shown if shown.plain == text.rstrip() else Text(text)


def draw_code(part: Code, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the lines of a piece of source, numbered if the number of its first is known."""
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
    from pygments.lexers import find_lexer_class_for_filename  # noqa: PLC0415 - a table of hundreds

    name = PurePosixPath(path.replace("\\", "/")).name
    found = find_lexer_class_for_filename(name)
    return found.aliases[0] if found and found.aliases else None
