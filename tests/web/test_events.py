"""Events: what is appended is sent once, also to a page that reconnects."""

import http.client
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from recollect.web.event_stream import EVENT_STREAM, PATH
from recollect.web.openapi import describe_api
from tests.web.addresses import SESSION
from tests.web.running import RunningServer, copy_demo, run_server

pytestmark = pytest.mark.slow

Event = dict[str, Any]


def make_validator() -> jsonschema.Draft202012Validator:
    """Knows the events of the document."""
    document = describe_api()
    content = document["paths"][PATH]["get"]["responses"]["200"]["content"]
    items = content[EVENT_STREAM]["schema"]["items"]
    return jsonschema.Draft202012Validator({**items, "components": document["components"]})


VALIDATOR = make_validator()


@contextmanager
def listen(server: RunningServer, query: str = "", last_id: str | None = None) -> Iterator[Any]:
    """The lines of a stream of events, as they come."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {**server.authority, **({"Last-Event-ID": last_id} if last_id else {})}
    connection.request("GET", f"/api/events{query}", headers=headers)
    response = connection.getresponse()
    assert (response.status, response.headers["content-type"]) == (
        200,
        "text/event-stream; charset=utf-8",
    )
    try:
        yield response
    finally:
        connection.close()


def next_event(response: http.client.HTTPResponse, name: str) -> Event:
    """The next event of that name; each on the way to it has its documented shape."""
    while True:
        found = read_event(response)
        if found:
            VALIDATOR.validate(found)
        if found.get("event") == name:
            return found


def read_event(response: http.client.HTTPResponse) -> Event:
    """Return the lines before the next empty one; nothing for a comment."""
    found: Event = {}
    while line := response.readline().decode().rstrip("\n"):
        key, _, value = line.partition(": ")
        if key in {"event", "id"}:
            found[key] = value
        elif key == "data":
            found[key] = json.loads(value)
    return found


def append(root: Path, uuid: str) -> None:
    """Add a prompt to the session."""
    (path,) = root.rglob(f"{SESSION}.jsonl")
    record = {
        "type": "user",
        "uuid": uuid,
        "sessionId": SESSION,
        "timestamp": "2026-11-13T11:59:00.000Z",
        "message": {"role": "user", "content": f"and {uuid}"},
    }
    with path.open("ab") as file:
        file.write(json.dumps(record).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def test_appended_records_are_sent_once(tmp_path: Path) -> None:
    """A page gets new records, and after reconnecting those that it missed and no others."""
    root = copy_demo(tmp_path)
    with run_server(tmp_path, root) as server:
        server.get("/api/history/sessions")
        with listen(server, f"?session={SESSION}") as response:
            next_event(response, "caught_up")
            append(root, "first")
            heard = next_event(response, "appended")
            assert heard["data"]["uuid"] == "first"
        append(root, "second")
        append(root, "third")
        with listen(server, f"?session={SESSION}", heard["id"]) as response:
            missed = [next_event(response, "appended") for _ in range(2)]
        assert [each["data"]["uuid"] for each in missed] == ["second", "third"]
        turns = server.get(f"/api/sessions/{SESSION}/turns?count=200").json()["turns"]
        assert [turn["words"] for turn in turns[-3:]] == ["and first", "and second", "and third"]


def test_events_resume_after_a_restart(tmp_path: Path) -> None:
    """Event ids remain valid after a restart of the server."""
    root = copy_demo(tmp_path)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with run_server(tmp_path / "one", root) as server:
        server.get("/api/history/sessions")
        with listen(server, f"?session={SESSION}") as response:
            next_event(response, "caught_up")
            append(root, "before")
            heard = next_event(response, "appended")
    append(root, "between")
    with run_server(tmp_path / "two", root) as server:
        server.get("/api/history/sessions")
        with listen(server, f"?session={SESSION}", heard["id"]) as response:
            assert next_event(response, "appended")["data"]["uuid"] == "between"


def test_lists_get_the_sessions_that_changed(tmp_path: Path) -> None:
    """A page with the list gets the sessions that changed, and what it missed."""
    root = copy_demo(tmp_path)
    with run_server(tmp_path, root) as server:
        server.get("/api/history/sessions")
        with listen(server) as response:
            append(root, "one")
            heard = next_event(response, "sessions")
            while SESSION not in heard["data"]["sessions"]:
                heard = next_event(response, "sessions")
        before, _, number = heard["id"].rpartition("-")
        with listen(server, last_id=f"{before}-{int(number) - 1}") as response:
            assert next_event(response, "sessions") == heard
        with listen(server, last_id="elsewhere-3") as response:
            assert next_event(response, "reload")["data"] == {}


def test_too_many_listeners_are_refused(tmp_path: Path) -> None:
    """A page too many gets an error instead of slowing down the others."""
    with run_server(tmp_path, copy_demo(tmp_path)) as server:
        connections = []
        for _ in range(24):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("GET", "/api/events", headers=server.authority)
            connection.getresponse().readline()
            connections.append(connection)
        assert server.get("/api/events").status == 503
        for connection in connections:
            connection.close()


def test_a_listener_may_leave_at_any_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that disconnects while nothing happens is removed."""
    # The server says what fails, and `run_server` lets it say nothing.
    monkeypatch.setenv("RECOLLECT_DEBUG", "1")
    with run_server(tmp_path, copy_demo(tmp_path)) as server:
        server.get("/api/history/sessions")
        for query in ("", f"?session={SESSION}") * 40:
            with listen(server, query) as response:
                assert response.readline().startswith(b"retry:")
