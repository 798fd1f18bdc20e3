"""Turns and steps as HTML: structure by class, links by uuid, no active content."""

import re

import pytest
from msgspec.structs import replace

from recollect.documents.kinds import Context, ContextKind, ContextPartKind
from recollect.documents.turn_documents import (
    Code,
    ContextGrowth,
    ContextPart,
    Fields,
    NoticeKind,
    NoticeStep,
    Output,
    Plain,
    Prose,
    Step,
    TextStep,
    ThinkingStep,
)
from recollect.records.token_usage import Tokens
from recollect.render.html.html_turns import Frame, render_call, render_turn
from tests.render import turns
from tests.render.html.payloads import every_payload
from tests.render.html.scan import find_dangers

FRAME = Frame(url="/s/abc")
CALL = replace(
    turns.CALL,
    uuid="u-call",
    call_id="toolu_1",
    title="npm test",
    summary="exit 0",
    duration_ms=1234.0,
    input=(Code("npm test", language="bash"),),
    output=(Output("ok"),),
)
TURN = replace(turns.TURN, uuid="u-prompt", words="Run the *tests*", start="2026-11-13T12:00:00Z")


def _squeeze(html: str) -> str:
    """Return `html` without the white space between tags."""
    return " ".join(html.split()).replace("> <", "><")


def test_a_call_shows_its_input_and_its_output() -> None:
    """The details of a call."""
    assert _squeeze(render_call(CALL, FRAME)) == (
        '<div class="call-input"><pre class="code"><code>npm test'
        '</code></pre></div><div class="call-output"><pre class="output">ok</pre></div>'
    )


def test_a_description_is_shown_once() -> None:
    """It is in the line of the call, and not repeated among the fields."""
    described = replace(CALL, description="Run the tests")
    said = ("description", "Run the tests")
    alone = replace(described, input=(*CALL.input, Fields((said,))))
    assert render_call(alone, FRAME) == render_call(CALL, FRAME)
    timed = replace(described, input=(*CALL.input, Fields((said, ("timeout", "2 min")))))
    without = replace(CALL, input=(*CALL.input, Fields((("timeout", "2 min"),))))
    assert render_call(timed, FRAME) == render_call(without, FRAME)
    longer = replace(described, input=(Fields((("description", "Run the tests\ntwice"),)),))
    assert "twice" in render_call(longer, FRAME)


@pytest.mark.parametrize(
    ("tool", "summary", "html"),
    [
        (
            "Edit",
            "+1,007 -4",
            '<span class="added-count">+1,007</span> <span class="removed-count">&minus;4</span>',
        ),
        ("Edit", "<b>+1-4", "&lt;b&gt;+1-4"),
        ("Bash", "+1 -4", "+1 -4"),
    ],
)
def test_line_counts_are_in_colour(tool: str, summary: str, html: str) -> None:
    """Added and removed line counts have the colours of a diff; other text stays text."""
    call = replace(CALL, tool=tool, summary=summary)
    assert _squeeze(f'<span class="summary">{html}</span>') in _with_steps(call)


def test_what_a_turn_added_to_the_context_is_opened_by_a_click() -> None:
    """Each part has its name and sign, and estimates are marked."""
    growth = ContextGrowth(
        tokens=11_900,
        before=20_000,
        parts=(
            ContextPart(kind=ContextPartKind.TOOL, name="mcp__db__run_query", tokens=14_000),
            ContextPart(kind=ContextPartKind.COMPACTION, tokens=-2_150, is_estimate=True),
            ContextPart(kind=ContextPartKind.TOOL, name="<b>", tokens=50),
        ),
    )
    page = _squeeze(render_turn(replace(TURN, context_growth=growth), FRAME))
    start, end = page.index('<div class="growth">'), page.index("</ul></details></dd></div>")
    assert re.sub(r' title="[^"]*"', "", page[start:end]) == (
        '<div class="growth"><dt>Added</dt><dd><details><summary>+11.9K</summary><ul>'
        '<li data-category="tool"><span>db: run query</span> +14.0K</li>'
        '<li data-category="compaction"><span>Compaction</span> ≈\N{MINUS SIGN}2.1K</li>'
        '<li data-category="tool"><span>&lt;b&gt;</span> +50</li>'
    )
    assert '<div class="growth">' not in render_turn(TURN, FRAME)


