"""All keyboard shortcuts, on a session too long to be on the page at once."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.web.browser.chromium import Visit, visit
from tests.web.browser.test_session import allow_clipboard, read_clipboard
from tests.web.browser.writing import FAR_TURN, FAR_WORD, LONG, TURNS, make_uuid, write_session
from tests.web.running import RunningServer, copy_demo, run_server

pytestmark = pytest.mark.slow

FAILED = (1, 3, 130)
"""The turns whose command fails."""


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with the demo data and a session of many turns."""
    folder = tmp_path_factory.mktemp("harbour")
    root = copy_demo(folder)
    write_session(root, LONG, TURNS, FAILED)
    with run_server(folder, root) as running:
        running.get("/api/history/sessions")
        yield running


@pytest.fixture
def reader(browser: Browser, harbour: RunningServer) -> Iterator[Visit]:
    """A browser with the long session open."""
    with visit(browser, harbour) as found:
        found.open(f"/s/{LONG}")
        yield found
        assert found.problems == []


def chosen(page: Page) -> str:
    """Return the id of the item selected by keys."""
    return str(page.locator(".chosen").get_attribute("id"))


def test_moving_from_item_to_item(reader: Visit) -> None:
    """The keys j and k move through all items, [ and ] from prompt to prompt."""
    page = reader.page
    walked = []
    for key in ("j", "j", "j", "]", "]", "[", "k", "k"):
        page.keyboard.press(key)
        expect(page.locator(".chosen")).to_be_in_viewport()
        walked.append(chosen(page))
    steps = [(0, "prompt"), (0, "call"), (0, "answer"), (1, "prompt"), (2, "prompt")]
    back = [(1, "prompt"), (0, "answer"), (0, "call")]
    assert walked == [make_uuid(*step) for step in (*steps, *back)]


def test_to_the_end_and_back(reader: Visit) -> None:
    """G shows the last turn although it was not on the page; g returns to the first."""
    page = reader.page
    assert page.locator("#turns > .turn").count() < TURNS
    page.keyboard.press("G")
    expect(page.locator(f"[id='{make_uuid(TURNS - 1, 'prompt')}']")).to_be_in_viewport()
    page.keyboard.press("g")
    expect(page.locator(f"[id='{make_uuid(0, 'prompt')}']")).to_be_in_viewport()


def test_from_failure_to_failure(reader: Visit) -> None:
    """The keys x and X go to failures, loaded or not, and stop at the ends."""
    page = reader.page
    expect(page.locator("#tab-failures")).to_be_visible()
    for key, turn in zip("xxxxXX", (1, 3, 130, 130, 3, 1), strict=True):
        page.keyboard.press(key)
        expect(page.locator(f"[id='{make_uuid(turn, 'call')}']")).to_be_in_viewport()
        expect(page.locator(f"[id='{make_uuid(turn, 'call')}']")).to_have_attribute("open", "")
    page.keyboard.press("G")
    expect(page.locator(f"[id='{make_uuid(TURNS - 1, 'prompt')}']")).to_be_in_viewport()
    page.keyboard.press("X")
    expect(page.locator(f"[id='{make_uuid(130, 'call')}']")).to_be_in_viewport()


def test_dragging_through_a_session(reader: Visit) -> None:
    """The pointer on the trace, or an arrow key, brings its turn to the screen."""
    page = reader.page
    scrubber = page.get_by_role("slider", name="Current turn")
    expect(scrubber).to_have_attribute("aria-valuemax", str(TURNS))
    box = page.locator(".scrubber").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 4, middle)
    page.mouse.down()
    for turn in (45, 75, 120):
        page.mouse.move(box["x"] + box["width"] * (turn + 0.5) / TURNS, middle, steps=8)
        expect(page.locator(f"[id='{make_uuid(turn, 'prompt')}']")).to_be_in_viewport()
    page.mouse.up()
    page.mouse.move(box["x"] + 4, middle)
    expect(scrubber).to_have_attribute("aria-valuenow", "121")
    scrubber.press("Home")
    expect(page.locator(f"[id='{make_uuid(0, 'prompt')}']")).to_be_in_viewport()
    scrubber.press("ArrowRight")
    expect(scrubber).to_have_attribute("aria-valuenow", "2")
    scrubber.press("End")
    expect(page.locator(f"[id='{make_uuid(TURNS - 1, 'prompt')}']")).to_be_in_viewport()


def test_enter_waits_for_the_search_under_way(reader: Visit) -> None:
    """It goes to the first hit of the typed text, however late the response is."""
    page = reader.page
    held: list[Route] = []
    # Typing slowly also searches for parts of the word.
    whole = f"**/find?*q={FAR_WORD}*"
    page.route(whole, lambda route: held.append(route))  # noqa: PLW0108 - needs a Python function
    page.keyboard.press("/")
    with page.expect_request(whole):
        page.keyboard.type(FAR_WORD)
    page.keyboard.press("Enter")
    reader.server.wait_for(lambda: page.evaluate("true") and held)
    held[0].continue_()
    target = page.locator(f"[id='{make_uuid(FAR_TURN, 'answer')}']")
    expect(target).to_be_in_viewport()


def test_finding_what_is_not_in_the_page(reader: Visit) -> None:
    """/ searches the whole session; n and N go to the next and previous match and mark it."""
    page = reader.page
    page.keyboard.press("/")
    expect(page.locator("[data-find]")).to_be_focused()
    page.keyboard.type("pier 12")
    expect(page.locator(".find-count")).to_have_text("0 of 33")
    page.locator("[data-find]").fill(FAR_WORD)
    target = page.locator(f"[id='{make_uuid(FAR_TURN, 'answer')}']")
    expect(target).to_have_count(0)
    page.keyboard.press("Enter")
    expect(target).to_be_in_viewport()
    expect(page.locator(".find-count")).to_have_text("1 of 1")
    marked = "[...CSS.highlights.get('found')].map(String)"
    assert page.evaluate(marked) == [FAR_WORD, FAR_WORD]
    page.locator("[data-find]").fill("nowhere to be found")
    expect(page.locator(".find-count")).to_have_text("No matches")


