"""Markdown to HTML in three steps: comrak renders, nh3 sanitises, Pygments highlights code.

Raw HTML in the Markdown is shown as text, because what a model wrote is to be read. Images become
links: a page must not fetch anything from elsewhere when it is opened.
"""

import html
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import comrak
import nh3
from markupsafe import Markup

from recollect.render.html.html_code import render_code, show_block
from recollect.render.terminal import safe_text

if TYPE_CHECKING:
    from comrak import ExtensionOptions, RenderOptions


MAX_DEPTH = 60
"""Levels of tags. nh3's time is quadratic in the depth: a minute at 100,000."""

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
_TAG = re.compile(r"<(/?)[a-z][^>]*?(/?)>")
_LANGUAGE = re.compile(r"language-([\w+#.-]{1,40})")
_CODE_BLOCK = re.compile(
    r'<pre><code(?: class="language-([\w+#.-]{1,40})")?>(.*?)</code></pre>', re.DOTALL
)


def render_markdown(text: str) -> Markup:
    """Render `text` as safe HTML; as plain text if it is nested too deeply."""
    extensions, output = _options()
    written = comrak.render_markdown(safe_text(text), extensions, None, output)
    if _measure_depth(written) > MAX_DEPTH:
        return show_block(text, "plain")
    cleaned = _cleaner().clean(_IMAGE.sub(_link_image, written))
    if "&" in text:
        # A character written as `&#x202e;` passes the first check.
        cleaned = safe_text(cleaned)
    return Markup(_CODE_BLOCK.sub(_colour, cleaned))  # noqa: S704 - nh3 has just cleaned it


@lru_cache(maxsize=1)
def _options() -> "tuple[ExtensionOptions, RenderOptions]":
    extensions = comrak.ExtensionOptions()
    extensions.table = extensions.strikethrough = extensions.tasklist = True
    extensions.autolink = extensions.cjk_friendly_emphasis = True
    output = comrak.RenderOptions()
    output.escape = True
    # People and models break lines where they want them broken.
    output.hardbreaks = True
    return extensions, output


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
    for closes, is_empty in _TAG.findall(written):
        if not is_empty:
            depth += -1 if closes else 1
        deepest = max(deepest, depth)
    return deepest


def _link_image(image: re.Match[str]) -> str:
    """Render an image as a link; both groups are escaped already."""
    address, words = image.groups()
    return f'<a href="{address}">{words or address}</a>'


def _colour(block: re.Match[str]) -> str:
    language, escaped = block.groups()
    return render_code(html.unescape(escaped), language=language or "text")
