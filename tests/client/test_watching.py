"""The pages while the real client works."""

import json
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from playwright.sync_api import expect

from tests.client.client_sandbox import SECONDS, STREAMING, ClientSandbox
from tests.client.versions import OLDEST
from tests.web.browser.chromium import Visit, open_browser, visit
from tests.web.browser.watching import list_arrivals, open_session, record_arrivals
from tests.web.running import run_server

pytestmark = pytest.mark.client

_LOOK_SECONDS = 0.01


@pytest.fixture
def reader(sandbox: ClientSandbox, tmp_path: Path) -> Iterator[Visit]:
    """A browser on the sessions of the client; any problem on a page fails the test."""
    folder = tmp_path / "web"
    folder.mkdir()
    with (
        open_browser(tmp_path / "home") as browser,
        run_server(folder, sandbox.root) as server,
        visit(browser, server) as found,
    ):
        yield found
        assert found.problems == []


@contextmanager
def record_times(path: Path) -> Iterator[dict[str, float]]:
    """Record when each uuid first appeared in a file; complete at the end of the block."""
    found: dict[str, float] = {}
    is_over = Event()

    def look() -> None:
        while not is_over.wait(_LOOK_SECONDS):
            now = time.time()
            for line in path.read_bytes().split(b"\n")[:-1]:
                found.setdefault(json.loads(line).get("uuid", ""), now)

    watching = Thread(target=look)
    watching.start()
    try:
        yield found
    finally:
        is_over.set()
        watching.join()


def test_a_page_shows_what_the_client_does(sandbox: ClientSandbox, reader: Visit) -> None:
    """A call appears while its tool runs, then its result and the text after it, in a second."""
    session_id = sandbox.ask("play:hello")[-1]["session_id"]
    page = open_session(reader, session_id)
    (path,) = sandbox.root.glob(f"projects/*/{session_id}.jsonl")
    record_arrivals(page)
    slow = [*STREAMING, "--resume", session_id, "--", "play:slow_tool"]
    with record_times(path) as written, sandbox.start(slow) as client:
        call = page.locator(".call", has_text="Run it").last
        expect(call).to_have_attribute("data-status", "pending")
        assert client.poll() is None
        expect(call).to_have_attribute("data-status", "success")
        expect(page.get_by_text("It slept.")).to_be_attached()
        client.communicate(timeout=SECONDS)
    arrivals = list_arrivals(page)
    delays = [arrivals[name] - written[name] for name in arrivals.keys() & written.keys()]
    late = [delay for delay in delays if delay > 0]
    assert len(late) >= 3
    assert statistics.median(late) < 1.0


def test_the_list_shows_that_the_client_is_at_work(
    sandbox: ClientSandbox, reader: Visit, version: str
) -> None:
    """The session has a dot while the client runs; old clients do not report it."""
    session_id = sandbox.ask("play:hello")[-1]["session_id"]
    open_session(reader, session_id)
    page = reader.open("/sessions")
    dot = page.locator(f"tr[data-session='{session_id}'] [data-live]")
    slow = [*STREAMING, "--resume", session_id, "--", "play:slow_tool"]
    with sandbox.start(slow) as client:
        if version != OLDEST:
            expect(dot).to_be_visible()
            assert client.poll() is None
        client.communicate(timeout=SECONDS)
    expect(dot).not_to_be_visible()
