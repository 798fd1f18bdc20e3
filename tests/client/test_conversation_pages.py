"""The page of a conversation with the real client: user actions and their effects."""

import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.client.client_sandbox import SWITCHES, ClientSandbox
from tests.client.scenes import SUMMARY, texts
from tests.client.test_conversations import (
    CONVERSING,
    PIXEL,
    list_prompts,
    make_sandbox,
    read_results,
)
from tests.web.browser.chatting import end, expect_status, find_card, send, start, wait_for_page
from tests.web.browser.chromium import Visit, open_browser, visit
from tests.web.running import RunningServer, run_server

pytestmark = pytest.mark.client

PATIENCE = 60_000
"""Milliseconds."""


@pytest.fixture(params=CONVERSING)
def sandbox(
    request: pytest.FixtureRequest, isolation: Sequence[str], tmp_path: Path
) -> ClientSandbox:
    """A version that can converse, with all tools at hand."""
    return make_sandbox(str(request.param), isolation, tmp_path, SWITCHES)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """The browser of this machine."""
    with open_browser(tmp_path / "browser-home") as started:
        yield started


@contextmanager
def serve(sandbox: ClientSandbox, folder: Path) -> Iterator[RunningServer]:
    """A server that may run the client in its sandbox."""
    folder.mkdir(exist_ok=True)
    variables = {"PATH": sandbox.environment["PATH"]}
    with run_server(folder, sandbox.root, "--allow-run", variables=variables) as server:
        yield server


@contextmanager
def open_browser_page(browser: Browser, sandbox: ClientSandbox, tmp_path: Path) -> Iterator[Visit]:
    """A user at a page of that server; any problem on a page fails the test."""
    with serve(sandbox, tmp_path / "web") as server, visit(browser, server) as found:
        yield found
        assert found.problems == []
    assert sandbox.list_processes() == {}


def play(page: Page, scene: str) -> None:
    """Send the name of a scene."""
    send(page, f"play:{scene}")


def expect_text(page: Page, *scenes: str) -> None:
    """Wait until the turns show the last words of these scenes, in order, and nothing is open."""
    expect_status(page, "idle")
    for scene in scenes:
        # Invisible characters are shown by their names.
        words = texts(scene)[-1].partition(" \u2028")[0]
        expect(page.locator("#turns .said").filter(has_text=words)).not_to_have_count(0)
    expect(page.locator("[data-streaming] > *")).to_have_count(0)


def test_turns_and_tools(browser: Browser, sandbox: ClientSandbox, tmp_path: Path) -> None:
    """Three turns in one process, and a tool that is allowed, edited and denied, in two tabs."""
    with open_browser_page(browser, sandbox, tmp_path) as found:
        page = start(found, sandbox.work)
        for scene in ("hello", "thought", "again"):
            play(page, scene)
            expect_text(page, scene)
        assert list_prompts(sandbox) == ["hello", "thought", "again"]
        assert (
            sum(
                "tests.client.isolated_command" in each
                for each in sandbox.list_processes().values()
            )
            == 1
        )
        other = found.context.new_page()
        other.goto(page.url)
        tabs = (page, other)
        play(page, "touch_one")
        for tab in tabs:
            expect(find_card(tab)).to_contain_text("touch one.txt")
        find_card(other).get_by_role("button", name="Allow once").click()
        for tab in tabs:
            expect(find_card(tab)).to_have_count(0)
            expect_text(tab, "touch_one")
        assert (sandbox.work / "one.txt").exists()
        play(page, "touch_one")
        find_card(page).get_by_role("button", name="Edit first").click()
        find_card(page).get_by_label("command").fill("touch three.txt")
        find_card(page).get_by_role("button", name="Allow edited").click()
        expect_status(page, "idle")
        assert (sandbox.work / "three.txt").exists()
        play(page, "touch_one")
        find_card(page).locator("[data-words]").fill("Not that one, please.")
        find_card(page).get_by_role("button", name="Deny").click()
        expect_status(page, "idle")
        assert read_results(sandbox)[-1] == "Not that one, please."
        denied = page.locator("#turns .call").last
        denied.locator("summary").click()
        expect(denied).to_contain_text("Not that one, please.")
        expect(denied).not_to_have_attribute("data-status", "success")
        play(page, "count_twice")
        always = find_card(page).get_by_role("button", name="Always allow")
        expect(always).to_contain_text("python3 -c")
        always.click()
        expect_text(page, "count_twice")
        # 2.1.112 adds reminders to results.
        assert [each.partition("\n")[0] for each in read_results(sandbox)[-2:]] == ["2", "2"]
        end(page)
        expect(other.locator("[data-ended]")).to_be_visible()
    session = sandbox.open()
    said = [turn.words for turn in session.turns]
    touched = ["play:touch_one"] * 3
    assert said == ["play:hello", "play:thought", "play:again", *touched, "play:count_twice"]
    statuses = [call.status.value for call in session.tool_calls]
    assert statuses.pop(2) in ("rejected", "failed")
    assert statuses == ["success"] * 4


