"""Text, Markdown and source code as HTML: escaped, sanitised and highlighted, without hidden
content, and with the tags of masked secrets as chips where a page can reveal them.

A page never contains a masked secret: the button of a chip requests it. Only text is searched for
tags, not attributes. A lexer would split a tag, so tags are replaced by single words during
highlighting.

Characters that reorder or hide text would mislead readers, so they are shown by name, as in a
terminal. Pygments is the slowest part of a page, so long texts are not highlighted. Line numbers
are attributes that the style sheet shows, so they are not copied with the code.

Raw HTML in Markdown is shown as text, because readers should see what the model wrote. Images
become links: opening a page must not fetch anything from elsewhere.
"""

import html
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import comrak
import nh3
from markupsafe import Markup, escape

from recollect.render.terminal import safe_text

if TYPE_CHECKING:
    from comrak import ExtensionOptions, RenderOptions
    from pygments.lexer import Lexer


TAG_START: Final = "[redacted:"
TAG: Final = re.compile(r"\[redacted:([a-z0-9\-]{1,60})#([0-9]{1,9})\]")
_TAG_OR_ELEMENT: Final = re.compile(r"""<(?:[^>"']|"[^"]*"|'[^']*')*>|""" + TAG.pattern)
_WORD: Final = re.compile(r"zqredacted([0-9a-f]+)n([0-9]+)zq")
_CHIP: Final = Markup(
    '<span class="secret" data-kind="{kind}" data-number="{number}">'
    '<span class="tag">{kind} #{number}</span>'
    '<button type="button" data-address="{url}">{reveal}</button></span>'
)


def add_chips(html: str, url: str, reveal: str) -> Markup:
    """Return HTML with a chip for each tag; its button is labelled `reveal`."""
    if TAG_START not in html:
        return Markup(html)  # noqa: S704 - made by our own templates

    def replace(found: re.Match[str]) -> str:
        kind, number = found[1], found[2]
        if kind is None:
            return found[0]
        return _CHIP.format(kind=kind, number=number, url=url, reveal=reveal)

    return Markup(_TAG_OR_ELEMENT.sub(replace, html))  # noqa: S704 - the same with our chips in it


def join_tags(text: str) -> str:
    """Replace each tag in source code by a single word, which no lexer splits."""
    if TAG_START not in text:
        return text
    return TAG.sub(lambda found: f"zqredacted{found[1].encode().hex()}n{found[2]}zq", text)


def split_tags(html: str) -> str:
    """Restore the tags in highlighted code."""
    return _WORD.sub(_write_tag, html) if "zqredacted" in html else html


def _write_tag(found: re.Match[str]) -> str:
    try:
        kind = bytes.fromhex(found[1]).decode()
    except ValueError:
        return found[0]
    return str(escape(f"[redacted:{kind}#{found[2]}]"))


def show_text(text: str) -> Markup:
    """Escape `text`, for use between tags or in a quoted attribute."""
    return escape(safe_text(text))


def show_block(text: str, css_class: str) -> Markup:
    """Render `text` with its line breaks, in a block of class `css_class`."""
    return Markup(f'<pre class="{css_class}">{show_text(text)}</pre>')  # noqa: S704 - escaped


MAX_COLOURED_LENGTH = 64_000
"""Maximum number of characters, for which Pygments takes about 100 ms."""
MAX_COLOURED_LINE_LENGTH = 2_000
"""Maximum length of a line: nobody reads minified files, and some lexers are slow on long lines."""

_LANGUAGES = dict(
    pair.split(":")
    for pair in (
        "c:c cc:cpp cpp:cpp css:css go:go h:c hpp:cpp html:html java:java js:javascript json:json "
        "jsx:jsx kt:kotlin md:markdown mjs:javascript php:php py:python rb:ruby rs:rust scss:scss "
        "sh:bash sql:sql swift:swift toml:toml ts:typescript tsx:tsx vue:vue yaml:yaml yml:yaml"
    ).split()
)
"""By suffix, because Pygments compiles a thousand patterns to match a file name."""
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
    if not path:
        return None
    file_name = path.replace("\\", "/").rpartition("/")[2]
    known = _LANGUAGES.get(file_name.rpartition(".")[2])
    return _lexer_by_name(known) if known else _lexer_by_path(file_name)


