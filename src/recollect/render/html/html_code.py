"""Text and source code as HTML: escaped, highlighted, and with nothing hidden in it.

Characters that reorder or hide text mislead readers of a page as they do on a terminal, so they are
shown by name here, too. Pygments is the slowest part of a page, so long texts are not highlighted.
Line numbers are attributes that the style sheet shows, so they are not copied with the code.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from recollect.render.html.secret_chips import join_tags, split_tags
from recollect.render.terminal import safe_text

if TYPE_CHECKING:
    from pygments.lexer import Lexer


def show_text(text: str) -> Markup:
    """Escape `text`, for use between tags or in a quoted attribute."""
    return escape(safe_text(text))


def show_block(text: str, css_class: str) -> Markup:
    """Render `text` with its line breaks, in a block of class `css_class`."""
    return Markup('<pre class="{}">{}</pre>').format(css_class, show_text(text))


MAX_COLOURED_LENGTH = 64_000
"""In characters; Pygments takes about 100 ms for that many."""
MAX_COLOURED_LINE_LENGTH = 2_000
"""Minified files are not read line by line, and some lexers take very long for one line."""

_PLAIN_NAMES = frozenset({"text", "txt", "plain", "plaintext", "output", "console"})


def render_code(
    text: str,
    *,
    path: str | None = None,
    language: str | None = None,
    first_line: int | None = None,
    max_coloured: int = MAX_COLOURED_LENGTH,
) -> Markup:
    """Render a block of code, with line numbers if `first_line` is known."""
    lines = colour_lines(text, path=path, language=language, max_coloured=max_coloured)
    if first_line is None:
        return _make_safe('<pre class="code"><code>', lines)
    # As strings: formatting Markup line by line takes longer than everything else here.
    numbered = [
        f'<span class="line" data-line="{number}">{line}</span>'
        for number, line in enumerate(lines, first_line)
    ]
    return _make_safe('<pre class="code numbered"><code>', numbered)


def _make_safe(start: str, lines: Sequence[str]) -> Markup:
    joined = "\n".join(lines)
    return Markup(f"{start}{joined}</code></pre>")  # noqa: S704 - each line was escaped


def colour_lines(
    text: str,
    *,
    path: str | None = None,
    language: str | None = None,
    max_coloured: int = MAX_COLOURED_LENGTH,
) -> Sequence[str]:
    """Return the lines of `text` as HTML; not highlighted if it is long or its language unknown."""
    text = safe_text(text.removesuffix("\n"))
    lines = text.split("\n")
    is_long = len(text) > max_coloured or max(map(len, lines)) > MAX_COLOURED_LINE_LENGTH
    lexer = None if is_long else _find_lexer(path, language)
    if lexer is not None:
        return _colour(text, lexer)
    # Escaping changes no line breaks.
    return str(escape(text)).split("\n")


def _find_lexer(path: str | None, language: str | None) -> "Lexer | None":
    if language is not None:
        return _lexer_by_name(language.lower())
    return _lexer_by_path(path.replace("\\", "/").rpartition("/")[2]) if path else None


@lru_cache(maxsize=64)
def _lexer_by_name(name: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name  # most texts need no lexer
    from pygments.util import ClassNotFound

    if name in _PLAIN_NAMES:
        return None
    try:
        return get_lexer_by_name(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def _lexer_by_path(file_name: str) -> "Lexer | None":
    from pygments.lexers import find_lexer_class_for_filename

    found = find_lexer_class_for_filename(file_name)
    return None if found is None else found(stripnl=False, ensurenl=False)


def _colour(text: str, lexer: "Lexer") -> list[str]:
    from pygments.token import STANDARD_TYPES

    # Joined as strings: a file has thousands of pieces, and joining Markup one by one takes as long
    # as finding them.
    lines: list[list[str]] = [[]]
    for token, value in lexer.get_tokens(join_tags(text)):
        css_class = STANDARD_TYPES.get(token) or STANDARD_TYPES.get(token.parent or token) or ""
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if piece:
                lines[-1].append(_wrap(piece, css_class))
    return ["".join(pieces) for pieces in lines]


def _wrap(piece: str, css_class: str) -> str:
    """Escape a piece of safe text; the class is one of Pygments'."""
    shown = split_tags(piece if piece.isalnum() else str(escape(piece)))
    return (
        shown
        if not css_class or piece.isspace()
        else f'<span class="hl-{css_class}">{shown}</span>'
    )
