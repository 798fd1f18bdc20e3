"""Conversations with a fake client."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from recollect.errors import ClientFailure, NothingFound, UsageError
from recollect.launch.conversation import Conversation, converse
from recollect.launch.conversation_events import (
    Allow,
    AnswerElicitation,
    Answers,
    ApprovePlan,
    ClientEnded,
    ClientSilent,
    ClientStarted,
    ConversationEvent,
    ConversationStatus,
    Deny,
    KeepPlanning,
    LineUnparsed,
    NoticeReceived,
    PromptImage,
    PromptQueued,
    PromptTaken,
    PromptWithdrawn,
    QuestionRequest,
    RecordReceived,
    RequestAnswer,
    RequestAsked,
    RequestSettled,
    SettingsChanged,
    StatusChanged,
    StderrPrinted,
    Suggestion,
    TasksChanged,
    TextStreamed,
    TurnFinished,
)
from recollect.launch.conversation_options import Timing
from recollect.launch.conversation_process import ProcessLimit
from recollect.records.blocks import Text
from recollect.records.conversation_records import Assistant, User
from tests.launch.conversing import (
    is_running,
    list_responses,
    make_options,
    read_lines,
    talk,
    wait_for,
)
from tests.launch.fake_client import needs_posix
from tests.library.claude_root import ClaudeRoot

pytestmark = needs_posix


async def finish(conversation: Conversation, prompt: str) -> int:
    """Send a prompt and wait for the end of its turn; return the number of that event."""
    after = conversation.last_event
    uuid = await conversation.send(prompt)
    while True:
        finished = await wait_for(conversation, TurnFinished, after)
        after = finished.number
        if uuid in finished.result.user_message_uuids:
            return after


async def list_events(conversation: Conversation, last: int) -> list[ConversationEvent]:
    """Return the kept events up to a number."""
    found: list[ConversationEvent] = []
    async for event in conversation.events():
        found.append(event)
        if event.number >= last:
            break
    return found


def read_text(event: ConversationEvent) -> str | None:
    """Return the text of a finished reply; None for other events."""
    if not isinstance(event, RecordReceived) or not isinstance(event.record, Assistant):
        return None
    content = event.record.message.content if event.record.message else None
    return "".join(each.words for each in content or () if isinstance(each, Text))


def test_a_turn_is_streamed_and_then_replaced_by_its_record(tmp_path: Path) -> None:
    """Deltas name the block that the finished record replaces, and are dropped once it is there."""

    async def script(conversation: Conversation) -> None:
        await wait_for(conversation, StatusChanged, status=ConversationStatus.IDLE)
        last = await finish(conversation, "say hello dear world")
        events = await list_events(conversation, last)
        assert [type(event).__name__ for event in events] == [
            "ClientStarted",
            "StatusChanged",
            "PromptQueued",
            "StatusChanged",
            "PromptTaken",
            "RecordReceived",
            "SettingsChanged",
            "StatusChanged",
            "RecordReceived",
            "TurnFinished",
        ]
        prompt, reply = [each for each in events if isinstance(each, RecordReceived)]
        assert isinstance(prompt.record, User)
        assert isinstance(reply.record, Assistant)
        assert reply.record.message is not None
        assert reply.record.message.content == (Text(text="hello dear world"),)
        assert (reply.message_id, reply.index) == (reply.record.message.id, 0)
        assert reply.record.parent_uuid == prompt.record.uuid
        assert conversation.cost == 0.01
        assert conversation.status is ConversationStatus.IDLE

    talk(make_options(tmp_path), script)


def test_a_reader_sees_words_before_the_record(tmp_path: Path) -> None:
    """Streamed text reaches a reader while the block is still being written."""

    async def script(conversation: Conversation) -> None:
        await conversation.send("slow word ")
        pieces: list[str] = []
        async for event in conversation.events():
            if isinstance(event, TextStreamed):
                pieces.append(event.text)
            if len(pieces) == 3:
                break
        assert pieces == ["word", " word", " word"]
        await conversation.interrupt()
        await wait_for(conversation, TurnFinished)

    talk(make_options(tmp_path), script)


def test_three_turns_are_one_process(tmp_path: Path) -> None:
    """A client takes any number of prompts, each with its own uuid."""

    async def script(conversation: Conversation) -> list[str]:
        last = 0
        for word in ("one", "two", "three"):
            last = await finish(conversation, f"say {word}")
        texts = map(read_text, await list_events(conversation, last))
        return [text for text in texts if text]

    assert talk(make_options(tmp_path), script) == ["one", "two", "three"]
    (called,) = read_lines(tmp_path, "called.jsonl")
    assert called["arguments"][-1].startswith("--session-id=")
    prompts = [each for each in read_lines(tmp_path, "received.jsonl") if each["type"] == "user"]
    assert len({each["uuid"] for each in prompts}) == 3
    assert not is_running(called["pid"])


SUGGESTION = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "echo hi"}],
    "behavior": "allow",
    "destination": "localSettings",
}


@pytest.mark.parametrize(
    ("answer", "how", "sent"),
    [
        (Allow(), "allowed", {"behavior": "allow", "updatedInput": {"command": "echo hi"}}),
        (
            Allow(updated_input={"command": "echo ho"}),
            "edited",
            {"behavior": "allow", "updatedInput": {"command": "echo ho"}},
        ),
        (
            Allow(
                remember=Suggestion(
                    kind="addRules",
                    text="Bash(echo hi)",
                    destination="localSettings",
                    raw=Raw(json.dumps(SUGGESTION).encode()),
                )
            ),
            "remembered",
            {
                "behavior": "allow",
                "updatedInput": {"command": "echo hi"},
                "updatedPermissions": [SUGGESTION],
            },
        ),
        (
            Deny(message="Not that."),
            "denied",
            {"behavior": "deny", "message": "Not that.", "interrupt": False},
        ),
        (
            Deny(interrupt=True),
            "denied",
            {"behavior": "deny", "message": "The user denied this.", "interrupt": True},
        ),
    ],
)
def test_a_tool_waits_for_an_answer(
    tmp_path: Path, answer: RequestAnswer, how: str, sent: dict[str, Any]
) -> None:
    """Each answer is sent to the client once, with the input, and settles the request."""

    async def script(conversation: Conversation) -> None:
        await conversation.send("tools hi")
        asked = await wait_for(conversation, RequestAsked)
        assert conversation.status is ConversationStatus.WAITING
        assert conversation.pending == (asked.request,)
        await conversation.answer(asked.request.id, answer, by="the terminal")
        settled = await wait_for(conversation, RequestSettled)
        assert (settled.id, settled.how, settled.by) == (asked.request.id, how, "the terminal")
        with pytest.raises(UsageError, match=f"no longer open: {how}"):
            await conversation.answer(asked.request.id, answer)
        await wait_for(conversation, TurnFinished)
        assert len(conversation.pending) == 0

    talk(make_options(tmp_path), script)
    (response,) = list_responses(tmp_path)
    assert response["response"] == sent


def test_only_open_requests_are_answered_and_only_by_fitting_answers(tmp_path: Path) -> None:
    """Unknown requests, wrong kinds of answers and made-up rules are rejected."""

    async def script(conversation: Conversation) -> None:
        await conversation.send("tools hi")
        asked = await wait_for(conversation, RequestAsked)
        with pytest.raises(NothingFound, match="There is no request nope"):
            await conversation.answer("nope", Allow())
        with pytest.raises(UsageError, match="Answers does not answer a ToolRequest"):
            await conversation.answer(asked.request.id, Answers({}))
        everything = Suggestion(kind="addRules", text="", destination="", raw=Raw(b"{}"))
        with pytest.raises(UsageError, match="Only a permission suggested by the client"):
            await conversation.answer(asked.request.id, Allow(remember=everything))
        assert [each.id for each in conversation.pending] == [asked.request.id]

    talk(make_options(tmp_path), script)
    assert list_responses(tmp_path) == []


def test_questions_plans_and_servers_get_their_answers(tmp_path: Path) -> None:
    """Answers are added to the question's input; a plan is approved or sent back."""

    async def script(conversation: Conversation) -> None:
        answers: list[tuple[str, RequestAnswer]] = [
            ("ask", Answers({"Which colour?": ("Blue", "Red")})),
            ("ask", Deny(message="Neither.")),
            ("plan", ApprovePlan(accept_edits=True)),
            ("plan", ApprovePlan(plan="1. Leap")),
            ("plan", KeepPlanning("Look twice.")),
            ("elicit", AnswerElicitation(action="accept", content={"port": "Kiel"})),
            ("elicit", AnswerElicitation(action="decline")),
        ]
        for prompt, answer in answers:
            after = conversation.last_event
            await conversation.send(prompt)
            asked = await wait_for(conversation, RequestAsked, after)
            if isinstance(asked.request, QuestionRequest):
                assert [each.label for each in asked.request.questions[0].options] == [
                    "Blue",
                    "Red",
                ]
            await conversation.answer(asked.request.id, answer)
            await wait_for(conversation, TurnFinished, after)

    talk(make_options(tmp_path), script)
    responses = [each["response"] for each in list_responses(tmp_path)]
    assert responses[0]["updatedInput"]["answers"] == {"Which colour?": "Blue, Red"}
    assert responses[0]["updatedInput"]["questions"][0]["header"] == "Colour"
    assert responses[1]["message"] == "Neither."
    assert responses[2]["updatedPermissions"] == [
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    ]
    assert responses[3]["updatedInput"] == {"plan": "1. Leap", "planFilePath": "/tmp/plan.md"}
    assert responses[4] == {"behavior": "deny", "message": "Look twice.", "interrupt": False}
    assert responses[5:] == [
        {"action": "accept", "content": {"port": "Kiel"}},
        {"action": "decline"},
    ]


