"""Requests of a conversation in the browser: their cards, and the answers to them."""

import json

import pytest
from playwright.sync_api import APIResponse, Browser, Route, expect

from tests.web.browser.chatting import (
    end,
    expect_status,
    find_card,
    make_edit,
    send,
    start,
    wait_for_card,
)
from tests.web.browser.chromium import Visit, visit
from tests.web.conversing import Talker

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("end_conversations")]


def test_an_edit_is_shown_as_it_would_be_and_allowed(chat_desk: Visit, talker: Talker) -> None:
    """The card has the actual lines and numbers; the button answers, Enter does not."""
    page = start(chat_desk, talker.project)
    send(page, make_edit(talker))
    card = find_card(page)
    expect(card.get_by_role("heading")).to_have_text("Edit lines.txt")
    expect(card.locator("tr.removed .text")).to_have_text("line 20")
    expect(card.locator("tr.added .text")).to_have_text("line twenty")
    expect(card.locator("tr.added .number").nth(1)).to_have_attribute("data-line", "20")
    expect_status(page, "waiting for you")
    expect(page.locator("nav [data-waiting]")).to_have_text("1")
    before = len(talker.list_responses())
    allow = card.get_by_role("button", name="Allow once")
    expect(allow).to_be_enabled()
    allow.focus()
    page.keyboard.press("Enter")
    card.locator("[data-words]").focus()
    page.keyboard.press("Enter")
    expect(card).to_be_visible()
    assert len(talker.list_responses()) == before
    allow.click()
    expect(card).to_have_count(0)
    expect_status(page, "idle")
    assert talker.list_responses()[-1]["behavior"] == "allow"
    end(page)


def test_a_card_is_answered_by_keys_with_focus_only(chat_desk: Visit, talker: Talker) -> None:
    """`n` in the box is a letter; on the card it denies, with the message next to it.

    `a` remembers the rule on the button that says so.
    """
    page = start(chat_desk, talker.project)
    send(page, "tools one")
    card = wait_for_card(page)
    expect(card.get_by_role("button", name="Deny")).to_be_enabled()
    box = page.get_by_role("combobox", name="Message")
    box.press_sequentially("yn")
    expect(box).to_have_value("yn")
    card.locator("[data-words]").fill("use two instead")
    card.locator(".ask-body").focus()
    page.keyboard.press("n")
    expect(card).to_have_count(0)
    expect_status(page, "idle")
    assert talker.list_responses()[-1]["message"] == "use two instead"
    send(page, "tools three")
    wait_for_card(page)
    expect(card.locator("[data-suggestion] kbd")).to_have_text("A")
    expect(card.get_by_role("button", name="Deny")).to_be_enabled()
    card.locator(".ask-body").focus()
    page.keyboard.press("a")
    expect(card).to_have_count(0)
    # The card is gone as soon as the server has the answer; the client has it only then.
    expect_status(page, "idle")
    (kept,) = talker.list_responses()[-1]["updatedPermissions"]
    assert kept["rules"] == [{"toolName": "Bash", "ruleContent": "echo three"}]
    end(page)


def test_an_input_is_edited_before_it_runs(chat_desk: Visit, talker: Talker) -> None:
    """The edited command runs, and the page notes that the transcript differs."""
    page = start(chat_desk, talker.project)
    send(page, "tools one")
    card = wait_for_card(page)
    card.get_by_role("button", name="Edit first").click()
    card.get_by_label("command").fill("echo edited")
    card.get_by_role("button", name="Allow edited").click()
    expect(card).to_have_count(0)
    expect_status(page, "idle")
    assert talker.list_responses()[-1]["updatedInput"] == {"command": "echo edited"}
    notices = page.locator("[data-notices] .notice")
    expect(notices).to_have_count(1)
    expect(notices).to_contain_text("transcript")
    send(page, "say next")
    expect(notices).to_have_count(0)
    end(page)


