"""The output of `recollect follow`, from given events."""

from recollect.cli.follow_text import EventRenderer
from recollect.live.live_events import Appended, CaughtUp, Continued, EventSubject
from recollect.locations import TranscriptKind
from recollect.records.decoding import decode_record
from recollect.render.terminal.canvas import Canvas, RenderOptions
from tests.library.claude_root import Line, encode, prompt, reply

SESSION = EventSubject(
    path="/c/projects/p/s.jsonl",
    session_id="s",
    agent_id=None,
    kind=TranscriptKind.SESSION,
    project="p",
)
SUBAGENT = EventSubject(
    path="/c/projects/p/agent-1.jsonl",
    session_id="s",
    agent_id="1",
    kind=TranscriptKind.SUBAGENT,
    project="p",
)


def _append(source: EventSubject, line: Line) -> Appended:
    data = encode([line]).rstrip(b"\n")
    record = decode_record(data)
    assert record is not None
    return Appended(source=source, record=record, raw=data)


def test_files_are_shown_in_the_order_of_arrival() -> None:
    """Subagent output that precedes the session's continuation comes first, even in one batch."""
    renderer = EventRenderer(Canvas(RenderOptions(columns=60)), turns=1)
    lines = list(renderer.feed(CaughtUp()))
    for event in (
        _append(SESSION, prompt("ask the agent", uuid="u1")),
        _append(SUBAGENT, reply("last words", uuid="b1")),
        _append(SESSION, reply("it is back", uuid="a1")),
    ):
        lines += renderer.feed(event)
    lines += renderer.flush()
    said = [
        words
        for line in lines
        for words in ("ask the agent", "last words", "it is back")
        if words in line
    ]
    assert said == ["ask the agent", "last words", "it is back"]


def test_a_note_keeps_to_the_width() -> None:
    """A long reason wraps between words."""
    renderer = EventRenderer(Canvas(RenderOptions(columns=40)), turns=1)
    reason = "the person cleared the conversation and began another"
    assert list(renderer.feed(Continued(session_id="s", next_id="t", reason=reason))) == [
        "· the session continues as t: the person",
        "  cleared the conversation and began",
        "  another",
    ]
