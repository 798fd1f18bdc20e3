"""Subagents joined to the calls that started them, for all versions of the client."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import decode

from recollect.records.envelope import Chain
from recollect.session.subagents import (
    Join,
    JoinedBy,
    SubagentCandidate,
    SubagentMeta,
    first_words,
    join_subagents,
    split_sidechains,
)
from recollect.session.tool_calls import ToolCall
from tests.session.chains import attachment, reply, result, text, user
from tests.session.recordings import make_call


def agent_call(call_id: str, prompt: str, result: object = None, name: str = "Agent") -> ToolCall:
    """A call that starts a subagent."""
    return make_call(name, {"prompt": prompt}, result, call_id=call_id)


def joined(
    candidates: list[SubagentCandidate], **calls: list[ToolCall]
) -> dict[str, tuple[str, str, JoinedBy]]:
    """Return owner, call and kind of link of each joined candidate."""
    joins = join_subagents(candidates, calls)
    return {key: (join.owner, join.call.id, join.joined_by) for key, join in joins.items()}


def test_interleaved_sidechains_are_distinguished() -> None:
    """Parallel subagents of old clients share a file without ids; parents separate them."""
    first, second = user("a", "one", isSidechain=True), user("b", "two", isSidechain=True)
    lines: list[Chain] = [
        first,
        second,
        reply("c", parent="a"),
        reply("d", parent="b"),
        result("e", "t1", parent="d"),
        result("f", "t2", parent="c"),
    ]
    groups = split_sidechains(lines)
    assert [[link.uuid for link in group] for group in groups] == [["a", "c", "f"], ["b", "d", "e"]]


def test_a_sidechain_whose_start_is_lost_is_a_group_of_its_own() -> None:
    """No record is lost or given to the wrong subagent."""
    lines: list[Chain] = [reply("b", parent="gone"), user("c", parent="b"), user("", "nameless")]
    assert split_sidechains(lines) == ((lines[0], lines[1]), (lines[2],))
    assert split_sidechains([]) == ()


@given(st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, 9)), max_size=10))
def test_every_sidechain_record_is_in_one_group(links: list[tuple[int, int | None]]) -> None:
    """Groups partition the records, in file order."""
    lines: list[Chain] = [
        user(str(uuid), parent=None if parent is None else str(parent)) for uuid, parent in links
    ]
    groups = split_sidechains(lines)
    places = {id(line): number for number, line in enumerate(lines)}
    found = [[places[id(line)] for line in group] for group in groups]
    assert sorted(chain.from_iterable(found)) == list(range(len(lines)))
    assert found == sorted(sorted(group) for group in found)


def test_the_task_is_the_first_user_text() -> None:
    """Attachments before it are skipped; without a user record there is no task."""
    links = [attachment("a", "date"), user("b", [text("find"), text("it")]), user("c", "more")]
    assert first_words(links) == "find\nit"
    assert first_words([reply("a", "hello")]) == ""


def test_a_sidecar_is_read_by_its_wire_names() -> None:
    """The meta file of a subagent names its call and its parent."""
    line = b'{"agentType":"fork","toolUseId":"t1","parentAgentId":"a1","isFork":true,"new":1}'
    assert decode(line, type=SubagentMeta) == SubagentMeta(
        agent_type="fork", tool_use_id="t1", parent_agent_id="a1", is_fork=True
    )


def test_the_sidecar_names_the_call() -> None:
    """The call's id is the strongest link, whatever the prompt."""
    call = agent_call("t1", "one thing")
    candidate = SubagentCandidate("a1", "another thing", SubagentMeta(tool_use_id="t1"))
    assert join_subagents([candidate], {"main": [call]}) == {
        "a1": Join("main", call, JoinedBy.CALL_ID)
    }


@pytest.mark.parametrize(
    "call",
    [
        agent_call("t1", "x", {"status": "completed", "agentId": "a1"}),
        agent_call("t1", "x", {"status": "async_launched", "agentId": "a1"}),
        agent_call("t1", "x", {"status": "teammate_spawned", "agent_id": "a1"}),
        agent_call("t1", "x", {"agentId": "a1"}, name="Task"),
        make_call("Skill", {"skill": "review"}, {"success": True, "agentId": "a1"}),
    ],
)
def test_the_result_names_the_subagent(call: ToolCall) -> None:
    """Without a sidecar, the agent id in the call's result links them."""
    assert joined([SubagentCandidate("a1", "other")], main=[call]) == {
        "a1": ("main", "t1", JoinedBy.AGENT_ID)
    }


def test_all_subagents_of_a_workflow_have_one_call() -> None:
    """A workflow's result names the run, and all its subagents belong to that call."""
    call = make_call("Workflow", {"name": "w"}, {"status": "async_launched", "runId": "r1"})
    candidates = [
        SubagentCandidate("a1", "one", run_id="r1"),
        SubagentCandidate("a2", "two", run_id="r1"),
    ]
    assert joined([*candidates, SubagentCandidate("a3", "three", run_id="r2")], main=[call]) == {
        "a1": ("main", "t1", JoinedBy.RUN_ID),
        "a2": ("main", "t1", JoinedBy.RUN_ID),
    }