def test_settings_contexts_and_a_killed_client(
    browser: Browser, sandbox: ClientSandbox, tmp_path: Path
) -> None:
    """Another model replies, chips stay in history, and a killed client is replaced."""
    (sandbox.work / "tide.py").write_text("print('high')\n")
    with open_browser_page(browser, sandbox, tmp_path) as found:
        page = start(found, sandbox.work)
        model = page.get_by_label("Model")
        expect(model.locator("option[value=haiku]")).to_have_count(1)
        model.select_option("haiku")
        box = page.get_by_role("combobox", name="Message")
        box.press_sequentially("play:hello @tid")
        expect(page.get_by_role("option", name="tide.py")).to_be_visible()
        box.press("Tab")
        expect(page.locator("[data-chips] .reference")).to_have_text(["tide.py"])
        box.press("Enter")
        expect_text(page, "hello")
        chips = page.locator("#turns .contexts summary")
        expect(chips).to_have_text(["file tide.py"])
        assert "haiku" in sandbox.requests[-1]["model"]
        assert "📄 `tide.py`" in json.dumps(sandbox.requests[-1]["messages"], ensure_ascii=False)
        play(page, "slow_words")
        expect(page.locator(".streaming-block.text")).to_contain_text("word0")
        for pid in sandbox.list_processes():
            os.kill(pid, signal.SIGKILL)
        expect(page.locator("[data-notices] .failure")).to_be_visible()
        expect_status(page, "idle")
        play(page, "again")
        expect_text(page, "again")
        assert list_prompts(sandbox) == ["hello", "slow_words", "again"]
        end(page)
        page = found.open(f"/s/{sandbox.session_ids[0]}")
        expect(chips).to_have_text(["file tide.py"])
    session = sandbox.open()
    assert session.messages[-1].model == sandbox.requests[-1]["model"]
    named = [context for turn in session.turns for context in turn.contexts]
    assert [(each.kind.value, each.path) for each in named] == [("file", "tide.py")]


def test_questions_plans_and_interrupts(
    browser: Browser, sandbox: ClientSandbox, tmp_path: Path
) -> None:
    """A choice and a plan are answered; text continues after a reload, and Escape stops it."""
    with open_browser_page(browser, sandbox, tmp_path) as found:
        page = start(found, sandbox.work)
        play(page, "choose")
        find_card(page).get_by_text("Blue").click()
        find_card(page).get_by_role("button", name="Answer").click()
        expect_text(page, "choose")
        assert '"Which colour?"="Blue"' in read_results(sandbox)[-1]
        page.get_by_label("Permission mode").select_option("plan")
        expect(page.get_by_label("Permission mode")).to_have_value("plan")
        play(page, "plan")
        find_card(page).get_by_role("button", name="Approve Y").click()
        expect_text(page, "plan")
        assert read_results(sandbox)[-1].startswith("User has approved")
        expect(page.get_by_label("Permission mode")).to_have_value("default")
        play(page, "slow_words")
        words = page.locator(".streaming-block.text")
        expect(words).to_contain_text("word0 word1")
        page.reload()
        expect(words).to_contain_text("word0 word1 word2")
        page.locator("html[data-ready=true]").wait_for(state="attached")
        page.keyboard.press("Escape")
        expect_status(page, "idle")
        expect(page.locator("#turns .said").last).to_contain_text("word0 word1 word2")
        expect(page.locator("#turns")).not_to_contain_text("word39")
        play(page, "hello")
        expect_text(page, "hello")
        end(page)
    assert [turn.words for turn in sandbox.open().turns][-1] == "play:hello"


def test_sessions_are_continued_and_forked(
    browser: Browser, sandbox: ClientSandbox, tmp_path: Path
) -> None:
    """A stopped server ends its client; the next one continues the session, or a copy."""
    with open_browser_page(browser, sandbox, tmp_path) as found:
        page = start(found, sandbox.work)
        play(page, "hello")
        expect_text(page, "hello")
        play(page, "slow_words")
        expect(page.locator(".streaming-block.text")).to_contain_text("word0")
        page.goto("about:blank")
    (session,) = sandbox.session_ids
    with open_browser_page(browser, sandbox, tmp_path) as found:
        page = found.open(f"/s/{session}")
        page.get_by_role("button", name="Continue here").click()
        wait_for_page(page)
        expect(page.locator("#turns .prompt .words").first).to_have_text("play:hello")
        play(page, "again")
        expect_text(page, "again")
        assert list_prompts(sandbox) == ["hello", "slow_words", "again"]
        end(page)
        page = found.open(f"/s/{session}")
        reply = page.locator("#turns .turn").first.locator(".said").last
        reply.hover()
        page.locator("#turns .turn").first.get_by_role("button", name="Fork from here").click()
        wait_for_page(page)
        play(page, "aside")
        expect_text(page, "aside")
        assert list_prompts(sandbox) == ["hello", "aside"]
        end(page)
    assert len(sandbox.session_ids) == 2
    assert [turn.words for turn in sandbox.open(session).turns][-1] == "play:again"


