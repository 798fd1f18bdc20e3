"""Our reader, session model and ledger agree with what the real client was made to do."""

import json
import os
import signal

import pytest

from recollect.documents.kinds import RejectedBy, ToolStatus
from recollect.records.token_usage import Tokens
from recollect.session.session import Session
from tests.client.client_sandbox import ALLOWED, RECOLLECT, SECONDS, ClientSandbox, Follower
from tests.client.scenes import SCENES, SUMMARY, add, count, texts
from tests.client.versions import OLDEST

pytestmark = pytest.mark.client

SUCCESS, FAILED = ToolStatus.SUCCESS, ToolStatus.FAILED
LIVED = ("hello", "thought", "tools", "denied")


def list_reply_texts(session: Session) -> list[str]:
    """Return the text of the model, reply by reply."""
    replies = [each for each in session.messages if each.role == "assistant"]
    return [each.text for each in replies if each.text and not each.is_synthetic]


def list_prompts(session: Session) -> list[str]:
    """Return the prompts."""
    return [turn.words for turn in session.turns if turn.is_by_person]


@pytest.mark.parametrize("scene", LIVED)
def test_words_and_tokens_are_those_of_the_scene(sandbox: ClientSandbox, scene: str) -> None:
    """Prompt, text and tokens are exact, in the model and the ledger."""
    messages = sandbox.ask(f"play:{scene} please")
    session = sandbox.open()
    assert list_prompts(session) == [f"play:{scene} please"]
    assert list_reply_texts(session) == texts(scene)
    assert session.metrics.tokens == count(scene)
    assert sandbox.count_ledger() == count(scene)
    assert messages[-1]["session_id"] == session.id
    assert session.irregular == ()


def test_thoughts_are_kept(sandbox: ClientSandbox) -> None:
    """Thinking is a separate block before the text of the same reply."""
    sandbox.ask("play:thought")
    (reply,) = [each for each in sandbox.open().messages if each.role == "assistant"]
    kinds = [type(block).__name__ for block in reply.content]
    assert kinds == ["Thinking", "Text"]


def test_tools_end_as_they_did(sandbox: ClientSandbox) -> None:
    """Each call has the outcome of its command."""
    sandbox.ask("play:tools")
    calls = sandbox.open().tool_calls
    assert [(call.name, call.status) for call in calls] == [
        ("Bash", SUCCESS),
        ("Bash", FAILED),
        ("Bash", SUCCESS),
        ("Bash", SUCCESS),
    ]


def test_what_was_not_allowed_is_a_rejection(sandbox: ClientSandbox) -> None:
    """A tool that is not allowed is rejected by a rule, and has not failed."""
    sandbox.ask("play:denied")
    (call,) = sandbox.open().tool_calls
    assert (call.name, call.status, call.rejected_by) == (
        "Write",
        ToolStatus.REJECTED,
        RejectedBy.RULE,
    )


def test_a_subagent_is_joined_to_its_call(sandbox: ClientSandbox) -> None:
    """It has its own text, call and tokens, and the ledger has both."""
    sandbox.ask("play:agent")
    session = sandbox.open()
    (child,) = [each for each in session.subagents if not each.is_warmup]
    (call,) = session.tool_calls
    assert child.call is not None
    assert (child.call.id, call.status) == (call.id, SUCCESS)
    assert (child.agent_type, child.description) == ("general-purpose", "Look around")
    assert list_reply_texts(child.session) == texts("worker")
    assert [each.status for each in child.session.tool_calls] == [SUCCESS]
    assert child.session.metrics.tokens == count("worker")
    assert list_reply_texts(session) == texts("agent")[:2]
    assert session.metrics.tokens == count("agent", replies=2)
    assert sandbox.count_ledger() == add(count("worker"), count("agent", replies=2))


def test_a_resumed_session_continues(sandbox: ClientSandbox) -> None:
    """There is one session with both turns, and a later resume would load both."""
    first = sandbox.ask("play:hello first")[-1]["session_id"]
    sandbox.ask("play:again second", "--resume", first)
    session = sandbox.open()
    assert session.id == first
    assert list_prompts(session) == ["play:hello first", "play:again second"]
    assert list_reply_texts(session) == texts("hello", "again")
    assert session.metrics.tokens == count("hello", "again")
    assert sandbox.count_ledger() == count("hello", "again")
    loaded = [each.content for each in session.resumable_texts if each.role == "assistant"]
    assert loaded == texts("hello", "again")