def test_an_interrupt_ends_the_turn_and_the_next_one_works(tmp_path: Path) -> None:
    """The text so far becomes a record, and an open question is withdrawn."""

    async def script(conversation: Conversation) -> None:
        await conversation.send("slow word ")
        await wait_for(conversation, TextStreamed)
        await conversation.interrupt()
        ended = await wait_for(conversation, TurnFinished)
        assert ended.result.subtype == "error_during_execution"
        await conversation.send("tools hi")
        asked = await wait_for(conversation, RequestAsked)
        await conversation.interrupt()
        settled = await wait_for(conversation, RequestSettled)
        assert (settled.id, settled.how, settled.by) == (asked.request.id, "cancelled", "claude")
        await finish(conversation, "say still here")
        assert conversation.status is ConversationStatus.IDLE

    talk(make_options(tmp_path), script)


def test_prompts_are_queued_while_the_client_works(tmp_path: Path) -> None:
    """A queued prompt waits, can be withdrawn, and is taken in order."""

    async def script(conversation: Conversation) -> None:
        await conversation.send("tools hi")
        asked = await wait_for(conversation, RequestAsked)
        second = await conversation.send("say second")
        third = await conversation.send("say third")
        assert [each.uuid for each in conversation.queue] == [second, third]
        assert await conversation.cancel_prompt(second)
        assert not await conversation.cancel_prompt(second)
        await wait_for(conversation, PromptWithdrawn, uuid=second)
        await conversation.answer(asked.request.id, Allow())
        taken = await wait_for(conversation, PromptTaken, uuid=third)
        queued = await wait_for(conversation, PromptQueued, uuid=third)
        finished = await wait_for(conversation, TurnFinished)
        assert queued.number < finished.number < taken.number
        await wait_for(conversation, TurnFinished, taken.number)
        assert (conversation.queue, conversation.status) == ((), ConversationStatus.IDLE)

    talk(make_options(tmp_path), script)


