"""Access requires a key."""

import json

import msgspec
import pytest

from recollect.documents.session_documents import ErrorDocument
from tests.web.addresses import list_routes
from tests.web.running import RunningServer

SIGN_IN = ("POST", "/sign-in")


@pytest.mark.parametrize(("method", "path"), [each for each in list_routes() if each != SIGN_IN])
def test_every_route_refuses_strangers(server: RunningServer, method: str, path: str) -> None:
    """Each route responds 401 without a key, and reveals nothing else."""
    answer = server.ask(path, method, {"Origin": server.origin})
    assert answer.status == 401
    if path.startswith("/api/") or method != "GET":
        assert msgspec.json.decode(answer.body, type=ErrorDocument).error.code == "no_key"
    else:
        assert answer.body == server.ask("/anything-else").body


@pytest.mark.parametrize("path", ["/nope", "/api/nope", "/s/", "/static/", "/sign-in"])
def test_unknown_paths_refuse_strangers_too(server: RunningServer, path: str) -> None:
    """Without a key, existing and unknown paths cannot be distinguished."""
    assert server.ask(path).status == 401


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST", "OPTIONS", "TRACE"])
def test_other_methods_refuse_strangers_too(server: RunningServer, method: str) -> None:
    """No method is a way around the gate."""
    assert server.ask("/api/projects", method, {"Origin": server.origin}).status == 401


@pytest.mark.parametrize(
    "value",
    ["", "Bearer", "Bearer ", "Bearer wrong", "Basic {key}", "{key}", "Bearer {key}x", "bearer\t"],
)
def test_wrong_keys_do_not_open(server: RunningServer, value: str) -> None:
    """Only the whole key under its own scheme opens."""
    header = {"Authorization": value.replace("{key}", server.key)}
    assert server.ask("/api/projects", headers=header).status == 401


def test_key_opens_for_programs(server: RunningServer) -> None:
    """The key of server.json opens, whatever the case of its scheme."""
    assert server.get("/api/projects").status == 200
    header = {"Authorization": f"bearer {server.key}"}
    assert server.ask("/api/projects", headers=header).status == 200


def test_one_time_token_is_exchanged_once(server: RunningServer) -> None:
    """A launch token becomes a cookie of this port once; the cookie opens from then on."""
    token = server.ask("/api/launches", "POST", server.authority).json()["token"]
    body = json.dumps({"token": token}).encode()
    headers = {"Origin": server.origin, "Content-Type": "application/json"}
    first = server.ask("/sign-in", "POST", headers, body)
    assert (first.status, first.json()) == (200, {"signed_in": True})
    cookie, *attributes = first.headers["set-cookie"].split("; ")
    assert attributes == ["Path=/", "HttpOnly", "SameSite=Strict"]
    assert cookie.startswith(f"recollect-{server.port}=")
    assert server.ask("/api/projects", headers={"Cookie": cookie}).status == 200
    assert server.ask("/api/projects", headers={"Cookie": f"a=b; {cookie}; c"}).status == 200
    second = server.ask("/sign-in", "POST", headers, body)
    assert (second.status, "set-cookie" in second.headers) == (401, False)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"token":1}', b'{"token":"x","y":1}', b"\xff"]
)
def test_malformed_sign_in_is_refused(server: RunningServer, body: bytes) -> None:
    """Anything but a token in JSON is a bad request, not a crash."""
    answer = server.ask("/sign-in", "POST", {"Origin": server.origin}, body)
    assert (answer.status, answer.json()["error"]["code"]) == (422, "bad_body")


def test_wrong_token_is_refused(server: RunningServer) -> None:
    """Invalid tokens, including the key and odd characters, are rejected."""
    for token in ("", "x" * 43, server.key, "\ud800", "\x00"):
        body = json.dumps({"token": token}).encode()
        answer = server.ask("/sign-in", "POST", {"Origin": server.origin}, body)
        assert answer.status in {401, 422}


def test_cookie_of_another_port_does_not_open(server: RunningServer) -> None:
    """A cookie counts under its own port's name only."""
    token = server.ask("/api/launches", "POST", server.authority).json()["token"]
    body = json.dumps({"token": token}).encode()
    answer = server.ask("/sign-in", "POST", {"Origin": server.origin}, body)
    value = answer.headers["set-cookie"].partition(";")[0].partition("=")[2]
    header = {"Cookie": f"recollect-1={value}"}
    assert server.ask("/api/projects", headers=header).status == 401


def test_sign_in_page_needs_nothing_closed(server: RunningServer) -> None:
    """Everything that the sign-in page links to is available without a key, and nothing else."""
    page = server.ask("/").body.decode()
    links = [part.partition('"')[0] for part in page.split('"/static/')[1:]]
    assert len(links) == 3
    for link in links:
        assert server.ask(f"/static/{link}").status == 200
    version = links[0].partition("/")[0]
    assert server.ask(f"/static/{version}/app.css").status == 401
