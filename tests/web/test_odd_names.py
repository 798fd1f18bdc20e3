"""Every page on sessions whose file names are not ids, or not valid UTF-8."""

import html
import re
from collections.abc import Iterator
from urllib.parse import quote, urljoin

import pytest

from tests.odd_names import NAMES, write_odd_root
from tests.web.running import RunningServer, run_server

STARTS = (
    "/",
    "/search?q=pond",
    "/health",
    "/usage?group=session",
    "/usage?group=session&breakdown=true",
    "/usage?group=project",
)
WAYS = (
    "/s/{}",
    "/s/{}/turns",
    "/s/{}/changes",
    "/s/{}/raw/u1",
    "/usage/explain?target={}",
    "/api/sessions/{}",
    "/api/sessions/{}/outline",
    "/api/sessions/{}/turns",
    "/api/sessions/{}/find?q=pond",
    "/api/sessions/{}/records/u1",
    "/api/usage/explain?target={}",
    "/api/events?session={}",
    "/search?q=pond&session={}",
)


@pytest.fixture(scope="module")
def odd_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on such sessions."""
    folder = tmp_path_factory.mktemp("odd")
    write_odd_root(folder / "claude")
    with run_server(folder, folder / "claude") as running:
        running.wait_until_current()
        yield running


def find_addresses(page: str, body: bytes) -> set[str]:
    """Return the links of a page to this server, without filters of reports."""
    found = re.findall(r'(?:href|data-source)="([^"]*)"', body.decode())
    addresses = {urljoin(page, html.unescape(each)).partition("#")[0] for each in found}
    return {each for each in addresses if each.startswith(("/s/", "/usage/explain"))}


def test_every_listed_session_can_be_opened(odd_server: RunningServer) -> None:
    """The id that the API lists opens the session on every page, in the API and as events."""
    listed = odd_server.get("/api/history/sessions").json()["sessions"]
    ids = [each["id"] for each in listed]
    assert sorted(ids) == sorted(NAMES.values())
    paths = [way.format(quote(each, safe="")) for each in ids for way in WAYS]
    statuses = {path: odd_server.get(path).status for path in paths}
    assert {path: each for path, each in statuses.items() if each != 200} == {}


def test_every_link_leads_somewhere(odd_server: RunningServer) -> None:
    """All that lists, reports and sessions link to is there."""
    waiting, seen = list(STARTS), set(STARTS)
    wrong = {}
    while waiting:
        path = waiting.pop()
        answer = odd_server.get(path)
        if answer.status != 200:
            wrong[path] = answer.status
        fresh = find_addresses(path, answer.body) - seen
        seen |= fresh
        waiting += fresh
    assert wrong == {}
    assert len(seen) > len(NAMES) * 3