def test_a_fork_leaves_the_session_as_it_is(sandbox: ClientSandbox) -> None:
    """The copy has the first turn too, and copied messages count once."""
    first = sandbox.ask("play:hello first")[-1]["session_id"]
    sandbox.ask("play:aside second", "--resume", first, "--fork-session")
    (copy,) = set(sandbox.session_ids) - {first}
    assert list_reply_texts(sandbox.open(first)) == texts("hello")
    assert list_reply_texts(sandbox.open(copy)) == texts("hello", "aside")
    assert sandbox.count_ledger() == count("hello", "aside")


def test_a_compaction_begins_a_segment(sandbox: ClientSandbox) -> None:
    """There are two segments, with the summary in between."""
    first = sandbox.ask("play:hello first")[-1]["session_id"]
    sandbox.ask("/compact", "--resume", first)
    sandbox.ask("play:again second", "--resume", first)
    session = sandbox.open()
    assert [segment.trigger for segment in session.segments] == [None, "manual"]
    assert SUMMARY in (session.segments[1].summary or "")
    assert list_reply_texts(session) == texts("hello", "again")
    assert session.metrics.tokens == count("hello", "again")
    loaded = [each.content for each in session.resumable_texts if each.role == "assistant"]
    assert loaded == texts("again")


def test_a_failed_request_is_a_failure(sandbox: ClientSandbox) -> None:
    """The API's message is kept, nothing is counted, and `run` passes the exit code on."""
    done = sandbox.recollect("run", "play:refused", "--", ALLOWED)
    assert done.code == 1
    session = sandbox.open()
    (failure,) = [each.failure for each in session.messages if each.failure]
    assert "The scene says no." in failure.text
    assert (session.metrics.tokens, session.metrics.errors) == (Tokens(), 1)


def test_an_interrupt_in_a_reply_leaves_both_sides_clean(
    sandbox: ClientSandbox, version: str
) -> None:
    """Both programs end, no process is left, and the session, if any, can be resumed."""
    words = ("run", "play:slow_words", "--json-lines", "--", ALLOWED)
    with sandbox.start([*RECOLLECT, *words]) as process:
        follower = Follower(process)
        follower.wait_for("word5")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=SECONDS) == 130
        follower.wait_for('"ended"')
    assert sandbox.list_processes() == {}
    if version == OLDEST:
        # It writes nothing before the first reply is whole.
        assert sandbox.session_ids == []
        return
    session = sandbox.open()
    assert list_prompts(session)[:1] == ["play:slow_words"]
    sandbox.ask("play:again", "--resume", session.id)
    assert list_reply_texts(sandbox.open(session.id))[-1:] == texts("again")


def test_an_interrupt_in_a_tool_leaves_both_sides_clean(sandbox: ClientSandbox) -> None:
    """The tool's process ends too, and its call does not count as successful."""
    words = ("run", "play:long_tool", "--json-lines", "--", ALLOWED)
    with sandbox.start([*RECOLLECT, *words]) as process:
        follower = Follower(process)
        follower.wait_for('"tool_use"', "sleep 600", '"assistant"')
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=SECONDS) == 130
        follower.wait_for('"ended"')
    left = sandbox.list_processes()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == {}
    calls = sandbox.open().tool_calls
    # The newest client may exit before it has written a call that it has printed.
    assert len(calls) <= 1
    assert {call.status for call in calls}.isdisjoint({SUCCESS, FAILED})


def test_every_scene_has_tokens_of_its_own() -> None:
    """All replies report different tokens, so that they cannot be confused."""
    outputs = [reply.output for replies in SCENES.values() for reply in replies]
    assert len(outputs) == len(set(outputs))


def test_a_session_continues_after_an_earlier_turn(sandbox: ClientSandbox) -> None:
    """`resume --at` gives the client exactly the turns up to it, without changing the session."""
    first = sandbox.ask("play:tools one")[-1]["session_id"]
    for prompt in ("play:again two", "play:thought three"):
        sandbox.ask(prompt, "--resume", first)
    before = sandbox.open(first)
    assert len(list_prompts(before)) == 3
    words = ("-p", "--output-format", "json", ALLOWED, "play:hello instead")
    done = sandbox.recollect("resume", first, "--at", "2", "--", *words)
    assert done.code == 0, done
    after = sandbox.open(json.loads(done.stdout)["session_id"])
    assert list_prompts(after) == ["play:tools one", "play:again two", "play:hello instead"]
    assert list_reply_texts(after) == texts("tools", "again", "hello")
    assert [each.uuids for each in sandbox.open(first).messages] == [
        each.uuids for each in before.messages
    ]
