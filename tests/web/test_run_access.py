"""Only our own pages can start or control anything: a test per route and header."""

import json

import pytest

from recollect.errors import UsageError
from recollect.web.server import check_host
from tests.web.addresses import SESSION, list_routes
from tests.web.conversing import Talker
from tests.web.running import RunningServer

pytestmark = pytest.mark.slow

ACTIONS = sorted(
    path.rpartition("/")[2]
    for method, path in list_routes()
    if method == "POST" and path.startswith("/c/")
)


@pytest.fixture(scope="module")
def conversation(talker: Talker) -> str:
    """A conversation that is waiting for the user."""
    found = talker.start()
    talker.act(found, "prompts", text="tools one")
    talker.wait_for_status(found, "waiting")
    return found


def spoil(talker: Talker, headers: dict[str, str], fault: str) -> dict[str, str]:
    """Return the headers of a page's request with one error."""
    origin = talker.server.origin
    other = origin.replace("127.0.0.1", "localhost").rpartition(":")[0] + ":1"
    wrong: dict[str, dict[str, str | None]] = {
        "other origin": {"Origin": other},
        "null origin": {"Origin": "null"},
        "no origin": {"Origin": None},
        "cross-site": {"Sec-Fetch-Site": "cross-site"},
        "same-site": {"Sec-Fetch-Site": "same-site"},
        "typed address": {"Sec-Fetch-Site": "none"},
        "no fetch metadata": {"Sec-Fetch-Site": None},
        "no nonce": {"X-Recollect-Nonce": None},
        "empty nonce": {"X-Recollect-Nonce": ""},
        "wrong nonce": {"X-Recollect-Nonce": headers["X-Recollect-Nonce"][::-1]},
        "no cookie": {"Cookie": None},
        "wrong cookie": {"Cookie": headers["Cookie"] + "x"},
        "form": {"Content-Type": "application/x-www-form-urlencoded"},
        "text": {"Content-Type": "text/plain"},
        "key as well": {"Authorization": f"Bearer {talker.server.key}"},
        "key instead": {"Authorization": f"Bearer {talker.server.key}", "Cookie": None},
    }
    changed = {**headers, **wrong[fault]}
    return {name: value for name, value in changed.items() if value is not None}


FAULTS = (
    *("other origin", "null origin", "no origin", "cross-site", "same-site", "typed address"),
    *("no fetch metadata", "no nonce", "empty nonce", "wrong nonce", "no cookie", "wrong cookie"),
    *("form", "text", "key as well", "key instead"),
)


ELSEWHERE = {
    f"/s/{SESSION}/reveal": "reads a secret again; tests/web/test_origins.py",
    f"/s/{SESSION}/export": "downloads what was reviewed; tests/web/test_export_review.py",
    "/file/restore": "needs the nonce of the file's page; tests/web/test_restoring.py",
    "/archive": "copies sessions to the archive; tests/web/test_archiving.py",
    "/api/launches": "needs the API key; tests/web/test_gate.py",
    f"/api/sessions/{SESSION}/mark": "writes a star or a note; tests/web/test_marks.py",
    "/sign-in": "takes the token of a launch; tests/web/test_gate.py",
}
"""Requests other than GET that start and control nothing, and where they are tested."""


def test_every_route_that_changes_something_is_tested() -> None:
    """All below `/c` are tested here with every error; a new one elsewhere has to be listed."""
    changing = {path for method, path in list_routes() if method != "GET"}
    assert {path for path in changing if not path.startswith("/c")} == set(ELSEWHERE)
    tried = {"/c", *(f"/c/{SESSION}/{action}" for action in ACTIONS)}
    assert changing - set(ELSEWHERE) == tried
    assert len(ACTIONS) >= 8


