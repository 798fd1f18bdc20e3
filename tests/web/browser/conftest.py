"""One browser for the tests of a module, and a watched page for each."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser

from tests.web.browser.chromium import Look, Visit, open_browser, visit
from tests.web.conversing import Talker
from tests.web.running import RunningServer

StartVisit = Callable[[Look], Visit]


# Per module: it runs an event loop, and other tests start their own.
@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The browser of this machine."""
    with open_browser(tmp_path_factory.mktemp("browser-home")) as started:
        yield started


@pytest.fixture
def start_visit(browser: Browser, server: RunningServer) -> Iterator[StartVisit]:
    """Start visits of the demo data; any problem on any page fails the test."""
    with ExitStack() as stack:
        visits: list[Visit] = []

        def start(look: Look) -> Visit:
            visits.append(stack.enter_context(visit(browser, server, look)))
            return visits[-1]

        yield start
        assert [problem for each in visits for problem in each.problems] == []


@pytest.fixture
def desk(start_visit: StartVisit) -> Visit:
    """A desktop browser in English, with the light theme."""
    return start_visit(Look())


@pytest.fixture
def chat_desk(browser: Browser, talker: Talker) -> Iterator[Visit]:
    """A desktop browser at a server that may run the client; any problem fails the test."""
    with visit(browser, talker.server, Look()) as found:
        yield found
        assert found.problems == []


@pytest.fixture
def end_conversations(talker: Talker) -> Iterator[None]:
    """A failed test must not use up the limit for the next ones."""
    yield
    for each in talker.list_conversations():
        if each["status"] != "ended":
            talker.act(each["id"], "end")
