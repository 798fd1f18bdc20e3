"""Pages that stay open while files grow, tabs are in the background, and the server restarts."""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.web.browser.chromium import Visit, sign_in, visit
from tests.web.browser.test_sign_in import REFUSED
from tests.web.browser.watching import (
    list_arrivals,
    open_session,
    record_arrivals,
    wait_for_session,
)
from tests.web.browser.writing import (
    GROWING,
    Record,
    append_records,
    make_turn,
    make_uuid,
    write_session,
)
from tests.web.running import RunningServer, copy_demo, run_server

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
AWAY = "error: Failed to load resource: net::ERR_CONNECTION_REFUSED"
BROKEN = "error: Failed to load resource: net::ERR_INCOMPLETE_CHUNKED_ENCODING"
UNKNOWN = "error: Failed to load resource: the server responded with a status of 404 (Not Found)"
"""A server that has just started has not listed its sessions yet."""


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on sessions that grow."""
    folder = tmp_path_factory.mktemp("growing")
    with run_server(folder, copy_demo(folder)) as running:
        yield running


@pytest.fixture
def reader(browser: Browser, harbour: RunningServer) -> Iterator[Visit]:
    """A browser with an open page."""
    with visit(browser, harbour) as found:
        yield found
        assert found.problems == []


def grow(path: Path, first: int, count: int, pause: float) -> dict[str, float]:
    """Let another process write turns; return when each record was written."""
    command = ["-m", "tests.web.browser.writer", str(path), str(first), str(count), str(pause)]
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    )
    return {name: float(moment) for name, moment in map(str.split, done.stdout.splitlines())}


def make_retry(session_id: str, attempt: int) -> Record:
    """Return a failed request after the first turn, with a unique reason."""
    return {
        "type": "system",
        "subtype": "api_error",
        "uuid": f"retry-{attempt}",
        "parentUuid": f"retry-{attempt - 1}" if attempt else make_uuid(0, "answer"),
        "sessionId": session_id,
        "timestamp": f"2026-11-13T10:00:{40 + attempt}.000Z",
        "retryAttempt": attempt,
        "maxRetries": 10,
        "error": {"message": f"The harbour is closed by {REASONS[attempt]}"},
    }


REASONS = ("fog", "ice", "gales", "dredgers")


def test_a_run_of_notices_opens_to_what_is_sought(reader: Visit) -> None:
    """It stays open while it grows; find in session and links to a notice expand it."""
    session_id = GROWING.replace("9999", "dddd", 1)
    path = write_session(reader.server.root, session_id, 1)
    append_records(path, [make_retry(session_id, attempt) for attempt in range(3)])
    page = open_session(reader, session_id)
    run = page.locator("details.run")
    expect(run.locator("summary")).to_have_text("The request failed ×3")
    expect(run.locator(".noted").first).to_be_hidden()
    page.locator("[data-find]").fill("gales")
    page.locator("[data-find]").press("Enter")
    expect(run.locator("[id=retry-2]")).to_be_in_viewport()
    append_records(path, [make_retry(session_id, 3)])
    expect(run.locator("summary")).to_have_text("The request failed ×4")
    expect(run.locator("[id=retry-3]")).to_be_visible()
    page = reader.open(f"/s/{session_id}?at=retry-1&mark=ice#retry-1")
    expect(page.locator("[id=retry-1]")).to_be_in_viewport()


def test_new_records_appear_within_a_second(reader: Visit) -> None:
    """New records are on the page in under a second, without a reload."""
    session_id = GROWING.replace("9999", "aaaa", 1)
    path = write_session(reader.server.root, session_id, 2)
    page = open_session(reader, session_id)
    record_arrivals(page)
    written = grow(path, 2, 3, 0.15)
    expect(page.locator(f"[id='{make_uuid(4, 'answer')}']")).to_be_attached()
    arrivals = list_arrivals(page)
    # A result is shown with its call, not separately.
    delays = [arrivals[name] - moment for name, moment in written.items() if "result" not in name]
    assert len(delays) == 9
    # `make bench` measures the second; here the machine may be busy.
    assert statistics.median(delays) < 60
    assert page.evaluate("window.isSame") is True


def test_marked_words_stay_marked_in_a_turn_that_grows(reader: Visit) -> None:
    """The words of a hit are still marked after their turn is rendered again."""
    session_id = GROWING.replace("9999", "abab", 1)
    path = write_session(reader.server.root, session_id, 2)
    *known, answer = make_turn(session_id, 2)
    append_records(path, known)
    wait_for_session(reader, session_id)
    prompt = make_uuid(2, "prompt")
    page = reader.open(f"/s/{session_id}?at={prompt}&mark=pier#{prompt}")
    page.locator("article.session[data-landed=true]").wait_for(state="attached")
    append_records(path, [answer])
    # The turn is replaced, or only its last steps, depending on what the page has rendered.
    expect(page.locator(f"[id='{make_uuid(2, 'answer')}']")).to_be_attached()
    reader.server.wait_for(
        lambda: page.evaluate("[...CSS.highlights.get('current')].map(String)") == ["pier"]
    )


def test_what_a_turn_added_stays_open_while_the_turn_grows(reader: Visit) -> None:
    """The opened list of what filled the context is still open when its figures change."""
    session_id = GROWING.replace("9999", "adad", 1)
    path = write_session(reader.server.root, session_id, 2)
    *known, answer = make_turn(session_id, 2)
    known[1]["message"]["usage"]["input_tokens"] = 500
    answer["message"]["usage"]["input_tokens"] = 900
    append_records(path, known)
    page = open_session(reader, session_id)
    added = page.locator("[data-turn='2'] > footer .growth details")
    expect(added.locator("summary")).to_have_text("+490")
    added.locator("summary").click()
    append_records(path, [answer])
    expect(added.locator("summary")).to_have_text("+890")
    assert added.evaluate("details => details.open") is True


def test_the_outline_keeps_the_focus_while_a_session_grows(reader: Visit) -> None:
    """New prompts are added below the focused line; no line is rendered again."""
    session_id = GROWING.replace("9999", "acac", 1)
    path = write_session(reader.server.root, session_id, 3)
    page = open_session(reader, session_id)
    lines = page.locator("[data-outline] li[data-turn]")
    expect(lines).to_have_count(3)
    page.evaluate("window.kept = [...document.querySelectorAll('[data-outline] li')]")
    lines.nth(1).locator("a").first.focus()
    append_records(path, make_turn(session_id, 3))
    expect(lines).to_have_count(4)
    expect(lines.nth(1).locator("a").first).to_be_focused()
    # The turn that was the last is not finished any more, so its line may change.
    now = "[...document.querySelectorAll('[data-outline] li')]"
    assert page.evaluate(f"{now}.slice(0, 2).every((line, at) => line === window.kept[at])")


def test_the_reader_is_not_moved(reader: Visit) -> None:
    """While the user reads above, nothing moves or closes, and a pill counts messages."""
    session_id = GROWING.replace("9999", "bbbb", 1)
    path = write_session(reader.server.root, session_id, 30)
    page = open_session(reader, session_id)
    call = page.locator(f"[id='{make_uuid(12, 'call')}']")
    call.locator("summary").click()
    expect(call.locator(".call-output")).to_be_visible()
    call.evaluate("(each) => { each.scrollIntoView(); window.kept = each; }")
    page.wait_for_timeout(400)
    where = "[scrollY, window.kept.getBoundingClientRect().top]"
    before = page.evaluate(where)
    grow(path, 30, 2, 0.05)
    pill = page.locator(".new-turns")
    expect(pill).to_have_text("6 new")
    expect(pill).to_be_visible()
    assert page.evaluate(where) == before
    assert page.evaluate("window.kept.isConnected && window.kept.open") is True
    pill.click()
    expect(page.locator(f"[id='{make_uuid(31, 'prompt')}']")).to_be_in_viewport()
    expect(pill).not_to_be_visible()
    expect(page.locator("[data-outline] li[data-turn]")).to_have_count(32)


def test_the_pill_goes_to_the_end_once(reader: Visit) -> None:
    """It does not follow: what arrives later is counted by the pill again."""
    session_id = GROWING.replace("9999", "b3b3", 1)
    path = write_session(reader.server.root, session_id, 20)
    page = open_session(reader, session_id)
    grow(path, 20, 1, 0.05)
    pill = page.locator(".new-turns")
    pill.click()
    expect(page.locator(f"[id='{make_uuid(20, 'answer')}']")).to_be_in_viewport()
    expect(pill).not_to_be_visible()
    end = "innerHeight + scrollY >= document.documentElement.scrollHeight - 1"
    reader.server.wait_for(lambda: page.evaluate(end))
    grow(path, 21, 2, 0.05)
    expect(pill).to_have_text("6 new")
    assert page.evaluate(end) is False
    colour = "(each) => getComputedStyle(each).color"
    before = pill.evaluate(colour)
    pill.hover()
    assert pill.evaluate(colour) == before


def test_the_figures_of_a_growing_session_are_current(browser: Browser, tmp_path: Path) -> None:
    """Tokens, size and duration are; the cost is written like that of others."""
    path = write_session(tmp_path / "claude", GROWING, 6)
    with run_server(tmp_path, tmp_path / "claude") as server:
        server.wait_until_current()
        with visit(browser, server) as found:
            page = open_session(found, GROWING)
            facts, cost = page.locator(".session-facts"), page.locator(".session-head [data-cost]")
            expect(facts).to_contain_text("Tokens360")
            expect(cost).to_have_text("$0.01")
            grow(path, 6, 1, 0.05)
            expect(facts).to_contain_text("Tokens420")
            expect(facts).to_contain_text("Duration6 min 30 s")
            # More than half a cent, and less than one.
            expect(cost).to_have_text("$0.01")
            assert found.problems == []


def test_following_stays_at_the_end(reader: Visit) -> None:
    """Follow scrolls to the end and stays there as records arrive, until the user scrolls up."""
    session_id = GROWING.replace("9999", "b4b4", 1)
    path = write_session(reader.server.root, session_id, 20)
    page = open_session(reader, session_id)
    page.locator("[data-follow]").evaluate("(it) => { it.hidden = false; it.click(); }")
    grow(path, 20, 1, 0.05)
    expect(page.locator(f"[id='{make_uuid(20, 'answer')}']")).to_be_in_viewport()
    page.mouse.move(600, 400)
    page.mouse.wheel(0, -300)
    expect(page.locator("[data-follow]")).to_have_attribute("aria-pressed", "false")


def test_scrolling_up_without_a_wheel_ends_following(reader: Visit) -> None:
    """Scrolling up with a key or a finger stops following, too."""
    session_id = GROWING.replace("9999", "b1b1", 1)
    path = write_session(reader.server.root, session_id, 20)
    page = open_session(reader, session_id)
    page.locator("[data-follow]").evaluate("(it) => { it.hidden = false; it.click(); }")
    expect(page.locator(f"[id='{make_uuid(19, 'answer')}']")).to_be_in_viewport()
    page.locator("body").press("PageUp")
    expect(page.locator("[data-follow]")).to_have_attribute("aria-pressed", "false")
    grow(path, 20, 1, 0.05)
    expect(page.locator(".new-turns")).to_be_visible()


def test_following_starts_at_the_very_end(reader: Visit) -> None:
    """Turns that get their real height only when visible do not move the end out of view."""
    session_id = GROWING.replace("9999", "b2b2", 1)
    write_session(reader.server.root, session_id, 20)
    page = open_session(reader, session_id)
    # Higher than a turn is assumed to be before it is in view.
    page.evaluate(
        "for (const it of document.querySelectorAll('.turn > *')) it.style.paddingBottom = '40rem'"
    )
    page.locator("[data-follow]").evaluate("(it) => { it.hidden = false; it.click(); }")
    last = page.locator(".turn").last
    reader.server.wait_for(lambda: last.evaluate("it => it.getBoundingClientRect().height > 640"))
    reader.server.wait_for(
        lambda: page.evaluate("innerHeight + scrollY >= document.documentElement.scrollHeight - 1")
    )


FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_a_page_stays_where_it_is_once_following_ends(reader: Visit) -> None:
    """At the end of the session, too, where new turns come into view."""
    session_id = GROWING.replace("9999", "b5b5", 1)
    path = write_session(reader.server.root, session_id, 20)
    page = open_session(reader, session_id)
    follow = page.locator("[data-follow]")
    follow.evaluate("(it) => { it.hidden = false; it.click(); }")
    expect(page.locator(f"[id='{make_uuid(19, 'answer')}']")).to_be_in_viewport()
    page.evaluate(FRAMES)
    follow.evaluate("(it) => it.click()")
    expect(follow).to_have_attribute("aria-pressed", "false")
    before = page.evaluate("scrollY")
    grow(path, 20, 3, 0.05)
    expect(page.locator(f"[id='{make_uuid(22, 'answer')}']")).to_be_attached()
    page.evaluate(FRAMES)
    assert page.evaluate("scrollY") == before


def test_a_call_gets_its_result(reader: Visit) -> None:
    """A pending call is shown as pending, and as done once its result arrives."""
    session_id = GROWING.replace("9999", "cccc", 1)
    path = write_session(reader.server.root, session_id, 1)
    page = open_session(reader, session_id)
    prompt, call, result, _ = make_turn(session_id, 1)
    append_records(path, [prompt, call])
    drawn = page.locator(f"[id='{make_uuid(1, 'call')}']")
    expect(drawn).to_have_attribute("data-status", "pending")
    drawn.locator("summary").click()
    append_records(path, [result])
    expect(drawn).to_have_attribute("data-status", "success")
    expect(drawn.locator(".call-output")).to_contain_text("3 boats")


def test_a_sleeping_tab_listens_to_nothing_and_catches_up(reader: Visit) -> None:
    """A background tab has no connection; when it is shown, it catches up."""
    session_id = GROWING.replace("9999", "dddd", 1)
    path = write_session(reader.server.root, session_id, 2)
    page = open_session(reader, session_id)
    _turn_tab(page, is_hidden=True)
    append_records(path, make_turn(session_id, 2))
    page.wait_for_timeout(1200)
    added = page.locator(f"[id='{make_uuid(2, 'answer')}']")
    expect(added).to_have_count(0)
    _turn_tab(page, is_hidden=False)
    expect(added).to_be_attached()


def _turn_tab(page: Page, *, is_hidden: bool) -> None:
    page.evaluate(
        "(isHidden) => { Object.defineProperty(document, 'hidden',"
        " { configurable: true, get: () => isHidden });"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        is_hidden,
    )


@contextmanager
def open_client(root: Path, session_id: str) -> Iterator[None]:
    """Start a process that is recorded as a client with the session open."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        note = root / "sessions" / f"{client.pid}.json"
        note.parent.mkdir(exist_ok=True)
        text = json.dumps({"pid": client.pid, "sessionId": session_id, "status": "busy"})
        note.write_text(text, encoding="utf-8")
        try:
            yield
        finally:
            client.kill()


