"""A page of a session that is being written, and when each record appeared in it."""

from playwright.sync_api import Page

from tests.web.browser.chromium import Visit

_NOTE_ARRIVALS = """
  window.isSame = true;
  window.arrivals = {};
  const note = () => {
    for (const each of document.querySelectorAll("#turns [id]")) {
      window.arrivals[each.id] ??= Date.now() / 1000;
    }
  };
  note();
  new MutationObserver(note).observe(document.getElementById("turns"),
    { childList: true, subtree: true });
"""


def wait_for_session(found: Visit, session_id: str) -> None:
    """Let the server find a session that has just been written."""
    found.server.wait_for(lambda: found.server.get(f"/api/sessions/{session_id}").status == 200)


def open_session(found: Visit, session_id: str) -> Page:
    """Return the page of a session that the server may have to find first."""
    wait_for_session(found, session_id)
    with found.page.expect_response("**/api/events?session=*"):
        page = found.open(f"/s/{session_id}")
    page.wait_for_timeout(500)
    return page


def record_arrivals(page: Page) -> None:
    """Make the page record what it shows from now on."""
    page.evaluate(_NOTE_ARRIVALS)


def list_arrivals(page: Page) -> dict[str, float]:
    """Return when each record was first shown, by uuid; fails if the page was reloaded."""
    assert page.evaluate("window.isSame") is True
    found: dict[str, float] = page.evaluate("window.arrivals")
    return found
