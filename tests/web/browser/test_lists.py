"""Sessions, search, usage, health and the API in the browser: filters, results as you type."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.library.claude_root import ClaudeRoot, prompt
from tests.web.browser.chromium import PHONE, Look, Visit, visit
from tests.web.browser.conftest import StartVisit
from tests.web.running import RunningServer, run_server

pytestmark = pytest.mark.slow


def titles(found: Visit) -> list[str]:
    """Return the titles of the listed sessions, in order."""
    return found.page.locator("tr[data-session] .title").all_inner_texts()


def test_filters_of_the_list(desk: Visit) -> None:
    """Text, project, errors, subagents and order filter the list together."""
    page = desk.open("/sessions")
    assert len(titles(desk)) == 8
    page.locator("input[name=text]").fill("harbour")
    expect(page.locator("p.count")).to_have_text(
        "1 of 8 sessions · $0.06 · 117.6K tokens · Clear filters"
    )
    expect(page).to_have_url(re.compile(r"text=harbour"))
    assert titles(desk) == ["Speed up the harbour import"]
    page = desk.open("/sessions")
    page.get_by_label("With errors").check()
    expect(page.locator("p.count")).to_contain_text(re.compile(r"^2 of 8 sessions · \$"))
    expect(page.locator("[data-count=errors]")).to_have_text("2")
    expect(page.locator("tr[data-session] .mark-chip.error")).to_have_count(2)
    page.reload()
    expect(page.get_by_label("With errors")).to_be_checked()
    assert len(titles(desk)) == 2
    page.locator("input[name=text]").fill("no such session")
    expect(page.locator(".empty-state")).to_have_text(
        "No sessions match these filters. Clear filters"
    )
    page = desk.open("/sessions?order=cost")
    every = page.locator("tr[data-session] td.cost-cell").all_inner_texts()
    costs = [float(cost.lstrip("<$")) for cost in every]
    assert costs == sorted(costs, reverse=True)
    desk.open("/sessions?subagents=true")
    assert page.locator("tr.subagent").count() == len(titles(desk)) - 8


def test_filters_keep_the_grouping(desk: Visit) -> None:
    """A filter that is applied while you look at projects leaves the list grouped by project."""
    page = desk.open("/sessions")
    page.get_by_role("link", name="By project").click()
    names = page.locator("tr.group th")
    expect(names).not_to_have_count(0)
    page.locator("input[name=text]").fill("harbour")
    expect(names).to_have_count(1)
    expect(page).to_have_url(re.compile(r"group=project.*text=harbour"))
    page.get_by_role("link", name="List", exact=True).click()
    expect(page).to_have_url(re.compile(r"/sessions\?text=harbour$"))
    expect(names).to_have_count(0)


def test_filters_of_files(desk: Visit) -> None:
    """Project and path apply immediately and are in the address; they can be undone."""
    page = desk.open("/files")
    page.get_by_label("Project", exact=True).select_option("/home/mina/projects/tidepool")
    expect(page).to_have_url(re.compile(r"project=-home-mina-projects-tidepool"))
    expect(page.locator("table.files .path")).to_have_count(4)
    page.get_by_label("Filter by path").fill("CLI")
    expect(page.locator("#list p.count")).to_have_text("1 file · Clear filters")
    expect(page.locator("table.files .path")).to_have_text("src/tidepool/cli.py")
    page.reload()
    expect(page.locator("table.files .path")).to_have_text("src/tidepool/cli.py")
    page.get_by_label("Filter by path").fill("no such file")
    expect(page.locator(".empty-state")).to_have_text("No files match this filter. Clear filters")
    page.get_by_role("link", name="Clear filters").click()
    expect(page.locator("table.files .path")).to_have_count(4)


def test_a_first_version_on_a_phone(start_visit: StartVisit) -> None:
    """Its lines have no counterpart, but are as wide as the screen."""
    found = start_visit(Look(size=PHONE))
    page = found.open("/file?path=/home/mina/projects/tidepool/src/tidepool/cli.py&b=1")
    rows = page.locator(".side-by-side tr.changed")
    expect(rows).to_have_count(11)
    widths = page.evaluate(
        "[...document.querySelectorAll('.side-by-side .new')].map((each) => each.clientWidth)"
    )
    assert min(widths) > 250


def test_results_by_month(desk: Visit) -> None:
    """A bar for each month narrows the search to it; with a single month there are no bars."""
    page = desk.open("/search?q=test")
    bars = page.locator(".by-month a")
    expect(bars).to_have_count(3)
    bars.first.click()
    expect(page).to_have_url(re.compile(r"since%3A2026-11"))
    expect(page.locator(".found .count")).to_be_visible()
    expect(page.locator(".by-month")).to_have_count(0)


def test_the_way_back_from_a_hit_leads_to_its_row(start_visit: StartVisit) -> None:
    """The list of hits is at its previous position, not at the top."""
    page = start_visit(Look(size=(390, 500))).open("/search?q=harbour")
    page.evaluate("scrollTo({ top: 300, behavior: 'instant' })")
    page.locator(".hit a, a.hit").nth(4).click()
    expect(page).to_have_url(re.compile("/s/"))
    page.go_back()
    page.wait_for_function("scrollY > 0")
    assert page.evaluate("scrollY") > 100


def test_a_star_is_kept(desk: Visit) -> None:
    """A click or the key s stars a session in all lists; the filter shows only starred ones."""
    page = desk.open("/sessions")
    row = page.locator("tr[data-session]").nth(2)
    row.locator("[data-star]").click()
    expect(row.locator("[data-star]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-count=starred]")).to_have_text("1")
    starred = row.locator(".title").inner_text()
    page.get_by_role("checkbox", name="Starred").check()
    expect(page.locator("tr[data-session]")).to_have_count(1)
    assert titles(desk) == [starred]
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("s")
    expect(page.locator("[data-star]")).to_have_attribute("aria-pressed", "false")
    expect(page.locator("[data-count=starred]")).to_be_empty()
    desk.open("/sessions?starred=true")
    expect(page.locator(".empty-state")).to_have_text(
        "No sessions match these filters. Clear filters"
    )


def test_a_note_is_kept(desk: Visit) -> None:
    """A saved note is shown when the session is opened again."""
    page = desk.open("/s/94791a87-9d13-410a-a632-25a9b25c1b45")
    for words in ("try <i>batches</i>", ""):
        page.locator("details.session-note summary").click()
        page.locator("details.session-note textarea").fill(words)
        page.locator("details.session-note button").click()
        expect(page.locator("details.session-note [role=status]")).to_have_text("Saved")
        page.reload()
        page.locator("html[data-ready=true]").wait_for(state="attached")
        expect(page.locator("details.session-note summary")).to_have_text(words or "Private note")


def test_a_note_is_typed_at_once(desk: Visit) -> None:
    """Letters go into the opened note, not to the shortcuts; Escape closes it, Ctrl+Enter saves."""
    page = desk.open("/s/7aa5fa93-883b-4f00-b3b1-6090844693a9")
    label = page.locator("details.session-note summary")
    label.click()
    page.keyboard.type("sort this")
    page.keyboard.press("Control+Enter")
    expect(label).to_have_text("sort this")
    expect(page.locator("[data-star]").first).to_have_attribute("aria-pressed", "false")
    for key in ("Control+a", "Delete", "Control+Enter"):
        page.keyboard.press(key)
    expect(label).to_have_text("Private note")
    page.keyboard.press("Escape")
    expect(page.locator("details.session-note form")).not_to_be_visible()
    expect(label).to_be_focused()


@pytest.mark.parametrize("is_refused", [True, False])
def test_a_star_or_note_that_cannot_be_saved(desk: Visit, is_refused: bool) -> None:
    """A message says so if the server refuses it or cannot be reached, and nothing looks saved."""

    def answer(route: Route) -> None:
        if is_refused:
            route.fulfill(status=503)
        else:
            route.abort()

    page = desk.open("/s/7aa5fa93-883b-4f00-b3b1-6090844693a9")
    page.route("**/mark", answer)
    star, toast = page.locator("[data-star]").first, page.locator(".toast")
    star.click()
    expect(toast).to_have_text("Could not save this.")
    expect(star).to_have_attribute("aria-pressed", "false")
    toast.evaluate("(it) => it.remove()")
    label = page.locator("details.session-note summary")
    label.click()
    page.keyboard.type("sort this")
    page.keyboard.press("Control+Enter")
    expect(toast).to_have_text("Could not save this.")
    expect(label).to_have_text("Private note")
    expect(page.locator("details.session-note [role=status]")).to_be_empty()
    assert all("Failed to load resource" in each for each in desk.problems)
    desk.problems.clear()


def test_the_list_opens_a_session(desk: Visit) -> None:
    """The key j selects a session, Enter opens it."""
    page = desk.open("/sessions")
    first = titles(desk)[0]
    page.keyboard.press("j")
    expect(page.locator("tr.chosen .title")).to_have_text(first)
    page.keyboard.press("Enter")
    expect(page.locator("article.session h1")).to_have_text(first)


def test_results_as_you_type(desk: Visit) -> None:
    """Results follow the query, highlighted, and so does the URL; the page is not reloaded."""
    page = desk.open("/search")
    expect(page.locator("form.search input[type=search]")).to_be_focused()
    page.evaluate("window.isSame = true")
    page.keyboard.type("harbour")
    expect(page.locator("#results mark").first).to_have_text("harbour", ignore_case=True)
    expect(page).to_have_url(f"{desk.server.origin}/search?q=harbour")
    assert page.evaluate("window.isSame") is True
    page.reload()
    expect(page.locator("#results mark").first).to_have_text("harbour", ignore_case=True)


def _is_full(address: str) -> bool:
    return "part=true" in address and "quick" not in address


def _make_many(place: Path) -> ClaudeRoot:
    """Write sessions with words that a quick search does not find completely."""
    root = ClaudeRoot(place / "claude")
    for first, second in product("abcdefgh", repeat=2):
        name = f"{first}{second}"
        session_id = str(uuid5(NAMESPACE_URL, name))
        root.session(session_id, prompt(f"{name}tion", uuid=name, sessionId=session_id))
    return root


def _hold_full_results(page: Page) -> list[Route]:
    """Delay the responses with full results; the requests are added to the list."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(_is_full, hold)
    return held


