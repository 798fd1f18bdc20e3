"""Connections without a complete request are dropped."""

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.web.running import RunningServer

LIMIT = 60
"""Seconds after which a connection counts as kept open; it should be dropped after five."""

HEAD = "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
BODY = (
    "POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    "Content-Type: application/json\r\n"
)


def open_connection(server: RunningServer, sent: str) -> socket.socket:
    """Open a connection and send these bytes."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT)
    connection.sendall(sent.format(port=server.port).encode())
    return connection


HALVES = {
    "nothing": "",
    "half a line": "GET / HT",
    "no end of headers": HEAD,
    "half a header": HEAD + "X-Long: abc",
    "half a body": f"{BODY}Content-Length: 100\r\n\r\n" + '{{"token":',
    "chunks": f"{BODY}Transfer-Encoding: chunked\r\n\r\n5\r\nabc",
}


@pytest.fixture(scope="module")
def half_requests(server: RunningServer) -> Iterator[dict[str, socket.socket]]:
    """Half a request of every kind, all sent at once: each is dropped after the same time."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(open_connection(server, sent))
            for name, sent in HALVES.items()
        }


@pytest.mark.slow
@pytest.mark.parametrize("name", HALVES)
def test_half_a_request_is_dropped(half_requests: dict[str, socket.socket], name: str) -> None:
    """The server closes the connection, with at most an error response."""
    answer = half_requests[name].recv(65536)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")


@pytest.mark.slow
def test_a_byte_now_and_then_is_not_enough(server: RunningServer) -> None:
    """The deadline counts from the start of the request, not from its last byte."""
    with open_connection(server, HEAD) as connection:
        connection.settimeout(0.2)
        end = time.monotonic() + LIMIT
        is_open = True
        while is_open and time.monotonic() < end:
            try:
                connection.sendall(b"X")
                is_open = connection.recv(100) != b""
            except TimeoutError:
                continue
            except OSError:
                is_open = False
        assert not is_open


@pytest.mark.slow
def test_others_are_answered_meanwhile(server: RunningServer) -> None:
    """A hundred such connections do not block other requests."""
    half = [open_connection(server, HEAD) for _ in range(100)]
    try:
        assert server.get("/").status == 200
    finally:
        for each in half:
            each.close()


def test_a_connection_is_used_again(server: RunningServer) -> None:
    """Several requests on one connection are answered normally."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LIMIT)
    try:
        statuses = []
        for _ in range(3):
            connection.request("GET", "/api/projects", headers=server.authority)
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
        assert statuses == [200, 200, 200]
    finally:
        connection.close()
