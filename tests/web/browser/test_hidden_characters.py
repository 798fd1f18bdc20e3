"""Text that scripts put into a page is as safe to read as text from the server."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.hostile import find_harm, write_hostile_root
from tests.web.browser.chromium import Look, Visit, visit
from tests.web.running import RunningServer, run_server

pytestmark = pytest.mark.slow

READ = """() => [...document.querySelectorAll("#palette, [data-outline]")].map((each) => [
  each.innerText, ...[...each.querySelectorAll("[title]")].map((inner) => inner.title),
].join("\\n")).join("\\n")"""


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on sessions in which every string contains every payload."""
    folder = tmp_path_factory.mktemp("hostile")
    with run_server(folder, write_hostile_root(folder)) as running:
        running.wait_until_current()
        yield running


@pytest.fixture
def reader(browser: Browser, hostile_server: RunningServer) -> Iterator[Visit]:
    """A browser on these sessions."""
    with visit(browser, hostile_server, Look()) as found:
        yield found


def test_outline_and_palette_hide_nothing(reader: Visit) -> None:
    """Prompts in the outline and titles in the palette show hidden characters by name."""
    page = reader.open("/s/94791a87-9d13-410a-a632-25a9b25c1b45")
    expect(page.locator("[data-outline] li[data-turn]").first).to_be_attached()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette li").nth(8)).to_be_attached()
    shown = page.evaluate(READ)
    assert "‹U+202E›" in shown
    assert find_harm(shown.replace("\t", "")) == []