@pytest.mark.parametrize("way", ["Tab", "j", "facet", "gone"])
def test_the_focus_stays_when_the_rest_follows(browser: Browser, tmp_path: Path, way: str) -> None:
    """It stays on the same result or facet, at the same height; on the next one if it is gone."""
    root = _make_many(tmp_path)
    with run_server(tmp_path, root.path) as server, visit(browser, server) as found:
        server.wait_until_current()
        page = found.open("/search")
        held = _hold_full_results(page)
        with page.expect_request(lambda request: _is_full(request.url)):
            page.keyboard.type("tion")
        count = page.locator("#results .count")
        expect(count).to_have_text("32 results in 32 sessions · still searching")
        page.evaluate("scrollTo(0, 300)")
        links = page.locator(".facets li a" if way == "facet" else ".hit a")
        if way == "j":
            page.locator("form.search input[type=search]").blur()
            for _ in range(3):
                page.keyboard.press("j")
            address = page.evaluate("document.activeElement.getAttribute('href')")
        else:
            links.nth(4 if way != "facet" else 0).focus()
            address = links.nth(4 if way != "facet" else 0).get_attribute("href")
        if way == "gone":
            address = links.nth(5).get_attribute("href")
            page.evaluate("document.activeElement.setAttribute('href', '/s/gone')")
        top = page.evaluate("document.activeElement.getBoundingClientRect().top")
        held[0].continue_()
        expect(count).to_have_text("64 results in 64 sessions")
        focused = page.locator(f"#results a[href='{address}']")
        expect(focused).to_be_focused()
        place = page.evaluate("document.activeElement.getBoundingClientRect().top")
        is_chosen = page.locator(".chosen").count() == 1
        assert (abs(place - top) <= 1, is_chosen) == (True, way == "j")
        if way == "j":
            page.keyboard.press("j")
            expect(page.locator(".chosen a")).to_be_focused()
            expect(focused).not_to_be_focused()
        assert found.problems == []


