"""The paging script of a session in isolation: the real module in a real browser.

The server is a fake, so that a session can be as long, grow and fail as a test needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

import recollect.web
from tests.web.browser.chromium import TIMEOUT

ORIGIN: Final = "http://paging.test"
SCRIPTS: Final = Path(recollect.web.__file__).parent / "static" / "js"
PAGE: Final = """<!doctype html><html lang="en"><body>
<div id="words" data-failed="That failed."></div>
<article data-address="/s/1" data-start="{start}" data-next="{next}" data-total="{total}"
  data-partial="{partial}">
<p hidden><a href="#" data-more="earlier">Earlier</a></p>
<div id="turns">{turns}</div>
<p hidden><a href="#" data-more="later">Later</a></p>
</article>
<script type="module">
import {{ Turns }} from "/js/turns.js";
window.turns = new Turns(document.querySelector("article"));
</script></body></html>"""


@dataclass
class LongSession:
    """A session whose turns are numbers; a turn is as high as a screen."""

    total: int
    words: dict[int, str] = field(default_factory=dict)
    fails: bool = False
    asked: list[tuple[int, int]] = field(default_factory=list)

    def draw(self, start: int, stop: int) -> str:
        """Return the HTML of some turns."""
        return "".join(self._draw_turn(number) for number in range(start, stop))

    def _draw_turn(self, number: int) -> str:
        words = self.words.get(number, "words")
        return (
            f'<section data-turn="{number}" style="height: 900px">{words}'
            f'<details id="d{number}"><summary>more</summary>'
            f'<p id="m{number}">{number}</p></details></section>'
        )

    def answer(self, route: Route) -> None:
        """Return the response to a request for turns."""
        query = parse_qs(urlsplit(route.request.url).query)
        start, count = int(query["start"][0]), int(query["count"][0])
        self.asked.append((start, count))
        if self.fails:
            route.fulfill(status=500)
            return
        if "at" in query:
            named = int(query["at"][0].removeprefix("m"))
            start = min(max(named - count // 2, 0), self.total)
        stop = min(start + count, self.total)
        part = f'data-start="{start}" data-next="{stop}" data-total="{self.total}"'
        body = f'<div class="turns-part" {part}>{self.draw(start, stop)}</div>'
        route.fulfill(content_type="text/html", body=body)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that can only reach the test."""
    context = browser.new_context(viewport={"width": 800, "height": 900})
    found = context.new_page()
    found.set_default_timeout(TIMEOUT)
    found.route("**/*", lambda route: route.abort())
    found.route(f"{ORIGIN}/js/*", _serve_script)
    yield found
    context.close()


def _serve_script(route: Route) -> None:
    name = urlsplit(route.request.url).path.rpartition("/")[2]
    route.fulfill(path=SCRIPTS / name, content_type="text/javascript")


def show(page: Page, session: LongSession, start: int, stop: int, *, partial: bool = False) -> None:
    """Open the page of a session with some of its turns."""
    body = PAGE.format(
        start=start,
        next=stop,
        total="" if partial else session.total,
        partial=str(partial).lower(),
        turns=session.draw(start, stop),
    )
    page.route(f"{ORIGIN}/", lambda route: route.fulfill(content_type="text/html", body=body))
    page.route(f"{ORIGIN}/s/1/turns?**", session.answer)
    page.goto(f"{ORIGIN}/")
    page.wait_for_function("window.turns !== undefined")


def list_turns(page: Page) -> list[int]:
    """Return the numbers of the turns in the page."""
    found = page.locator("#turns > [data-turn]")
    return [int(number) for number in found.evaluate_all("all => all.map(e => e.dataset.turn)")]


def test_scrolling_brings_all_turns_once(page: Page) -> None:
    """Scrolling shows each turn in its place, and no link at the end."""
    show(page, LongSession(total=70), 0, 20)
    page.evaluate("turns.updateLinks()")
    for known in (20, 40, 60):
        page.wait_for_function(f"turns.next >= {known}")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("turns.isComplete")
    assert list_turns(page) == list(range(70))
    expect(page.get_by_text("Later")).to_be_hidden()


def test_earlier_turns_do_not_move_what_one_reads(page: Page) -> None:
    """They are inserted above, and the page scrolls by their height."""
    show(page, LongSession(total=70), 30, 50)
    turn = page.locator('[data-turn="35"]')
    turn.evaluate("turn => { turns.updateLinks(); scrollTo(0, turn.offsetTop); }")
    before = turn.bounding_box()
    page.evaluate("turns.earlier()")
    assert turn.bounding_box() == before
    assert list_turns(page)[:21] == list(range(10, 31))


