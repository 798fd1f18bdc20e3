"""Archiving what Claude Code will delete soon, from the home page: a form that needs no script."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from recollect.archive.archive import Archive
from recollect.archive.archive_tasks import list_sessions, set_enabled
from tests.web.browser.writing import write_session
from tests.web.markup import find_texts
from tests.web.running import NOW, Answer, RunningServer, run_server

pytestmark = pytest.mark.slow

DAY = 86400
SESSIONS = {f"{age:08d}-2222-4333-8444-555555555555": age for age in (25, 26, 3)}
"""Ids, and how many days ago they changed."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """A server on two sessions that are deleted within a week, and one that is not."""
    root = tmp_path / "claude"
    for session_id, age in SESSIONS.items():
        path = write_session(root, session_id, 1)
        changed = datetime.fromisoformat(NOW).timestamp() - age * DAY
        os.utime(path, (changed, changed))
    with run_server(tmp_path, root) as running:
        running.wait_for_figures()
        yield running


def press(server: RunningServer, **headers: str) -> Answer:
    """Send the form as a browser does."""
    sent = {
        "Cookie": server.sign_in(),
        "Origin": server.origin,
        "Sec-Fetch-Site": "same-origin",
        "Content-Type": "application/x-www-form-urlencoded",
        **headers,
    }
    return server.ask("/archive", "POST", sent, b"")


def read_panel(server: RunningServer, path: str = "/") -> list[str]:
    """Return the part of the home page about sessions that are deleted soon."""
    return find_texts(server.get(path).body, "section", class_="expiring")


def test_what_is_deleted_soon_is_archived(server: RunningServer) -> None:
    """All sessions are copied, those that were at risk are counted, and none is at risk then."""
    archive = Archive(server.data / "archive")
    set_enabled(archive, enabled=True)
    (panel,) = read_panel(server)
    assert "Archive all 2" in panel
    answer = press(server)
    assert (answer.status, answer.headers["location"]) == (303, "/?archived=2")
    assert {each.id for each in list_sessions(archive.load())} == SESSIONS.keys()
    (panel,) = read_panel(server, "/?archived=2")
    assert panel.endswith("2 sessions that Claude Code will delete soon are now in the archive.")
    assert read_panel(server) == []
    assert press(server).headers["location"] == "/?archived=0"
    (panel,) = read_panel(server, "/?archived=0")
    assert panel.endswith("Everything is already in the archive.")


def test_signing_in_after_the_form_leads_back_to_it(server: RunningServer) -> None:
    """The sign-in page has the address of the form, and opens that; it archives nothing."""
    set_enabled(Archive(server.data / "archive"), enabled=True)
    answer = server.get("/archive")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert Archive(server.data / "archive").list_manifests() == []


def test_without_an_archive_the_page_says_how_to_get_one(server: RunningServer) -> None:
    """There is no button that would fail; a request gets a page that says what to do."""
    (panel,) = read_panel(server)
    assert "Archive all" not in panel
    assert "To keep copies, run: recollect archive enable" in panel
    answer = press(server)
    assert answer.status == 422
    assert find_texts(answer.body, "p", class_="error-message") == [
        "The archive is not enabled. Run `recollect archive enable` first."
    ]
    assert not (server.data / "archive").exists()


def test_only_our_pages_archive(server: RunningServer) -> None:
    """Not other sites, not without signing in, and not programs, which have a command for it."""
    set_enabled(Archive(server.data / "archive"), enabled=True)
    other = press(server, Origin="http://evil.example")
    assert (other.status, other.json()["error"]["code"]) == (403, "wrong_origin")
    assert press(server, Cookie="").status == 401
    program = server.ask("/archive", "POST", server.authority)
    assert (program.status, program.json()["error"]["code"]) == (403, "not_a_page")
    assert Archive(server.data / "archive").list_manifests() == []


def test_an_archive_that_cannot_be_read(server: RunningServer) -> None:
    """The home page is as without an archive; a link is not followed."""
    archive = Archive(server.data / "archive")
    set_enabled(archive, enabled=True)
    settings = archive.directory / "archive.json"
    settings.symlink_to(settings.rename(server.data / "elsewhere.json"))
    (panel,) = read_panel(server)
    assert "To keep copies, run: recollect archive enable" in panel
    assert "will delete 2 sessions within a week" in panel


def test_an_archive_that_cannot_be_written(server: RunningServer) -> None:
    """An error page says so, and the sessions are still listed."""
    archive = Archive(server.data / "archive")
    set_enabled(archive, enabled=True)
    objects = archive.directory / "objects"
    objects.rmdir()
    objects.touch()
    answer = press(server)
    assert answer.status == 503
    (message,) = find_texts(answer.body, "p", class_="error-message")
    assert str(archive.directory) in message
    (panel,) = read_panel(server)
    assert "Archive all 2" in panel
