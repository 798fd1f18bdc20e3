"""Tests of recollect.render.terminal.terminal_prose."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.turn_documents import Prose
from recollect.render.terminal import safe_text
from tests.render.terminal.rendering import COLOURED, render

WORDS = st.sampled_from(
    "alpha beta * ** _ ` ``` ~~~ # > - + 1. [ ]( ) ! < > <!-- --> &amp; &#27; &#x202e; | |-| \\ "
    "[//]: # (c) [a]: b http://x.y \n \n\n \t 麻婆 👩‍🍳 ~~".split(" ")
)


def test_markdown_is_drawn() -> None:
    """Headings, lists, quotes and code are formatted."""
    text = "# Plan\n\nDo *this* and `that`:\n\n1. one\n2. two\n   - deep\n\n> said\n\n```py\nx\n```"
    assert render(Prose(text)) == [
        "Plan",
        "",
        "Do this and that:",
        "",
        "1. one",
        "2. two",
        "   • deep",
        "",
        "▌ said",
        "",
        "  py",
        "  x",
    ]


def test_tables_fold_their_cells() -> None:
    """A table fits the width without losing a letter."""
    text = "| name | meaning |\n|---|---|\n| alpha | abcdefghijklmnopqrstuvwxyz |\n"
    assert render(Prose(text), 20) == [
        "name    meaning",
        "────────────────────",
        "alpha   abcdefghijkl",
        "        mnopqrstuvwx",
        "        yz",
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a <b>c</b> <!-- d -->", ["a <b>c</b> <!-- d -->"]),
        ("[//]: # (hidden words)", ["[//]: # (hidden words)"]),
        ("[ref]: http://x 'title'\n\n[ref]", ["[ref]: http://x 'title'", "", "[ref]"]),
        ('[text](http://x "title")', ['text (http://x "title")']),
        ("![alt](http://x)", ["[image: alt] (http://x)"]),
        ("<http://x.example>", ["http://x.example"]),
        ("[文](http://x/菜?a=%20b)", ["文 (http://x/菜?a=%20b)"]),
        ("| a |\n|---|\n| b | lost |", ["| a |", "|---|", "| b | lost |"]),
        ("a\x1b]8;;http://x\x07b", ["a␛]8;;http://x\u2039U+0007\u203ab"]),
        ("one&#x202e;two", ["one&#x202e;two"]),
        ("line\r\nend", ["line", "end"]),
        ("\n\n", []),
    ],
)
def test_nothing_is_hidden(text: str, lines: list[str]) -> None:
    """Tags, comments, definitions, titles and cells that would be invisible are shown."""
    assert render(Prose(text)) == lines


def test_links_are_text() -> None:
    """Links are printed, but are not clickable."""
    (line,) = render(Prose("[here](http://evil.example)"), canvas=COLOURED)
    assert line == "\x1b[4mhere\x1b[0m (\x1b[2mhttp://evil.example\x1b[0m)"


@given(st.lists(WORDS, max_size=12).map(" ".join), st.integers(20, 90))
def test_every_letter_is_drawn(text: str, columns: int) -> None:
    """No letter of any Markdown text is lost."""
    drawn = Counter("".join(render(Prose(text), columns)))
    letters = Counter(filter(str.isalpha, safe_text(text)))
    assert letters - drawn == Counter()
