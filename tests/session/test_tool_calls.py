"""Tool uses joined with their results."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from recollect.documents.kinds import RejectedBy, ToolStatus
from recollect.records.blocks import ToolResult, ToolUse, WebSearchToolResult
from recollect.records.conversation_records import ApiMessage, Assistant, User, UserMessage
from recollect.records.envelope import Chain
from recollect.records.tools import BashInput, ShellResult, UnknownResult
from recollect.session.tool_calls import (
    FAILED,
    INTERRUPTED,
    PENDING,
    SUCCESS,
    Outcome,
    SpilledOutput,
    ToolCall,
    build_tool_calls,
)
from tests.session.chains import answer, in_a_row, reply, result, system, text, use, user


def calls_of(*chain: Chain) -> tuple[ToolCall, ...]:
    """Return the calls of `chain`, after asserting that every result has its call."""
    calls, orphans = build_tool_calls(chain)
    assert orphans == ()
    return calls


def outcomes_of(*chain: Chain) -> list[tuple[str, Outcome, bool]]:
    """Return id, outcome and whether the result is missing for each call."""
    return [
        (call.id, Outcome(call.status, call.rejected_by), call.is_lost) for call in calls_of(*chain)
    ]


def test_a_call_has_its_answer() -> None:
    """A call has its input, its result, its outcome and its duration."""
    given = {"stdout": "a.py", "stderr": "", "interrupted": False, "isImage": False}
    call, answered = in_a_row(
        reply("b", use("t1", command="ls"), timestamp="2026-01-01T12:00:00Z"),
        result("c", "t1", "a.py", toolUseResult=given, timestamp="2026-01-01T12:00:02Z"),
    )
    (found,) = calls_of(call, answered)
    assert found == ToolCall(
        id="t1",
        name="Bash",
        recorded_name="Bash",
        raw_input=Raw(b'{"command": "ls"}'),
        message_id="msg_b",
        call_uuid="b",
        result_uuid="c",
        status=ToolStatus.SUCCESS,
        block=ToolResult(tool_use_id="t1", content="a.py"),
        raw_result=Raw(json.dumps(given).encode()),
        started="2026-01-01T12:00:00Z",
        ended="2026-01-01T12:00:02Z",
    )
    assert (found.name, found.mcp_server, found.text) == ("Bash", None, "a.py")
    assert (found.status, found.rejected_by) == (ToolStatus.SUCCESS, None)
    assert (found.duration_ms, found.spilled) == (2000, None)
    assert found.input == BashInput(command="ls")
    assert found.result == ShellResult(stdout="a.py")


def test_a_call_without_an_answer_is_pending() -> None:
    """The last call of a running session is pending."""
    chain = in_a_row(user("a"), reply("b", use("t1")))
    assert outcomes_of(*chain) == [("t1", PENDING, False)]
    (call,) = calls_of(*chain)
    assert (call.result, call.text, call.duration_ms) == (None, "", None)


def test_an_answer_without_a_structured_result_is_an_unknown_one() -> None:
    """Subagents and old clients recorded only text, so the result has no type."""
    (call,) = calls_of(reply("a", use("t1")), result("b", "t1", "a.py"))
    assert (call.result, call.text) == (UnknownResult(), "a.py")


@pytest.mark.parametrize(
    ("last", "is_lost"),
    [
        (user("c", "never mind"), True),
        (user("c", "[Request interrupted by user]"), True),
        (reply("c", "done", message={"stop_reason": "end_turn"}), True),
        (reply("c", use("t2"), message={"stop_reason": "tool_use"}), False),
        (user("c", "injected", isMeta=True), False),
        (result("c", "t2"), False),
        (system("c", "informational"), False),
    ],
)
def test_an_answer_is_lost_when_the_conversation_went_on(last: Chain, is_lost: bool) -> None:
    """After the next prompt, or the end of the turn, no result will follow."""
    calls, _ = build_tool_calls([user("a"), reply("b", use("t1")), last])
    assert (calls[0].status, calls[0].is_lost) == (ToolStatus.PENDING, is_lost)


def test_parallel_results_find_their_calls() -> None:
    """Results are in the order in which tools end, and several may share a record."""
    chain = [
        reply("a", use("t1"), use("t2"), use("t3")),
        result("b", "t3", "third"),
        user("c", [answer("t2", "second", is_error=True), text("and"), answer("t1", "first")]),
    ]
    assert [(call.id, call.text, call.status) for call in calls_of(*chain)] == [
        ("t1", "first", ToolStatus.SUCCESS),
        ("t2", "second", ToolStatus.FAILED),
        ("t3", "third", ToolStatus.SUCCESS),
    ]


def test_a_call_that_is_written_twice_is_one_call() -> None:
    """The first line of a call counts, and the last of its results."""
    chain = [
        reply("a", use("t1")),
        reply("b", use("t1")),
        result("c", "t1", "half"),
        result("d", "t1", "whole"),
    ]
    assert [(c.id, c.call_uuid, c.result_uuid, c.text) for c in calls_of(*chain)] == [
        ("t1", "a", "d", "whole")
    ]


def test_results_without_a_call_are_reported() -> None:
    """A fork or a torn line may leave a result without its call."""
    calls, orphans = build_tool_calls([result("a", "t1"), result("b", "t2"), reply("c", use("t2"))])
    assert ([call.id for call in calls], orphans) == (["t2"], ("t1",))


def test_calls_without_an_id_are_all_there() -> None:
    """Calls without ids, written by a proxy, are kept, but have no result."""
    chain = [reply("a", use(""), use("")), reply("b", use("", "Read"))]
    assert [(call.id, call.name) for call in calls_of(*chain)] == [
        ("", "Bash"),
        ("", "Bash"),
        ("", "Read"),
    ]


@pytest.mark.parametrize(
    ("name", "present", "server"),
    [
        ("Task", "Agent", None),
        ("KillBash", "TaskStop", None),
        ("mcp__github__list_issues", "mcp__github__list_issues", "github"),
        ("Novel", "Novel", None),
    ],
)
def test_old_names_are_aliases(name: str, present: str, server: str | None) -> None:
    """A tool has one name across versions, and an MCP tool a server; the recorded name stays."""
    (call,) = calls_of(reply("a", use("t1", name)))
    assert (call.recorded_name, call.name, call.mcp_server) == (name, present, server)


def test_an_interrupt_names_the_message_that_it_cut() -> None:
    """A stopped tool has the same text as a rejected one; a later record distinguishes them."""
    refused = "The user doesn't want to proceed with this tool use."
    stop = user("d", "[Request interrupted by user for tool use]", interruptedMessageId="m1")
    chain = [
        reply("a", use("t1"), message={"id": "m1"}),
        result("b", "t1", refused, is_error=True),
        reply("c", use("t2"), message={"id": "m2"}),
        result("e", "t2", refused, is_error=True),
        stop,
    ]
    assert outcomes_of(*chain) == [
        ("t1", INTERRUPTED, False),
        ("t2", Outcome(ToolStatus.REJECTED, RejectedBy.PERSON), False),
    ]


HITS = [{"type": "web_search_result", "title": "error_code"}]
ERROR = {"type": "web_search_tool_result_error", "error_code": "unavailable"}


@pytest.mark.parametrize(
    ("call", "answered", "expected"),
    [
        ("server_tool_use", {"type": "web_search_tool_result", "content": HITS}, SUCCESS),
        ("server_tool_use", {"type": "web_search_tool_result", "content": ERROR}, FAILED),
        ("server_tool_use", {"type": "web_fetch_tool_result", "content": {"url": "x"}}, SUCCESS),
        ("server_tool_use", {"type": "web_fetch_tool_result"}, SUCCESS),
        ("mcp_tool_use", {"type": "mcp_tool_result", "content": [], "is_error": True}, FAILED),
        ("mcp_tool_use", {"type": "mcp_tool_result", "content": []}, SUCCESS),
    ],
)
def test_the_apis_own_tools_are_answered_by_the_api(
    call: str, answered: dict[str, object], expected: Outcome
) -> None:
    """Calls of server tools and their results are in assistant messages."""
    asked = {"type": call, "id": "s1", "name": "web_search", "input": {"query": "x"}}
    lines = in_a_row(reply("a", asked), reply("b", {**answered, "tool_use_id": "s1"}))
    assert outcomes_of(*lines) == [("s1", expected, False)]


def test_a_server_result_has_no_words_for_the_client() -> None:
    """The result of a server tool is kept as a block; it has no text for the client."""
    asked = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    hits = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": HITS}
    (call,) = calls_of(reply("a", asked), reply("b", hits))
    content = Raw(json.dumps(HITS).encode())
    assert call.block == WebSearchToolResult(tool_use_id="s1", content=content)
    assert (call.text, call.spilled, call.result_uuid) == ("", None, "b")


def test_large_output_is_in_another_file() -> None:
    """A call names the file with its complete output."""
    words = "<persisted-output>\nFull output saved to: /p/b1.txt\n\nPreview (first 2KB):\n1\n2"
    (call,) = calls_of(reply("a", use("t1")), result("b", "t1", words))
    assert call.spilled == SpilledOutput("/p/b1.txt", None, "1\n2")


IDS = st.lists(st.sampled_from(["t1", "t2", "t3", "t4"]), max_size=3)


@given(st.lists(st.tuples(st.booleans(), IDS)))
def test_each_id_is_joined_once(lines: Sequence[tuple[bool, list[str]]]) -> None:
    """Any arrangement of calls and results gives each call once, with its result if any."""
    chain: list[Chain] = []
    for is_call, ids in lines:
        if is_call:
            uses = tuple(ToolUse(id=one) for one in ids)
            chain.append(Assistant(message=ApiMessage(content=uses)))
        else:
            results = tuple(ToolResult(tool_use_id=one) for one in ids)
            chain.append(User(message=UserMessage(content=results)))
    called = list(dict.fromkeys(one for is_call, ids in lines if is_call for one in ids))
    answered = list(dict.fromkeys(one for is_call, ids in lines if not is_call for one in ids))
    calls, orphans = build_tool_calls(chain)
    assert [call.id for call in calls] == called
    assert [call.id for call in calls if call.block] == [one for one in called if one in answered]
    assert list(orphans) == [one for one in answered if one not in called]
