"""Triggers: errors, permission requests, queries and cost limits."""

import json
from collections.abc import Iterable

import pytest

from recollect.documents.kinds import StatusKind
from recollect.errors import UsageError
from recollect.live.live_events import (
    AnyEvent,
    Appended,
    CaughtUp,
    EventSubject,
    Reset,
    StatusChanged,
)
from recollect.live.session_status import SessionStatus
from recollect.live.triggers import FiredTrigger, Matcher, Triggers
from recollect.locations import TranscriptKind
from recollect.records.decoding import decode_record
from recollect.search.query_parser import QueryError
from tests.library.claude_root import FIRST, Line, call, prompt, reply, result

SOURCE = EventSubject(
    path="/p/x.jsonl",
    session_id=FIRST,
    agent_id=None,
    kind=TranscriptKind.SESSION,
    project="-home-mina-pond",
)
AGENT = EventSubject(
    path="/p/agent-a.jsonl",
    session_id=FIRST,
    agent_id="a",
    kind=TranscriptKind.SUBAGENT,
    project="-home-mina-pond",
)


def appended(line: Line, source: EventSubject = SOURCE) -> Appended:
    """Return the event of a record."""
    raw = json.dumps(line).encode()
    record = decode_record(raw)
    assert record is not None
    return Appended(source=source, record=record, raw=raw)


def failed(text: str) -> Line:
    """A tool result that reports a failure."""
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": text, "is_error": True}
    return {"type": "user", "uuid": "r", "message": {"role": "user", "content": [block]}}


def fire(conditions: Iterable[str], *events: AnyEvent) -> list[tuple[str, str]]:
    """Return the triggers that these events fire."""
    triggers = Triggers(conditions)
    return [(fired.trigger, fired.text) for event in events for fired in triggers.feed(event)]


def test_an_error_fires_with_its_text() -> None:
    """A failed call and a failed request fire, a successful call does not."""
    api_error = {**reply("API Error: 529"), "isApiErrorMessage": True}
    events: list[AnyEvent] = [
        CaughtUp(),
        appended(result("fine")),
        appended(failed("boom")),
        appended(api_error),
    ]
    assert fire(["error"], *events) == [("error", "boom"), ("error", "API Error: 529")]


def test_existing_records_fire_nothing() -> None:
    """Neither history nor records repeated after a reset fire a trigger."""
    reset = Reset(source=SOURCE, reason="x")
    events: list[AnyEvent] = [
        appended(failed("old")),
        CaughtUp(),
        reset,
        appended(failed("again")),
        CaughtUp(),
    ]
    assert fire(["error"], *events, appended(failed("new"))) == [("error", "new")]


def test_a_permission_request_fires() -> None:
    """It fires when the client starts to wait for permission, and for nothing else."""
    waiting = StatusChanged(
        session_id=FIRST, status=SessionStatus(StatusKind.WAITING_FOR_PERMISSION, "it asks")
    )
    idle = StatusChanged(session_id=FIRST, status=SessionStatus(StatusKind.IDLE, "rest"))
    assert fire(["permission"], CaughtUp(), idle, waiting) == [("permission", "it asks")]


QUERIES = [
    ("flaky test", prompt("Fix the FLAKY test"), True),
    ("flaky test", prompt("flaky"), False),
    ('"flaky test"', prompt("the test is flaky"), False),
    ("flak*", reply("so flaky"), True),
    ("/t(im|rr)e/", reply("time"), True),
    ("role:user time", reply("time"), False),
    ("role:assistant time", reply("time"), True),
    ("tool:Bash rm", call("Bash", {"command": "rm -rf x"}), True),
    ("tool:Read rm", call("Bash", {"command": "rm -rf x"}), False),
    ("file:src/main.py", call("Read", {"file_path": "src/main.py"}), True),
    ("is:error boom", failed("boom"), True),
    ("is:error", result("fine"), False),
    ("time -wasted", reply("time wasted"), False),
    ("time OR money", reply("money"), True),
    ("project:pond time", reply("time"), True),
    ("project:lake time", reply("time"), False),
    ("session:1111 time", reply("time"), True),
    ("branch:main time", {**reply("time"), "gitBranch": "main"}, True),
    ("since:2020-01-01 time", reply("time"), True),
    ("since:2090-01-01 time", reply("time"), False),
    ("is:prompt", prompt("hello"), True),
    ("model:opus time", reply("time"), False),
]