def test_requests_that_cross_put_nothing_in_twice(page: Page) -> None:
    """Requests are sent one after the other."""
    show(page, LongSession(total=100), 40, 60)
    page.evaluate("Promise.all([turns.later(), turns.earlier(), turns.later(), turns.later()])")
    found = list_turns(page)
    assert found == list(range(found[0], 100))


@pytest.mark.parametrize("way", ["later", "earlier"])
def test_the_page_stays_small(page: Page, way: str) -> None:
    """Turns far away are removed, and loaded again on the way back; what one reads stays."""
    start = 0 if way == "later" else 580
    show(page, LongSession(total=600), start, start + 20)
    page.evaluate("turns.updateLinks()")
    for _ in range(20):
        edge = "document.body.scrollHeight" if way == "later" else "0"
        page.evaluate(f"scrollTo(0, {edge})")
        middle = "document.elementFromPoint(400, 450).closest('section').dataset.turn"
        turn = page.locator(f'[data-turn="{page.evaluate(middle)}"]')
        before = turn.bounding_box()
        page.evaluate(f"turns.{way}()")
        assert turn.bounding_box() == before
    found = list_turns(page)
    assert len(found) <= 160
    assert found == list(range(*page.evaluate("[turns.start, turns.next]")))
    back = "earlier" if way == "later" else "later"
    edge = "0" if way == "later" else "document.body.scrollHeight"
    expect(page.locator(f"[data-more={back}]")).to_be_visible()
    page.evaluate(f"scrollTo(0, {edge})")
    page.wait_for_function("known => !turns.find(known)", arg=found[-1 if way == "later" else 0])
    found = list_turns(page)
    assert found == list(range(*page.evaluate("[turns.start, turns.next]")))


def test_what_is_selected_stays_on_the_page(page: Page) -> None:
    """Text can be selected over more turns than stay on the page otherwise."""
    show(page, LongSession(total=400), 0, 20)
    page.evaluate("getSelection().selectAllChildren(turns.find(3))")
    for _ in range(12):
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.evaluate("turns.later()")
    assert list_turns(page)[0] == 3


def test_a_message_elsewhere_is_loaded(page: Page) -> None:
    """The turns around it replace the others, and its containers are expanded."""
    show(page, LongSession(total=500), 0, 20)
    assert page.evaluate("turns.show('m300').then(target => target.textContent)") == "300"
    assert 300 in list_turns(page)
    assert 0 not in list_turns(page)
    assert page.locator("#d300").evaluate("details => details.open") is True
    assert page.locator("#d301").evaluate("details => details.open") is False


def test_a_message_that_is_nowhere_is_no_error(page: Page) -> None:
    """A link may outlive its message."""
    session = LongSession(total=30)
    show(page, session, 0, 20)
    assert page.evaluate("turns.show('m900')") is None
    assert session.asked == [(0, 20)]


def test_what_has_not_changed_is_left_alone(page: Page) -> None:
    """Only turns that have grown are rendered again, and open items stay open."""
    session = LongSession(total=20)
    show(page, session, 0, 20)
    page.evaluate("document.getElementById('d19').open = true")
    page.evaluate("window.kept = turns.find(18); window.gone = turns.find(19)")
    session.words[19] = "more words"
    session.total = 22
    page.evaluate("turns.refresh(false)")
    page.wait_for_function("turns.total === 22")
    assert page.evaluate("turns.find(18) === kept") is True
    assert page.evaluate("turns.find(19) === gone") is False
    expect(page.locator('[data-turn="19"]')).to_contain_text("more words")
    assert page.locator("#d19").evaluate("details => details.open") is True


def test_a_page_that_came_too_early_is_filled(page: Page) -> None:
    """If the server had not read everything yet, the script requests the visible turns again."""
    session = LongSession(total=25)
    show(page, session, 0, 20, partial=True)
    page.wait_for_function("turns.total === 25")
    assert session.asked[0] == (0, 20)


def test_long_pages_are_refreshed_in_pieces(page: Page) -> None:
    """The server limits the number of turns per request."""
    session = LongSession(total=450)
    show(page, session, 0, 450)
    page.evaluate("turns.refresh(true)")
    assert session.asked == [(0, 200), (200, 200), (400, 50)]


def test_a_failure_is_shown_and_the_next_request_works(page: Page) -> None:
    """A missing response does not block later requests."""
    session = LongSession(total=40, fails=True)
    show(page, session, 0, 20)
    assert page.evaluate("turns.later().catch(error => error.message)") == (
        "500 for /s/1/turns?start=20&count=20"
    )
    expect(page.get_by_role("status")).to_have_text("That failed.")
    session.fails = False
    page.evaluate("turns.later()")
    assert list_turns(page) == list(range(40))
