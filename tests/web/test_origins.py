"""Pages of other sites cannot request anything, whatever headers the browser sends."""

import json

import pytest

from tests.web.running import RunningServer

LINK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize("site", ["cross-site", "same-site", "unheard-of", ""])
@pytest.mark.parametrize("kind", [("cors", "empty"), ("no-cors", "script"), ("no-cors", "image")])
def test_other_sites_read_nothing(server: RunningServer, site: str, kind: tuple[str, str]) -> None:
    """Neither another site nor another port of this machine, which is the same site, can read."""
    mode, target = kind
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": target}
    assert server.get("/api/projects", **headers).status == 403


def test_frames_of_other_sites_are_refused(server: RunningServer) -> None:
    """Other sites can link to a page, but not embed it."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert server.get("/", **headers, **{"Sec-Fetch-Dest": "iframe"}).status == 403


def test_links_from_other_sites_lead_here(server: RunningServer) -> None:
    """A link opens a page; without the strict cookie, which is held back, it is the sign-in."""
    headers = {"Sec-Fetch-Site": "cross-site", **LINK}
    assert server.get("/", **headers).status == 200
    assert server.ask("/", headers=headers).status == 401


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_own_pages_and_the_address_bar_read(server: RunningServer, site: str) -> None:
    """Our own pages can load data."""
    assert server.get("/api/projects", **{"Sec-Fetch-Site": site}).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://evil.example",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "http://127.0.0.1:{port}.evil.example",
        "http://127.0.0.1:{port}/",
        "HTTP://127.0.0.1:{port}",
        "",
    ],
)
def test_other_origins_change_nothing(server: RunningServer, origin: str) -> None:
    """Changes require exactly our origin."""
    headers = {**server.authority, "Origin": origin.replace("{port}", str(server.port))}
    assert server.ask("/api/launches", "POST", headers).status == 403


def test_changing_takes_an_origin_or_the_key(server: RunningServer) -> None:
    """A form of another page sends neither; programs send the key."""
    body = json.dumps({"token": "x"}).encode()
    assert server.ask("/sign-in", "POST", {}, body).status == 403
    assert server.ask("/api/launches", "POST", server.authority).status == 200


def test_links_change_nothing(server: RunningServer) -> None:
    """A link cannot change anything either."""
    headers = {**server.authority, "Sec-Fetch-Site": "cross-site", **LINK}
    assert server.ask("/api/launches", "POST", headers).status == 403


def test_preflight_is_refused(server: RunningServer) -> None:
    """Preflight requests of other origins get no permission."""
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = server.ask("/api/projects", "OPTIONS", headers)
    assert answer.status == 403