@pytest.mark.parametrize(("query", "line", "expected"), QUERIES)
def test_a_query_matches_like_a_search(query: str, line: Line, expected: bool) -> None:
    """The same words and fields, on records that were just written."""
    event = appended(line)
    assert (Matcher(query).find(event.record, SOURCE, {}) is not None) is expected


def enqueued(words: str) -> Line:
    """A prompt that was typed while the model was working."""
    return {"type": "queue-operation", "operation": "enqueue", "content": words}


@pytest.mark.parametrize("query", ["heron", "is:prompt heron", "role:user heron"])
def test_a_prompt_in_the_queue_fires_once(query: str) -> None:
    """Some clients write a prompt to the queue only, others write it again as a record."""
    queued, typed = appended(enqueued("the heron")), appended(prompt("the heron"))
    assert fire([query], CaughtUp(), queued) == [(query, "the heron")]
    assert fire([query], CaughtUp(), queued, typed) == [(query, "the heron")]
    assert fire([query], CaughtUp(), queued, typed, typed) == [(query, "the heron")] * 2
    assert fire([query], queued, CaughtUp(), typed) == [(query, "the heron")]


def test_the_result_of_a_tool_is_found_by_its_call() -> None:
    """A result does not name its tool; the earlier call does."""
    events: list[AnyEvent] = [
        CaughtUp(),
        appended(call("Bash", {"command": "x"})),
        appended(failed("oops")),
    ]
    assert fire(["tool:Bash is:error"], *events) == [("tool:Bash is:error", "oops")]


def test_a_subagent_is_known_by_its_file() -> None:
    """`is:subagent` matches records of a subagent's own file."""
    event = appended(reply("time"), AGENT)
    triggers = Triggers(["is:subagent time"])
    fired = [each for each_event in (CaughtUp(), event) for each in triggers.feed(each_event)]
    assert fired == [
        FiredTrigger(
            trigger="is:subagent time",
            session_id=FIRST,
            agent_id="a",
            path="/p/agent-a.jsonl",
            text="time",
        )
    ]


def spent(message_id: str, output: int) -> Line:
    """Return a reply of a model with a known price."""
    usage = {"input_tokens": 0, "output_tokens": output}
    message = {"id": message_id, "role": "assistant", "model": "claude-opus-5-5", "usage": usage}
    return {
        "type": "assistant",
        "uuid": f"{message_id}{output}",
        "timestamp": "2026-11-10T00:00:00.000Z",
        "message": {**message, "content": []},
    }


def test_a_limit_is_reached_once() -> None:
    """History counts, a message counts once at its largest, and the trigger fires once."""
    events: list[AnyEvent] = [
        appended(spent("m1", 100_000)),
        CaughtUp(),
        appended(spent("m1", 100_000)),
        appended(spent("m2", 1)),
        appended(spent("m2", 100_000)),
        appended(spent("m3", 100_000)),
    ]
    assert fire(["cost:4.00"], *events) == [("cost:4.00", "$4.00 at list prices")]


@pytest.mark.parametrize("text", ["cost:", "cost:x", "cost:-1", "cost:0", "cost:inf", "cost:nan"])
def test_an_invalid_limit(text: str) -> None:
    """It is refused with an example."""
    with pytest.raises(UsageError, match=r"Write it as cost:5\.00"):
        Triggers([text])


@pytest.mark.parametrize("text", ["-x", "/(/", "", "(a"])
def test_an_invalid_query(text: str) -> None:
    """It is refused before anything is followed."""
    with pytest.raises(QueryError):
        Triggers([text])
