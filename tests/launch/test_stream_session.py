"""Tests of recollect.launch.stream_session: records, partial blocks and totals of a stream."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from recollect.documents.command_reports import RunFigures
from recollect.launch.stream_session import (
    Agent,
    PartialBlock,
    PartialKind,
    StreamNotice,
    StreamRecord,
    StreamSession,
)
from recollect.reader.stream_reader import StreamDecoder, StreamItem, read_stream
from recollect.records.blocks import Text, Thinking
from recollect.records.conversation_records import Assistant, User
from recollect.records.envelope import Chain, Damaged, Unknown
from recollect.records.stream.stream_messages import AssistantMessage
from recollect.records.token_usage import Tokens
from recollect.session.session import Session
from tests.launch.fake_client import (
    SESSION,
    answer,
    begin_text,
    call,
    event,
    init,
    piece,
    result,
    text,
)

NOON = "2026-11-13T12:00:00Z"


def decode(*lines: dict[str, Any] | str) -> list[StreamItem]:
    """Return the items of a stream of these lines."""
    data = "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines)
    return list(StreamDecoder().feed(data.encode()))


def feed(
    session: StreamSession, *lines: dict[str, Any] | str
) -> list[StreamRecord | StreamNotice | None]:
    """Feed lines to a session and return what they add."""
    return [session.feed(item) for item in decode(*lines)]


def list_links(
    results: Iterable[StreamRecord | StreamNotice | None],
) -> list[tuple[str | None, str, str]]:
    """Return agent, uuid and parent of the records."""
    return [
        (each.agent, each.record.uuid or "", each.record.parent_uuid or "")
        for each in results
        if isinstance(each, StreamRecord) and isinstance(each.record, Chain)
    ]


def test_each_conversation_is_a_chain_of_its_own() -> None:
    """The parent of a message is the one before it in the same conversation."""
    results = feed(
        StreamSession(),
        text("one", uuid="a"),
        call("Agent", {}, uuid="b"),
        call("Bash", {}, uuid="c", agent="toolu_b"),
        answer("done", to="c", agent="toolu_b"),
        answer("back", to="b"),
    )
    assert list_links(results) == [
        (None, "a", ""),
        (None, "b", "a"),
        ("toolu_b", "c", ""),
        ("toolu_b", "answer-c", "c"),
        (None, "answer-b", "b"),
    ]


def test_the_prompt_comes_first() -> None:
    """The stream does not repeat it, and the first reply follows it."""
    session = StreamSession(lambda: NOON)
    opened = session.add_prompt("drain the pond")
    assert isinstance(opened.record, User)
    (reply,) = feed(session, text("yes", uuid="a"))
    assert isinstance(reply, StreamRecord)
    assert isinstance(reply.record, Assistant)
    assert (reply.record.parent_uuid, reply.record.timestamp) == (opened.record.uuid, NOON)
    built = Session([opened.record, reply.record])
    assert [turn.words for turn in built.turns] == ["drain the pond"]


def test_a_subagent_is_known_by_its_call() -> None:
    """If a client reports nothing else, the input of the call describes the subagent."""
    session = StreamSession()
    feed(session, call("Task", {"description": "Look", "subagent_type": "Explore"}, uuid="b"))
    feed(session, call("Bash", {}, uuid="c", agent="toolu_b"))
    assert session.agents == {"toolu_b": Agent("Explore", "Look")}


def test_a_partial_block_grows_until_it_is_complete() -> None:
    """Pieces are joined, and dropped when the complete block arrives."""
    session = StreamSession()
    feed(session, begin_text(), piece("Hello "), piece("there"))
    assert session.partial == (None, PartialBlock(PartialKind.TEXT, "Hello there"))
    feed(session, text("Hello there", uuid="a"))
    assert session.partial is None


def test_a_partial_call_has_the_name_of_its_tool() -> None:
    """The input is not shown before it is complete."""
    session = StreamSession()
    block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"comm'}
    feed(
        session,
        event("content_block_start", index=0, content_block=block),
        event("content_block_delta", index=0, delta=delta),
    )
    assert session.partial == (None, PartialBlock(PartialKind.TOOL, tool="Bash"))


def test_nothing_is_hidden() -> None:
    """An unknown message and a line that is not a message become records."""
    results = feed(StreamSession(), {"type": "brand_new", "x": 1}, "npm warn something")
    kinds = [type(each.record) for each in results if isinstance(each, StreamRecord)]
    assert kinds == [Unknown, Damaged]


def test_signals_become_notices() -> None:
    """Retries, finished tasks and compactions become sentences."""
    results = feed(
        StreamSession(),
        {
            "type": "system",
            "subtype": "api_retry",
            "attempt": 1,
            "max_retries": 2,
            "error_status": 529,
            "error": "overloaded",
        },
        {
            "type": "system",
            "subtype": "task_notification",
            "task_id": "t1",
            "status": "completed",
            "summary": "all is well",
        },
        {"type": "system", "subtype": "status", "status": "compacting"},
        {"type": "system", "subtype": "status", "status": "requesting"},
    )
    assert results == [
        StreamNotice("the request failed with status 529, attempt 1 of 2: overloaded"),
        StreamNotice("a task completed: all is well"),
        StreamNotice("the conversation is being compacted"),
        None,
    ]


def test_figures_are_those_of_the_run() -> None:
    """If the client does not report new usage, the totals of the last result count."""
    session = StreamSession()
    feed(session, init(), call("Bash", {}, uuid="a"), answer("x", to="a"), result())
    assert session.session_id == SESSION
    assert session.figures == RunFigures(
        turns=1,
        replies=1,
        tool_calls=1,
        tokens=Tokens(input=8, output=30),
        cost_usd=0.0123,
        duration_ms=1500,
    )


def test_totals_leave_out_earlier_runs() -> None:
    """The totals of a resumed session include earlier runs; only new usage is added up."""
    session = StreamSession()
    used = {"inputTokens": 1, "outputTokens": 2, "cacheCreationInputTokens": 5, "costUSD": 0.5}
    more = {"cacheCreationEphemeral1hInputTokens": 3}
    feed(
        session,
        result(model_usage_since_last_result={"m": used, "n": used | more}),
        result(model_usage_since_last_result={}),
        result(model_usage_since_last_result={"m": used}),
    )
    assert session.figures == RunFigures(
        turns=3,
        replies=0,
        tool_calls=0,
        tokens=Tokens(input=3, output=6, cache_write_5m=12, cache_write_1h=3),
        cost_usd=1.5,
        duration_ms=4500,
    )


def test_a_run_without_a_result_has_few_totals() -> None:
    """Totals that the client did not report are None."""
    session = StreamSession()
    feed(session, text("one", uuid="a"))
    assert session.figures == RunFigures(
        turns=1, replies=1, tool_calls=0, tokens=Tokens(), cost_usd=None, duration_ms=None
    )


def find_streams(shared: Path) -> list[Path]:
    """Return streams that real clients printed."""
    return sorted((shared / "real_cli").glob("*/stream/*.jsonl"))


def test_pieces_of_real_streams_add_up_to_the_blocks(shared: Path) -> None:
    """Just before a complete block arrives, the partial block equals it."""
    compared = 0
    for path in find_streams(shared):
        session = StreamSession()
        for item in read_stream(path):
            if isinstance(item, AssistantMessage) and session.partial and item.message:
                agent, grown = session.partial
                block = item.message.content[0] if item.message.content else None
                if agent == item.parent_tool_use_id and isinstance(block, Text | Thinking):
                    words = block.words if isinstance(block, Text) else block.thinking
                    assert (path.name, grown.text) == (path.name, words)
                    compared += 1
            session.feed(item)
    assert compared > 0 or pytest.skip("no stream with pieces")


def test_real_streams_are_one_conversation(shared: Path) -> None:
    """No turn of a stream is on an abandoned branch."""
    for path in find_streams(shared):
        session = StreamSession()
        results = [session.add_prompt("go"), *(session.feed(item) for item in read_stream(path))]
        own = [
            each.record for each in results if isinstance(each, StreamRecord) and each.agent is None
        ]
        turns = Session(own).turns
        if all(isinstance(each, Chain) and each.uuid for each in own):
            assert (path, [turn.is_on_main_path for turn in turns]) == (path, [True] * len(turns))