def test_the_rest_follows_when_nobody_types(browser: Browser, tmp_path: Path) -> None:
    """Full results replace the quick ones; the selection in the field and the position stay."""
    root = _make_many(tmp_path)
    with run_server(tmp_path, root.path) as server, visit(browser, server) as found:
        server.wait_until_current()
        page = found.open("/search")
        held = _hold_full_results(page)
        count = page.locator("#results .count")
        with page.expect_request(lambda request: _is_full(request.url)):
            page.keyboard.type("tion")
        expect(count).to_have_text("32 results in 32 sessions · still searching")
        page.keyboard.press("Control+a")
        page.evaluate("scrollTo(0, 200)")
        held[0].continue_()
        expect(count).to_have_text("64 results in 64 sessions")
        field = page.locator("form.search input[type=search]")
        expect(field).to_be_focused()
        selected = field.evaluate(
            "each => each.value.slice(each.selectionStart, each.selectionEnd)"
        )
        assert (selected, page.evaluate("scrollY")) == ("tion", 200)
        assert found.problems == []


def test_a_result_opens_its_message(desk: Visit) -> None:
    """A result links to the exact message."""
    page = desk.open("/search?q=" + "32,766")
    hit = page.locator(".hit a").first
    address = str(hit.get_attribute("href"))
    hit.click()
    page.locator("html[data-ready=true]").wait_for(state="attached")
    target = page.locator(f"[id='{address.partition('#')[2]}']")
    expect(target).to_be_in_viewport()
    expect(target).to_contain_text("32,766")