@lru_cache(maxsize=64)
def _lexer_by_name(name: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name  # most texts need no lexer
    from pygments.util import ClassNotFound

    if name in _PLAIN_NAMES:
        return None
    if name == "mermaid":
        from recollect.render.html.mermaid import MermaidLexer

        return MermaidLexer(stripnl=False, ensurenl=False)
    try:
        # GitHub's name for a formula.
        name = "latex" if name == "math" else name
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


MAX_DEPTH = 60
"""Maximum depth of tags. nh3's time is quadratic in the depth: a minute at 100,000."""

_TAGS = frozenset(
    "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr input li ol p pre strong sub sup table tbody "
    "td th thead tr ul".split()
)
_ATTRIBUTES = {
    "a": {"href", "title"},
    "code": {"class"},
    "input": {"checked", "disabled"},
    "ol": {"start"},
    "td": {"align"},
    "th": {"align"},
}
_FIXED_ATTRIBUTES = {"a": {"target": "_blank"}, "input": {"type": "checkbox", "disabled": ""}}
_SCHEMES = {"http", "https", "mailto"}

_IMAGE = re.compile(r'<img src="([^"]*)" alt="([^"]*)"(?: title="[^"]*")? />')
_MATH = re.compile(r'<span data-math-style="(inline|display)">(.*?)</span>', re.DOTALL)
_HTML_TAG = re.compile(r"<(/?)[a-z][^>]*?(/?)>")
_LANGUAGE = re.compile(r"language-([\w+#.-]{1,40})")
_HARMLESS = re.compile(
    r"(?:[^<\xa0]++|</?(?:p|em|strong|del|pre|ul|ol|li|h[1-6]|blockquote|table|thead|tbody|tr|th|td)>"
    r'|</?code>|<code class="language-[\w+#.-]{1,40}">|<[bh]r />)*+'
)
"""Balanced tags, nearly all without attributes: the output for Markdown without links."""
_CODE_BLOCK = re.compile(
    r'<pre><code(?: class="language-([\w+#.-]{1,40})")?>(.*?)</code></pre>', re.DOTALL
)


def render_markdown(text: str) -> Markup:
    """Render `text` as safe HTML; as plain text if it is nested too deeply."""
    extensions, output = _options()
    written = comrak.render_markdown(safe_text(text), extensions, None, output)
    if written.count("<") > MAX_DEPTH and _measure_depth(written) > MAX_DEPTH:
        return show_block(text, "plain")
    cleaned = _clean(written)
    if "&" in text:
        # A character written as `&#x202e;` is not found by the first check.
        cleaned = safe_text(cleaned)
    coloured = _CODE_BLOCK.sub(_colour_block, cleaned.replace("<p></p>", ""))
    return Markup(coloured)  # noqa: S704 - nh3 has just cleaned it


@lru_cache(maxsize=1)
def _options() -> "tuple[ExtensionOptions, RenderOptions]":
    extensions = comrak.ExtensionOptions()
    extensions.table = extensions.strikethrough = extensions.tasklist = True
    extensions.autolink = extensions.cjk_friendly_emphasis = extensions.math_dollars = True
    output = comrak.RenderOptions()
    output.escape = True
    # Line breaks by users and models are intended.
    output.hardbreaks = True
    return extensions, output


def _clean(written: str) -> str:
    """Return HTML with only allowed tags and attributes."""
    if _HARMLESS.fullmatch(written):
        # In the form that nh3 writes; most texts are clean, and nh3 takes half of the time.
        return written.replace("<br />", "<br>").replace("<hr />", "<hr>").replace("&quot;", '"')
    return _cleaner().clean(_MATH.sub(_show_math, _IMAGE.sub(_link_image, written)))


@lru_cache(maxsize=1)
def _cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_filter_attribute,
        set_tag_attribute_values=_FIXED_ATTRIBUTES,
        url_schemes=_SCHEMES,
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )


def _filter_attribute(tag: str, attribute: str, value: str) -> str | None:
    if (tag, attribute) == ("code", "class") and not _LANGUAGE.fullmatch(value):
        return None
    return value


def _measure_depth(written: str) -> int:
    depth = deepest = 0
    for closes, is_empty in _HTML_TAG.findall(written):
        if not is_empty:
            depth += -1 if closes else 1
        deepest = max(deepest, depth)
    return deepest


def _link_image(image: re.Match[str]) -> str:
    """Render an image as a link; both groups are escaped already."""
    url, words = image.groups()
    return f'<a href="{url}">{words or url}</a>'


def _show_math(formula: re.Match[str]) -> str:
    """Render a formula as its source, which is escaped already: pages have no script for it."""
    style, source = formula.groups()
    if style == "inline":
        return f'<code class="language-latex">${source}$</code>'
    return f'</p><pre><code class="language-latex">$${source}$$</code></pre><p>'


def _colour_block(block: re.Match[str]) -> str:
    language, escaped = block.groups()
    return render_code(html.unescape(escaped), language=language or "text")
