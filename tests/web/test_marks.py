"""`POST /api/sessions/{id}/mark`: the only change that the web app makes."""

import json

import pytest

from tests.web.markup import find_texts
from tests.web.running import RunningServer

HARBOUR = "94791a87-9d13-410a-a632-25a9b25c1b45"
PATH = f"/api/sessions/{HARBOUR}/mark"


def test_a_star_shows_in_lists(server: RunningServer) -> None:
    """The response has the mark; lists filter by it, and the session's page has the note."""
    body = b'{"starred": true, "note": "<b>trick</b>"}'
    answer = server.ask(PATH, "POST", server.authority, body)
    assert (answer.status, answer.json()) == (200, {"starred": True, "note": "<b>trick</b>"})
    page = server.get("/sessions?starred=true").body
    assert len(find_texts(page, "tr", data_session="")) == 1
    assert b"&lt;b&gt;trick&lt;/b&gt;</textarea>" in server.get(f"/s/{HARBOUR}").body
    cleared = server.ask(PATH, "POST", server.authority, b'{"starred": false, "note": ""}')
    assert cleared.json() == {"starred": False, "note": ""}
    assert json.loads((server.data / "marks.json").read_bytes())["sessions"] == {}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (PATH, b"", 422),
        (PATH, b'{"starred": 1}', 422),
        (PATH, b'{"stars": true}', 422),
        ("/api/sessions/none/mark", b'{"starred": true}', 404),
        ("/api/sessions/..%2F..%2Fetc/mark", b'{"starred": true}', 404),
    ],
)
def test_other_changes_are_refused(
    server: RunningServer, path: str, body: bytes, status: int
) -> None:
    """A body of another shape and an unknown session change nothing."""
    assert server.ask(path, "POST", server.authority, body).status == status


def test_nobody_else_may_change_anything(server: RunningServer) -> None:
    """Without the key, or from another origin, the answer is no; reading has no such address."""
    body = b'{"starred": true}'
    assert server.ask(PATH, "POST", body=body).status in {401, 403}
    other = {**server.authority, "Origin": "http://127.0.0.1:1"}
    assert server.ask(PATH, "POST", other, body).status == 403
    assert server.get(PATH).status in {404, 405}