def test_an_error_in_a_query_is_shown_in_place(desk: Visit) -> None:
    """An invalid query is reported in place of the results, and can be corrected there."""
    page = desk.open("/search")
    page.keyboard.type("tool:")
    expect(page.locator(".query-error")).to_be_visible()
    page.keyboard.type("Bash")
    expect(page.locator(".query-error")).to_have_count(0)
    expect(page.locator("#results .hit").first).to_be_visible()


def test_usage_has_a_chart_and_can_be_taken_apart(desk: Visit) -> None:
    """The chart is above its table, and a figure links to the lines behind it."""
    page = desk.open("/usage")
    expect(page.locator(".chart svg[role=img]")).to_be_visible()
    bars = page.locator(".chart svg[role=img] rect").count()
    rows = page.locator("table.usage tbody tr").count()
    assert (bars > 0, rows > 0) == (True, True)
    page.locator("table.usage tbody a[href^='/usage/explain']").first.click()
    expect(page.locator("table tr[data-status=counted]").first).to_be_visible()


def test_health_is_filled_in(desk: Visit) -> None:
    """The page loads immediately and is completed when the files have been read."""
    page = desk.open("/health")
    expect(page.locator("[data-load]")).to_have_count(0)
    expect(page.locator("h1")).to_have_text("Health")
    expect(page.get_by_text(str(desk.server.root)).first).to_be_visible()


def test_every_operation_of_the_api_is_shown(desk: Visit) -> None:
    """The page shows the content of the document."""
    page = desk.open("/api")
    paths = desk.server.get("/api/openapi.json").json()["paths"]
    shown = [each.split()[-1] for each in page.locator(".operation h2").all_inner_texts()]
    assert sorted(set(shown)) == sorted(paths)


def test_a_phone_shows_what_matters(start_visit: StartVisit) -> None:
    """On a phone a session is a card: title, place, time, turns and cost."""
    page = start_visit(Look(size=PHONE)).open("/sessions")
    row = page.locator("tr[data-session]").first
    box = row.bounding_box()
    assert box is not None
    assert box["width"] <= PHONE[0]
    assert row.locator("td:visible").count() == 5
    page.locator(".open-palette").click()
    expect(page.locator("#palette")).to_be_visible()


@contextmanager
def empty_server(folder: Path) -> Iterator[RunningServer]:
    """A server on a Claude directory without sessions."""
    root = folder / "claude"
    (root / "projects").mkdir(parents=True)
    with run_server(folder, root) as running:
        yield running


def test_nothing_was_found(browser: Browser, tmp_path: Path) -> None:
    """Without sessions the page lists the searched directories, and how to start the demo."""
    with empty_server(tmp_path) as server, visit(browser, server) as found:
        page = found.open("/sessions")
        expect(page.locator("h1")).to_have_text("No sessions found")
        expect(page.locator("main li code").first).to_have_text(str(server.root))
        expect(page.locator("main")).to_contain_text("recollect serve --demo")
        assert found.problems == []
