"""Parts as HTML: complete output for each kind, and no active content for any text."""

import base64
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.turn_documents import (
    CheckItem,
    Checklist,
    CheckState,
    Choice,
    Code,
    Diff,
    Entries,
    Entry,
    Fields,
    Hunk,
    Json,
    Output,
    Part,
    Picture,
    Plain,
    Prose,
    Question,
)
from recollect.render.html.html_parts import (
    MAX_BLOCK_LENGTH,
    PartOptions,
    render_part,
    render_parts,
)
from tests.render.html.payloads import every_payload
from tests.render.html.scan import find_dangers

PIXEL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0" + b"\0" * 20
).decode()

MAKERS: tuple[Callable[[str], Part], ...] = (
    Prose,
    Plain,
    lambda text: Code(text, path=text, first_line=1),
    lambda text: Code(text, language=text),
    lambda text: Code(text, language="html"),
    Output,
    lambda text: Diff(text, (Hunk(old_start=1, new_start=1, lines=("+" + text, text)),)),
    lambda text: Checklist((CheckItem(text, CheckState.ACTIVE, note=text),)),
    lambda text: Entries((Entry(text, path="p" + text, line=3, url=text, note=text),), omitted=2),
    lambda text: Entries((Entry(text, url="http://a.example/" + text),)),
    lambda text: Fields(((text, text),)),
    lambda text: Question(text, text, (Choice(text, text, is_chosen=True),), answer=text),
    lambda text: Picture(text, text, text),
    lambda text: Picture(text, PIXEL, text),
    lambda text: Picture("application/pdf", base64.b64encode(b"%PDF-1").decode(), text),
    Json,
)


@pytest.mark.parametrize("maker", range(len(MAKERS)))
def test_no_payload_becomes_more_than_text(maker: int) -> None:
    """Three hundred payloads are text in every string of every kind of part."""
    payloads = every_payload()
    assert len(payloads) >= 300
    findings = {
        payload: dangers
        for payload in payloads
        if (dangers := find_dangers(render_part(MAKERS[maker](payload))))
    }
    assert findings == {}


