"""Every page in both languages, themes and widths: no errors, no overflow, accessible."""

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.addresses import SESSION
from tests.web.browser.accessibility import find_issues, find_issues_of_themes
from tests.web.browser.chromium import (
    DESKTOP,
    PHONE,
    TIMEOUT,
    Language,
    Look,
    Theme,
    sign_in,
    visit,
)
from tests.web.browser.conftest import StartVisit
from tests.web.running import RunningServer

pytestmark = pytest.mark.slow

DELEGATING = "7aa5fa93-883b-4f00-b3b1-6090844693a9"
"""A session with a subagent."""
PAGES = [
    "/",
    "/sessions",
    "/sessions?text=release&order=cost&subagents=true&errors=false",
    "/sessions?text=nothing-like-this",
    "/sessions?group=project",
    "/sessions?group=day&errors=true",
    f"/s/{SESSION}",
    f"/s/{DELEGATING}",
    f"/s/{DELEGATING}?details=true",
    "/s/94791a87-9d13-410a-a632-25a9b25c1b45",
    "/s/agent-a557725",
    f"/s/{SESSION}/changes",
    f"/s/{SESSION}/timeline",
    f"/s/{SESSION}/thread",
    f"/s/{SESSION}/checkpoints",
    f"/s/{SESSION}/export",
    "/search",
    "/search?q=release",
    "/search?q=((",
    "/usage",
    "/usage/causes?cause=other",
    "/usage?group=session",
    "/usage?since=nonsense",
    "/usage/explain?target=2026-11-12",
    "/files",
    "/file?path=/home/mina/projects/tidepool/src/tidepool/cli.py",
    "/health",
    "/api",
]
GROUND = {"light": "rgb(248, 248, 246)", "dark": "rgb(14, 16, 18)"}
HEADINGS = {
    "en": ["Home", "Sessions", "Running", "Search", "Usage", "Files", "Health"],
    "zh": ["主页", "会话", "运行中", "搜索", "用量", "文件", "健康状况"],
}


def raw_page(server: RunningServer) -> str:
    """The page of a record of the demo data."""
    turns = server.get(f"/api/sessions/{SESSION}/turns").json()["turns"]
    return f"/s/{SESSION}/raw/{turns[0]['uuid']}"


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_keep_to_their_frame(
    start_visit: StartVisit, server: RunningServer, language: Language, size: tuple[int, int]
) -> None:
    """Pages fit the screen and use the chosen language and theme."""
    found = start_visit(Look("light", language, size))
    wrong: dict[str, object] = {}
    for path in [*PAGES, raw_page(server)]:
        page = found.open(path)
        expect(page.locator("[data-load]")).to_have_count(0)
        seen = [_look(page, theme) for theme in ("light", "dark")]
        expected = [(size[0], GROUND["light"]), (size[0], GROUND["dark"])]
        if seen != expected or page.locator(".top nav a").all_inner_texts() != HEADINGS[language]:
            wrong[path] = seen
    assert wrong == {}


@pytest.mark.parametrize("width", [740, 820, 900, 1024])
def test_the_top_bar_fits_between_phone_and_desktop(start_visit: StartVisit, width: int) -> None:
    """With less room, the search button gets narrower; nothing overflows."""
    page = start_visit(Look(size=(width, 800))).open("/")
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_cost_of_messages_is_in_view_on_a_phone(start_visit: StartVisit) -> None:
    """The table of a cause does not have to be scrolled sideways, and has one line per message."""
    page = start_visit(Look(size=PHONE)).open("/usage/causes?cause=other")
    row = page.locator("#messages tbody tr").first
    cost = row.locator("td").last.bounding_box()
    assert cost is not None
    assert (cost["x"] + cost["width"] <= PHONE[0], cost["height"] < 50) == (True, True)


def _look(page: Page, theme: Theme) -> tuple[int, str]:
    page.emulate_media(color_scheme=theme)
    width, ground = page.evaluate(
        "[document.documentElement.scrollWidth,"
        " getComputedStyle(document.documentElement).backgroundColor]"
    )
    return width, ground


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_pages_are_accessible(
    browser: Browser, server: RunningServer, size: tuple[int, int]
) -> None:
    """axe-core finds no serious issue on any page, in either theme, with everything unfolded."""
    wrong: dict[str, object] = {}
    with visit(browser, server, Look(size=size), bypass_csp=True) as found:
        for path in [*PAGES, raw_page(server)]:
            page = found.open(path)
            expect(page.locator("[data-load]")).to_have_count(0)
            _unfold(page)
            issues = find_issues_of_themes(page)
            if issues:
                wrong[path] = issues
    assert wrong == {}, json.dumps(wrong, indent=1)


