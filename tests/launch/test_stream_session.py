"""Tests of recollect.launch.stream_session, growing and figures: what a stream amounts to."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from recollect.launch.figures import RunFigures
from recollect.launch.growing import Growing, GrowingKind
from recollect.launch.stream_session import Agent, Noticed, Recorded, StreamSession
from recollect.reader import StreamDecoder, StreamItem, read_stream
from recollect.records.blocks import Text, Thinking
from recollect.records.conversation import Assistant, User
from recollect.records.envelope import Chain
from recollect.records.irregular import Damaged, Unknown
from recollect.records.stream.conversation import AssistantMessage
from recollect.records.tokens import Tokens
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
    """The items of a stream that holds these lines."""
    data = "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines)
    return list(StreamDecoder().feed(data.encode()))


def hear(session: StreamSession, *lines: dict[str, Any] | str) -> list[Recorded | Noticed | None]:
    """What a session makes of them."""
    return [session.hear(item) for item in decode(*lines)]


def list_links(told: Iterable[Recorded | Noticed | None]) -> list[tuple[str | None, str, str]]:
    """Agent, uuid and parent of the records."""
    return [
        (each.agent, each.record.uuid or "", each.record.parent_uuid or "")
        for each in told
        if isinstance(each, Recorded) and isinstance(each.record, Chain)
    ]


def test_each_conversation_is_a_line_of_its_own() -> None:
    """What is said follows what was said before it in the same conversation, subagents apart."""
    told = hear(
        StreamSession(),
        text("one", uuid="a"),
        call("Agent", {}, uuid="b"),
        call("Bash", {}, uuid="c", agent="toolu_b"),
        answer("done", to="c", agent="toolu_b"),
        answer("back", to="b"),
    )
    assert list_links(told) == [
        (None, "a", ""),
        (None, "b", "a"),
        ("toolu_b", "c", ""),
        ("toolu_b", "answer-c", "c"),
        (None, "answer-b", "b"),
    ]


def test_the_prompt_comes_first() -> None:
    """The stream does not repeat it, and the first reply follows it."""
    session = StreamSession(lambda: NOON)
    opened = session.open("drain the pond")
    assert isinstance(opened.record, User)
    (told,) = hear(session, text("yes", uuid="a"))
    assert isinstance(told, Recorded)
    assert isinstance(told.record, Assistant)
    assert (told.record.parent_uuid, told.record.timestamp) == (opened.record.uuid, NOON)
    built = Session([opened.record, told.record])
    assert [turn.words for turn in built.turns] == ["drain the pond"]


def test_a_subagent_is_known_by_its_call() -> None:
    """The words of the call name it, for clients that say nothing else."""
    session = StreamSession()
    hear(session, call("Task", {"description": "Look", "subagent_type": "Explore"}, uuid="b"))
    hear(session, call("Bash", {}, uuid="c", agent="toolu_b"))
    assert session.agents == {"toolu_b": Agent("Explore", "Look")}


def test_a_block_grows_until_it_is_whole() -> None:
    """The pieces are put together, and forgotten when the whole block is there."""
    session = StreamSession()
    hear(session, begin_text(), piece("Hello "), piece("there"))
    assert session.growing == (None, Growing(GrowingKind.TEXT, "Hello there"))
    hear(session, text("Hello there", uuid="a"))
    assert session.growing is None


def test_of_a_growing_call_the_tool_is_known() -> None:
    """The input is not shown before it is whole."""
    session = StreamSession()
    block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"comm'}
    hear(
        session,
        event("content_block_start", index=0, content_block=block),
        event("content_block_delta", index=0, delta=delta),
    )
    assert session.growing == (None, Growing(GrowingKind.TOOL, tool="Bash"))


def test_nothing_is_hidden() -> None:
    """A message of an unknown kind and a line that is none are told."""
    told = hear(StreamSession(), {"type": "brand_new", "x": 1}, "npm warn something")
    kinds = [type(each.record) for each in told if isinstance(each, Recorded)]
    assert kinds == [Unknown, Damaged]


def test_signals_become_notes() -> None:
    """Retries, tasks that end and compactions are told in words."""
    told = hear(
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
    assert told == [
        Noticed("the request failed with status 529, attempt 1 of 2: overloaded"),
        Noticed("a task is completed: all is well"),
        Noticed("the conversation is being compacted"),
        None,
    ]


def test_figures_are_those_of_the_run() -> None:
    """Without a word on what is new, the running totals of the last end count."""
    session = StreamSession()
    hear(session, init(), call("Bash", {}, uuid="a"), answer("x", to="a"), result())
    assert session.session_id == SESSION
    assert session.figures == RunFigures(
        turns=1,
        replies=1,
        tool_calls=1,
        tokens=Tokens(input=8, output=30),
        cost_usd=0.0123,
        duration_ms=1500,
    )


def test_figures_leave_out_what_was_used_before() -> None:
    """A resumed session's totals go on from earlier runs; what is new since is added up."""
    session = StreamSession()
    used = {"inputTokens": 1, "outputTokens": 2, "cacheCreationInputTokens": 5, "costUSD": 0.5}
    more = {"cacheCreationEphemeral1hInputTokens": 3}
    hear(
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


def test_a_run_without_an_end_has_few_figures() -> None:
    """What the client did not tell is not made up."""
    session = StreamSession()
    hear(session, text("one", uuid="a"))
    assert session.figures == RunFigures(
        turns=1, replies=1, tool_calls=0, tokens=Tokens(), cost_usd=None, duration_ms=None
    )


def find_streams(shared: Path) -> list[Path]:
    """Streams that real clients printed."""
    return sorted((shared / "real_cli").glob("*/stream/*.jsonl"))


def test_pieces_of_real_streams_make_up_the_blocks(shared: Path) -> None:
    """Just before a block comes whole, what has grown is that block."""
    compared = 0
    for path in find_streams(shared):
        session = StreamSession()
        for item in read_stream(path):
            if isinstance(item, AssistantMessage) and session.growing and item.message:
                agent, grown = session.growing
                block = item.message.content[0] if item.message.content else None
                if agent == item.parent_tool_use_id and isinstance(block, Text | Thinking):
                    words = block.words if isinstance(block, Text) else block.thinking
                    assert (path.name, grown.text) == (path.name, words)
                    compared += 1
            session.hear(item)
    assert compared > 0 or pytest.skip("no stream with pieces")


def test_real_streams_are_one_conversation(shared: Path) -> None:
    """No turn of a stream is taken for one that was left behind."""
    for path in find_streams(shared):
        session = StreamSession()
        told = [session.open("go"), *(session.hear(item) for item in read_stream(path))]
        own = [each.record for each in told if isinstance(each, Recorded) and each.agent is None]
        turns = Session(own).turns
        if all(isinstance(each, Chain) and each.uuid for each in own):
            assert (path, [turn.is_on_main_path for turn in turns]) == (path, [True] * len(turns))