def test_a_prompt_that_nobody_took_is_withdrawn_without_a_client(tmp_path: Path) -> None:
    """A prompt queued for a client that died is withdrawn without starting another client."""

    async def script(conversation: Conversation) -> None:
        await conversation.send("tools hi")
        await wait_for(conversation, RequestAsked)
        queued = await conversation.send("say later")
        pid = conversation.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        ended = await wait_for(conversation, ClientEnded)
        assert await conversation.cancel_prompt(queued)
        assert not await conversation.cancel_prompt(queued)
        await wait_for(conversation, PromptWithdrawn, uuid=queued)
        assert not conversation.queue
        later = conversation.list_events(ended.number)
        assert not any(isinstance(each, ClientStarted) for each in later)
        await finish(conversation, "say again")
        later = conversation.list_events(ended.number)
        taken = [each for each in later if isinstance(each, PromptTaken)]
        assert len(taken) == 1

    talk(make_options(tmp_path), script)


def test_images_are_sent_as_blocks(tmp_path: Path) -> None:
    """An image precedes the text, encoded for the API."""

    async def script(conversation: Conversation) -> None:
        await conversation.send("say seen", [PromptImage("image/png", b"\x89PNG")])
        await wait_for(conversation, TurnFinished)

    talk(make_options(tmp_path), script)
    (prompt,) = [each for each in read_lines(tmp_path, "received.jsonl") if each["type"] == "user"]
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    assert prompt["message"]["content"] == [
        {"type": "image", "source": source},
        {"type": "text", "text": "say seen"},
    ]


