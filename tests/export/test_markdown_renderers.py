"""CommonMark renderers agree on a Markdown export, whatever is in the session."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import comrak
import pytest
from markdown_it import MarkdownIt

from recollect.demo import CLAUDE_DIRECTORY
from recollect.export import ExportOptions, Format, Level
from recollect.library.opening import open_session
from tests.export.sessions import answer, call, export, open_demo, reply, say, write_session

SESSIONS = sorted(path.stem for path in CLAUDE_DIRECTORY.rglob("*.jsonl") if len(path.stem) == 36)
HOSTILE = (
    "# not our heading\n## nor this",
    "```\nan open fence",
    "~~~~ an open fence of another kind",
    "<div><script>alert(1)</script>\n\nafter",
    "<!-- a comment that never ends",
    "---\ntitle: not our front matter\n---",
    "a setext heading\n===\nand another\n---",
    "![a picture](http://example.org/x.png) [a link](javascript:alert(1))",
    "| a | table |\n|---|---|\n| without | end",
    "> a quote\n>> in a quote\n1. a list\n   - in a list\n\n\n        and code",
    "[reference]: http://example.org 'title'\n\n[reference]",
    "&lt;b&gt; &#35; \\# \\<b\\> *em* __strong__ `code` ``co`de`` ~~gone~~",
    "trailing backslash\\",
    "a line with two spaces  \nand the next\ttab",
)


_SAME = {"s": "del"}
"""Elements that renderers name differently."""


class _Outline(HTMLParser):
    """The elements and text of a page, without differences in output style."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_words()
        tag = _SAME.get(tag, tag)
        address = dict(attrs).get("href")
        self.found.append(f"<{tag} {address}>" if address else f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self._end_words()
        self.found.append(f"</{_SAME.get(tag, tag)}>")

    def handle_data(self, data: str) -> None:
        self._words += data

    def _end_words(self) -> None:
        if words := " ".join(self._words.split()):
            self.found.append(words)
        self._words = ""


def read_outline(html: str) -> list[str]:
    """Return the elements and words of a page in order."""
    outline = _Outline()
    outline.feed(html)
    outline.close()
    return outline.found


def render_with_comrak(text: str) -> list[str]:
    """Render with the library on which GitHub's renderer is based."""
    options = comrak.ExtensionOptions()
    options.table = options.strikethrough = True
    return read_outline(comrak.render_markdown(text, options))


def render_with_markdown_it(text: str) -> list[str]:
    """Render with an independent library."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return read_outline(parser.render(text))


def remove_front_matter(text: str) -> str:
    """Return a document without what renderers of other programs do not know."""
    return re.sub(r"\A---\n.*?\n---\n", "", text, count=1, flags=re.DOTALL)


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("name", SESSIONS)
def test_two_renderers_agree(name: str, level: Level) -> None:
    """On every element and every word of every sample."""
    text = export(open_demo(name), ExportOptions(format=Format.MARKDOWN, level=level))
    document = remove_front_matter(text)
    assert render_with_comrak(document) == render_with_markdown_it(document)


@pytest.mark.parametrize("text", HOSTILE)
def test_two_renderers_agree_about_anything(tmp_path: Path, text: str) -> None:
    """In a prompt, a reply, a command and its output; all turn headings are ours."""
    records = [
        say(text),
        reply({"type": "text", "text": text}, call("t1", "Bash", command=text)),
        answer("t1", text),
        say("the last prompt"),
    ]
    session = open_session(write_session(tmp_path, records))
    document = remove_front_matter(export(session, ExportOptions(format=Format.MARKDOWN)))
    outline = render_with_comrak(document)
    assert outline == render_with_markdown_it(document)
    headings = [words for tag, words in pairwise(outline) if tag == "<h2>"]
    assert headings == ["1 · You · 2026-11-12 10:00", "2 · You · 2026-11-12 10:00"]
    assert [tag for tag in outline if tag in {"<img>", "<script>", "<div>"}] == []
    assert outline[-5:] == ["<blockquote>", "<p>", "the last prompt", "</p>", "</blockquote>"]
