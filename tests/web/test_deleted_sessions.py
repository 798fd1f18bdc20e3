"""Sessions that Claude Code deletes while the server runs: archived ones and partial ones."""

import shutil
from pathlib import Path

import pytest

from recollect.archive.archive import Archive
from recollect.archive.archive_sync import sync_archive
from recollect.archive.archive_tasks import set_enabled
from tests.web.running import RunningServer, copy_demo, run_server

ARCHIVED = "94791a87-9d13-410a-a632-25a9b25c1b45"
PARTIAL = "c798220b-cc9c-4414-8b5a-d2d0bbcafa1a"


def find_marks(server: RunningServer, session: str) -> tuple[bool, bool]:
    """Return whether the page of a session is marked as archived and as partial."""
    page = server.get(f"/s/{session}").body.decode()
    return ">archived</span>" in page, ">partial</span>" in page


@pytest.mark.slow
def test_deleted_sessions_are_marked(tmp_path: Path) -> None:
    """In the list and on their pages, without a restart; the archive is made after the start."""
    root = copy_demo(tmp_path)
    with run_server(tmp_path, root) as server:
        server.wait_until_current()
        assert find_marks(server, ARCHIVED) == (False, False)
        archive = Archive(server.data / "archive")
        set_enabled(archive, enabled=True)
        (kept,) = root.glob(f"projects/*/{ARCHIVED}.jsonl")
        (lost,) = root.glob(f"projects/*/{PARTIAL}.jsonl")
        data = lost.read_bytes()
        lost.unlink()
        sync_archive(archive, [root])
        kept.unlink()
        server.wait_for(lambda: find_marks(server, ARCHIVED) == (True, False))
        server.wait_for(lambda: find_marks(server, PARTIAL) == (False, True))
        page = server.get("/sessions").body.decode() + server.get("/").body.decode()
        assert (">archived</span>" in page, ">partial</span>" in page) == (True, True)
        lost.write_bytes(data)
        server.wait_for(lambda: find_marks(server, PARTIAL) == (False, False))


QUESTIONS = (
    "/api/search?q=tide",
    "/api/search?q=is:error",
    "/api/usage",
    "/api/usage?by=session",
    f"/api/sessions/{ARCHIVED}/turns",
    f"/api/sessions/{ARCHIVED}/outline",
)


@pytest.mark.slow
def test_answers_are_the_same_after_the_sources_vanish(tmp_path: Path) -> None:
    """Searches, figures and sessions of a running server, once it has noticed."""
    root = copy_demo(tmp_path)
    with run_server(tmp_path, root) as server:
        archive = Archive(server.data / "archive")
        set_enabled(archive, enabled=True)
        sync_archive(archive, [root])
        server.wait_until_current()
        server.wait_for_figures()
        before = [server.get(path).json() for path in QUESTIONS]
        assert before[0]["hits"]
        shutil.rmtree(root / "projects")
        server.wait_for(lambda: find_marks(server, ARCHIVED) == (True, False))
        assert [server.get(path).json() for path in QUESTIONS] == before