@pytest.mark.parametrize("is_stubborn", [False, True])
def test_the_default_effort_comes_back(tmp_path: Path, is_stubborn: bool) -> None:
    """A client that cannot reset the level is restarted, but not while it works."""
    options = make_options(tmp_path)
    if is_stubborn:
        (tmp_path / "bin" / "stubborn").touch()

    async def script(conversation: Conversation) -> int:
        await finish(conversation, "say one")
        await conversation.set_effort("high")
        after = conversation.last_event
        await conversation.send("tools one")
        asked = await wait_for(conversation, RequestAsked, after)
        await conversation.set_effort(None)
        await conversation.send("say two")
        await conversation.answer(asked.request.id, Allow())
        first = await wait_for(conversation, TurnFinished, asked.number)
        await wait_for(conversation, TurnFinished, first.number)
        await finish(conversation, "say three")
        ended = [e for e in conversation.list_events() if isinstance(e, ClientEnded)]
        assert [each.reason for each in ended] == ["idle"] * is_stubborn
        return sum(isinstance(e, ClientStarted) for e in conversation.list_events())

    assert talk(options, script) == 1 + is_stubborn


def test_costs_of_all_clients_are_added(tmp_path: Path) -> None:
    """A restarted client counts from zero; the conversation does not."""

    async def script(conversation: Conversation) -> None:
        await finish(conversation, "say one")
        await finish(conversation, "say two")
        assert conversation.cost == pytest.approx(0.02)
        after = conversation.last_event
        await conversation.send("die")
        await wait_for(conversation, ClientEnded, after)
        assert conversation.cost == pytest.approx(0.02)
        await finish(conversation, "say three")
        assert conversation.cost == pytest.approx(0.03)

    talk(make_options(tmp_path), script)


def test_settings_are_changed_and_survive_the_client(tmp_path: Path) -> None:
    """The next client has the same model and mode; a refused setting is an error."""

    async def script(conversation: Conversation) -> None:
        await finish(conversation, "say one")
        await conversation.set_model("claude-other-2")
        await conversation.set_permission_mode("plan")
        await conversation.set_effort("high")
        await wait_for(conversation, SettingsChanged, model="claude-other-2", effort="high")
        rejected = "claude rejected set_permission_mode: invalid_mode"
        with pytest.raises(ClientFailure, match=rejected):
            await conversation.set_permission_mode("nonsense")
        with pytest.raises(UsageError, match="has to be allowed"):
            await conversation.set_permission_mode("bypassPermissions")
        assert (conversation.model, conversation.permission_mode) == ("claude-other-2", "plan")
        usage = await conversation.context_usage()
        assert (usage.total_tokens, usage.max_tokens) == (1200, 200_000)
        info = await conversation.client_info()
        assert [each.name for each in info.commands] == ["compact"]
        await conversation.send("die")
        await wait_for(conversation, ClientEnded)
        await finish(conversation, "say again")
        assert conversation.permission_mode == "plan"

    talk(make_options(tmp_path), script)
    first, second = (each["arguments"] for each in read_lines(tmp_path, "called.jsonl"))
    session = first[-1].removeprefix("--session-id=")
    efforts = [
        each["request"]["settings"]
        for each in read_lines(tmp_path, "received.jsonl")
        if each.get("request", {}).get("subtype") == "apply_flag_settings"
    ]
    assert efforts == [{"effortLevel": "high"}] * 2
    assert second[-3:] == [
        f"--resume={session}",
        "--model=claude-other-2",
        "--permission-mode=plan",
    ]


def test_a_client_that_dies_is_an_event(tmp_path: Path) -> None:
    """Its exit code and last output are reported; a prompt starts another one."""

    async def script(conversation: Conversation) -> None:
        await conversation.send("die 7")
        ended = await wait_for(conversation, ClientEnded)
        assert (ended.code, ended.reason, ended.words) == (7, "died", "out of luck")
        assert conversation.status is ConversationStatus.ENDED
        assert (await wait_for(conversation, StderrPrinted)).text == "out of luck"
        await finish(conversation, "say again")
        assert (await wait_for(conversation, ClientStarted, ended.number)).resumed

    talk(make_options(tmp_path), script)


