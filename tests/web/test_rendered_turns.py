"""Turns of a conversation that are rendered while they grow are those that are rendered at once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from recollect.records.decoding import decode_record
from recollect.render.html.html_turns import Frame, render_turn
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session
from recollect.web.conversations.hosted_conversation import ReceivedRecord, SessionView
from recollect.web.conversations.rendered_turns import RenderedTurns
from tests.launch.test_recorded_conversations import FRAMES, read_recording
from tests.web.markup import VOID

FRAME = Frame(url="/c/x", directory="/project", has_raw=False)
SHOWN = 20
STEPS = '<div class="steps">'
FIGURES = '<footer class="turn-figures">'


class Elements(HTMLParser):
    """Takes elements that follow each other apart."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._depth = 0
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element, or one inside it."""
        self.handle_startendtag(tag, attrs)
        self._depth += tag not in VOID

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take one in that is empty."""
        if self._depth == 0:
            self.found.append("")
        self.found[-1] += self.get_starttag_text() or ""

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        self.found[-1] += f"</{tag}>"
        self._depth -= 1

    def handle_data(self, data: str) -> None:
        """Take in text; what is between the elements does not show."""
        if self._depth:
            self.found[-1] += data


class ShownTurn(NamedTuple):
    """A turn on a page."""

    head: str
    steps: tuple[str, ...]
    foot: str


class Page:
    """The part of a conversation that a page has, updated as by its script."""

    def __init__(self) -> None:
        self.turns: dict[str, ShownTurn] = {}
        self.revision: int | None = None
        self.received = 0
        """Number of steps sent."""

    def add(self, turn: str) -> None:
        """Take in a turn that the server sent."""
        article, _, rest = turn.partition(STEPS)
        tag, _, head = article.partition(">")
        steps, _, foot = rest.rpartition(FIGURES)
        tag, _, kept = tag.partition(' data-kept="')
        known = self.turns[tag].steps[: int(kept.strip('"'))] if kept else ()
        fresh = Elements(steps.rpartition("</div>")[0]).found
        self.received += len(fresh)
        self.turns[tag] = ShownTurn(head, (*known, *fresh), foot)


def show_whole(session: Session) -> Page:
    """Return the page that is drawn at once, without any memory."""
    page = Page()
    for view in build_turn_views(session, stop=len(session.turns))[-SHOWN:]:
        page.add(str(render_turn(view, FRAME)))
    return page


def follow(records: Sequence[ReceivedRecord], every: int) -> Page:
    """Draw after each record, and compare that with a whole page at every so many."""
    view, drawing, page = SessionView(), RenderedTurns(), Page()
    for number, (agent, record) in enumerate(records, 1):
        view.add(agent, record)
        with view.use_turns() as growing:
            views = growing.show(range(growing.count - SHOWN, growing.count))
            for turn in drawing.render(views, FRAME, page.revision):
                page.add(str(turn))
            page.revision = drawing.revision
        if number % every == 0 or number == len(records):
            with view.use() as session:
                whole = show_whole(session).turns
                assert {name: page.turns[name] for name in whole} == whole
    return page


def make_call(number: int, tool: str, **values: object) -> dict[str, Any]:
    """Return a reply with one call."""
    use = {"type": "tool_use", "id": f"call-{number}", "name": tool, "input": values}
    return {
        "type": "assistant",
        "message": {
            "id": f"message-{number}",
            "role": "assistant",
            "model": "claude-a",
            "content": [use],
            "usage": {"input_tokens": 10, "output_tokens": number},
        },
    }


def make_user(content: object) -> dict[str, Any]:
    """Return a prompt, or results."""
    return {"type": "user", "message": {"role": "user", "content": content}}


def make_result(number: int) -> dict[str, Any]:
    """Return the result of a call."""
    text = f"*output* of <{number}>"
    return make_user([{"type": "tool_result", "tool_use_id": f"call-{number}", "content": text}])


