"""All pages exist, in both languages, and contain nothing executable."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote_plus

import pytest

from recollect.documents.turn_documents import Fields
from recollect.session.session import Session
from recollect.workspace.session_places import find_call
from tests.session.chains import reply, result, use, user
from tests.web.addresses import SESSION
from tests.web.browser.writing import write_session
from tests.web.markup import find_texts
from tests.web.running import RunningServer, copy_demo, run_server

PAGES = [
    "/",
    "/?measure=sessions",
    "/sessions",
    "/sessions?text=release&order=cost&subagents=true",
    "/sessions?group=project",
    "/sessions?group=day",
    f"/s/{SESSION}",
    f"/s/{SESSION}/changes",
    f"/s/{SESSION}/timeline",
    f"/s/{SESSION}/checkpoints",
    f"/s/{SESSION}/thread",
    "/s/agent-a557725",
    "/files",
    "/files?text=cli",
    "/file?path=" + quote("/home/mina/projects/tidepool/src/tidepool/cli.py"),
    "/search",
    "/search?q=release",
    "/search?q=" + quote("(("),
    "/usage",
    "/usage/causes?cause=other",
    "/usage?group=session&breakdown=true",
    "/usage?since=nonsense",
    "/usage/explain?target=2026-11-12",
    "/health",
    "/api",
]


class _Reader(HTMLParser):
    """Collects what a strict policy would reject, and the links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: list[str] = []
        self.links: list[str] = []
        self.language = ""
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.refused += [name for name in found if name.startswith("on") or name == "style"]
        self.refused += [tag] if tag in {"style", "iframe", "object", "embed", "base"} else []
        self._in_script = tag == "script"
        self.language = self.language or found.get("lang") or ""
        for name in ("href", "src", "action", "data-source"):
            value = found.get(name) or ""
            if value and not value.startswith("data:image/"):
                self.links.append(value)

    def handle_data(self, data: str) -> None:
        if self._in_script and data.strip():
            self.refused.append("script")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False


def _read(page: bytes) -> _Reader:
    reader = _Reader()
    reader.feed(page.decode())
    return reader


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(
    ("wanted", "language"), [("en-GB,en", "en"), ("zh-CN,zh;q=0.9", "zh-Hans")]
)
def test_pages_are_there(server: RunningServer, path: str, wanted: str, language: str) -> None:
    """Every page is in the reader's language, without inline scripts or styles."""
    answer = server.get(path, **{"Accept-Language": wanted})
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    page = _read(answer.body)
    assert (page.refused, page.language) == ([], language)
    outside = [link for link in page.links if not link.startswith(("/", "#"))]
    assert outside == []


def test_turns_come_as_a_piece_of_a_page(server: RunningServer) -> None:
    """A fragment has its range of turns, the total, and the subagent."""
    answer = server.get(f"/s/{SESSION}/turns?start=1&count=1")
    text = answer.body.decode()
    opening = '<div class="turns-part" data-start="1" data-next="2" data-total="3"'
    assert (answer.status, text[: len(opening)], text.count("<article ")) == (200, opening, 1)
    assert _read(answer.body).refused == []


def test_links_of_pages_lead_somewhere(server: RunningServer) -> None:
    """No target of a link and no resource of a page is missing."""
    links = {
        link.partition("#")[0] for path in PAGES for link in _read(server.get(path).body).links
    }
    wrong = {link: server.get(link).status for link in sorted(links) if link}
    assert {link: status for link, status in wrong.items() if status != 200} == {}


def test_language_is_remembered(server: RunningServer) -> None:
    """A choice takes precedence over the browser's language."""
    answer = server.get("/", **{"Accept-Language": "en", "Cookie": "recollect-language=zh"})
    assert _read(answer.body).language == "zh-Hans"


def test_theme_is_remembered(server: RunningServer) -> None:
    """A chosen theme is part of the page; any other value is ignored."""
    chosen = ("dark", "light", "purple", '"><script>')
    pages = [server.get("/", Cookie=f"recollect-theme={theme}").body for theme in chosen]
    heads = [page.partition(b"<html")[2].partition(b">")[0].decode() for page in pages]
    assert [head.partition("data-theme=")[2] for head in heads] == ['"dark"', '"light"', "", ""]


