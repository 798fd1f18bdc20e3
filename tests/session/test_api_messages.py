"""Messages in the format of the Messages API."""

import json
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from recollect.records.envelope import Chain
from recollect.session.api_messages import BlockParam, MessageParam, to_api_messages
from recollect.session.messages import build_messages
from tests.session.chains import answer, attachment, reply, result, text, use, user


def convert(*chain: Chain) -> list[MessageParam]:
    """Return `chain` as messages for the API."""
    return list(to_api_messages(build_messages(chain, (), is_subagent=False)))


def says(role: str, *content: object) -> object:
    """Return a message of the API."""
    return {"role": role, "content": [text(p) if isinstance(p, str) else p for p in content]}


def test_a_call_and_its_result_are_there() -> None:
    """A tool call keeps its input, and the answer is the user's next message."""
    assert convert(
        user("a", "list the files"),
        reply("b", "Looking.", use("t1", command="ls")),
        result("c", "t1", "a.py"),
        reply("d", "One file."),
    ) == [
        says("user", "list the files"),
        says("assistant", "Looking.", use("t1", command="ls")),
        says("user", answer("t1", "a.py")),
        says("assistant", "One file."),
    ]


def test_parallel_results_are_one_message_in_the_order_of_the_calls() -> None:
    """Tools may end in any order with text in between; the API wants all results first."""
    same = {"id": "m1"}
    assert convert(
        reply("a", use("t1"), message=same),
        reply("b", use("t2"), message=same),
        result("c", "t2", "second"),
        user("d", "by the way"),
        result("e", "t1", [text("first")], is_error=True),
    ) == [
        says("assistant", use("t1"), use("t2")),
        says(
            "user",
            answer("t1", [text("first")], is_error=True),
            answer("t2", "second"),
            "by the way",
        ),
    ]


def test_what_the_api_refuses_is_left_out() -> None:
    """Calls without results, results without calls, empty texts, thinking without a signature."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "s1"}
    assert convert(
        user("a", [answer("t0"), text("go"), text(" ")]),
        reply("b", {"type": "thinking", "thinking": "hm", "signature": ""}, thought, use("t1")),
        reply("c", use("t2")),
        user("d", ""),
        user("e", "stop"),
    ) == [says("user", "go"), says("assistant", thought), says("user", "stop")]


def test_a_call_that_is_written_twice_is_sent_once() -> None:
    """The API refuses a request with two calls of the same id."""
    assert convert(
        user("a", "go"), reply("b", use("t1")), result("c", "t1"), reply("d", use("t1"), "again")
    ) == [
        says("user", "go"),
        says("assistant", use("t1")),
        says("user", answer("t1")),
        says("assistant", "again"),
    ]


def test_text_that_is_not_from_a_model_is_left_out() -> None:
    """Errors and fillers that the client wrote as replies are never sent."""
    made_up = reply("b", "API Error: overloaded", isApiErrorMessage=True)
    filler = reply("c", "No response requested.", message={"model": "<synthetic>"})
    assert convert(user("a", "hello"), made_up, filler, user("d", "again")) == [
        says("user", "hello", "again")
    ]


def test_what_the_model_saw_is_there() -> None:
    """Injected texts and queued prompts were sent, so they are sent again."""
    queued = attachment("b", "queued_command", prompt="and the docs")
    assert convert(user("a", "<reminder>", isMeta=True), queued) == [
        says("user", "<reminder>", "and the docs")
    ]


def test_blocks_keep_their_fields_but_cache_control() -> None:
    """Images, documents, server tools and unknown blocks are kept, without cache breakpoints."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}}
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
    hits = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "u"}]}
    novel = {"type": "novel", "data": [1, None]}
    marked = {**text("hi"), "cache_control": {"type": "ephemeral"}}
    assert convert(
        user("a", [marked, image]),
        reply("b", search, hits, novel, use("t1")),
        result("c", "t1", ["bare", image, text("")]),
    ) == [
        says("user", "hi", image),
        says("assistant", search, hits, novel, use("t1")),
        says("user", answer("t1", [text("bare"), image])),
    ]


RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["prompt", "reply", "use", "result", "thinking"]),
        st.sampled_from(["1", "2", "3"]),
        st.sampled_from(["", "words"]),
    ),
    max_size=12,
)


def make_record(number: int, kind: str, key: str, words: str) -> Chain:
    """A record of any kind, with ids that may be equal by chance."""
    uuid, same = f"u{number}", {"id": f"m{key}"}
    thought = {"type": "thinking", "thinking": words, "signature": words}
    records: dict[str, Chain] = {
        "prompt": user(uuid, words),
        "reply": reply(uuid, words, message=same),
        "use": reply(uuid, words, use(f"t{key}"), message=same),
        "result": result(uuid, f"t{key}", words),
        "thinking": reply(uuid, thought, message=same),
    }
    return records[kind]


@given(RECORDS)
def test_any_messages_make_a_request_that_the_api_takes(drawn: list[tuple[str, str, str]]) -> None:
    """Roles alternate, no message is empty, and calls are answered first in the next one."""
    chain = [make_record(number, *each) for number, each in enumerate(drawn)]
    found = convert(*chain)
    assert json.loads(json.dumps(found)) == found
    assert all(message["content"] for message in found)
    for one, following in pairwise(found):
        assert one["role"] != following["role"]
    ids = [list_ids(message["content"], "tool_use", "id") for message in found]
    answered = [list_ids(message["content"], "tool_result", "tool_use_id") for message in found]
    assert ids == [*answered[1:], *([[]] if found else [])]
    assert not found or answered[0] == []
    for message, results in zip(found, answered, strict=True):
        leading = list_ids(message["content"][: len(results)], "tool_result", "tool_use_id")
        assert leading == results


def list_ids(content: Sequence[BlockParam], kind: str, field: str) -> list[object]:
    """The ids in blocks of one kind."""
    return [block[field] for block in content if block["type"] == kind]