def iter_lines(calls: int) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Yield the lines of a long turn: calls that overlap, and a subagent meanwhile."""
    yield None, make_user("Do *all* of it")
    yield None, make_call(0, "Agent", description="Look around", prompt="look")
    yield "call-0", make_user("look")
    for number in range(1, calls):
        yield None, make_call(number, "Bash", command=f"echo {number}", description="Say it")
        if number % 3 == 0:
            yield from ((None, make_result(each)) for each in (number, number - 2, number - 1))
        if number % 50 == 0:
            yield "call-0", make_call(calls + number, "Read", file_path="/project/a")
    yield None, make_user("And now something else")
    yield None, make_call(calls, "Write", file_path="/project/b", content="text")
    yield None, make_result(0)


def make_conversation(calls: int) -> list[ReceivedRecord]:
    """Return the records of such a conversation."""
    return link_records(iter_lines(calls))


def link_records(lines: Iterable[tuple[str | None, dict[str, Any]]]) -> list[ReceivedRecord]:
    """Return lines as records that follow each other."""
    last: dict[str | None, str] = {}
    found: list[ReceivedRecord] = []
    for number, (agent, line) in enumerate(lines):
        time = f"2026-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        linked = {"uuid": f"u{number}", "parentUuid": last.get(agent), "timestamp": time, **line}
        last[agent] = linked["uuid"]
        record = decode_record(msgspec.json.encode(linked))
        assert record is not None
        found.append((agent, record))
    return found


@pytest.mark.slow
def test_a_long_turn_is_sent_as_it_grows() -> None:
    """The page has what a whole one has, and was sent a few steps for each record."""
    records = make_conversation(200)
    page = follow(records, every=23)
    (turn, *_) = page.turns.values()
    assert len(turn.steps) == 201
    assert page.received < 5 * len(records)


def make_retries(first: int, count: int) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Yield the lines of requests that failed, without a reply."""
    for number in range(first, first + count):
        yield None, {"type": "system", "subtype": "api_error", "retryAttempt": number}


def test_a_run_of_notices_grows() -> None:
    """Failed requests before, between and after replies; a reply to one starts another run."""
    lines = [
        (None, make_user("Do it")),
        *make_retries(1, 3),
        (None, make_call(1, "Bash", command="true")),
        (None, make_result(1)),
        *make_retries(1, 1),
        (None, make_call(2, "Bash", command="true")),
        (None, make_result(2)),
        *make_retries(1, 2),
    ]
    page = follow(link_records(lines), every=1)
    (turn,) = page.turns.values()
    kinds = [re.findall(r'class="(\w+)', step)[:2] for step in turn.steps]
    run, single, call = ["noted", "run"], ["noted"], ["call", "tick"]
    assert kinds == [run, call, single, call, run]


def test_what_has_not_changed_is_not_sent() -> None:
    """Nothing comes for the revision on the page, all of it for one that is not known."""
    view, drawing = SessionView(), RenderedTurns()
    for agent, record in make_conversation(4):
        view.add(agent, record)
    with view.use_turns() as growing:
        views = growing.show(range(2))
    whole = drawing.render(views, FRAME)
    assert len(whole) == 2
    assert drawing.render(views, FRAME, drawing.revision) == ()
    assert drawing.render(views, FRAME, drawing.revision + 1) == whole
    assert drawing.revision == 1
    other = Frame(url="/c/x", directory="/project", has_raw=False, language="zh")
    assert len(drawing.render(views, other, 1)) == 2


@pytest.mark.parametrize("version", ["2.0.77", "2.1.112", "2.1.325"])
def test_recorded_conversations_are_drawn_as_they_grow(shared: Path, version: str) -> None:
    """After every record of a real client, the page has what a whole one has."""
    paths = sorted((shared / "control" / version).glob(f"*{FRAMES}"))
    assert paths
    for path in paths:
        for replay in read_recording(path).values():
            follow([(each.agent, each.record) for each in replay.records], every=1)