def test_equal_prompts_are_joined_in_order() -> None:
    """Old clients leave only the text: equal prompts are matched in order."""
    calls = [agent_call(call_id, prompt) for call_id, prompt in zip("stuv", "xyxx", strict=True)]
    candidates = [
        SubagentCandidate(agent, prompt) for agent, prompt in zip("abcde", "xxyxx", strict=True)
    ]
    assert joined(candidates, main=calls) == {
        "a": ("main", "s", JoinedBy.PROMPT),
        "b": ("main", "u", JoinedBy.PROMPT),
        "c": ("main", "t", JoinedBy.PROMPT),
        "d": ("main", "v", JoinedBy.PROMPT),
    }


def test_words_never_take_a_call_from_an_id() -> None:
    """A call linked by id is never matched by an equal prompt, in any order."""
    calls = [agent_call("t1", "same"), agent_call("t2", "same")]
    candidates = [
        SubagentCandidate("a1", "same"),
        SubagentCandidate("a2", "same", SubagentMeta(tool_use_id="t1")),
    ]
    assert joined(candidates, main=calls) == {
        "a1": ("main", "t2", JoinedBy.PROMPT),
        "a2": ("main", "t1", JoinedBy.CALL_ID),
    }


def test_a_call_that_names_another_subagent_is_not_free() -> None:
    """Even if the named subagent's file is missing, an equal prompt does not match the call."""
    calls = [agent_call("t1", "same", {"agentId": "gone"}), agent_call("t2", "same")]
    assert joined([SubagentCandidate("a1", "same")], main=calls) == {
        "a1": ("main", "t2", JoinedBy.PROMPT)
    }


def test_a_subagent_that_is_woken_again_belongs_to_its_first_call() -> None:
    """Two calls name one subagent; the first of them started it."""
    calls = [agent_call(call_id, "go", {"agentId": "a1"}) for call_id in ("t1", "t2")]
    assert joined([SubagentCandidate("a1", "go")], main=calls) == {
        "a1": ("main", "t1", JoinedBy.AGENT_ID)
    }


def test_subagents_start_subagents() -> None:
    """The call of a nested subagent is in another subagent's transcript."""
    candidates = [SubagentCandidate("a1", "outer"), SubagentCandidate("a2", "inner")]
    calls = {"main": [agent_call("t1", "outer")], "a1": [agent_call("t2", "inner")], "a2": []}
    assert joined(candidates, **calls) == {
        "a1": ("main", "t1", JoinedBy.PROMPT),
        "a2": ("a1", "t2", JoinedBy.PROMPT),
    }


def test_nobody_starts_itself() -> None:
    """A fork begins with a copy of its parent's calls, including the one that started it."""
    copied = agent_call("t1", "go", {"agentId": "a1"})
    fork = SubagentCandidate("a1", "go", SubagentMeta(tool_use_id="t1"))
    assert joined([fork], main=[copied], a1=[copied]) == {"a1": ("main", "t1", JoinedBy.CALL_ID)}
    assert joined([fork], a1=[copied]) == {}
    assert joined([SubagentCandidate("a1", "go")], a1=[agent_call("t1", "go")]) == {}


def test_a_weaker_tie_holds_where_the_stronger_leads_to_itself() -> None:
    """A sidecar that names a copied call does not override the parent's result."""
    fork = SubagentCandidate("a1", "go", SubagentMeta(tool_use_id="t1"))
    calls = {"a1": [agent_call("t1", "go")], "main": [agent_call("t2", "x", {"agentId": "a1"})]}
    assert joined([fork], **calls) == {"a1": ("main", "t2", JoinedBy.AGENT_ID)}


def test_other_tools_start_nobody() -> None:
    """A call of another tool starts no subagent, even with the same text and ids."""
    call = make_call("Bash", {"prompt": "go"}, {"agentId": "a1"})
    assert (
        joined([SubagentCandidate("a1", "go", SubagentMeta(tool_use_id="t1"))], main=[call]) == {}
    )


def test_no_words_are_no_tie() -> None:
    """An empty prompt matches nothing."""
    assert joined([SubagentCandidate("a1", "")], main=[agent_call("t1", "")]) == {}


def test_thousands_of_equal_prompts_are_joined_in_one_pass() -> None:
    """Equal prompts are taken from a queue instead of searched again."""
    count = 3_000
    calls = [agent_call(f"t{n}", "same") for n in range(count)]
    found = joined([SubagentCandidate(f"a{n}", "same") for n in range(count)], main=calls)
    assert found == {f"a{n}": ("main", f"t{n}", JoinedBy.PROMPT) for n in range(count)}
