"""Error pages for people, where something is missing or refused; programs get JSON."""

import pytest

from tests.web.addresses import SESSION
from tests.web.markup import find_links, find_texts
from tests.web.running import RunningServer

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), ("/file/restore", 405)])
def test_there_is_no_page(server: RunningServer, path: str, status: int) -> None:
    """The page names the address, links to existing pages, and mentions no endpoints."""
    answer = server.get(path, **BROWSER)
    assert answer.status == status
    assert find_texts(answer.body, "title") == ["Not found \N{MIDDLE DOT} Recollect"]
    assert find_texts(answer.body, "main") == [
        f"Not found There is no page at {path} Back to the sessions Search Home"
    ]
    links = find_links(answer.body, "p", class_="next-links")
    assert {server.get(link).status for link in links} == {200}


def test_programs_are_told_of_endpoints(server: RunningServer) -> None:
    """And of the method that an address needs."""
    found = [
        server.ask(path, method, server.authority).json()["error"]["message"]
        for path, method in (
            ("/api/nowhere", "GET"),
            ("/sessions", "PUT"),
            ("/api/launches", "GET"),
        )
    ]
    assert found == [
        "Not found. /api lists all endpoints.",
        "This is read-only: use GET.",
        "This only works with POST.",
    ]


def test_an_unknown_session_may_be_deleted(server: RunningServer) -> None:
    """Its page says why it may be missing; other error pages do not."""
    (page,) = find_texts(server.get("/s/ffffffff").body, "main")
    assert "It may have been deleted" in page
    (page,) = find_texts(server.get(f"/s/{SESSION}/raw/nothing").body, "main")
    assert page == (
        "Not found The session has no record 'nothing'."
        " Open the session Back to the sessions Search Home"
    )
    (page,) = find_texts(server.get("/s/ffffffff/changes").body, "main")
    assert "Open the session" not in page


@pytest.mark.parametrize("path", [f"/s/{SESSION}?at=nothing", f"/s/{SESSION}/raw/nothing"])
def test_a_link_to_a_missing_record_still_leads_to_its_session(
    server: RunningServer, path: str
) -> None:
    """A link may outlive what it names, such as a record that the client has replaced."""
    answer = server.get(path)
    assert answer.status == 404
    first, *_ = find_links(answer.body, "p", class_="next-links")
    assert first == f"/s/{SESSION}"
    assert server.get(first).status == 200


def test_a_refusal_is_readable_in_a_browser(server: RunningServer) -> None:
    """Requests that are refused before any page is rendered are answered with the message alone."""
    other = server.ask("/", headers={"Host": "evil.example", **BROWSER})
    assert (other.status, other.headers["content-type"]) == (421, "text/plain; charset=utf-8")
    assert other.body.startswith(b"This server only answers to ")
    framed = server.get("/", **BROWSER, **{"Sec-Fetch-Site": "cross-site"})
    assert (framed.status, framed.body) == (
        403,
        b"Only this server's own pages may request this.\n",
    )


def test_scripts_get_messages_in_the_language_of_the_page(server: RunningServer) -> None:
    """They show them; programs get English, which can be searched for."""
    chinese = {"Accept-Language": "zh"}
    page = {"Cookie": server.sign_in(), "Origin": server.origin, **chinese}
    body = b'{"path": "/x", "version": 1}'
    answers = [
        server.ask("/file/restore", "POST", headers, body)
        for headers in (page, {**server.authority, **chinese})
    ]
    assert [each.status for each in answers] == [403, 403]
    assert [each.json()["error"]["message"] for each in answers] == [
        "此服务器不能运行 Claude Code。请用 `recollect serve --allow-run` 启动它。",
        "This server may not run Claude Code. Start it with `recollect serve --allow-run`.",
    ]


def test_a_form_without_a_key_leads_to_the_sign_in_page(server: RunningServer) -> None:
    """The button was pressed in a browser that is no longer signed in."""
    form = {"Origin": server.origin, "Content-Type": "application/x-www-form-urlencoded"}
    answer = server.ask("/archive", "POST", form, b"")
    assert answer.status == 401
    assert find_texts(answer.body, "label") == ["Or paste it here:"]
