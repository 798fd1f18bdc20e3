"""Markdown as HTML."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.render.html.html_text import render_markdown


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        (
            "![a cat](http://a.example/c.png)",
            (
                '<p><a href="http://a.example/c.png" target="_blank" '
                'rel="noopener noreferrer nofollow">a cat</a></p>\n'
            ),
        ),
        (
            "[x](javascript:alert(1)) [y](../z)",
            (
                '<p><a target="_blank" rel="noopener noreferrer nofollow">x</a> '
                '<a target="_blank" rel="noopener noreferrer nofollow">y</a></p>\n'
            ),
        ),
        ("<details>hidden</details>", "&lt;details&gt;hidden&lt;/details&gt;\n"),
        (
            "```python\nx\n```",
            '<pre class="code"><code><span class="hl-n">x</span></code></pre>\n',
        ),
        ("```nosuch\n<x>\n```", '<pre class="code"><code>&lt;x&gt;</code></pre>\n'),
        (
            "- [x] a",
            '<ul>\n<li><input checked="" disabled="" type="checkbox"> a</li>\n</ul>\n',
        ),
        ("**中文**字", "<p><strong>中文</strong>字</p>\n"),
        ("a\u202eb", "<p>a‹U+202E›b</p>\n"),
    ],
)
def test_markdown_becomes_html_of_ours(markdown: str, expected: str) -> None:
    """Images are links, raw HTML is text, hidden characters are named, code is coloured."""
    assert render_markdown(markdown) == expected


@pytest.mark.parametrize(
    "hostile",
    [">" * 100_000, "**a " * 20_000, "- " * 20_000, "[" * 50_000, "`" * 50_000, "<a " * 20_000],
)
def test_nesting_beyond_reason_takes_no_time(hostile: str) -> None:
    """A sanitiser that visits every level would take minutes for these."""
    before = time.process_time()
    render_markdown(hostile)
    assert time.process_time() - before < 10


def test_what_is_nested_beyond_reason_stays_readable() -> None:
    """It is shown as plain text."""
    assert render_markdown(">" * 70 + "x") == f'<pre class="plain">{"&gt;" * 70}x</pre>'


LINK = "[x](http://a.example)\n\n"
PIECES = [
    *"a b1 * ** *** ` ~~ _ - 1. > # --- \\ & &amp; &quot; &nbsp; <b> < /> [x] $x$ é 中文 |".split(),
    *("\xa0", "word ", "  ", "    ", "\t", "\n", "\n\n", "```py\n", "\n```\n", "<br />", '"', "'"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_what_is_harmless_is_written_as_the_sanitiser_writes_it(markdown: str) -> None:
    """Harmless Markdown gives the same HTML with and without the sanitiser, which links require."""
    assert render_markdown(LINK + markdown) == render_markdown(LINK) + render_markdown(markdown)