def test_records_have_pages(server: RunningServer) -> None:
    """Every step of a session has a page with its raw record, and an anchor for links."""
    turns = server.get(f"/api/sessions/{SESSION}/turns").json()["turns"]
    uuids = {step["uuid"] for turn in turns for step in turn["steps"] if step["uuid"]}
    for uuid in uuids:
        assert server.get(f"/s/{SESSION}/raw/{uuid}").status == 200
        assert f'data-at="{uuid}"' in server.get(f"/s/{SESSION}?at={uuid}").body.decode()


def test_results_come_alone_for_a_page_that_is_open(server: RunningServer) -> None:
    """Search as you type requests only the results."""
    part = server.get("/search?q=release&part=true").body
    whole = server.get("/search?q=release").body
    assert (part in whole, b"<html" in part) == (True, False)


def test_results_can_be_narrowed_and_paged(server: RunningServer) -> None:
    """Each facet adds a field to the query, a correction replaces it, and pages are separate."""
    page = server.get("/search?q=tidepol&recent=true").body.decode()
    links = [unescape(link) for link in re.findall('href="(/search[?][^"]*)"', page)]
    assert "/search?q=tidepool&recent=true" in links
    assert "/search?q=tidepol+role%3Aassistant&recent=true" in links
    assert all(server.get(link).status == 200 for link in links)
    beyond = server.get("/search?q=tidepol&page=999").body.decode()
    assert beyond.count('class="hit"') == 0 < page.count('class="hit"')


def test_a_facet_that_narrows_the_results_leads_back(server: RunningServer) -> None:
    """It is marked, and its link removes the field from the query."""
    page = server.get("/search?q=release+role%3Auser+tidepool").body.decode()
    (marked,) = re.findall(r'href="([^"]*)" title="([^"]*)" aria-current="true"', page)
    assert (unescape(marked[0]), marked[1]) == (
        "/search?q=release+tidepool&recent=false",
        "role:user",
    )