def test_the_list_shows_who_is_at_work(reader: Visit) -> None:
    """The dot and the count show a session that a client has open, without a reload."""
    session_id = GROWING.replace("9999", "eeee", 1)
    write_session(reader.server.root, session_id, 1)
    open_session(reader, session_id)
    page = reader.open("/sessions")
    page.evaluate("window.isSame = true")
    dot = page.locator(f"tr[data-session='{session_id}'] [data-live]")
    count = page.locator("[data-count=live]")
    expect(dot).not_to_be_visible()
    with open_client(reader.server.root, session_id):
        expect(dot).to_be_visible()
        expect(count).to_have_text("1")
    expect(dot).not_to_be_visible()
    expect(count).to_be_empty()
    assert page.evaluate("window.isSame") is True


def test_the_list_announces_a_new_session(reader: Visit) -> None:
    """A new session is announced by a button, so that nothing moves while you read."""
    session_id = GROWING.replace("9999", "ffff", 1)
    page = reader.open("/sessions")
    added = page.locator(f"tr[data-session='{session_id}']")
    write_session(reader.server.root, session_id, 1)
    # The button may already be there, for another session of this server.
    wait_for_session(reader, session_id)
    pill = page.locator("[data-changed]")
    expect(pill).to_be_visible()
    assert added.count() == 0
    pill.click()
    expect(added).to_be_attached()


