"""Conversations with the real client: the requests to the API, and the transcript."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from recollect.errors import UsageError
from recollect.launch.conversation import Conversation, converse
from recollect.launch.conversation_events import (
    Allow,
    Answers,
    ApprovePlan,
    ClientEnded,
    ClientStarted,
    ConversationEvent,
    ConversationStatus,
    Deny,
    PlanRequest,
    PromptImage,
    PromptTaken,
    QuestionRequest,
    RecordReceived,
    RequestAnswer,
    RequestAsked,
    TasksChanged,
    TextStreamed,
    ToolRequest,
    TurnFinished,
)
from recollect.launch.conversation_options import ConversationOptions, Timing
from recollect.records.envelope import Chain
from tests.client.client_sandbox import SECONDS, SWITCHES, ClientSandbox
from tests.client.scenes import SUMMARY, texts
from tests.client.versions import OLDEST, VERSIONS, require_client

pytestmark = pytest.mark.client

E = TypeVar("E", bound=ConversationEvent)
T = TypeVar("T")

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415478"
    "9c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
"""An image of one red pixel."""

ABANDONED = """
import asyncio, sys
from recollect.launch.conversation import converse
from recollect.launch.conversation_options import ConversationOptions

async def main():
    options = ConversationOptions(directory=sys.argv[1], client=sys.argv[2])
    async with converse(options) as conversation:
        await conversation.send("play:long_tool")
        await asyncio.sleep(600)

