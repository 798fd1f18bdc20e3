"""Conversations in the browser: starting, streaming, queueing, stopping."""

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.web.browser.accessibility import find_issues_of_themes
from tests.web.browser.chatting import (
    end,
    expect_status,
    find_card,
    make_edit,
    send,
    start,
    wait_for_page,
)
from tests.web.browser.chromium import PHONE, Look, Visit, visit
from tests.web.browser.writing import GROWING, append_records, make_turn, write_session
from tests.web.conversing import Talker, run_talker

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("end_conversations")]

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_a_conversation_from_start_to_end(chat_desk: Visit, talker: Talker) -> None:
    """A prompt is answered, its turn is rendered as in a session, and the conversation ends."""
    page = start(chat_desk, talker.project)
    expect(page.get_by_role("combobox", name="Message")).to_be_focused()
    send(page, "say Hello **there**")
    expect(page.locator("#turns .prompt .words")).to_have_text("say Hello there")
    expect(page.locator("#turns .said strong")).to_have_text("there")
    expect_status(page, "idle")
    expect(page.locator("[data-streaming] > *")).to_have_count(0)
    expect(page.locator("[data-cost]")).to_have_text("$0.01")
    expect(page.locator("[data-context] small")).to_have_text("1% of 200k")
    expect(page.locator("[data-turn-count]")).to_have_text("1")
    here = page.locator("li.here")
    expect(page.locator("[data-running-list]").filter(has=here)).to_have_count(1)
    end(page)
    expect(page.locator("[data-ended]")).to_be_visible()
    expect(page.locator("[data-composer]")).to_be_hidden()
    expect(page.locator("[data-ended-list]").filter(has=here)).to_have_count(1)
    expect(page.get_by_role("heading", name="Ended")).to_be_visible()


def test_the_context_is_divided_by_what_fills_it(chat_desk: Visit, talker: Talker) -> None:
    """Neither free space nor deferred tools are in the bar or in the list below it."""
    page = start(chat_desk, talker.project)
    parts = page.locator("[data-context-parts] dl > div")
    expect(parts).to_have_text(["System prompt400", "Messages800"])
    for place in ("[data-context]", "[data-context-parts]"):
        bar = page.locator(f"{place} svg g rect")
        widths = [bar.nth(each).get_attribute("width") for each in range(bar.count())]
        assert widths == ["0.20", "0.40"]
    end(page)


def test_a_session_is_continued_on_a_phone(browser: Browser, talker: Talker) -> None:
    """By the menu of its page; the conversation is then listed without columns for nothing."""
    records = [{**each, "cwd": str(talker.project)} for each in make_turn(GROWING, 0)]
    path = write_session(talker.server.root, GROWING, 0)
    append_records(path, records)
    listed = f"/api/sessions/{GROWING}"
    talker.server.wait_for(lambda: talker.server.get(listed).status == 200)
    with visit(browser, talker.server, Look(size=PHONE)) as found:
        page = found.open(f"/s/{GROWING}")
        page.get_by_label("More").click()
        page.get_by_role("button", name="Continue here").click()
        wait_for_page(page)
        box = page.get_by_role("combobox", name="Message")
        assert box.evaluate("(it) => it.scrollHeight <= it.clientHeight") is True
        send(page, "say Hello")
        expect(page.locator("#turns .said p").last).to_have_text("Hello")
        assert f"--resume={GROWING}" in talker.list_calls()[-1]["arguments"]
        found.open("/running")
        heads = page.locator("[data-running-page] th[scope=col]:visible")
        expect(heads).to_have_text(["Conversation", "Status", "Cost", "End"])
        count = page.locator("[data-running-page] > h2 small")
        lines = count.evaluate(
            "(it) => it.getBoundingClientRect().height / parseFloat(getComputedStyle(it).fontSize)"
        )
        assert lines < 2
        assert found.problems == []


def test_text_is_streamed_and_interrupted(chat_desk: Visit, talker: Talker) -> None:
    """Text appears before the reply is complete, Escape stops it, and the text so far stays."""
    page = start(chat_desk, talker.project)
    send(page, "slow word ")
    expect(page.locator(".streaming-block.text")).to_contain_text("word word word")
    expect(page.locator("button[data-send]")).to_have_text("Queue")
    page.keyboard.press("Escape")
    expect_status(page, "idle")
    expect(page.locator("#turns .said").first).to_contain_text("word word")
    expect(page.locator("#turns")).to_contain_text("interrupted")
    expect(page.locator("[data-streaming] > *")).to_have_count(0)
    end(page)