def test_a_prompt_is_linked_by_its_uuid() -> None:
    """The text is Markdown, and the turn has its link."""
    assert _squeeze(render_turn(TURN, FRAME)) == _squeeze(
        """
        <article class="turn by-person" id="turn-1" data-turn="0" data-segment="0">
        <header class="prompt" id="u-prompt" data-kind="typed" tabindex="-1">
        <div class="prompt-meta"> <a class="turn-number" href="/s/abc#u-prompt">1</a>
        <span class="kind">typed</span>
        <time datetime="2026-11-13T12:00:00Z">2026-11-13 12:00</time> </div>
        <div class="words prose"><p>Run the <em>tests</em></p> </div> </header>
        <div class="steps"> </div> <footer class="turn-figures"><dl> </dl></footer> </article>
        """
    )


def _with_steps(*steps: Step) -> str:
    return _squeeze(render_turn(replace(TURN, steps=steps), FRAME))


def test_what_is_behind_a_call_is_fetched_when_it_is_opened() -> None:
    """The page contains only the line of a call and the URL of its details."""
    html = _with_steps(CALL)
    start, end = html.index('<details class="call"'), html.index("</details>")
    assert html[start:end] == _squeeze(
        """
        <details class="call" data-tool="Bash" data-status="success" id="u-call"
        data-source="/s/abc/calls/toolu_1"> <summary>
        <span class="tick tick-call long-2"></span> <span class="tool">Bash</span>
        <span class="title">npm test</span> <span class="summary">exit 0</span>
        <span class="duration">1.2 s</span> </summary> <div class="call-body"></div>
        """
    )


def test_a_page_of_its_own_holds_everything() -> None:
    """A complete page needs no requests."""
    html = _squeeze(render_turn(replace(TURN, steps=(CALL,)), Frame(url="", is_whole=True)))
    body = _squeeze(render_call(CALL, FRAME))
    assert f'<div class="call-body">{body}</div>' in html
    assert "data-source" not in html


def test_every_string_of_a_turn_is_only_text() -> None:
    """Hundreds of payloads in all fields are shown as text."""
    for payload in every_payload():
        turn = replace(
            TURN,
            uuid=payload,
            words=payload,
            command=payload,
            model=payload,
            start=payload,
            permission_mode=payload,
            contexts=(Context(ContextKind.FILE, payload, payload, 1, 2),),
            media=(Plain(payload),),
            tokens=Tokens(input=1),
            steps=(
                TextStep(uuid=payload, message_id="m", role=payload, parts=(Prose(payload),)),
                ThinkingStep(uuid=payload, message_id="m", text=payload),
                ThinkingStep(uuid=payload, message_id="m", text=""),
                NoticeStep(
                    uuid=payload, kind=NoticeKind.HOOK, title=payload, parts=(Plain(payload),)
                ),
                NoticeStep(uuid=payload, kind=NoticeKind.HOOK, title=payload),
                NoticeStep(
                    uuid=payload, kind=NoticeKind.GAP, title=payload, parts=(Plain(payload),)
                ),
                NoticeStep(uuid=payload, kind=NoticeKind.MODEL, title=payload),
                replace(
                    CALL,
                    uuid=payload,
                    call_id=payload,
                    tool=payload,
                    mcp_server=payload,
                    title=payload,
                    summary=payload,
                ),
            ),
        )
        assert find_dangers(render_turn(turn, FRAME)) == []


def test_a_run_of_notices_is_one_line() -> None:
    """The line shows their number and expands to all of them; each keeps its anchor."""
    tried = tuple(
        NoticeStep(
            uuid=f"u-{number}",
            kind=NoticeKind.RETRY,
            title=f"The request failed · attempt {number} of 10",
            parts=(Plain("<refused>"),) if number == 1 else (),
        )
        for number in (1, 2)
    )
    assert (
        '<section class="noted" data-kind="retry"><details class="run">'
        '<summary>The request failed <span class="count">×2</span></summary>'
        '<div class="noted" id="u-1"><p>attempt 1 of 10</p>'
        '<pre class="plain">&lt;refused&gt;</pre></div>'
        '<div class="noted" id="u-2"><p>attempt 2 of 10</p></div>'
        "</details></section>"
    ) in _with_steps(*tried)
    gap = NoticeStep(uuid=None, kind=NoticeKind.GAP, title="A record is missing here")
    assert (
        '<summary>A record is missing here <span class="count">×2</span></summary>'
        '<div class="noted"><p>A record is missing here</p></div>'
    ) in _with_steps(gap, gap)