asyncio.run(main())
"""


CONVERSING = [version for version in VERSIONS if version != OLDEST]


@pytest.fixture(params=CONVERSING)
def sandbox(
    request: pytest.FixtureRequest, isolation: Sequence[str], tmp_path: Path
) -> ClientSandbox:
    """A client version that supports conversations, with all tools."""
    return make_sandbox(str(request.param), isolation, tmp_path, SWITCHES)


def make_sandbox(
    version: str, isolation: Sequence[str], folder: Path, switches: Mapping[str, str]
) -> ClientSandbox:
    """Set up this version; skips if it is not installed."""
    client = require_client(version)
    return ClientSandbox(folder, client, isolation, {**switches, "ENABLE_TOOL_SEARCH": "false"})


def hold(sandbox: ClientSandbox, script: Callable[[Conversation], Awaitable[T]], **more: Any) -> T:
    """Run `script` in a conversation with the client."""

    async def run() -> T:
        async with (
            asyncio.timeout(SECONDS),
            converse(make_options(sandbox, **more)) as conversation,
        ):
            return await script(conversation)

    return asyncio.run(run())


def make_options(sandbox: ClientSandbox, **more: Any) -> ConversationOptions:
    """Return the options for the client."""
    environment = {"CLAUDE_CONFIG_DIR": str(sandbox.root)}
    return ConversationOptions(
        directory=str(sandbox.work), client=sandbox.client, environment=environment, **more
    )


async def wait_for(conversation: Conversation, wanted: type[E], after: int = 0) -> E:
    """Return the first event of this class after a number."""
    async for event in conversation.events(after):
        if isinstance(event, wanted):
            return event
    raise AssertionError(f"no {wanted.__name__}")


async def play(conversation: Conversation, prompt: str, *answers: RequestAnswer) -> TurnFinished:
    """Send a prompt, answer the requests of its turn, and wait for the end."""
    after = conversation.last_event
    await conversation.send(prompt)
    for answer in answers:
        asked = await wait_for(conversation, RequestAsked, after)
        after = asked.number
        await conversation.answer(asked.request.id, answer)
    return await wait_for(conversation, TurnFinished, after)


def read_results(sandbox: ClientSandbox) -> list[str]:
    """Return the tool results in the last request to the API."""
    messages = sandbox.requests[-1]["messages"]
    blocks = [b for each in messages if isinstance(each["content"], list) for b in each["content"]]
    found = [each["content"] for each in blocks if each["type"] == "tool_result"]
    return [each if isinstance(each, str) else "".join(b["text"] for b in each) for each in found]


def list_prompts(sandbox: ClientSandbox) -> list[str]:
    """Return the scenes in the last request to the API, in order."""
    return re.findall(r"play:(\w+)", json.dumps(sandbox.requests[-1]["messages"]))


def test_three_turns_in_one_process(sandbox: ClientSandbox) -> None:
    """Records, transcript and API have the same three turns, and nothing is left running."""

    async def script(conversation: Conversation) -> tuple[str, list[ConversationEvent]]:
        for scene in ("hello", "thought", "again"):
            finished = await play(conversation, f"play:{scene}")
            assert not finished.result.is_error
        events = conversation.list_events()
        assert conversation.status is ConversationStatus.IDLE
        assert [each.name for each in (await conversation.client_info()).commands]
        assert (await conversation.context_usage()).total_tokens > 0
        return conversation.session_id, events

    session_id, events = hold(sandbox, script)
    assert sum(isinstance(event, ClientStarted) for event in events) == 1
    session = sandbox.open(session_id)
    assert [turn.words for turn in session.turns] == ["play:hello", "play:thought", "play:again"]
    assert len(sandbox.requests) == 3
    assert list_prompts(sandbox) == ["hello", "thought", "again"]
    uuids = [
        event.record.uuid
        for event in events
        if isinstance(event, RecordReceived) and isinstance(event.record, Chain)
    ]
    assert len(uuids) == 7
    assert [uuid for uuid in uuids if uuid and not session.find_record(uuid)] == []
    assert sandbox.list_processes() == {}


def test_tools_are_allowed_edited_remembered_and_denied(sandbox: ClientSandbox) -> None:
    """Each answer has its effect on disk, in the transcript and in requests to the API."""

    async def script(conversation: Conversation) -> str:
        await play(conversation, "play:touch_one", Allow())
        assert (sandbox.work / "one.txt").exists()
        edited = {"command": "touch three.txt", "description": "Run it"}
        await play(conversation, "play:touch_one", Allow(updated_input=edited))
        assert (sandbox.work / "three.txt").exists()
        await play(conversation, "play:touch_one", Deny(message="Not that one, please."))
        after = conversation.last_event
        await conversation.send("play:count_twice")
        asked = await wait_for(conversation, RequestAsked, after)
        assert isinstance(asked.request, ToolRequest)
        rule = next(each for each in asked.request.suggestions if each.kind == "addRules")
        await conversation.answer(asked.request.id, Allow(remember=rule))
        await wait_for(conversation, TurnFinished, asked.number)
        assert len(conversation.pending) == 0
        return conversation.session_id

    session = sandbox.open(hold(sandbox, script))
    touched, edited, denied, *counted = read_results(sandbox)
    # 2.1.112 adds reminders to results.
    assert [each.partition("\n")[0] for each in counted] == ["2", "2"]
    assert denied == "Not that one, please."
    assert not any(word in touched + edited for word in ("error", "denied", "touch"))
    statuses = [call.status.value for call in session.tool_calls]
    # 2.1.112 does not write why a tool did not run.
    assert statuses.pop(2) in ("rejected", "failed")
    assert statuses == ["success"] * 4
    settings = json.loads((sandbox.work / ".claude" / "settings.local.json").read_text())
    (kept,) = settings["permissions"]["allow"]
    assert kept.startswith("Bash(python3 -c")


def test_questions_and_plans_are_answered(sandbox: ClientSandbox) -> None:
    """The model receives the choice, and an approved plan ends plan mode."""

    async def script(conversation: Conversation) -> str:
        after = conversation.last_event
        await conversation.send("play:choose")
        asked = await wait_for(conversation, RequestAsked, after)
        assert isinstance(asked.request, QuestionRequest)
        assert asked.request.questions[0].question == "Which colour?"
        await conversation.answer(asked.request.id, Answers({"Which colour?": "Blue"}))
        await wait_for(conversation, TurnFinished, asked.number)
        await conversation.set_permission_mode("plan")
        assert conversation.permission_mode == "plan"
        after = conversation.last_event
        await conversation.send("play:plan")
        asked = await wait_for(conversation, RequestAsked, after)
        assert isinstance(asked.request, PlanRequest)
        # Newer clients show the plan file, which this model did not write.
        assert asked.request.plan in ("1. Look\n2. Leap", "")
        await conversation.answer(asked.request.id, ApprovePlan())
        await wait_for(conversation, TurnFinished, asked.number)
        assert conversation.permission_mode == "default"
        return conversation.session_id

    session = sandbox.open(hold(sandbox, script))
    chosen, planned = read_results(sandbox)
    assert '"Which colour?"="Blue"' in chosen
    assert planned.startswith("User has approved")
    assert [(call.name, call.status.value) for call in session.tool_calls] == [
        ("AskUserQuestion", "success"),
        ("ExitPlanMode", "success"),
    ]
    # 2.1.112 adds reminders to what it sends.
    for call, sent in zip(session.tool_calls, (chosen, planned), strict=True):
        assert sent.startswith(call.text)
    assert [turn.permission_mode for turn in session.turns] == ["default", "plan"]


def test_turns_are_interrupted(sandbox: ClientSandbox) -> None:
    """In text and in a tool: written text is kept, the tool is killed, the next turn works."""

    async def script(conversation: Conversation) -> str:
        await conversation.send("play:slow_words")
        words = await wait_for(conversation, TextStreamed)
        await conversation.interrupt()
        finished = await wait_for(conversation, TurnFinished, words.number)
        assert finished.result.terminal_reason in ("aborted_streaming", None)
        after = finished.number
        await conversation.send("play:long_tool")
        await _wait_until(
            lambda: any(each.startswith("sleep 600") for each in _list_words(sandbox))
        )
        await conversation.interrupt()
        await wait_for(conversation, TurnFinished, after)
        await _wait_until(lambda: not any("sleep 600" in each for each in _list_words(sandbox)))
        await play(conversation, "play:hello")
        return conversation.session_id

    session = sandbox.open(hold(sandbox, script))
    assert [turn.words for turn in session.turns][-1] == "play:hello"
    said = "".join(message.text for message in session.messages)
    assert "word0" in said
    assert "word39" not in said
    (call,) = session.tool_calls
    assert call.status.value in ("interrupted", "rejected")
    sent = json.dumps(sandbox.requests[-1]["messages"])
    for line in ("[Request interrupted by user]", "[Request interrupted by user for tool use]"):
        assert line in sent
        assert line in said


def _list_words(sandbox: ClientSandbox) -> list[str]:
    return list(sandbox.list_processes().values())


async def _wait_until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - looks at other processes
        await asyncio.sleep(0.1)


def test_prompts_are_queued(sandbox: ClientSandbox) -> None:
    """A prompt sent while a tool runs joins its turn; one sent during text starts the next."""

    async def script(conversation: Conversation) -> str:
        first = await conversation.send("play:slow_tool")
        await _wait_until(lambda: any(each.startswith("sleep 4") for each in _list_words(sandbox)))
        uuid = await conversation.send("and hurry up")
        assert [each.uuid for each in conversation.queue] == [uuid]
        finished = await wait_for(conversation, TurnFinished)
        after = finished.number
        taken = [e for e in conversation.list_events() if isinstance(e, PromptTaken)]
        assert [(e.uuid, e.number < after) for e in taken] == [(first, True), (uuid, True)]
        await conversation.send("play:slow_words")
        await wait_for(conversation, TextStreamed, after)
        await conversation.send("play:hello")
        finished = await wait_for(conversation, TurnFinished, after)
        finished = await wait_for(conversation, TurnFinished, finished.number)
        assert (conversation.queue, conversation.status) == ((), ConversationStatus.IDLE)
        return conversation.session_id

    session = sandbox.open(hold(sandbox, script))
    asked = ["play:slow_tool", "and hurry up", "play:slow_words", "play:hello"]
    prompts = [each.prompt.words for each in session.messages if each.prompt and each.prompt.words]
    assert [each for each in prompts if each in asked] == asked
    said = json.dumps(sandbox.requests[-1]["messages"])
    assert said.index("and hurry up") < said.index("play:slow_words") < said.index("play:hello")


def read_effort(request: dict[str, Any]) -> str | None:
    """Return the thinking effort in the last request."""
    effort: str | None = request.get("output_config", {}).get("effort")
    return effort


def test_the_default_effort_is_set_again(sandbox: ClientSandbox) -> None:
    """After another level, the effort is reset to the default in the same session."""

    async def script(conversation: Conversation) -> None:
        for level in (None, "low", None):
            if conversation.options.effort != level:
                await conversation.set_effort(level)
            await play(conversation, "play:hello")

    hold(sandbox, script)
    first, second, third = map(read_effort, sandbox.requests)
    assert (first != "low", second, third) == (True, "low", first)
    assert list_prompts(sandbox) == ["hello", "hello", "hello"]
    assert len(sandbox.session_ids) == 1


def test_a_conversation_is_compacted_and_its_model_changed(sandbox: ClientSandbox) -> None:
    """The next requests start with the summary, with less thinking and the other model."""

    async def script(conversation: Conversation) -> str:
        await play(conversation, "play:hello")
        after = conversation.last_event
        await conversation.compact("keep it short")
        finished = await wait_for(conversation, TurnFinished, after)
        assert not finished.result.is_error
        await conversation.set_effort("low")
        await play(conversation, "play:thought")
        assert sandbox.requests[-1]["output_config"]["effort"] == "low"
        await conversation.set_model("claude-haiku-4-5")
        await play(conversation, "play:again")
        return conversation.session_id

    session = sandbox.open(hold(sandbox, script))
    assert len(session.segments) == 2
    assert session.messages[-1].model == sandbox.requests[-1]["model"]
    last = sandbox.requests[-1]
    assert last["model"].startswith("claude-haiku-4-5")
    assert SUMMARY in json.dumps(last["messages"])


def test_a_session_is_resumed_forked_and_cut_off(sandbox: ClientSandbox) -> None:
    """The API gets the chosen branch; a session that is already open is refused."""

    async def first(conversation: Conversation) -> tuple[str, str]:
        await play(conversation, "play:hello")
        records = [
            event.record
            for event in conversation.list_events()
            if isinstance(event, RecordReceived) and isinstance(event.record, Chain)
        ]
        await play(conversation, "play:thought")
        with pytest.raises(UsageError, match="is open in another Claude Code"):
            await Conversation(make_options(sandbox, session=conversation.session_id)).start()
        return conversation.session_id, records[-1].uuid or ""

    async def more(conversation: Conversation) -> str:
        await play(conversation, "play:again")
        return conversation.session_id

    session_id, reply = hold(sandbox, first)
    assert hold(sandbox, more, session=session_id) == session_id
    assert list_prompts(sandbox) == ["hello", "thought", "again"]
    copy = hold(sandbox, more, session=session_id, fork=True)
    assert copy != session_id
    assert list_prompts(sandbox) == ["hello", "thought", "again", "again"]
    assert hold(sandbox, more, session=session_id, at=reply) == session_id
    assert list_prompts(sandbox) == ["hello", "again"]
    assert sorted({session_id, copy}) == sandbox.session_ids
    assert texts("hello")[0] in "".join(each.text for each in sandbox.open(session_id).messages)


def test_images_and_contexts_reach_the_model(sandbox: ClientSandbox) -> None:
    """An image is a separate block, and a context block is parsed back into contexts."""
    words = "> **上下文资料**\n> \n> - 📄 文件: @tide.py\n\nplay:hello and look"

    async def script(conversation: Conversation) -> str:
        await conversation.send(words, [PromptImage("image/png", PIXEL)])
        await wait_for(conversation, TurnFinished)
        return conversation.session_id

    session = sandbox.open(hold(sandbox, script))
    content = sandbox.requests[-1]["messages"][0]["content"]
    assert [each["type"] for each in content if each["type"] == "image"] == ["image"]
    assert any(words in each.get("text", "") for each in content)
    (turn,) = session.turns
    assert turn.words == "play:hello and look"
    assert [(each.kind.value, each.text) for each in turn.contexts] == [("file", "文件: @tide.py")]
    assert [each.media_type for each in session.media] == ["image/png"]


@pytest.mark.parametrize("version", CONVERSING)
def test_a_background_task_is_stopped(
    version: str, isolation: Sequence[str], tmp_path: Path
) -> None:
    """The task is listed while it runs, and removed once it is stopped."""
    switches = {name: value for name, value in SWITCHES.items() if "BACKGROUND" not in name}
    sandbox = make_sandbox(version, isolation, tmp_path, switches)

    async def script(conversation: Conversation) -> str:
        await play(conversation, "play:background")
        await _wait_until(lambda: bool(conversation.tasks))
        (task,) = conversation.tasks
        await conversation.stop_task(task)
        await _wait_until(lambda: not conversation.tasks)
        assert (await wait_for(conversation, TasksChanged)).tasks
        return conversation.session_id

    (call,) = sandbox.open(hold(sandbox, script)).tool_calls
    assert (call.status.value, [call.text]) == ("success", read_results(sandbox)[:1])
    assert "running in background" in call.text
    assert not any(each.startswith("sleep 300") for each in _list_words(sandbox))


def test_a_killed_or_idle_client_is_replaced(sandbox: ClientSandbox) -> None:
    """The next prompt continues the same session in another process."""

    async def script(conversation: Conversation) -> str:
        await play(conversation, "play:hello")
        ended = await wait_for(conversation, ClientEnded)
        assert (ended.reason, conversation.status) == ("idle", ConversationStatus.IDLE)
        after = conversation.last_event
        await conversation.send("play:slow_words")
        await wait_for(conversation, TextStreamed, after)
        for pid in sandbox.list_processes():
            os.kill(pid, signal.SIGKILL)
        ended = await wait_for(conversation, ClientEnded, after)
        assert (ended.reason, conversation.status) == ("died", ConversationStatus.ENDED)
        await play(conversation, "play:again")
        return conversation.session_id

    session = sandbox.open(hold(sandbox, script, timing=Timing(idle=1.0)))
    assert list_prompts(sandbox) == ["hello", "slow_words", "again"]
    assert [turn.words for turn in session.turns][-1] == "play:again"


def test_a_killed_parent_takes_client_and_tool_with_it(sandbox: ClientSandbox) -> None:
    """Otherwise the client would finish its turn, and its tool would run for minutes."""
    parent = subprocess.Popen(
        [sys.executable, "-c", ABANDONED, str(sandbox.work), sandbox.client],
        env=sandbox.environment,
    )
    with parent:
        deadline = time.monotonic() + SECONDS
        while not any(each.startswith("sleep 600") for each in _list_words(sandbox)):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        parent.kill()
    deadline = time.monotonic() + SECONDS
    while sandbox.list_processes():
        assert time.monotonic() < deadline, sandbox.list_processes()
        time.sleep(0.1)
