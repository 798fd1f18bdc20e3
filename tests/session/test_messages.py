"""Lines of a transcript joined to messages."""

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from recollect.documents.kinds import InputKind
from recollect.records.blocks import RedactedThinking, Text, Thinking, ToolUse
from recollect.records.conversation_records import ApiMessage, Assistant, User
from recollect.records.decoding import decode_record
from recollect.records.envelope import Chain
from recollect.records.token_usage import CacheCreation, Usage
from recollect.session.messages import ApiFailure, Message, build_messages, largest_usage
from recollect.session.prompts import Prompt
from tests.session.chains import (
    MODEL,
    attachment,
    in_a_row,
    progress,
    reply,
    result,
    system,
    text,
    use,
    user,
)

SAME = {"id": "m1"}


def unite(*chain: Chain, superseded: Sequence[Assistant] = ()) -> tuple[Message, ...]:
    """Return the messages of a session that is not a subagent."""
    return build_messages(chain, superseded, is_subagent=False)


def ids_of(*chain: Chain) -> list[tuple[str, tuple[str, ...]]]:
    """Each message's id with the uuids of its records."""
    return [(message.id, message.uuids) for message in unite(*chain)]


def test_nothing_says_nothing() -> None:
    """A session without records has no messages."""
    assert unite() == ()


def test_a_prompt_is_a_message() -> None:
    """A user record is one message, with its interpretation."""
    record = user("a", "fix it", timestamp="2026-01-01T12:00:00Z")
    (message,) = unite(record)
    assert message == Message(
        id="a",
        role="user",
        records=(record,),
        uuids=("a",),
        content=(Text(text="fix it"),),
        prompt=Prompt(InputKind.TYPED, "fix it"),
    )
    assert (message.text, message.timestamp) == ("fix it", "2026-01-01T12:00:00Z")


def test_lines_of_one_response_are_one_message() -> None:
    """Lines share the API's id; the message has all of their blocks and fields."""
    first = reply(
        "b",
        {"type": "thinking", "thinking": "hm"},
        parent="a",
        message=SAME,
        requestId="r1",
        timestamp="2026-01-01T12:00:00Z",
    )
    second = reply("c", "hello", parent="b", message={**SAME, "stop_reason": "end_turn"})
    last = reply("d", "bye", parent="c", message=SAME, effort="high")
    assert unite(first, second, last) == (
        Message(
            id="m1",
            role="assistant",
            records=(first, second, last),
            uuids=("b", "c", "d"),
            content=(Thinking(thinking="hm"), Text(text="hello"), Text(text="bye")),
            model=MODEL,
            stop_reason="end_turn",
            request_id="r1",
            effort="high",
        ),
    )


def test_a_result_may_be_between_two_lines_of_one_message() -> None:
    """Tools start before the response ends: it is still one message, at its first line."""
    chain = in_a_row(
        user("a"),
        reply("b", use("t1"), message=SAME),
        result("c", "t1"),
        reply("d", use("t2"), message=SAME),
        result("e", "t2"),
    )
    assert ids_of(*chain) == [("a", ("a",)), ("m1", ("b", "d")), ("c", ("c",)), ("e", ("e",))]


def test_blocks_come_in_the_order_of_the_api() -> None:
    """Blocks are ordered by their index if every line has one, otherwise in file order."""
    lines = [
        reply("a", "third", message=SAME, apiBlockIndex=2),
        reply("b", "first", message=SAME, apiBlockIndex=0),
        reply("c", "second", message=SAME, apiBlockIndex=1),
    ]
    assert [message.text for message in unite(*lines)] == ["first\nsecond\nthird"]
    assert [message.text for message in unite(*lines[:2], reply("d", "last", message=SAME))] == [
        "third\nfirst\nlast"
    ]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            [reply("a", "hi", message=SAME), reply("b", "hi", message=SAME)],
            (Text(text="hi"), Text(text="hi")),
        ),
        (
            [
                reply("a", "hi", message=SAME, apiBlockIndex=0),
                reply("b", "hi", message=SAME, apiBlockIndex=0),
            ],
            (Text(text="hi"),),
        ),
        (
            [
                reply("a", "half", message=SAME, apiBlockIndex=0),
                reply("b", "half and more", message=SAME, apiBlockIndex=0),
            ],
            (Text(text="half"), Text(text="half and more")),
        ),
        (
            [reply("a", use("t1"), message=SAME), reply("b", use("t1"), message=SAME)],
            (ToolUse(id="t1", name="Bash", input=Raw(b"{}")),),
        ),
        (
            [reply("a", use(""), message=SAME), reply("b", use(""), message=SAME)],
            (ToolUse(name="Bash", input=Raw(b"{}")), ToolUse(name="Bash", input=Raw(b"{}"))),
        ),
    ],
)
def test_copies_of_a_block_are_one(
    lines: list[Assistant], expected: tuple[Text | ToolUse, ...]
) -> None:
    """The same call, and the same block at the same index, occur once; nothing else is lost."""
    (message,) = unite(*lines)
    assert message.content == expected


