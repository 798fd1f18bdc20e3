"""Text from a transcript cannot break the structure of a Markdown document."""

import re

import comrak
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.render.markdown import quote, write_block, write_code, write_prose, write_words
from tests.render.html.payloads import every_payload

PIECES = st.sampled_from(
    [
        *("# heading", "title\n===", "title\n---", "```", "~~~~", "```py", "<!--", "-->", "<div>"),
        *("<script>alert(1)</script>", "![x](http://e.example/p.png)", "- item", "  - ```", "> q"),
        *(
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "`code <b>`",
            "    indented <i>",
            "1. one",
            "\\",
            "&lt;",
        ),
        *("[ref]: http://e.example 'x", "text", "", "***", "<https://e.example>", "`open", "\t<p>"),
        *("<?php", "<![CDATA[", "<pre>", "* * *", "-", "=", "#", "[^1]: note", "<a href='"),
    ]
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain *text* with snake_case", "plain *text* with snake_case"),
        ("# Title\n\n## Part", "#### Title\n\n##### Part"),
        ("\tx = 1\n-", "    x = 1\n-"),
        ("[a](javascript:b) [c](https://d.example)", "\\[a](javascript:b) [c](https://d.example)"),
        ("Title\n=====\n\ntext", "#### Title\n\ntext"),
        ("```py\nx = 1", "```py\nx = 1\n```"),
        ("a <b>bold</b> and `<b>`", "a \\<b>bold\\</b> and `<b>`"),
        (
            "![logo](http://e.example/x.png) ![](y.png)",
            "[logo](http://e.example/x.png) [image](y.png)",
        ),
        ("<https://e.example> 1 < 2", "<https://e.example> 1 < 2"),
        ("```html\n<b># no heading</b>\n```", "```html\n<b># no heading</b>\n```"),
        ("a\x1b[31mred\u202e", "a␛[31mred‹U+202E›"),
    ],
)
def test_prose_is_changed_as_little_as_possible(text: str, expected: str) -> None:
    """Headings are demoted, fences closed, HTML escaped, images linked; code stays."""
    assert write_prose(text) == expected


def find_escapes(written: str) -> list[str]:
    """Return what escapes its block when a parser reads it between two paragraphs."""
    html = comrak.render_markdown(f"before\n\n{written}\n\nafter-it\n")
    found = [] if html.endswith("<p>after-it</p>\n") else ["what follows is swallowed"]
    found += ["HTML"] if "raw HTML omitted" in html else []
    return [*found, *re.findall(r"<h[123]>|<img|<script", html)]


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=8).map("\n".join))
@example("  - ```\n\t<p>\n  - ```")
def test_no_text_breaks_out_of_its_place(text: str) -> None:
    """Whatever is combined, the text after it is unaffected."""
    assert find_escapes(write_prose(text)) == []
    assert find_escapes(quote(write_prose(text))) == []
    assert find_escapes(write_block(text)) == []
    assert find_escapes(f"x {write_words(text)} {write_code(text)}") == []


def test_no_payload_breaks_out_of_its_place() -> None:
    """The same for payloads that attack pages."""
    payloads = every_payload()
    broken = [each for each in payloads if find_escapes(write_prose(each))]
    broken += [each for each in payloads if find_escapes(f"x {write_words(each)}")]
    assert broken == []


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("`~ab\n <&*_[]#|\\")))
def test_code_is_shown_as_it_is(text: str) -> None:
    """Blocks and spans contain their text exactly, whatever fences are in it."""
    html = comrak.render_markdown(write_block(text))
    shown = re.sub(r"^<pre><code>|\n?</code></pre>\n$", "", html)
    assert _unescape(shown).strip("\n") == text.strip("\n")
    line = " ".join(text.split())
    span = comrak.render_markdown(f"x {write_code(text)} y")
    assert _unescape(span) == (f"<p>x <code>{line}</code> y</p>\n" if line else "<p>x  y</p>\n")


def _unescape(html: str) -> str:
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        html = html.replace(entity, character)
    return html


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("`~ab <&*_[]#|\\-+1.!")))
def test_words_are_shown_as_they_are(text: str) -> None:
    """Characters that are special in Markdown are escaped."""
    line = " ".join(text.split())
    extensions = comrak.ExtensionOptions()
    extensions.strikethrough = extensions.table = True
    html = comrak.render_markdown(f"x{write_words(f'x{line}')}", extensions)
    assert _unescape(html) == f"<p>xx{line}</p>\n"