def test_questions_and_plans_are_answered(chat_desk: Visit, talker: Talker) -> None:
    """A choice is a button, free text replaces it, and a plan is approved."""
    page = start(chat_desk, talker.project)
    send(page, "ask me")
    card = wait_for_card(page)
    card.get_by_text("Red").click()
    card.get_by_role("button", name="Answer").click()
    expect(card).to_have_count(0)
    expect_status(page, "idle")
    assert talker.list_responses()[-1]["updatedInput"]["answers"] == {"Which colour?": "Red"}
    send(page, "plan it")
    wait_for_card(page)
    expect(card.locator("ol li")).to_have_text(["Look", "Leap"])
    card.get_by_role("button", name="Approve Y").click()
    expect(card).to_have_count(0)
    expect_status(page, "idle")
    assert talker.list_responses()[-1]["behavior"] == "allow"
    end(page)


FORM = {
    "properties": {
        "name": {"type": "string", "title": "Name"},
        "port": {"type": "string", "title": "Port", "enum": ["Kiel", "Cuxhaven"]},
        "lights": {"type": "array", "items": {"enum": ["red", "green"]}},
        "is_open": {"type": "boolean", "title": "Open"},
    },
    "required": ["name"],
}


def test_a_form_is_filled_in_and_thinking_set(chat_desk: Visit, talker: Talker) -> None:
    """A form of an MCP server has the right fields, and the levels of the model are offered."""
    page = start(chat_desk, talker.project)
    thinking = page.get_by_label("Effort")
    expect(thinking.locator("option")).to_have_text(["Default effort", "low", "high"])
    thinking.select_option("high")
    send(page, f"elicit {json.dumps(FORM)}")
    card = wait_for_card(page)
    card.get_by_label("Name").fill("Sea Breeze")
    card.get_by_label("Port").select_option("Cuxhaven")
    card.get_by_label("green").check()
    card.get_by_label("Open").check()
    card.get_by_role("button", name="Answer").click()
    expect(card).to_have_count(0)
    expect_status(page, "idle")
    content = {"name": "Sea Breeze", "port": "Cuxhaven", "lights": ["green"], "is_open": True}
    assert talker.list_responses()[-1] == {"action": "accept", "content": content}
    page.reload()
    expect(thinking).to_have_value("high")
    with page.expect_response("**/settings"):
        thinking.select_option("Default effort")
    page.reload()
    expect(thinking).to_have_value("on")
    end(page)


def test_two_tabs_answer_once(browser: Browser, talker: Talker) -> None:
    """Both show the same, and the card disappears from both when one of them answers."""
    with visit(browser, talker.server) as one, visit(browser, talker.server) as two:
        first = start(one, talker.project)
        second = two.open(first.url.removeprefix(talker.server.origin))
        send(first, "tools one")
        cards = [find_card(page) for page in (first, second)]
        for card in cards:
            expect(card).to_have_count(1)
        before = len(talker.list_responses())
        cards[1].get_by_role("button", name="Allow once").click()
        for card, page in zip(cards, (first, second), strict=True):
            expect(card).to_have_count(0)
            expect(page.locator("#turns .said")).to_contain_text("Done.")
        assert len(talker.list_responses()) == before + 1
        end(first)
        expect(second.locator("[data-ended]")).to_be_visible()
        assert one.problems + two.problems == []


def test_a_card_that_comes_late_is_not_shown(chat_desk: Visit, talker: Talker) -> None:
    """Answered in another tab while this one was loading it: there is nothing to answer."""
    page = start(chat_desk, talker.project)
    conversation = page.url.rpartition("/")[2]
    held: list[tuple[Route, APIResponse]] = []
    page.route("**/c/*/requests/*", lambda route: held.append((route, route.fetch())))
    with page.expect_request("**/c/*/requests/*"):
        send(page, "tools one")
    expect_status(page, "waiting for you")
    while not held:
        page.wait_for_timeout(10)
    ((route, answer),) = held
    request = route.request.url.rpartition("/")[2]
    assert answer.ok
    assert talker.act(conversation, "answers", request=request, decision="allow").status == 200
    expect_status(page, "idle")
    with page.expect_request_finished():
        route.fulfill(response=answer)
    send(page, "say Next")
    expect(page.locator("#turns .said").last).to_contain_text("Next")
    expect(find_card(page)).to_have_count(0)
    end(page)