def test_a_cited_text_that_is_written_again_is_a_copy() -> None:
    """Blocks are compared by content, unparsed JSON included."""
    cited = {"type": "text", "text": "hi", "citations": [{"url": "https://example.com"}]}
    lines = [reply(uuid, cited, message=SAME, apiBlockIndex=0) for uuid in "ab"]
    (message,) = unite(*lines)
    assert len(message.content) == 1


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["m1", "m2"]),
            st.lists(st.sampled_from(["", "t1", "t2", "t3"]), max_size=3),
            st.none() | st.integers(0, 2),
        )
    )
)
def test_no_call_is_lost(lines: list[tuple[str, list[str], int | None]]) -> None:
    """Every call is in its message: once by its id, and always if it has none."""
    chain = [
        Assistant(
            uuid=str(number),
            message=ApiMessage(id=key, content=tuple(ToolUse(id=call) for call in calls)),
            api_block_index=index,
        )
        for number, (key, calls, index) in enumerate(lines)
    ]
    for message in unite(*chain):
        wanted = [call for key, calls, _ in lines for call in calls if key == message.id]
        named = [block.id for block in message.content if isinstance(block, ToolUse) and block.id]
        assert sorted(named) == sorted(set(wanted) - {""})
    if all(index is None for _, _, index in lines):
        nameless = sum(len([b for b in m.content if b == ToolUse()]) for m in unite(*chain))
        assert nameless == sum(call == "" for _, calls, _ in lines for call in calls)


def usage_line(uuid: str, output: int, **tokens: int) -> Assistant:
    """A line of message m1 with these tokens."""
    return reply(uuid, "x", message={**SAME, "usage": {"output_tokens": output, **tokens}})


def test_the_largest_usage_is_the_final_one() -> None:
    """Placeholders come first, and no line of a slow stream is marked as final."""
    lines = [usage_line("a", 1), usage_line("b", 1), usage_line("c", 81)]
    (message,) = unite(*lines)
    assert (message.usage, message.stop_reason) == (Usage(output_tokens=81), None)


def test_usage_of_a_replaced_line_still_counts() -> None:
    """A compaction rewrites kept records with zero usage; the original usage counts."""
    split = {"ephemeral_5m_input_tokens": 1200}
    zeroed = reply("a", "x", message={**SAME, "usage": {"cache_creation": split}})
    (message,) = unite(zeroed, superseded=[usage_line("a", 81, cache_read_input_tokens=7)])
    assert message.usage == Usage(output_tokens=81, cache_read_input_tokens=7)
    (copied,) = unite(zeroed)
    assert copied.usage == Usage(cache_creation=CacheCreation(ephemeral_5m_input_tokens=1200))


USAGES = st.builds(
    Usage,
    input_tokens=st.integers(0, 2),
    output_tokens=st.integers(0, 2),
    cache_read_input_tokens=st.integers(0, 2),
)


@given(st.lists(st.none() | USAGES, min_size=1, max_size=4))
def test_order_does_not_matter_for_usage(usages: list[Usage | None]) -> None:
    """Most output wins, then most tokens, in whatever order the lines come."""
    lines = [Assistant(message=ApiMessage(id="m1", usage=usage)) for usage in usages]
    known = [(usage.output_tokens, usage.total_tokens) for usage in usages if usage]
    for order in permutations(lines):
        found = largest_usage(order)
        assert (found and (found.output_tokens, found.total_tokens)) == max(known, default=None)


def test_messages_without_an_id_stay_separate() -> None:
    """A reply without a message id is identified by its record's uuid, or by its position."""
    nameless: dict[str, object] = {"id": None}
    chain = [
        reply("a", "one", message=nameless),
        reply("b", "two", message=nameless),
        reply("", "three", message=nameless),
        user("", "four"),
        Assistant(uuid="c"),
    ]
    assert ids_of(*chain) == [
        ("a", ("a",)),
        ("b", ("b",)),
        ("#2", ()),
        ("#3", ()),
        ("c", ("c",)),
    ]


