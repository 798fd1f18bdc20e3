"""No page contains characters that reorder or hide text, or control characters."""

import html
import re
from collections.abc import Iterator
from urllib.parse import quote, urljoin

import pytest

from recollect.render.terminal import safe_text
from tests.hostile import PAYLOAD, find_harm, write_hostile_root
from tests.library.claude_root import encode, prompt, reply
from tests.web.markup import find_texts
from tests.web.running import RunningServer, run_server

STARTS = (
    "/",
    "/sessions",
    "/sessions?subagents=true&text=" + quote(PAYLOAD, errors="replace"),
    "/search?q=owned",
    "/search?q=" + quote(f"(( {PAYLOAD[:300]}", errors="replace"),
    "/health",
    "/nothing/" + quote(PAYLOAD, safe="", errors="replace"),
    "/usage/explain?target=2026-11-09",
    *(
        f"/usage?group={group}&breakdown=true&measure=tokens"
        for group in ("day", "session", "project", "model", "branch", "version", "tool")
    ),
    *(f"/usage?group={group}" for group in ("entrypoint", "mcp-server", "subagent", "block")),
)
FOLLOWED = ("/s/", "/usage/explain")
TURNED = "claude\u202eedualc"


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on sessions in which every string contains every payload."""
    folder = tmp_path_factory.mktemp("hostile")
    root = write_hostile_root(folder)
    # In a name that is short enough for a filter.
    odd = [each("hello", gitBranch="main\x1b") for each in (prompt, reply)]
    odd[1]["message"]["model"] = TURNED  # type: ignore[index]
    path = root / "projects" / "-odd" / "0dd00000-0000-4000-8000-000000000000.jsonl"
    path.parent.mkdir()
    path.write_bytes(encode(odd))
    with run_server(folder, root) as running:
        running.wait_until_current()
        yield running


def find_addresses(page: str, body: str) -> set[str]:
    """The sessions, calls, subagents, records and figures that a page leads to."""
    found = re.findall(r'(?:href|data-source)="([^"]*)"', body)
    addresses = {urljoin(page, html.unescape(each)).partition("#")[0] for each in found}
    return {each for each in addresses if each.startswith(FOLLOWED)}


@pytest.mark.slow
def test_no_page_holds_one(hostile_server: RunningServer) -> None:
    """In no text and no attribute of any page or part of a page, whatever the field."""
    waiting, seen = list(STARTS), set(STARTS)
    harm = {}
    while waiting:
        path = waiting.pop()
        answer = hostile_server.get(path)
        body = answer.body.decode()
        # Records name sessions that never were, and messages by pages of text.
        assert (path, answer.status < 500) == (path, True)
        if found := find_harm(body.replace("\t", "")):
            harm[path] = found
        # Of thousands of records, each is drawn like the first few of its session.
        fresh = {each for each in find_addresses(path, body) - seen if "/raw/" not in each}
        seen |= fresh
        waiting += fresh
    assert harm == {}
    assert len(seen) > 100


def test_a_filter_takes_what_a_page_shows(hostile_server: RunningServer) -> None:
    """A choice in a form is sent as shown, and is understood."""
    shown = safe_text(TURNED)
    page = hostile_server.get("/sessions").body
    assert shown in find_texts(page, "option")
    for query in (f"model={quote(shown)}", "branch=" + quote("main␛")):
        found = hostile_server.get(f"/sessions?{query}").body
        assert [row.split()[0] for row in find_texts(found, "tr", data_session="")] == ["hello"]


def test_raw_records_are_shown_and_not_sent(hostile_server: RunningServer) -> None:
    """The page of a record shows hidden characters in its JSON by name."""
    page = hostile_server.get("/s/0dd00000-0000-4000-8000-000000000000/raw/a1").body.decode()
    assert find_harm(page) == []
    assert safe_text(TURNED) in page