@given(st.text(), st.sampled_from(MAKERS))
def test_no_text_becomes_more_than_text(text: str, maker: Callable[[str], Part]) -> None:
    """Any text renders to only the tags and attributes of a conversation."""
    assert find_dangers(render_part(maker(text))) == []


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            Prose("**Done** with `x` & <b>"),
            (
                '<div class="prose"><p><strong>Done</strong> with <code>x</code> &amp; '
                "&lt;b&gt;</p>\n</div>"
            ),
        ),
        (Plain("a < b\nc"), '<pre class="plain">a &lt; b\nc</pre>'),
        (
            Code("x = 1\ny", path="a.py", first_line=7),
            (
                '<pre class="code numbered"><code><span class="line" data-line="7">'
                '<span class="hl-n">x</span> <span class="hl-o">=</span> '
                '<span class="hl-mi">1</span></span>\n'
                '<span class="line" data-line="8"><span class="hl-n">y</span></span></code></pre>'
            ),
        ),
        (Code("x < 1"), '<pre class="code"><code>x &lt; 1</code></pre>'),
        (
            Output("ok \x1b[1;32mgreen\x1b[0m\r\nend\x1b[2J"),
            '<pre class="output">ok <span class="ink-green ink-bold">green</span>\nend␛[2J</pre>',
        ),
        (Output("no", is_error=True), '<pre class="output error">no</pre>'),
        (
            Checklist((CheckItem("Write", CheckState.DONE), CheckItem("Test", CheckState.ACTIVE))),
            (
                '<ul class="checklist"><li class="completed" data-state="completed">Write</li>'
                '<li class="in-progress" data-state="in_progress">Test</li></ul>'
            ),
        ),
        (
            Entries((Entry("def f", path="a.py", line=3), Entry("b.py", path="b.py")), omitted=4),
            (
                '<ul class="entries"><li><span class="path">a.py:3</span> <span>def f</span></li>'
                '<li><span>b.py</span></li><li class="more">… 4 more</li></ul>'
            ),
        ),
        (
            Entries((Entry("Page", url="https://a.example/?q=1&r"),)),
            (
                '<ul class="entries"><li><span><a href="https://a.example/?q=1&amp;r" '
                'target="_blank" rel="noopener noreferrer nofollow">Page</a></span></li></ul>'
            ),
        ),
        (Fields((("k", "v"),)), '<dl class="fields"><dt>k</dt><dd>v</dd></dl>'),
        (
            Question("Which?", "Db", (Choice("A", "one", is_chosen=True), Choice("B")), "none"),
            (
                '<div class="question"><p><small>Db</small> Which?</p><ul class="choices">'
                '<li class="chosen"><strong>A</strong> one</li>'
                '<li class="offered"><strong>B</strong> </li></ul><p class="answer">none</p></div>'
            ),
        ),
        (
            Picture("image/png", PIXEL, "shot"),
            f'<img class="picture" loading="lazy" alt="shot" src="data:image/png;base64,{PIXEL}">',
        ),
        (
            Picture("image/svg+xml", base64.b64encode(b"<svg/>").decode()),
            '<span class="picture absent">[image/svg+xml, 6 bytes]</span>',
        ),
        (
            Diff(
                "a.txt",
                (
                    Hunk(
                        old_start=1,
                        old_lines=1,
                        new_start=1,
                        new_lines=1,
                        lines=("-x", "+y", " z", "\\ No newline"),
                    ),
                ),
            ),
            (
                '<figure class="diff"><figcaption>a.txt</figcaption><table><tbody>'
                '<tr class="gap"><td colspan="4">@@ -1,1 +1,1 @@</td></tr>'
                '<tr class="removed"><td class="number" data-line="1"></td>'
                '<td class="number" data-line=""></td><td class="sign" data-sign="-"></td>'
                '<td class="text"><code>x</code></td></tr>'
                '<tr class="added"><td class="number" data-line=""></td>'
                '<td class="number" data-line="1"></td><td class="sign" data-sign="+"></td>'
                '<td class="text"><code>y</code></td></tr>'
                '<tr class="kept"><td class="number" data-line="2"></td>'
                '<td class="number" data-line="2"></td><td class="sign" data-sign=""></td>'
                '<td class="text"><code>z</code></td></tr>'
                '<tr class="remark"><td class="number" data-line=""></td>'
                '<td class="number" data-line=""></td><td class="sign" data-sign=""></td>'
                '<td class="text"><code>No newline</code></td></tr>'
                "</tbody></table></figure>"
            ),
        ),
    ],
)
def test_each_kind_has_its_form(part: Part, expected: str) -> None:
    """The complete HTML of each kind."""
    assert render_part(part) == expected


def test_parts_follow_each_other() -> None:
    """Several parts come one after the other."""
    assert render_parts([Plain("a"), Plain("b")]) == (
        '<pre class="plain">a</pre>\n<pre class="plain">b</pre>'
    )


def test_a_long_block_is_cut_and_says_so() -> None:
    """A page never contains megabytes of a single output."""
    shown = render_part(Plain("x" * (MAX_BLOCK_LENGTH + 5)))
    assert shown == f'<pre class="plain">{"x" * MAX_BLOCK_LENGTH}\n… 5 more characters</pre>'


def test_listed_paths_are_relative_to_the_directory() -> None:
    """Others, and the text of matches, stay as they are."""
    listed = Entries(
        (
            Entry("/home/m/tide/a.py", path="/home/m/tide/a.py"),
            Entry("see /home/m/tide/b", path="/home/m/tide/b.py", line=3),
            Entry("/home/m/tides.py", path="/home/m/tides.py"),
            Entry("/home/m/tide/no path"),
        )
    )
    assert render_part(listed, PartOptions(directory="/home/m/tide")) == (
        '<ul class="entries"><li><span>a.py</span></li>'
        '<li><span class="path">b.py:3</span> <span>see /home/m/tide/b</span></li>'
        "<li><span>/home/m/tides.py</span></li><li><span>/home/m/tide/no path</span></li></ul>"
    )