def test_lines_that_the_client_made_up_are_not_united() -> None:
    """Synthetic records may share an id, but each is a message of its own."""
    synthetic = {**SAME, "model": "<synthetic>"}
    first = reply("a", "No response requested.", message=synthetic)
    second = reply("b", "You reached your limit.", message=synthetic)
    assert [(m.id, m.is_synthetic, m.is_visible) for m in unite(first, second)] == [
        ("a", True, False),
        ("b", True, True),
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"error": "rate_limit", "apiErrorStatus": 429},
            ApiFailure("API Error", "rate_limit", 429),
        ),
        ({}, ApiFailure("API Error", None, None)),
        (
            {"error": {"type": "overloaded"}},
            ApiFailure("API Error", '{"type": "overloaded"}', None),
        ),
        ({"error": 'quoted "so"'}, ApiFailure("API Error", 'quoted "so"', None)),
    ],
)
def test_a_failure_says_why(fields: dict[str, object], expected: ApiFailure) -> None:
    """The line of a failed request has the error message of the client."""
    line = reply(
        "a",
        "API Error",
        parent=None,
        message={"model": "<synthetic>"},
        isApiErrorMessage=True,
        **fields,
    )
    (message,) = unite(line)
    assert (message.failure, message.is_visible) == (expected, True)


def test_a_failure_with_broken_text_is_read() -> None:
    """An error with invalid text does not stop the reader."""
    line = b'{"type":"assistant","uuid":"a","isApiErrorMessage":true,"error":"x\xff"}'
    record = decode_record(line)
    assert isinstance(record, Assistant)
    (message,) = unite(record)
    assert message.failure == ApiFailure("", "x\ufffd", None)


def test_an_interrupted_reply_is_marked() -> None:
    """A single interrupted line marks its message."""
    lines = [reply("a", "he", message=SAME), reply("b", message=SAME, isAbortedMidStream=True)]
    assert [(message.is_aborted, message.text) for message in unite(*lines)] == [(True, "he")]


def test_empty_blocks_are_kept_but_hidden() -> None:
    """A reply with nothing to read is a message that a reader does not see."""
    blocks = [{"type": "thinking", "thinking": "", "signature": "s"}, text("")]
    (message,) = unite(reply("a", *blocks, {"type": "redacted_thinking", "data": "d"}))
    assert message.content == (
        Thinking(signature="s"),
        Text(text=""),
        RedactedThinking(data="d"),
    )
    assert message.is_visible is False


def test_a_queued_prompt_that_is_nowhere_else_is_a_message() -> None:
    """Queued prompts may be in an attachment only, several in one."""
    queued = attachment("b", "queued_command", "a", prompt="first\nsecond", humanTurn=True)
    messages = unite(user("a"), queued, attachment("c", "date", "b"))
    assert messages[1:] == (
        Message(
            id="b",
            role="user",
            records=(queued,),
            uuids=("b",),
            content=(Text(text="first\nsecond"),),
            prompt=Prompt(InputKind.QUEUED, "first\nsecond"),
        ),
    )


def test_links_that_say_nothing_are_no_messages() -> None:
    """Notices and progress records are not messages, even if they repeat a subagent's message."""
    nested = {"type": "assistant", "message": {"id": "m9", "usage": {"output_tokens": 5}}}
    chain = in_a_row(
        user("a"),
        progress("b", "agent_progress", message=nested),
        system("c", "turn_duration"),
        attachment("d", "date"),
    )
    assert ids_of(*chain) == [("a", ("a",))]


def test_a_subagents_task_is_no_typed_prompt() -> None:
    """In a subagent's transcript, the first text is its task."""
    (message,) = build_messages([user("a", "Warmup")], (), is_subagent=True)
    assert (message.prompt, message.is_visible) == (Prompt(InputKind.WARMUP, "Warmup"), False)


def test_a_record_without_a_message_is_not_dropped() -> None:
    """It is kept, without content."""
    records = (User(uuid="a"), replace(reply("b"), message=None))
    assert [(m.records, m.content, m.is_visible) for m in unite(*records)] == [
        ((records[0],), (), False),
        ((records[1],), (), False),
    ]