def test_going_from_hit_to_hit(reader: Visit) -> None:
    """The keys n and N cycle through the hits in the order of the conversation."""
    page = reader.page
    page.keyboard.press("/")
    page.keyboard.type("lie at pier 14")
    expect(page.locator(".find-count")).to_have_text("0 of 11")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator(".find-count")).to_have_text("1 of 11")
    expect(page.locator(f"[id='{make_uuid(14, 'prompt')}']")).to_be_in_viewport()
    page.keyboard.press("n")
    expect(page.locator(f"[id='{make_uuid(140, 'prompt')}']")).to_be_in_viewport()
    page.keyboard.press("N")
    page.keyboard.press("N")
    expect(page.locator(".find-count")).to_have_text("11 of 11")
    expect(page.locator(f"[id='{make_uuid(149, 'prompt')}']")).to_be_in_viewport()
    pins = str(page.locator(".scrubber .pin").get_attribute("d"))
    assert pins.count("M") == 11
    page.locator("[data-find]").fill("")
    expect(page.locator(".scrubber .pin")).to_have_attribute("d", "")


def test_a_link_to_a_message_far_below(reader: Visit) -> None:
    """A link with only a fragment finds a message that is not on the first screen."""
    uuid = make_uuid(FAR_TURN, "answer")
    reader.page.goto("about:blank")
    page = reader.open(f"/s/{LONG}#{uuid}")
    expect(page.locator(f"[id='{uuid}']")).to_be_in_viewport()


def test_scrolling_brings_the_rest(reader: Visit) -> None:
    """Turns are loaded near the end of the page, each once."""
    page = reader.page
    for _ in range(12):
        page.evaluate("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
        page.wait_for_timeout(60)
    expect(page.locator("#turns > .turn").nth(59)).to_be_attached()
    numbers = page.evaluate(
        "[...document.querySelectorAll('#turns > .turn')].map((each) => Number(each.dataset.turn))"
    )
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_the_outline_leads_to_turns_that_are_not_there(reader: Visit) -> None:
    """The outline lists every prompt and jumps to any of them; what is above can be scrolled to."""
    page = reader.page
    lines = page.locator("[data-outline] li[data-turn]")
    expect(lines).to_have_count(TURNS)
    lines.nth(FAR_TURN).locator("a").click()
    expect(page.locator(f"[id='{make_uuid(FAR_TURN, 'prompt')}']")).to_be_in_viewport()
    expect(page.locator(f"[id='{make_uuid(FAR_TURN - 1, 'prompt')}']")).to_be_attached()
    expect(page.locator(f"[id='{make_uuid(FAR_TURN, 'prompt')}']")).to_be_in_viewport()


def test_unfolding_and_copying_by_key(reader: Visit) -> None:
    """The key o expands the selected call, c copies a link to it."""
    allow_clipboard(reader)
    page = reader.page
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("o")
    call = page.locator("details.call").first
    expect(call.locator(".call-output")).to_contain_text("0 boats")
    page.keyboard.press("c")
    expect(page.locator(".toast")).to_have_text("Copied")
    uuid = make_uuid(0, "call")
    assert read_clipboard(reader) == f"{reader.server.origin}/s/{LONG}?at={uuid}#{uuid}"
    page.keyboard.press("o")
    expect(call).not_to_have_attribute("open", "")


def test_keys_are_shown(reader: Visit) -> None:
    """? lists the shortcuts; while it is open they are disabled, and Escape closes it."""
    page = reader.page
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    shown = page.locator("#keys kbd").all_inner_texts()
    assert set("jk[]nN/gGoct?") <= set(shown)
    page.keyboard.press("j")
    expect(page.locator(".chosen")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).not_to_be_visible()


def test_going_anywhere_by_name(reader: Visit) -> None:
    """Ctrl+K goes to a session or a page by a few letters of its name, or searches for them."""
    page = reader.page
    page.keyboard.press("Control+k")
    page.keyboard.type("harbour import")
    expect(page.locator("#palette [aria-selected=true]")).to_contain_text("Speed up the harbour")
    searching = "Search all text for “harbour import”"
    expect(page.locator("#palette li > a > span")).to_have_text(
        ["Speed up the harbour import", searching]
    )
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Speed up the harbour import")
    page.locator("html[data-ready=true]").wait_for(state="attached")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette li")).to_have_count(17)
    page.keyboard.type("heal")
    expect(page.locator("#palette li")).to_have_count(2)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{reader.server.origin}/health")


def test_names_come_before_prompts(reader: Visit) -> None:
    """A newer session with the word in a prompt comes after an older one with it in its name."""
    page = reader.page
    page.keyboard.press("Control+k")
    page.keyboard.type("out")
    rows = page.locator("#palette li")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("rename the option `out`")
    expect(rows.nth(0).locator("small")).to_have_text(re.compile("letterpress, .+"))
    expect(rows.nth(1)).to_contain_text("Fix flaky tide test")


def test_keys_write_into_fields(reader: Visit) -> None:
    """In a field, keys are letters."""
    page = reader.page
    page.keyboard.press("/")
    page.keyboard.type("gGtojk?")
    expect(page.locator("[data-find]")).to_have_value("gGtojk?")
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")
