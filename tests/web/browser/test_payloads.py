"""Nothing in a transcript executes, loads or links anywhere, in any field."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.render.html.payloads import every_payload
from tests.web.browser.chromium import Look, Visit, visit
from tests.web.browser.planting import SHARES, write_planted_root
from tests.web.running import RunningServer, run_server

pytestmark = pytest.mark.slow

WATCH = "addEventListener('message', () => { window.pwned = 'message'; });"
FIND_HARM = r"""() => {
  const found = [];
  if (window.pwned !== undefined) found.push(`ran: ${window.pwned}`);
  for (const each of document.querySelectorAll("*")) {
    for (const { name, value } of each.attributes) {
      if (name.startsWith("on") || name === "style" || name === "srcdoc") found.push(name);
      if (!["href", "src", "action", "formaction", "data", "poster", "xlink:href"].includes(name)) {
        continue;
      }
      const { protocol, origin } = new URL(value, location.href);
      const isOwn = origin === location.origin;
      const isPicture = each.localName === "img" && /^data:image\/(png|jpeg|gif|webp);/.test(value);
      const isLink = each.localName === "a" && ["http:", "https:", "mailto:"].includes(protocol);
      if (!isOwn && !isPicture && !isLink) found.push(`${each.localName} ${name}=${value}`);
    }
  }
  const wanted = "iframe, object, embed, base, style, meta[http-equiv], video, audio, math,"
    + ":is(article.session, article.chat)"
    + " svg:not(.icon, .trace, .meter, .context-meter > svg, .call > summary > .status > svg),"
    + "use:not(.icon > [href^='#i-']),"
    + "svg :is(script, image, set, animate, foreignObject), svg:not(.months) a";
  for (const each of document.querySelectorAll(wanted)) found.push(each.outerHTML.slice(0, 100));
  for (const each of document.querySelectorAll("script, link")) {
    if (!new URL(each.src ?? each.href ?? "", location.href).pathname.startsWith("/static/")) {
      found.push(each.outerHTML.slice(0, 100));
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, list[str]]]:
    """A server on the planted sessions, with all of them listed."""
    folder = tmp_path_factory.mktemp("planted")
    root, ids = write_planted_root(folder)
    with run_server(folder, root) as running:
        running.wait_until_current()
        yield running, ids


@pytest.fixture
def victim(browser: Browser, planted: tuple[RunningServer, list[str]]) -> Iterator[Visit]:
    """A browser on these pages; a policy violation counts as a failure too."""
    with visit(browser, planted[0], Look()) as found:
        found.context.add_init_script(WATCH)
        yield found
        assert found.problems == []


def find_harm(page: Page) -> list[str]:
    """Return everything that executed, or would execute, load or link elsewhere, after loading."""
    page.wait_for_timeout(150)
    found: list[str] = page.evaluate(FIND_HARM)
    return found


def test_there_are_enough_payloads() -> None:
    """The suite has its documented size."""
    assert len(set(every_payload())) >= 300


@pytest.mark.parametrize("share", range(SHARES))
def test_sessions_are_harmless(
    victim: Visit, planted: tuple[RunningServer, list[str]], share: int
) -> None:
    """A session with everything in it unfolded: text, calls, subagents, outline, raw records."""
    session_id = planted[1][share]
    page = victim.open(f"/s/{session_id}")
    expect(page.locator("[data-outline] li[data-turn]").first).to_be_attached()
    later = page.locator("[data-more=later]")
    while later.is_visible():
        later.dispatch_event("click")
        page.wait_for_timeout(50)
    for _ in range(2):
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        expect(page.locator("details[data-source] > :last-child:empty")).to_have_count(0)
        expect(page.locator(".loading")).to_have_count(0)
    shown = (
        page.locator("#turns > .turn details.call").count(),
        page.locator(".child .turn").count(),
    )
    assert (shown[0] > 10, shown[1] > 0) == (True, True)
    assert find_harm(page) == []
    victim.open(f"/s/{session_id}/raw/extra-record-0")
    assert find_harm(page) == []
    victim.open(f"/s/{session_id}/changes")
    assert page.locator(".change").count() > 0
    assert find_harm(page) == []


def test_lists_are_harmless(victim: Visit) -> None:
    """Titles, prompts, branches, models, projects and paths in lists, filters and the palette."""
    page = victim.open("/sessions?subagents=true")
    assert page.locator("tr[data-session]").count() > SHARES
    page.keyboard.press("Control+k")
    expect(page.locator("#palette li").nth(SHARES)).to_be_attached()
    assert find_harm(page) == []


@pytest.mark.parametrize("query", ["pwned", "script", "javascript", "onerror", "<script>"])
def test_results_are_harmless(victim: Visit, query: str) -> None:
    """Snippets of hits, as the page comes and as one types."""
    page = victim.open(f"/search?q={quote(query)}")
    assert page.locator("#results mark").count() > 0
    assert find_harm(page) == []
    box = page.locator("main input[name=q]")
    box.press("End")
    box.press_sequentially(" window")
    expect(page).to_have_url(f"{victim.server.origin}/search?q={quote(query, safe='')}+window")
    assert find_harm(page) == []


def test_usage_is_harmless(victim: Visit) -> None:
    """Models, projects, branches, tools and servers in tables and charts."""
    groups = ("model", "project", "session", "tool", "branch", "mcp-server", "subagent", "version")
    harm = {}
    for group in groups:
        page = victim.open(f"/usage?group={group}&breakdown=true")
        harm[group] = [page.locator("table.usage tbody tr").count() > 0, find_harm(page)]
    assert harm == {group: [True, []] for group in groups}
    page = victim.open("/usage/explain?target=2026-11-13")
    assert find_harm(page) == []
    page = victim.open("/health")
    expect(page.locator("[data-load]")).to_have_count(0)
    assert find_harm(page) == []
