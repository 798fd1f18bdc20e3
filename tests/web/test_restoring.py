"""Restoring from the page of a file: what is shown, what is written, and what never is."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.versions.small_project import Project
from tests.web.conversing import Talker, run_talker
from tests.web.running import Answer, run_server
from tests.web.test_run_permits import FAULTS, spoil

pytestmark = pytest.mark.slow

RESTORE = "/file/restore"
HIDDEN = ".github/run.yml"


@pytest.fixture
def shop(tmp_path: Path, safe_environment: None, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a file of two versions, a hidden one and one outside."""
    root = tmp_path / "server" / "claude"
    root.mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    made = Project(tmp_path / "shop")
    made.prompt("Write the greeting")
    made.write("app.py", "hello\nworld\n")
    made.write(HIDDEN, "run: nothing\n")
    made.write("../elsewhere.py", "outside\n")
    made.prompt("Greet everybody")
    made.edit("app.py", "world", "everybody")
    made.save()
    return made


@pytest.fixture
def talker(tmp_path: Path, shop: Project) -> Iterator[Talker]:
    """A server that may run something, on the sessions of the shop."""
    with run_talker(tmp_path / "server") as found:
        found.server.wait_until_current()
        yield found


def ask(talker: Talker, path: Path, version: int, present: str = "") -> Answer:
    """What the page of a file gets."""
    nonce = talker.find_nonce(f"/file?path={quote(str(path))}")
    return talker.post(RESTORE, nonce, path=str(path), version=version, present=present)


def test_the_diff_is_shown_and_then_the_file_is_written(talker: Talker, shop: Project) -> None:
    """Nothing is written without what the diff says; what is replaced is kept."""
    path = shop.path("app.py")
    path.write_text("hello\nnobody\n")
    shown = ask(talker, path, 1).json()
    assert shown["diff"].splitlines()[-3:] == [" hello", "-nobody", "+world"]
    assert (path.read_text(), shown["is_written"]) == ("hello\nnobody\n", False)
    done = ask(talker, path, 1, shown["present"]).json()
    copy = path.with_name("app.py.before-restore")
    assert (done["is_written"], done["copy"]) == (True, str(copy))
    assert (path.read_text(), copy.read_text()) == ("hello\nworld\n", "hello\nnobody\n")
    assert ask(talker, path, 1).json()["diff"] == ""


def test_a_deleted_file_comes_back(talker: Talker, shop: Project) -> None:
    """There is nothing to keep then."""
    path = shop.path("app.py")
    path.unlink()
    shown = ask(talker, path, 2).json()
    done = ask(talker, path, 2, shown["present"]).json()
    assert (path.read_text(), done["copy"]) == ("hello\neverybody\n", None)


def test_a_file_that_changed_meanwhile_is_left_alone(talker: Talker, shop: Project) -> None:
    """What was confirmed is not what would be replaced."""
    path = shop.path("app.py")
    shown = ask(talker, path, 1).json()
    path.write_text("changed\n")
    answer = ask(talker, path, 1, shown["present"])
    assert (answer.status, answer.json()["error"]["code"]) == (409, "changed")
    assert path.read_text() == "changed\n"


@pytest.mark.parametrize("name", [HIDDEN, "../elsewhere.py"])
def test_other_places_are_left_to_the_command(talker: Talker, shop: Project, name: str) -> None:
    """Hidden files may be settings that run something, and outside is outside."""
    path = Path(os.path.normpath(shop.path(name)))
    path.write_text("present\n")
    answer = ask(talker, path, 1)
    assert answer.status == 422
    assert "recollect restore" in answer.json()["error"]["message"]
    assert path.read_text() == "present\n"


def test_links_are_not_followed(talker: Talker, shop: Project, tmp_path: Path) -> None:
    """Neither the file nor a directory above it may be one."""
    path = shop.path("app.py")
    target = tmp_path / "target"
    target.write_text("target\n")
    path.unlink()
    path.symlink_to(target)
    assert ask(talker, path, 1).status == 422
    assert target.read_text() == "target\n"


def test_only_the_page_of_the_file_may_ask(talker: Talker, shop: Project) -> None:
    """A request with one wrong header shows and writes nothing."""
    path = shop.path("app.py")
    nonce = talker.find_nonce(f"/file?path={quote(str(path))}")
    body = json.dumps({"path": str(path), "version": 1}).encode()
    for fault in FAULTS:
        headers = spoil(talker, talker.make_headers(nonce), fault)
        answer = talker.server.ask(RESTORE, "POST", headers, body)
        assert (fault, answer.status in {401, 403}) == (fault, True)
        assert b'"diff"' not in answer.body


def test_a_nonce_is_good_for_one_file(talker: Talker, shop: Project) -> None:
    """That of another page is refused."""
    nonce = talker.find_nonce(f"/file?path={quote(str(shop.path(HIDDEN)))}")
    answer = talker.post(RESTORE, nonce, path=str(shop.path("app.py")), version=1)
    assert (answer.status, answer.json()["error"]["code"]) == (403, "wrong_nonce")


def test_without_leave_there_is_only_the_command(tmp_path: Path, shop: Project) -> None:
    """A server that may not run anything has no button."""
    with run_server(tmp_path / "server", tmp_path / "server" / "claude") as server:
        server.wait_until_current()
        page = server.get(f"/file?path={quote(str(shop.path('app.py')))}").body.decode()
        assert ("recollect restore" in page, '<button type="button" data-restore' in page) == (
            True,
            False,
        )
