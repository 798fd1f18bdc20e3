"""Every response has all security headers."""

import socket

import pytest

from recollect.web.middleware import SECURITY_HEADERS
from tests.web.addresses import list_routes
from tests.web.running import Answer, RunningServer

STREAM = "/api/events"


@pytest.mark.parametrize(("method", "path"), [each for each in list_routes() if each[1] != STREAM])
def test_every_route_carries_all_headers(server: RunningServer, method: str, path: str) -> None:
    """With a key, without one, and by every other method."""
    headers = {**server.authority, "Origin": server.origin}
    for answer in (
        server.ask(path, method, headers),
        server.ask(path, method),
        server.ask(path, "HEAD", headers),
        server.ask(path, "DELETE", headers),
        server.ask(f"{path}?surprise=1", method, headers),
    ):
        _check(answer)


@pytest.mark.parametrize(
    ("path", "status"),
    [("/nope", 404), ("/api/nope", 404), ("/s/nope", 404), ("/?page=x", 422), ("/s/%00", 422)],
)
def test_errors_carry_all_headers(server: RunningServer, path: str, status: int) -> None:
    """Including error responses."""
    answer = server.get(path)
    assert answer.status == status
    _check(answer)


def test_events_carry_all_headers(server: RunningServer) -> None:
    """Including an endless stream."""
    request = (
        f"GET {STREAM} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: Bearer {server.key}\r\n\r\n"
    )
    head = _read_head(server, request.encode())
    for name, value in {**SECURITY_HEADERS, "cache-control": "no-store"}.items():
        assert f"\r\n{name}: {value}\r\n".encode() in head


def test_what_is_no_request_carries_all_headers(server: RunningServer) -> None:
    """Including the response to bytes that are not HTTP."""
    head = server.send_raw(b"\x16\x03\x01 this is no request\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    for name, value in SECURITY_HEADERS.items():
        assert f"\r\n{name}: {value}\r\n".encode() in head


def test_only_static_files_may_be_kept(server: RunningServer) -> None:
    """A static file may be cached forever, because its URL changes with it."""
    page = server.get("/").body.decode()
    address = page.partition('<link rel="stylesheet" href="')[2].partition('"')[0]
    answer = server.get(address)
    assert answer.status == 200
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_ranges_are_not_served(server: RunningServer) -> None:
    """A range request gets the whole response."""
    address = "/api/openapi.json"
    answer = server.get(address, Range="bytes=0-9,20-29,0-9")
    assert (answer.status, answer.body) == (200, server.get(address).body)


def test_no_cors_headers_are_sent(server: RunningServer) -> None:
    """No response has CORS headers."""
    answer = server.get("/api/projects", Origin=server.origin)
    assert [name for name in answer.headers if name.startswith("access-control")] == []


def test_long_bodies_are_refused(server: RunningServer) -> None:
    """A body that is too long is not read completely."""
    answer = server.ask("/sign-in", "POST", {"Origin": server.origin}, b"x" * 20_000)
    assert answer.status == 413
    _check(answer)


def test_long_queries_are_refused(server: RunningServer) -> None:
    """Nor is a query of many kilobytes."""
    answer = server.get("/api/search?q=" + "x" * 9_000)
    assert answer.status == 414
    _check(answer)


def _check(answer: Answer) -> None:
    found = {name: answer.headers.get(name) for name in SECURITY_HEADERS}
    assert found == SECURITY_HEADERS
    assert answer.headers["cache-control"] == "no-store"
    assert "server" not in answer.headers


def _read_head(server: RunningServer, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(request)
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(4096)
        return head.partition(b"\r\n\r\n")[0] + b"\r\n"
