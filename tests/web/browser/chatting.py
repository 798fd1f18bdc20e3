"""User actions on the page of a conversation."""

import json
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.web.browser.chromium import Visit
from tests.web.conversing import Talker


def start(found: Visit, directory: Path) -> Page:
    """Start a conversation with the form and return its page."""
    page = found.open("/new")
    page.get_by_label("Directory").fill(str(directory))
    page.get_by_role("button", name="Start").click()
    return wait_for_page(page)


def wait_for_page(page: Page) -> Page:
    """Wait for the page of the new conversation and its script."""
    page.wait_for_url("**/c/*")
    page.locator("html[data-ready=true]").wait_for(state="attached")
    return page


def send(page: Page, text: str) -> None:
    """Type into the box and press Enter."""
    box = page.get_by_role("combobox", name="Message")
    box.fill(text)
    box.press("Enter")
    # On a phone, the card of a request may already be in its place.
    hidden_too = page.get_by_role("combobox", name="Message", include_hidden=True)
    expect(hidden_too).to_have_value("")


def end(page: Page) -> None:
    """End the conversation."""
    page.get_by_role("button", name="End", exact=True).click()
    expect(page.locator("[data-ended]")).to_be_visible()


def expect_status(page: Page, status: str) -> None:
    """Wait until the header of the page shows this status."""
    expect(page.locator(".chat-head .chat-status")).to_have_text(status)


def find_card(page: Page) -> Locator:
    """Return the card of the open request."""
    return page.locator(".asks .ask")


def wait_for_card(page: Page) -> Locator:
    """Return the card of the open request once the status says so, too.

    Otherwise, the status may still be that before the prompt when the card is answered.
    """
    expect_status(page, "waiting for you")
    return find_card(page)


def make_edit(talker: Talker) -> str:
    """Return the prompt that requests an edit in a file of thirty lines."""
    path = talker.project / "lines.txt"
    path.write_text("".join(f"line {number}\n" for number in range(1, 31)))
    given = {"file_path": str(path), "old_string": "line 20\n", "new_string": "line twenty\n"}
    return f"call {json.dumps({'tool': 'Edit', 'input': given})}"
