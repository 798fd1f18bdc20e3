"""Reading what was abandoned by rewinding a conversation."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.web.browser.chromium import sign_in, visit
from tests.web.browser.writing import Record, append_records, make_turn, make_uuid, write_session
from tests.web.running import RunningServer, run_server

pytestmark = pytest.mark.slow

SESSION = "77777777-2222-4333-8444-555555555555"
TURNS = 60
ABANDONED = range(10, 55)
"""More than are loaded at once."""
LAST = TURNS - 1


@pytest.fixture(scope="module")
def rewound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on a session that was rewound after turn 55 to before turn 11."""
    folder = tmp_path_factory.mktemp("rewound")
    path = write_session(folder / "claude", SESSION, ABANDONED.stop)
    append_records(path, _continue_from(ABANDONED.start - 1))
    with run_server(folder, folder / "claude") as running:
        running.wait_until_current()
        yield running


def _continue_from(turn: int) -> Iterator[Record]:
    for number in range(ABANDONED.stop, TURNS):
        first, *others = make_turn(SESSION, number)
        before = turn if number == ABANDONED.stop else number - 1
        yield {**first, "parentUuid": make_uuid(before, "answer")}
        yield from others


def find_steps(page: Page, state: str = "visible") -> Locator:
    """Return the steps of abandoned turns that are shown, or that are not."""
    shown = "true" if state == "visible" else "false"
    return page.locator(f".turn.off-path:has([data-branch][aria-expanded={shown}]) > .steps")


def test_a_branch_is_opened_as_a_whole(browser: Browser, rewound: RunningServer) -> None:
    """One press expands all of its turns, those that are loaded later too; another hides them."""
    with visit(browser, rewound) as found:
        page = found.open(f"/s/{SESSION}?start=0")
        expect(page.locator(".turn.off-path").first).to_be_attached()
        expect(page.locator(".turn.off-path > .steps:visible")).to_have_count(0)
        page.locator("[data-branch]").nth(1).click()
        expect(find_steps(page, "hidden")).to_have_count(0)
        page.locator("#turns > .turn").last.scroll_into_view_if_needed()
        page.locator(f"#turn-{LAST}").scroll_into_view_if_needed()
        expect(find_steps(page)).to_have_count(len(ABANDONED))
        page.locator("[data-branch]").last.click()
        expect(find_steps(page, "hidden")).to_have_count(len(ABANDONED))
        assert found.problems == []


def test_a_switch_leads_into_the_branch(browser: Browser, rewound: RunningServer) -> None:
    """The other branch is opened, not only the turn where it begins."""
    with visit(browser, rewound) as found:
        page = found.open(f"/s/{SESSION}?at={make_uuid(ABANDONED.stop, 'prompt')}")
        page.get_by_role("link", name="Previous branch").click()
        first = page.locator(f"#turn-{ABANDONED.start + 1}")
        expect(first.locator(".prompt")).to_be_in_viewport()
        expect(first.locator(".steps")).to_be_visible()
        expect(page.locator(f"#turn-{ABANDONED.start + 2} > .steps")).to_be_visible()
        assert found.problems == []


def test_the_outline_opens_a_branch(browser: Browser, rewound: RunningServer) -> None:
    """A click on an abandoned prompt shows what followed it."""
    with visit(browser, rewound) as found:
        page = found.open(f"/s/{SESSION}?start=0")
        page.locator("[data-outline] li.off-path a").nth(3).click()
        turn = page.locator(f"#turn-{ABANDONED.start + 4}")
        expect(turn.locator(".prompt")).to_be_in_viewport()
        expect(turn.locator(".steps")).to_be_visible()
        assert found.problems == []


def test_a_branch_can_be_read_without_scripts(browser: Browser, rewound: RunningServer) -> None:
    """Nothing is hidden where nothing could show it."""
    with browser.new_context(java_script_enabled=False) as context:
        sign_in(context, rewound)
        page = context.new_page()
        page.goto(f"{rewound.origin}/s/{SESSION}?start=0")
        turn = page.locator(f"#turn-{ABANDONED.start + 1}")
        expect(turn.locator(".steps")).to_be_visible()