def test_unknown_pages_say_so(server: RunningServer) -> None:
    """An unknown address returns a page, not a blank screen."""
    answer = server.get("/s/00000000-0000-0000-0000-000000000000")
    assert (answer.status, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert _read(answer.body).refused == []


@pytest.mark.parametrize("below", ["", "/changes", "?start=1&mark=a%20b", "/raw/none?line=1"])
def test_the_beginning_of_an_id_leads_to_the_session(server: RunningServer, below: str) -> None:
    """As commands print it; the rest of the address is kept."""
    answer = server.get(f"/s/{SESSION[:8]}{below}")
    assert (answer.status, answer.headers["location"]) == (307, f"/s/{SESSION}{below}")


def test_the_beginning_of_several_ids_lists_the_sessions(tmp_path: Path) -> None:
    """With their titles, newest first; a prefix that is too short matches none."""
    root = copy_demo(tmp_path)
    ids = ["abcdef01-2222-4333-8444-555555555555", "abcdef02-2222-4333-8444-555555555555"]
    for session_id in ids:
        write_session(root, session_id, 1)
    with run_server(tmp_path, root) as server:
        answer = server.get("/s/abcdef")
        assert answer.status == 404
        (main,) = find_texts(answer.body, "main")
        assert main.startswith("Not found 2 session IDs start with this. Which one?")
        links = re.findall(r'<a href="/s/([^"]+)">([^<]+)</a>', answer.body.decode())
        assert links == [(each, "How many boats lie at pier 0?") for each in reversed(ids)]
        assert server.get("/s/abc").status == 404
        assert server.get("/s/abcdef01").headers["location"] == f"/s/{ids[0]}"


def test_failed_calls_are_a_share_of_the_week(tmp_path: Path) -> None:
    """Copies count once; the share has the number of calls and links to the failed ones."""
    root = tmp_path / "claude"
    write_session(root, "abcdef01-2222-4333-8444-555555555555", 10, failed={1, 4})
    write_session(root, "abcdef02-2222-4333-8444-555555555555", 5, failed={1, 4})
    with run_server(tmp_path, root) as server:
        server.wait_until_current()
        server.wait_for_figures()
        page = server.get("/").body
        assert find_texts(page, "section", class_="this-week")[0].endswith("Failed calls 20.0%")
        (figure,) = re.findall(r'href="([^"]+)" title="2 of 10 calls"', page.decode())
        assert unquote_plus(unescape(figure)) == (
            "/search?q=is:error role:tool since:2026-11-09 until:2026-11-13"
        )
        found = find_texts(server.get(unescape(figure)).body, "p", class_="count")
        assert found == ["2 results in 1 session"]


def test_sessions_that_are_overdue(tmp_path: Path) -> None:
    """They are marked in a separate column; weeks without activity are not compared."""
    root = tmp_path / "claude"
    write_session(root, "abcdef01-2222-4333-8444-555555555555", 2)
    with run_server(tmp_path, root, variables={"RECOLLECT_NOW": "2027-03-01T12:00:00Z"}) as server:
        server.wait_for_figures()
        kept = find_texts(server.get("/sessions").body, "td", class_="kept-cell")
        assert kept == ["due for deletion"]
        home = server.get("/").body
        assert find_texts(home, "section", class_="this-week") == []
        assert find_texts(home, "section", class_="expiring")[0].endswith("due for deletion")
        assert "due for deletion" not in find_texts(home, "section", class_="recent")[0]


def test_a_call_has_all_that_it_was_given_on_request() -> None:
    """Everything that `--tools full` adds in a terminal is one click away."""
    asked = reply("a", use("t", "Read", file_path="/notes.txt", reason="heronword"), parent="p")
    session = Session([user("p"), asked, result("r", "t", "some words", parent="a")])
    call = find_call(session, "t")
    assert call.step.input == ()
    assert call.whole.input == (Fields((("reason", "heronword"),)),)


def test_an_opened_edit_is_its_diff(server: RunningServer) -> None:
    """The client's message to the model and its copy of the file are only in *All fields*."""
    turns = server.get(f"/api/sessions/{SESSION}/turns").json()["turns"]
    steps = [step for turn in turns for step in turn["steps"] if step.get("tool") == "Edit"]
    address = f"/s/{SESSION}/calls/{steps[0]['call_id']}"
    shown, whole = (server.get(address + query).body.decode() for query in ("", "?whole=true"))
    noise = ("call-output", "has been updated", "originalFile", "data-whole")
    assert [word in shown for word in noise] == [False, False, False, True]
    assert [word in whole for word in noise] == [True, True, True, False]


def test_branches_lead_to_each_other(server: RunningServer) -> None:
    """At a rewind, each prompt links to the alternatives."""
    turns = server.get(f"/api/sessions/{SESSION}/turns").json()["turns"]
    first, second = next(turn["branch"]["prompts"] for turn in turns if turn["branch"])
    page = server.get(f"/s/{SESSION}").body.decode()
    links = re.findall(r'<a href="([^"]*)" aria-label="(?:Previous|Next) branch">', page)
    wanted = [f"/s/{SESSION}", *(f"at={uuid}#{uuid}" for uuid in (second, first))]
    assert [link.startswith(wanted[0]) for link in links] == [True, True]
    assert [link.endswith(end) for link, end in zip(links, wanted[1:], strict=True)] == [True, True]
    assert {server.get(link.partition("#")[0]).status for link in map(unescape, links)} == {200}


def test_changes_are_listed_by_file(server: RunningServer) -> None:
    """Each file once, relative to the project, and each change with a link to its prompt."""
    session = "94791a87-9d13-410a-a632-25a9b25c1b45"
    page = server.get(f"/s/{session}/changes", **{"Accept-Language": "en"}).body
    [listed] = find_texts(page, "nav", **{"class": "changed-files"})
    assert listed == (
        "2 files, 2 changes +8 −1 src/tidepool/importer/ harbour.py +1 −1 "
        "src/tidepool/importer/ batches.py +7"
    )
    assert [text.split()[:3] for text in find_texts(page, "p", **{"class": "change-meta"})] == [
        ["Prompt", "4", "Edit"],
        ["Prompt", "4", "Write"],
    ]