@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_starts(talker: Talker, fault: str) -> None:
    """A start with one wrong header is refused, and no client is started."""
    before = len(talker.list_calls())
    headers = spoil(talker, talker.make_headers(talker.find_nonce("/new")), fault)
    body = json.dumps({"directory": str(talker.project)}).encode()
    answer = talker.server.ask("/c", "POST", headers, body)
    assert answer.status in {401, 403}
    assert len(talker.list_calls()) == before


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("action", ACTIONS)
def test_nothing_is_controlled(talker: Talker, conversation: str, action: str, fault: str) -> None:
    """Every action with one wrong header is refused, and the client receives nothing."""
    before = len(talker.list_received())
    nonce = talker.find_nonce(f"/c/{conversation}")
    headers = spoil(talker, talker.make_headers(nonce), fault)
    answer = talker.server.ask(f"/c/{conversation}/{action}", "POST", headers, b"{}")
    assert answer.status in {401, 403}
    assert len(talker.list_received()) == before
    assert talker.wait_for_status(conversation, "waiting")


def test_a_nonce_is_good_for_one_thing(talker: Talker, conversation: str) -> None:
    """The nonce of a conversation cannot start or control another, and vice versa."""
    other = talker.start()
    start, own = talker.find_nonce("/new"), talker.find_nonce(f"/c/{conversation}")
    for path, nonce in (
        ("/c", own),
        (f"/c/{other}/end", own),
        (f"/c/{other}/end", start),
        (f"/c/{conversation}/interrupt", talker.find_nonce(f"/c/{other}")),
    ):
        answer = talker.post(path, nonce, directory=str(talker.project))
        assert (answer.status, answer.json()["error"]["code"]) == (403, "wrong_nonce")
    assert talker.act(other, "end").status == 200


@pytest.mark.parametrize("path", ["/c", *(f"/c/x/{action}" for action in ACTIONS)])
def test_reading_starts_nothing(talker: Talker, path: str) -> None:
    """No action accepts GET."""
    assert talker.get(path).status in {404, 405}


def test_without_the_option_nothing_runs(server: RunningServer) -> None:
    """Every action is refused, pages have no nonce, and they offer the command to copy."""
    launched = server.ask("/api/launches", "POST", server.authority).json()
    body = json.dumps({"token": launched["token"]}).encode()
    signed = server.ask("/sign-in", "POST", {"Origin": server.origin}, body)
    headers = {
        "Cookie": signed.headers["set-cookie"].partition(";")[0],
        "Origin": server.origin,
        "Sec-Fetch-Site": "same-origin",
        "Content-Type": "application/json",
        "X-Recollect-Nonce": "00.00",
    }
    for path in ("/c", *(f"/c/x/{action}" for action in ACTIONS)):
        answer = server.ask(path, "POST", headers, b"{}")
        assert (answer.status, answer.json()["error"]["code"]) == (403, "run_not_allowed")
    page = server.get("/new").body.decode()
    assert ("data-nonce" in page, "&amp;&amp; claude</code>" in page) == (False, True)
    assert "data-nonce" not in server.get("/running").body.decode()


@pytest.mark.parametrize("host", ["192.168.1.5", "0.0.0.0", "::", "example.org", ""])
def test_running_stays_on_this_machine(host: str) -> None:
    """The server listens on no other address, even with --allow-remote."""
    with pytest.raises(UsageError, match="--allow-run cannot be used with --host"):
        check_host(host, allow_remote=True, allow_run=True)


def test_only_signed_in_pages_send_long_bodies(talker: Talker, conversation: str) -> None:
    """The body of an image is only read with the cookie."""
    nonce = talker.find_nonce(f"/c/{conversation}")
    headers = talker.make_headers(nonce)
    long = json.dumps({"text": "x" * 100_000}).encode()
    path = f"/c/{conversation}/prompts"
    before = len(talker.list_received())
    assert talker.server.ask(path, "POST", headers, long).status == 200
    # Otherwise later tests would count it.
    talker.server.wait_for(lambda: len(talker.list_received()) > before)
    without = {name: value for name, value in headers.items() if name != "Cookie"}
    assert talker.server.ask(path, "POST", without, long).status == 413
    assert talker.server.ask("/c", "POST", headers, long).status == 413