def test_a_killed_client_loses_its_requests(tmp_path: Path) -> None:
    """A request whose client was killed can no longer be answered, and was not allowed."""

    async def script(conversation: Conversation) -> None:
        await conversation.send("tools hi")
        asked = await wait_for(conversation, RequestAsked)
        pid = conversation.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        ended = await wait_for(conversation, ClientEnded)
        assert (ended.code, ended.reason) == (137, "died")
        assert (await wait_for(conversation, RequestSettled)).how == "lost"
        with pytest.raises(UsageError, match="no longer open: lost"):
            await conversation.answer(asked.request.id, Allow())

    talk(make_options(tmp_path), script)
    assert list_responses(tmp_path) == []


def test_garbage_is_an_event(tmp_path: Path) -> None:
    """Lines that are not messages are reported, and unknown messages are ignored."""

    async def script(conversation: Conversation) -> None:
        await finish(conversation, "garbage")
        assert (await wait_for(conversation, LineUnparsed)).text == "warning: not json"

    talk(make_options(tmp_path), script)


def test_a_client_that_never_answers_is_ended(tmp_path: Path) -> None:
    """A client that is silent at the start is killed, and the reason is given."""
    options = make_options(tmp_path, Timing(start=0.3, end=(0.1, 60.0)))
    (tmp_path / "bin" / "mute").touch()

    async def script(conversation: Conversation) -> None:
        ended = await wait_for(conversation, ClientEnded)
        assert (ended.code, ended.reason) == (143, "failed")

    talk(options, script)


def test_a_client_that_refuses_to_start_says_why(tmp_path: Path) -> None:
    """The event of a client that exits at once has its output."""
    options = make_options(tmp_path)
    (tmp_path / "bin" / "refuse").write_text("Error: no such model\n")

    async def script(conversation: Conversation) -> None:
        ended = await wait_for(conversation, ClientEnded)
        assert (ended.code, ended.reason, ended.words) == (1, "died", "Error: no such model")
        with pytest.raises(ClientFailure, match="claude has exited"):
            await conversation.context_usage()

    talk(options, script)


def test_control_requests_time_out(tmp_path: Path) -> None:
    """If a client does not respond, a request fails after its time limit."""

    async def script(conversation: Conversation) -> None:
        await finish(conversation, "deaf")
        with pytest.raises(
            ClientFailure, match=r"claude did not respond to get_context_usage within 0\.2 s"
        ):
            await conversation.context_usage()

    talk(make_options(tmp_path, Timing(request=0.2)), script)


def test_a_silent_client_is_reported(tmp_path: Path) -> None:
    """Silence in the middle of a turn is reported, except while waiting for the user."""

    async def script(conversation: Conversation) -> None:
        await conversation.send("tools hi")
        asked = await wait_for(conversation, RequestAsked)
        # A silence that is not reported cannot be waited for.
        await asyncio.sleep(0.3)
        after = conversation.list_events(asked.number)
        assert not [each for each in after if isinstance(each, ClientSilent)]
        await conversation.answer(asked.request.id, Allow())
        await conversation.send("nap 300")
        assert (await wait_for(conversation, ClientSilent, asked.number)).seconds >= 0.1

    talk(make_options(tmp_path, Timing(silence=0.1)), script)


def test_an_idle_client_is_ended_and_resumed(tmp_path: Path) -> None:
    """The next prompt starts another client with the same session."""

    async def script(conversation: Conversation) -> str:
        await finish(conversation, "say one")
        ended = await wait_for(conversation, ClientEnded)
        assert (ended.code, ended.reason) == (0, "idle")
        assert (conversation.status, conversation.pid) == (ConversationStatus.IDLE, None)
        await finish(conversation, "say two")
        return conversation.session_id

    session = talk(make_options(tmp_path, Timing(idle=0.1)), script)
    first, second = (each["arguments"] for each in read_lines(tmp_path, "called.jsonl")[:2])
    assert f"--session-id={session}" in first
    assert f"--resume={session}" in second


def test_a_background_task_keeps_the_client_and_ends_with_it(tmp_path: Path) -> None:
    """A client with a task is not idle; what it started elsewhere is ended with it."""

    async def script(conversation: Conversation) -> int:
        await finish(conversation, "task")
        assert conversation.tasks == {"b1": "sleep"}
        await asyncio.sleep(0.3)
        assert conversation.pid is not None
        await conversation.stop_task("b1")
        await wait_for(conversation, TasksChanged, tasks={})
        return int((tmp_path / "bin" / "left.pid").read_text())

    left = talk(make_options(tmp_path, Timing(idle=0.1)), script)
    assert not is_running(left)


