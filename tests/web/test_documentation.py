"""docs/api.md, docs/web.md, the OpenAPI document and its page match the router."""

import html
import re
from pathlib import Path
from typing import Any, get_args

from recollect.documents.events import EventName
from recollect.web.conversations.page_messages import PAGE_EVENTS, RUNNING_EVENTS
from recollect.web.event_stream import EVENTS
from recollect.web.openapi import describe_api
from recollect.web.pages.routes import PAGES
from recollect.web.templating import load_catalogue
from tests.web.addresses import fill_path, list_routes
from tests.web.markup import find_texts
from tests.web.running import RunningServer

DOCS = Path(__file__).resolve().parents[2] / "docs"
ALL_PATHS: dict[str, Any] = describe_api()["paths"]
PATHS = {path: each for path, each in ALL_PATHS.items() if path.startswith("/api/")}
STREAM: dict[str, Any] = PATHS["/api/events"]["get"]


def test_the_document_has_every_endpoint() -> None:
    """All that can be read below /api, but for the document itself, is described in it."""
    routes = {path for method, path in list_routes() if method == "GET"}
    below = {path for path in routes if path.startswith("/api/")} - {"/api/openapi.json"}
    assert {fill_path(path) for path in PATHS} == below


def test_every_endpoint_is_documented() -> None:
    """The table of the page lists the endpoints that there are, and no others."""
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(/api/[^`]*)` \|", page, flags=re.MULTILINE))
    assert listed == set(PATHS)


def test_every_event_is_documented() -> None:
    """The tables of the page list the events that are sent, and no others."""
    page = (DOCS / "api.md").read_text(encoding="utf-8").partition("## Events")[2]
    tables = page.partition("## Conversations")[0]
    listed = re.findall(r"^\| `([^`]*)` \|", tables, flags=re.MULTILINE)
    assert listed == list(EVENTS) == ["sessions", "reload", *get_args(EventName)]


def test_conversations_are_described() -> None:
    """Every action and every event of a conversation is in the document and in the page."""
    posts = {path for method, path in list_routes() if method == "POST" and path[:2] == "/c"}
    described = {path for path, each in ALL_PATHS.items() if "post" in each}
    assert {fill_path(path) for path in described} == posts
    page = (DOCS / "api.md").read_text(encoding="utf-8").partition("## Conversations")[2]
    tables = page.partition("## Errors")[0]
    listed = re.findall(r"^\| `([^`]*)` \|", tables, flags=re.MULTILINE)
    assert set(listed) == {"POST", "/c", *described, *PAGE_EVENTS, *RUNNING_EVENTS}
    for path, events in (("/c/{id}/events", PAGE_EVENTS), ("/c/events", RUNNING_EVENTS)):
        content = ALL_PATHS[path]["get"]["responses"]["200"]["content"]["text/event-stream"]
        kinds = content["schema"]["items"]["oneOf"]
        assert [each["properties"]["event"]["const"] for each in kinds] == list(events)


def test_the_stream_of_events_is_described() -> None:
    """Its parameters, its responses, and the shape of the data of each event."""
    assert [(each["in"], each["name"]) for each in STREAM["parameters"]] == [
        ("query", "session"),
        ("query", "last_id"),
        ("query", "records"),
        ("header", "Last-Event-ID"),
    ]
    assert list(STREAM["responses"]) == ["200", "401", "404", "422", "503"]
    ((media_type, body),) = STREAM["responses"]["200"]["content"].items()
    assert media_type == "text/event-stream"
    kinds = [each["properties"] for each in body["schema"]["items"]["oneOf"]]
    assert {each["event"]["const"]: each["data"]["$ref"] for each in kinds} == {
        name: f"#/components/schemas/{kind.data.__name__}" for name, kind in EVENTS.items()
    }


def test_every_endpoint_is_shown_once(server: RunningServer) -> None:
    """The page of the API has one card for each, and lists the events of the stream."""
    page = server.get("/api").body
    headings = find_texts(page, "h2")
    assert [each for each in headings if each.startswith(("GET ", "POST "))] == [
        f"{method.upper()} {path}" for path, each in ALL_PATHS.items() for method in each
    ]
    (card,) = (each for each in find_texts(page, "section") if each.startswith("GET /api/events "))
    events = (f"{name} {kind.data.__name__} {kind.meaning}" for name, kind in EVENTS.items())
    shown = (
        f"Event Data Description {' '.join(events)} Returns text/event-stream 200 401 404 422 503"
    )
    assert card[card.index("Event Data") :] == shown


def test_every_page_is_documented() -> None:
    """Each page for readers is in the table of pages."""
    page = (DOCS / "web.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(/[^`]*)` \|", page, flags=re.MULTILINE))
    fragments = {"/s/{id}/turns", "/s/{id}/calls/{call}", "/s/{id}/agents/{agent}"}
    fragments |= {path.replace("/s/", "/c/") for path in fragments}
    fragments |= {"/c/{id}/requests/{request}", "/c/{id}/details", "/s/{id}/facts"}
    paths = {each.path.replace(":path", "") for each in PAGES}
    known = paths - fragments - {"/usage/explain"}
    assert listed == {path.replace("{id}", "ID").replace("{uuid}", "UUID") for path in known}


def test_a_page_in_another_language_says_what_is_in_english(server: RunningServer) -> None:
    """Descriptions are those of the OpenAPI document, marked as English, with a note."""
    note = load_catalogue("zh")["api.in_english"]
    for language, is_said in (("zh", True), ("en", False)):
        page = server.get("/api", **{"Accept-Language": language}).body.decode()
        assert (note in page) is is_said
        described = re.findall(r'<span lang="en">(.*?)</span>', page, flags=re.DOTALL)
        shown = {re.sub("</?code>", "`", html.unescape(each)).strip() for each in described}
        missing = {
            operation["summary"] for each in ALL_PATHS.values() for operation in each.values()
        } - shown
        assert missing == set()
        assert not any("`" in each for each in described)
