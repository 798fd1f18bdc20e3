"""Requests for another name are refused before anything else happens."""

import pytest

from recollect.web.middleware import SECURITY_HEADERS
from tests.web.running import RunningServer

WRONG = [
    "",
    "127.0.0.1",
    "localhost",
    "[::1]",
    "127.0.0.1:1",
    "localhost:{port}.",
    "localhost.:{port}",
    "LOCALHOST:{port}",
    "Localhost:{port}",
    "127.0.0.1.:{port}",
    "127.1:{port}",
    "127.0.0.2:{port}",
    "0.0.0.0:{port}",
    "0:{port}",
    "2130706433:{port}",
    "0x7f000001:{port}",
    "017700000001:{port}",
    "[::]:{port}",
    "[::ffff:127.0.0.1]:{port}",
    "[::1%lo]:{port}",
    "[0:0:0:0:0:0:0:1]:{port}",
    "user@127.0.0.1:{port}",
    "127.0.0.1:{port}@evil.example",
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1:{port}.evil.example",
    "127.0.0.1.evil.example:{port}",
    "localhost:{port}, evil.example",
    "127.0.0.1:{port}/",
    "127.0.0.1:{port}?",
    "127.0.0.1:0{port}",
    "127.0.0.1:+{port}",
    "[",
    "]",
    "[::1",
    ":{port}",
    "127.0.0.1:",
    "127.0.0.1:{port}:{port}",
    "xn--lcalhost-54a:{port}",
    "\xff\xfe",
]


@pytest.mark.parametrize("form", WRONG)
def test_other_hosts_are_refused(server: RunningServer, form: str) -> None:
    """A Host that is not exactly one of ours gets 421 with all headers, key or no key."""
    head = _ask(server, [f"Host: {form.replace('{port}', str(server.port))}"])
    assert head.startswith(b"HTTP/1.1 421 ")
    for name, value in SECURITY_HEADERS.items():
        assert f"\r\n{name}: {value}\r\n".encode() in head


@pytest.mark.parametrize("form", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}"])
def test_own_hosts_are_answered(server: RunningServer, form: str) -> None:
    """The three names of this machine are ours."""
    head = _ask(server, [f"Host: {form.replace('{port}', str(server.port))}"])
    assert head.startswith(b"HTTP/1.1 200 ")


def test_two_hosts_are_refused(server: RunningServer) -> None:
    """A request with two hosts is refused, in any order and even if both are ours."""
    own = f"Host: 127.0.0.1:{server.port}"
    for lines in ([own, "Host: evil.example"], ["Host: evil.example", own], [own, own]):
        assert _ask(server, lines).startswith(b"HTTP/1.1 421 ")


def test_missing_host_is_refused(server: RunningServer) -> None:
    """A request without a host is refused in either version of HTTP."""
    assert _ask(server, []).startswith(b"HTTP/1.1 421 ")
    assert _ask(server, [], version="1.0").startswith(b"HTTP/1.1 421 ")


def test_whole_address_in_the_request_line_changes_nothing(server: RunningServer) -> None:
    """An absolute URL in the request line does not replace the Host."""
    target = f"http://127.0.0.1:{server.port}/api/projects"
    head = _ask(server, ["Host: evil.example"], target=target)
    assert head.startswith(b"HTTP/1.1 421 ")


def test_static_files_and_events_are_no_way_around(server: RunningServer) -> None:
    """The check comes before routing, for every path."""
    for path in ("/static/x/app.css", "/api/events", "/sign-in", "/nope"):
        assert _ask(server, ["Host: evil.example"], target=path).startswith(b"HTTP/1.1 421 ")


def _ask(
    server: RunningServer, lines: list[str], *, target: str = "/api/projects", version: str = "1.1"
) -> bytes:
    request = [
        f"GET {target} HTTP/{version}",
        *lines,
        f"Authorization: Bearer {server.key}",
        "Connection: close",
        "\r\n",
    ]
    answer = server.send_raw("\r\n".join(request).encode("latin-1"))
    return answer.partition(b"\r\n\r\n")[0] + b"\r\n"
