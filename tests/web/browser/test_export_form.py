"""The review form of an export, in a browser: submitted, and answered with a file."""

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from tests.web.browser.chromium import Visit

pytestmark = pytest.mark.slow

SESSION = "94791a87-9d13-410a-a632-25a9b25c1b45"


def test_the_file_is_downloaded_from_the_review(desk: Visit) -> None:
    """The form sends its origin, without which it would be refused."""
    page = desk.open(f"/s/{SESSION}")
    page.locator(".export-menu > summary").click()
    page.locator(".export-menu select[name=format]").select_option("markdown")
    page.locator(".export-menu button[data-review]").click()
    page.wait_for_url(f"**/s/{SESSION}/export?*")
    assert page.locator("select[name=format]").input_value() == "markdown"
    with page.expect_download() as found:
        page.locator("button[name=download]").click()
    text = found.value.path().read_text("utf-8")
    assert found.value.suggested_filename.endswith(".md")
    assert text.startswith('---\ntitle: "Speed up the harbour import"\n')


def test_original_lines_are_downloaded_once_the_word_is_typed(desk: Visit) -> None:
    """The menu links to a page that asks for the word."""
    page = desk.open(f"/s/{SESSION}")
    page.locator(".export-menu > summary").click()
    page.locator(".export-menu select[name=format]").select_option("jsonl")
    page.locator(".export-menu [name=download]").click()
    page.wait_for_url(f"**/s/{SESSION}/export?*")
    field = page.get_by_label("Type no-redact to download them")
    field.press_sequentially("no-redact")
    with page.expect_download() as found:
        page.locator("button[name=download]").click()
    (transcript,) = CLAUDE_DIRECTORY.rglob(f"{SESSION}.jsonl")
    assert found.value.path().read_bytes() == transcript.read_bytes()
    assert found.value.suggested_filename == f"{SESSION}.jsonl"


def test_a_range_of_turns_is_downloaded_from_the_menu(desk: Visit) -> None:
    """Starting at the visible turn; an invalid range is rejected before the form is sent."""
    page = desk.open(f"/s/{SESSION}")
    page.locator(".export-menu > summary").click()
    field = page.locator(".export-menu [name=turns]")
    page.locator("[data-export-from]").click()
    assert field.input_value() == "1-"
    field.fill("two")
    page.locator(".export-menu [name=download]").click()
    assert field.evaluate("field => field.validity.patternMismatch")
    page.locator(".export-menu select[name=format]").select_option("markdown")
    field.fill("2-3")
    with page.expect_download() as found:
        page.locator(".export-menu [name=download]").click()
    text = found.value.path().read_text("utf-8")
    assert "\nturns: 2\n" in text