def test_the_box_is_free_while_a_prompt_is_sent(chat_desk: Visit, talker: Talker) -> None:
    """Text typed in the meantime stays and is sent next; text that was not sent is restored."""
    page = start(chat_desk, talker.project)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/c/*/prompts", hold)
    box = page.get_by_role("combobox", name="Message")
    send(page, "say one")
    send(page, "say two")
    box.press_sequentially("say three")
    assert len(held) == 1
    held.pop().continue_()
    said = page.locator("#turns .said .prose")
    expect(said).to_have_text(["one"])
    page.unroute("**/c/*/prompts")
    expect(said).to_have_text(["one", "two"])
    expect(box).to_have_value("say three")
    talker.act(page.url.rpartition("/")[2], "end")
    expect(page.locator("[data-ended]")).to_be_visible()
    expect(box).to_have_value("say three")
    box.press("Enter")
    expect(page.locator(".composer-error")).to_contain_text("This conversation has ended")
    expect(box).to_have_value("say three")
    chat_desk.problems.clear()


def test_new_things_are_shown_to_those_at_the_end(chat_desk: Visit, talker: Talker) -> None:
    """A new card is scrolled into view on a long page, unless the user has scrolled up."""
    page = start(chat_desk, talker.project)
    for number in range(1, 7):
        send(page, f"say {'long ' * 60}")
        expect(page.locator("#turns .said")).to_have_count(number)
    send(page, "ask me")
    card = find_card(page)
    expect(card.get_by_role("button", name="Answer")).to_be_in_viewport(ratio=1)
    above = "([a, b]) => a.getBoundingClientRect().bottom <= b.getBoundingClientRect().top"
    both = [card.element_handle(), page.locator("[data-composer]").element_handle()]
    talker.server.wait_for(lambda: bool(page.evaluate(above, both)))
    card.get_by_text("Red").click()
    card.get_by_role("button", name="Answer").click()
    expect_status(page, "idle")
    send(page, "nap 1.5")
    page.mouse.move(600, 300)

    def scroll_up() -> bool:
        # A gesture is many events: the first may occur while the page is scrolling.
        page.mouse.wheel(0, -5000)
        return bool(page.evaluate("scrollY === 0"))

    talker.server.wait_for(scroll_up)
    talker.act(page.url.rpartition("/")[2], "prompts", text="ask me")
    expect(card).to_have_count(1)
    assert page.evaluate("scrollY") == 0
    end(page)


def test_a_phone_follows_the_conversation_and_not_what_is_below_it(
    browser: Browser, talker: Talker
) -> None:
    """New text and cards stay visible above a long list; a user reading the list is not moved."""
    with visit(browser, talker.server, Look(size=PHONE)) as found:
        page = start(found, talker.project)
        todos = [{"content": f"Task {number}", "status": "pending"} for number in range(40)]
        send(page, f"call {json.dumps({'tool': 'TodoWrite', 'input': {'todos': todos}})}")
        card = find_card(page)
        card.get_by_role("button", name="Allow once").click()
        expect(page.locator("[data-todos] li")).to_have_count(40)
        send(page, make_edit(talker))
        expect(card.get_by_role("button", name="Deny")).to_be_in_viewport(ratio=1)
        expect(card.get_by_role("button", name="Allow once")).to_be_in_viewport(ratio=1)
        card.get_by_role("button", name="Allow once").click()
        expect_status(page, "idle")
        send(page, "slow word ")
        block = page.locator(".streaming-block.text")
        expect(block).to_contain_text("word " * 30)
        expect(page.locator("[data-composer]")).to_be_in_viewport(ratio=1)
        expect(block).to_be_in_viewport()
        page.get_by_role("heading", name="This conversation").scroll_into_view_if_needed()
        read = len((block.text_content() or "").split())
        expect(block).to_contain_text("word " * (read + 10))
        expect(page.get_by_role("heading", name="This conversation")).to_be_in_viewport()
        page.get_by_role("button", name="Stop").click()
        expect_status(page, "idle")
        assert found.problems == []


def test_a_reload_in_the_middle_loses_nothing(chat_desk: Visit, talker: Talker) -> None:
    """The page shows the whole block that is being written, and continues."""
    page = start(chat_desk, talker.project)
    send(page, "slow word ")
    block = page.locator(".streaming-block.text")
    expect(block).to_contain_text("word word word")
    before = len((block.text_content() or "").split())
    page.reload()
    expect(block).to_contain_text("word " * (before + 3))
    page.keyboard.press("Escape")
    expect_status(page, "idle")
    shown = page.locator("#turns .said .prose").first.text_content() or ""
    assert set(shown.split()) == {"word"}
    end(page)


def test_prompts_are_queued_and_withdrawn(chat_desk: Visit, talker: Talker) -> None:
    """A message sent during a turn is queued above the box; another is withdrawn."""
    page = start(chat_desk, talker.project)
    send(page, "slow word ")
    expect(page.locator(".streaming-block.text")).to_contain_text("word")
    send(page, "say first")
    send(page, "say second")
    queue = page.locator(".queue li")
    expect(queue).to_have_count(2)
    queue.nth(1).get_by_role("button", name="Remove").click()
    expect(queue).to_have_count(1)
    page.reload()
    expect(queue).to_have_count(1)
    page.get_by_role("button", name="Stop Esc").click()
    expect(page.locator("#turns .said").last).to_contain_text("first")
    expect(queue).to_have_count(0)
    expect(page.locator("#turns")).not_to_contain_text("second")
    end(page)


def test_a_queued_message_is_edited(chat_desk: Visit, talker: Talker) -> None:
    """Button or arrow key returns it to the box with its chips, before text typed since."""
    page = start(chat_desk, talker.project)
    (talker.project / "harbour.py").write_text("")
    send(page, "slow word ")
    expect(page.locator(".streaming-block.text")).to_contain_text("word")
    box = page.get_by_role("combobox", name="Message")
    # Immediately: Tab also completes before a list is shown.
    box.press_sequentially("see @harb")
    box.press("Tab")
    expect(box).to_have_value("see @harbour.py ")
    box.evaluate(GIVE_IMAGE, ["paste", base64.b64encode(PIXEL).decode()])
    chips = page.locator(".composer .reference")
    expect(chips).to_have_count(2)
    box.press("Enter")
    expect(chips).to_have_count(0)
    send(page, "say last")
    queue = page.locator(".queue li")
    expect(queue).to_have_count(2)
    box.fill("typed since")
    page.get_by_role("button", name="Edit: see @harbour.py").press("Enter")
    expect(queue).to_have_count(1)
    expect(box).to_be_focused()
    expect(box).to_have_value("see @harbour.py \ntyped since")
    expect(chips).to_have_count(2)
    box.fill("")
    box.press("ArrowUp")
    expect(box).to_have_value("say last")
    expect(queue).to_have_count(0)
    box.fill("say better")
    box.press("Enter")
    expect(queue).to_have_count(1)
    page.get_by_role("button", name="Stop Esc").click()
    expect(page.locator("#turns .said").last).to_contain_text("better")
    expect(page.locator("#turns .prompt")).to_have_count(2)
    expect(page.locator("#turns .contexts summary")).to_have_text([re.compile("file.*harbour.py")])
    expect(page.locator("#turns .media img")).to_have_count(1)
    content = [each for each in talker.list_received() if each["type"] == "user"][-1]["message"][
        "content"
    ]
    assert [each["type"] for each in content] == ["image", "text"]
    assert content[1]["text"].endswith("say better")
    expect_status(page, "idle")
    end(page)


def test_files_and_waiting_are_shown_beside_it(chat_desk: Visit, talker: Talker) -> None:
    """Each changed file links to its versions, and the time that a question waits is counted."""
    page = start(chat_desk, talker.project)
    files = page.locator("[data-files]")
    expect(files).to_be_hidden()
    waited = page.locator("[data-waited-for]")
    expect(waited).to_have_text("0 s")
    page.clock.install()
    send(page, make_edit(talker))
    card = find_card(page)
    expect(card.locator(".ask-since")).to_be_empty()
    page.clock.fast_forward("02:00")
    expect(card.locator(".ask-since")).to_have_text("waiting 2 min")
    expect(waited).to_have_text("2 min")
    card.get_by_role("button", name="Allow once").click()
    expect(files.get_by_role("link")).to_have_text(["lines.txt +1 −1"])
    expect(files.locator("h2")).to_have_text("Files changed +1 −1")
    expect(waited).not_to_have_text("2 min")
    page.reload()
    expect(files.get_by_role("link")).to_have_attribute(
        "href", f"/file?path={quote(str(talker.project / 'lines.txt'), safe='')}"
    )
    end(page)


def test_a_turn_that_grew_looks_like_one_that_was_loaded(chat_desk: Visit, talker: Talker) -> None:
    """Calls arrive one by one, an expanded one stays expanded, and a reload shows the same."""
    page = start(chat_desk, talker.project)
    send(page, "tools one two three four")
    for count in range(1, 5):
        card = find_card(page)
        expect(card).to_have_count(1)
        name = card.get_attribute("data-request")
        card.get_by_role("button", name="Allow once").click()
        expect(page.locator(f'[data-request="{name}"]')).to_have_count(0)
        expect(page.locator("#turns .call[data-status=success]")).to_have_count(count)
        if count == 1:
            page.locator("#turns .call summary").first.click()
            page.evaluate("document.querySelector('#turns .call').dataset.seen = 'yes'")
    expect_status(page, "idle")
    first = page.locator("#turns .call").first
    expect(first).to_have_attribute("data-seen", "yes")
    expect(first).to_have_attribute("open", "")
    first.locator("summary").click()
    shown = page.locator("#turns").inner_text()
    page.reload()
    expect(page.locator("#turns")).to_have_text(shown, use_inner_text=True)
    end(page)


def test_the_todo_list_is_fetched_when_it_changes(chat_desk: Visit, talker: Talker) -> None:
    """The list beside the conversation is current, and other calls do not request it."""
    page = start(chat_desk, talker.project)
    lists = page.locator("[data-todos]")
    expect(lists).to_be_hidden()
    asked: list[str] = []
    page.on("request", lambda each: asked.append(each.url) if "/details" in each.url else None)
    items = [{"content": "Look", "status": "completed"}, {"content": "Leap", "status": "pending"}]
    for todos in (items[:1], items):
        call = {"tool": "TodoWrite", "input": {"todos": todos}}
        send(page, f"call {json.dumps(call)}")
        find_card(page).get_by_role("button", name="Allow once").click()
        expect(lists.locator("li")).to_have_text([each["content"] for each in todos])
        expect_status(page, "idle")
    expect(lists.locator("h2")).to_have_text("To-do list 1 / 2")
    send(page, "work 3")
    expect(page.locator("#turns .call")).to_have_count(5)
    expect_status(page, "idle")
    assert len(asked) == 2
    page.reload()
    expect(lists.locator("li")).to_have_text(["Look", "Leap"])
    end(page)


GIVE_IMAGE = """
  (box, [kind, data]) => {
    const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
    const given = new DataTransfer();
    given.items.add(new File([bytes], `${kind}.png`, { type: "image/png" }));
    const options = { bubbles: true, cancelable: true };
    box.dispatchEvent(
      kind === "paste"
        ? new ClipboardEvent("paste", { ...options, clipboardData: given })
        : new DragEvent("drop", { ...options, dataTransfer: given }),
    );
  }
"""


def test_context_is_completed_pasted_and_sent(chat_desk: Visit, talker: Talker) -> None:
    """A path after @, text from the dialog and images become chips, here and in the turn."""
    (talker.project / "harbour.py").write_text("x")
    page = start(chat_desk, talker.project)
    box = page.get_by_role("combobox", name="Message")
    box.press_sequentially("Look at @harb")
    option = page.get_by_role("option", name="harbour.py")
    expect(option).to_have_attribute("aria-selected", "true")
    box.press("Tab")
    expect(box).to_have_value("Look at @harbour.py ")
    page.get_by_role("button", name="Add context").click()
    dialog = page.locator("#add-context")
    dialog.get_by_label("Kind").select_option("terminal")
    dialog.get_by_label("Text").fill("boom\nbang")
    dialog.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Add context").click()
    dialog.get_by_label("Kind").select_option("image")
    dialog.locator("[name=image]").set_input_files(
        {"name": "dot.png", "mimeType": "image/png", "buffer": PIXEL}
    )
    dialog.get_by_role("button", name="Add", exact=True).click()
    chips = page.locator("[data-chips] .reference")
    texts = ["harbour.py", "Terminal output (2 lines)", "dot.png"]
    expect(chips).to_have_text(texts)
    for kind in ("paste", "drop"):
        box.evaluate(GIVE_IMAGE, [kind, base64.b64encode(PIXEL).decode()])
        texts.append(f"{kind}.png")
        expect(chips).to_have_text(texts)
    box.press("Enter")
    expect(chips).to_have_count(0)
    shown = page.locator("#turns .contexts summary")
    expect(shown).to_have_text([re.compile("file.*harbour.py"), re.compile("terminal")])
    expect(page.locator("#turns .media img")).to_have_count(3)
    expect(page.locator("#turns .prompt .words")).to_have_text("Look at @harbour.py")
    end(page)


def test_commands_are_completed_from_the_clients_list(chat_desk: Visit, talker: Talker) -> None:
    """`/co` lists the client's commands and Enter accepts one; a complete command is sent."""
    page = start(chat_desk, talker.project)
    # Measured once the client has reported its commands.
    expect(page.locator("[data-context] small")).to_have_text("1% of 200k")
    box = page.get_by_role("combobox", name="Message")
    box.press_sequentially("/co")
    expect(page.get_by_role("option", name="/compact")).to_be_visible()
    box.press("Enter")
    expect(box).to_have_value("/compact ")
    box.fill("/comp")
    expect(page.get_by_role("option", name="/compact")).to_be_visible()
    # Before the list reflects the text typed since.
    box.evaluate("field => { field.value = '/compact now'; }")
    box.press("Enter")
    expect(page.locator("#turns .prompt")).to_have_count(1)
    box.press_sequentially("/compact")
    expect(page.get_by_role("option", name="/compact")).to_be_visible()
    box.press("Enter")
    expect(box).to_have_value("")
    expect(page.locator("#turns .prompt")).to_have_count(2)
    end(page)


def test_a_client_that_dies_is_reported_and_restarted(chat_desk: Visit, talker: Talker) -> None:
    """Its last output is shown, and the next message restarts it."""
    page = start(chat_desk, talker.project)
    send(page, "die 3")
    expect(page.locator("[data-notices] .failure")).to_contain_text("out of luck")
    send(page, "say back again")
    expect(page.locator("#turns .said").last).to_contain_text("back again")
    end(page)


def test_running_lists_and_ends_conversations(chat_desk: Visit, talker: Talker) -> None:
    """A waiting conversation is listed, and can be ended there."""
    page = start(chat_desk, talker.project)
    name = page.url.rpartition("/")[2]
    send(page, "tools one")
    expect_status(page, "waiting for you")
    page = chat_desk.open("/running")
    row = page.locator(f"tr[data-conversation='{name}']")
    expect(row).to_contain_text("Bash")
    row.get_by_role("button", name="End", exact=True).click()
    expect(row.get_by_role("button", name="End", exact=True)).to_have_count(0)
    assert talker.wait_for_status(name, "ended")["waiting"] == []


NOTIFICATIONS = """
  window.notes = [];
  window.Notification = class extends EventTarget {
    static permission = "granted";
    constructor(title, { body }) { super(); window.notes.push([title, body]); }
  };
"""


def test_other_pages_are_notified_once(chat_desk: Visit, talker: Talker) -> None:
    """A waiting conversation is counted on every page; one page shows a notification."""
    chat_desk.context.add_init_script(NOTIFICATIONS)
    page = chat_desk.open("/health")
    other = chat_desk.context.new_page()
    other.goto(f"{talker.server.origin}/health")
    conversation = talker.start()
    talker.act(conversation, "prompts", text="tools one")
    for each in (page, other):
        expect(each.locator("nav [data-waiting]")).to_have_text("1")
    notes = [*page.evaluate("window.notes"), *other.evaluate("window.notes")]
    assert notes == [["Claude Code is waiting for you", "tools one: Bash"]]
    talker.act(conversation, "end")
    for each in (page, other):
        expect(each.locator("nav [data-waiting]")).to_be_hidden()


def test_a_restarted_server_says_that_it_is_over(browser: Browser, tmp_path: Path) -> None:
    """The clients end with the server; a page of an earlier run says that it is over."""
    with run_talker(tmp_path) as talker, visit(browser, talker.server) as found:
        page = start(found, talker.project)
        send(page, "slow word ")
        expect_status(page, "working")
        path = page.url.removeprefix(talker.server.origin)
        pid = talker.list_calls()[-1]["pid"]
        found.page.goto("about:blank")
    assert not Path(f"/proc/{pid}").exists()
    with run_talker(tmp_path) as talker, visit(browser, talker.server) as found:
        page = found.page
        page.goto(talker.server.origin + path)
        expect(page.locator("main")).to_contain_text("ended when its server stopped")


@pytest.mark.parametrize("look", [Look(), Look(size=PHONE)], ids=["desk", "phone"])
def test_pages_are_accessible(browser: Browser, talker: Talker, look: Look) -> None:
    """axe-core finds nothing serious on any of the pages, in both themes."""
    conversation = talker.start()
    talker.act(conversation, "prompts", text="say hello")
    talker.wait_for_status(conversation, "idle")
    talker.act(conversation, "prompts", text=make_edit(talker))
    talker.wait_for_status(conversation, "waiting")
    with visit(browser, talker.server, look, bypass_csp=True) as found:
        for path in ("/new", "/running", f"/c/{conversation}"):
            page = found.open(path)
            if path.startswith("/c/"):
                expect(page.get_by_role("button", name="Allow once")).to_be_enabled()
            assert find_issues_of_themes(page) == [], path
    talker.act(conversation, "end")