def test_requests_to_programs_are_refused(tmp_path: Path) -> None:
    """An unregistered hook gets an error instead of keeping the client waiting."""

    async def script(conversation: Conversation) -> None:
        await finish(conversation, "hook")
        assert conversation.pending == ()

    talk(make_options(tmp_path), script)
    (response,) = list_responses(tmp_path)
    assert (response["subtype"], response["error"]) == ("error", "Recollect cannot do this.")


def test_dialogs_of_a_terminal_are_cancelled(tmp_path: Path) -> None:
    """The client continues without the dialog, and a notice says so."""

    async def script(conversation: Conversation) -> str:
        await finish(conversation, "dialog computer_use_approval")
        return (await wait_for(conversation, NoticeReceived)).text

    assert talk(make_options(tmp_path), script) == (
        "Claude Code tried to open a dialog (computer_use_approval) that only its own terminal"
        " can show. It was cancelled."
    )
    (response,) = list_responses(tmp_path)
    assert response["response"] == {"behavior": "cancelled"}


def test_an_ended_conversation_takes_nothing(tmp_path: Path) -> None:
    """Event streams end, and prompts are rejected."""

    async def run() -> None:
        async with converse(make_options(tmp_path)) as conversation:
            await finish(conversation, "say one")
        assert conversation.status is ConversationStatus.ENDED
        last = [event async for event in conversation.events()][-1]
        assert isinstance(last, ClientEnded)
        assert (last.code, last.reason) == (0, "ended")
        with pytest.raises(UsageError, match="The conversation has ended"):
            await conversation.send("say two")
        with pytest.raises(UsageError, match="The conversation has ended"):
            await conversation.cancel_prompt("any")

    asyncio.run(run())


def test_an_open_question_does_not_keep_a_conversation_from_ending(tmp_path: Path) -> None:
    """The turn is interrupted first, and the request is settled without an answer."""

    async def run() -> None:
        async with converse(make_options(tmp_path)) as conversation:
            await conversation.send("tools hi")
            await wait_for(conversation, RequestAsked)
        settled = [e async for e in conversation.events() if isinstance(e, RequestSettled)]
        assert [each.how for each in settled] == ["cancelled"]

    asyncio.run(run())
    assert list_responses(tmp_path) == []


def test_a_session_that_was_taken_over_meanwhile_is_not_resumed(tmp_path: Path) -> None:
    """Another client may open it while ours is stopped; the prompt is rejected, not queued."""
    root = ClaudeRoot(tmp_path / "claude")

    async def script(conversation: Conversation) -> None:
        await finish(conversation, "say one")
        ended = await wait_for(conversation, ClientEnded)
        root.client(os.getpid(), conversation.session_id)
        with pytest.raises(UsageError, match="is open in another Claude Code"):
            await conversation.send("say two")
        await wait_for(conversation, PromptWithdrawn, ended.number)
        assert (conversation.queue, conversation.status) == ((), ConversationStatus.IDLE)

    environment = {"CLAUDE_CONFIG_DIR": str(root.path)}
    talk(make_options(tmp_path, Timing(idle=0.1), environment=environment), script)
    assert len(read_lines(tmp_path, "called.jsonl")) == 1


def test_a_killed_client_is_given_time_to_exit(tmp_path: Path) -> None:
    """A client behind a wrapper may be listed for a moment after its output has ended."""
    root = ClaudeRoot(tmp_path / "claude")

    async def script(conversation: Conversation) -> None:
        await finish(conversation, "say one")
        leaving = await asyncio.create_subprocess_exec("sleep", "600")
        root.client(leaving.pid, conversation.session_id)
        await conversation.send("die")
        await wait_for(conversation, ClientEnded)
        sent = asyncio.create_task(finish(conversation, "say two"))
        leaving.kill()
        await sent

    talk(make_options(tmp_path, environment={"CLAUDE_CONFIG_DIR": str(root.path)}), script)


def test_the_number_of_clients_is_limited(tmp_path: Path) -> None:
    """A client beyond the limit is refused; one that ended frees its place."""

    async def run() -> None:
        limit = ProcessLimit(1)
        options = make_options(tmp_path)
        async with converse(options, limit):
            with pytest.raises(UsageError, match="1 conversations are running already"):
                async with converse(options, limit):
                    raise AssertionError
        assert limit.running == 0
        async with converse(options, limit):
            assert limit.running == 1

    asyncio.run(run())