def test_the_list_announces_changes_from_before_it_listened(reader: Visit) -> None:
    """A session that is found between rendering the list and connecting is not missed."""
    session_id = GROWING.replace("9999", "0000", 1)
    held: list[Route] = []
    # Not `append` itself: the browser's library asks what it is given for its code.
    reader.page.route("**/api/events*", lambda route: held.append(route))  # noqa: PLW0108
    page = reader.open("/sessions")
    write_session(reader.server.root, session_id, 1)
    wait_for_session(reader, session_id)
    page.wait_for_timeout(300)
    for each in held:
        each.continue_()
    expect(page.locator("[data-changed]")).to_be_visible()


def test_a_page_outlives_the_server(browser: Browser, tmp_path: Path) -> None:
    """After a restart and a new sign-in, the open page catches up."""
    root = copy_demo(tmp_path)
    path = write_session(root, GROWING, 2)
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    with ExitStack() as stack:
        with run_server(folders[0], root) as first:
            found = stack.enter_context(visit(browser, first))
            page = open_session(found, GROWING)
            page.evaluate("window.isSame = true")
        expect(page.locator(".toast")).to_contain_text("Connection lost")
        append_records(path, make_turn(GROWING, 2))
        second = stack.enter_context(run_server(folders[1], root, "--port", str(first.port)))
        sign_in(found.context, second)
        expect(page.locator(f"[id='{make_uuid(2, 'answer')}']")).to_be_attached()
        append_records(path, make_turn(GROWING, 3))
        expect(page.locator(f"[id='{make_uuid(3, 'answer')}']")).to_be_attached()
        assert page.evaluate("window.isSame") is True
        page.close()
        assert set(found.problems) <= {AWAY, BROKEN, REFUSED, UNKNOWN}