def test_a_queued_prompt_is_edited(
    browser: Browser, sandbox: ClientSandbox, tmp_path: Path
) -> None:
    """While the client waits for an answer, a prompt is taken back; the edited one is sent."""
    with open_browser_page(browser, sandbox, tmp_path) as found:
        page = start(found, sandbox.work)
        play(page, "touch_one")
        expect(find_card(page)).to_contain_text("touch one.txt")
        play(page, "hello")
        queue = page.locator(".queue li")
        expect(queue).to_have_count(1)
        page.get_by_role("button", name="Edit: play:hello").click()
        box = page.get_by_role("combobox", name="Message")
        expect(box).to_have_value("play:hello")
        expect(queue).to_have_count(0)
        box.fill("")
        find_card(page).get_by_role("button", name="Allow once").click()
        expect_text(page, "touch_one")
        play(page, "again")
        expect_text(page, "again")
        end(page)
    assert [turn.words for turn in sandbox.open().turns] == ["play:touch_one", "play:again"]
    assert "play:hello" not in json.dumps(sandbox.requests)


def test_prompts_are_queued_compacted_and_illustrated(
    browser: Browser, sandbox: ClientSandbox, tmp_path: Path
) -> None:
    """A prompt waits in the queue, a compaction replaces the conversation, and an image is sent."""
    with open_browser_page(browser, sandbox, tmp_path) as found:
        page = start(found, sandbox.work)
        play(page, "slow_words")
        expect(page.locator(".streaming-block.text")).to_contain_text("word0")
        play(page, "hello")
        queue = page.locator(".queue li")
        expect(queue).to_have_count(1)
        expect(queue).to_contain_text("play:hello")
        expect(queue).to_have_count(0, timeout=PATIENCE)
        expect_text(page, "slow_words", "hello")
        page.get_by_role("button", name="Compact").click()
        expect(page.locator("#turns [data-kind=compaction]")).not_to_have_count(0)
        expect_status(page, "idle")
        page.get_by_role("button", name="Add context").click()
        dialog = page.locator("#add-context")
        dialog.get_by_label("Kind").select_option("image")
        dialog.locator("[name=image]").set_input_files(
            {"name": "dot.png", "mimeType": "image/png", "buffer": PIXEL}
        )
        dialog.get_by_role("button", name="Add", exact=True).click()
        play(page, "again")
        expect_text(page, "again")
        expect(page.locator("#turns .media img")).to_have_count(1)
        end(page)
    sent = sandbox.requests[-1]["messages"]
    assert SUMMARY in json.dumps(sent)
    assert [each.media_type for each in sandbox.open().media] == ["image/png"]
    kinds = [part["type"] for each in sent for part in each["content"] if isinstance(part, dict)]
    assert kinds.count("image") == 1
    assert len(sandbox.open().segments) == 2


def test_a_tool_is_stopped(browser: Browser, sandbox: ClientSandbox, tmp_path: Path) -> None:
    """Escape ends the command that runs, and the next prompt is answered."""
    with open_browser_page(browser, sandbox, tmp_path) as found:
        page = start(found, sandbox.work)
        play(page, "long_tool")
        wait_for_command(page, sandbox, "sleep 600", is_running=True)
        page.keyboard.press("Escape")
        expect_status(page, "idle")
        wait_for_command(page, sandbox, "sleep 600", is_running=False)
        expect(page.locator("#turns .call")).to_have_count(1)
        expect(page.locator("#turns")).to_contain_text("interrupted")
        play(page, "hello")
        expect_text(page, "hello")
        expect(page.locator("#turns")).not_to_contain_text("Never said.")
        end(page)


@pytest.mark.parametrize("version", CONVERSING)
def test_a_background_task_is_stopped(
    browser: Browser, version: str, isolation: Sequence[str], tmp_path: Path
) -> None:
    """It is listed beside the turns, with a button to stop it, also after a reload."""
    switches = {name: value for name, value in SWITCHES.items() if "BACKGROUND" not in name}
    sandbox = make_sandbox(version, isolation, tmp_path, switches)
    with open_browser_page(browser, sandbox, tmp_path) as found:
        page = start(found, sandbox.work)
        play(page, "background")
        tasks = page.locator("[data-task]")
        expect(tasks).to_contain_text("Wait in the background")
        expect(page.locator("#turns .said").last).to_contain_text("It runs in the background.")
        page.reload()
        page.locator("html[data-ready=true]").wait_for(state="attached")
        tasks.get_by_role("button").click()
        expect(tasks).to_have_count(0)
        wait_for_command(page, sandbox, "sleep 300", is_running=False)
        expect_status(page, "idle")
        end(page)


def wait_for_command(page: Page, sandbox: ClientSandbox, command: str, *, is_running: bool) -> None:
    """Wait until the client runs a command, or no longer does."""
    deadline = time.monotonic() + PATIENCE / 1000
    while any(each.startswith(command) for each in sandbox.list_processes().values()) != is_running:
        assert time.monotonic() < deadline, command
        page.wait_for_timeout(100)