def _unfold(page: Page) -> None:
    """Expand everything, and wait for what is fetched."""
    # One document of the API is enough: dozens are rendered the same way.
    opening = "details:not(.schema ~ .schema):not([open])"
    # Fetched content can be expanded too: the calls of a subagent.
    while page.locator(opening).count():
        page.evaluate(
            "(all) => { for (const it of document.querySelectorAll(all)) it.open = true; }", opening
        )
        expect(page.locator("details[data-source][open] > :last-child:empty")).to_have_count(0)
        expect(page.locator(".loading")).to_have_count(0)


@pytest.mark.parametrize("opened", ["keys", "palette"])
def test_dialogs_are_accessible(browser: Browser, server: RunningServer, opened: str) -> None:
    """Dialogs are as accessible as pages."""
    with visit(browser, server, bypass_csp=True) as found:
        page = found.open("/")
        page.keyboard.press("?" if opened == "keys" else "Control+k")
        page.locator(f"#{opened}[open]").wait_for()
        assert find_issues(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chosen_theme_is_remembered(start_visit: StartVisit, theme: Theme) -> None:
    """The switch toggles the theme of all pages."""
    found = start_visit(Look(theme))
    other: Theme = "light" if theme == "dark" else "dark"
    page = found.open("/")
    page.locator("[data-theme-switch]").click()
    grounds = [_ground(page)]
    found.open("/search")
    grounds.append(_ground(page))
    # The browser focuses it when it draws the page, which may be after the page was loaded.
    expect(page.locator("[data-find]")).to_be_focused()
    page.locator("[data-find]").blur()
    page.keyboard.press("t")
    grounds.append(_ground(page))
    found.open("/usage")
    grounds.append(_ground(page))
    assert grounds == [GROUND[other], GROUND[other], GROUND[theme], GROUND[theme]]


def _ground(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))


def test_a_chosen_language_is_remembered(start_visit: StartVisit) -> None:
    """A language chosen at the bottom of a page applies to all pages."""
    found = start_visit(Look(language="en"))
    page = found.open("/")
    page.locator("button[data-language=zh]").click()
    page.locator("html[lang=zh-Hans][data-ready=true]").wait_for(state="attached")
    found.open("/search")
    assert page.locator("h1").inner_text() == "搜索"


def test_nothing_runs_without_a_style(start_visit: StartVisit) -> None:
    """A printed page has the conversation and no controls."""
    page = start_visit(Look()).open(f"/s/{SESSION}")
    page.emulate_media(media="print")
    pressed = page.locator("button:visible, input:visible, nav:visible")
    assert [each.evaluate("(it) => it.outerHTML.slice(0, 80)") for each in pressed.all()] == []
    assert page.locator(".turn:visible").count() > 0


def test_a_session_is_readable_without_scripts(browser: Browser, server: RunningServer) -> None:
    """A link shows the outline and the details of calls; both then work by markup alone."""
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(TIMEOUT)
    sign_in(context, server)
    page = context.new_page()
    page.goto(f"{server.origin}/s/{DELEGATING}")
    page.get_by_role("link", name="without JavaScript").click()
    call = page.locator("details.call").first
    output = call.locator(".call-output")
    expect(output).to_be_hidden()
    call.locator("> summary").click()
    expect(output).to_be_visible()
    page.locator("details.child > summary").first.click()
    page.get_by_role("link", name="Show its conversation").first.click()
    expect(page.locator("details.call .call-output").first).to_be_attached()
    page.go_back()
    page.locator(".outline a").last.click()
    expect(page.locator(".turn").first).to_have_attribute("data-turn", "1")
    context.close()


def test_dates_are_whole_without_scripts(browser: Browser, server: RunningServer) -> None:
    """Only a script shortens them."""
    with browser.new_context(
        java_script_enabled=False, viewport={"width": 1440, "height": 900}
    ) as context:
        sign_in(context, server)
        page = context.new_page()
        page.goto(f"{server.origin}/sessions")
        cell = page.locator(".active-cell time").first
        expect(cell).to_have_text("2026-11-12 06:00")
        column = page.locator("td.active-cell").first
        assert column.evaluate("(it) => it.scrollWidth <= it.clientWidth") is True
