"""Restoring from the page of a file: what is shown, what is written, and what is refused."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.versions.small_project import Project
from tests.web.conversing import Talker, run_talker
from tests.web.running import Answer, run_server
from tests.web.test_run_access import FAULTS, spoil

pytestmark = pytest.mark.slow

RESTORE = "/file/restore"
HIDDEN = ".github/run.yml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with the project, its transcript and the server's data."""
    found = tmp_path_factory.mktemp("restoring")
    write_shop(found).save(found / "claude")
    return found


@pytest.fixture(scope="module")
def talker(folder: Path) -> Iterator[Talker]:
    """A server that may run something, on the sessions of the shop."""
    with run_talker(folder) as found:
        found.server.wait_until_current()
        yield found


@pytest.fixture
def shop(folder: Path) -> Project:
    """The project as its session left it, independent of earlier tests."""
    shutil.rmtree(folder / "shop")
    return write_shop(folder)


def write_shop(folder: Path) -> Project:
    """Write a project with a file of two versions, a hidden one and one outside."""
    made = Project(folder / "shop")
    made.prompt("Write the greeting")
    made.write("app.py", "hello\nworld\n")
    made.write(HIDDEN, "run: nothing\n")
    made.write("../elsewhere.py", "outside\n")
    made.prompt("Greet everybody")
    made.edit("app.py", "world", "everybody")
    made.path("long.py").write_text("first\nsecond\n")
    made.edit("long.py", "second", "third", original=False)
    return made


def ask(talker: Talker, path: Path, version: int, present: str = "") -> Answer:
    """Send a request as the page of a file."""
    nonce = talker.find_nonce(f"/file?path={quote(str(path))}")
    return talker.post(RESTORE, nonce, path=str(path), version=version, present=present)


def test_the_diff_is_shown_and_then_the_file_is_written(talker: Talker, shop: Project) -> None:
    """Nothing is written without the confirmed diff; the replaced content is kept."""
    path = shop.path("app.py")
    path.write_text("hello\nnobody\n")
    before = talker.read_log()
    shown = ask(talker, path, 1).json()
    assert shown["diff"].splitlines()[-3:] == [" hello", "-nobody", "+world"]
    assert (path.read_text(), shown["is_written"]) == ("hello\nnobody\n", False)
    done = ask(talker, path, 1, shown["present"]).json()
    copy = path.with_name("app.py.before-restore")
    assert (done["is_written"], done["copy"]) == (True, str(copy))
    assert (path.read_text(), copy.read_text()) == ("hello\nworld\n", "hello\nnobody\n")
    (noted,) = talker.read_log()[len(before) :]
    assert (noted.pop("time")[:2], noted) == (
        "20",
        {"action": "restore", "file": str(path), "version": 1},
    )
    assert ask(talker, path, 1).json()["diff"] == ""


def read_note(talker: Talker, path: Path) -> str:
    """Return the sentence about the file on disk."""
    page = talker.get(f"/file?path={quote(str(path))}").body.decode()
    counted = re.search(r'<p class="count">(.*?)</p>', page, re.DOTALL)
    assert counted
    return counted[1].partition("1 session")[2].removeprefix(" · ")


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ("hello\neverybody\n", "The file on disk matches v2"),
        ("hello\r\neverybody\r\n", "The file on disk matches v2"),
        ("hello\nworld\n", "The file on disk matches the earlier v1"),
        ("hello\nnobody\n", "The file on disk matches no version; the newest is v2"),
        ("\0", "The file on disk matches no version; the newest is v2"),
        (None, "The file is no longer on disk"),
    ],
)
def test_the_page_says_which_version_is_on_disk(
    talker: Talker, shop: Project, content: str | None, note: str
) -> None:
    """Compared as text: transcripts have no line endings."""
    path = shop.path("app.py")
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content.encode())
    assert read_note(talker, path) == note


def test_the_page_looks_at_no_other_file(talker: Talker, shop: Project, tmp_path: Path) -> None:
    """No hidden files, none outside the project, and none through links."""
    assert read_note(talker, shop.path(HIDDEN)) == ""
    assert read_note(talker, shop.directory.parent / "elsewhere.py") == ""
    path = shop.path("app.py")
    path.rename(tmp_path / "app.py")
    path.symlink_to(tmp_path / "app.py")
    assert read_note(talker, path) == ""


def test_secrets_in_the_diff_are_masked(talker: Talker, shop: Project) -> None:
    """Including those that are only in the current file."""
    path = shop.path("app.py")
    path.write_text("hello\naws_key = 'AKIAIOSFODNN7RTGHJKL'\n")
    diff = ask(talker, path, 1).json()["diff"]
    assert diff.splitlines()[-2:] == ["-aws_key = '[redacted:aws-key]'", "+world"]


def test_a_deleted_file_comes_back(talker: Talker, shop: Project) -> None:
    """Then there is nothing to keep."""
    path = shop.path("app.py")
    path.unlink()
    shown = ask(talker, path, 2).json()
    done = ask(talker, path, 2, shown["present"]).json()
    assert (path.read_text(), done["copy"]) == ("hello\neverybody\n", None)


def test_a_file_that_changed_meanwhile_is_left_alone(talker: Talker, shop: Project) -> None:
    """The confirmed diff no longer applies."""
    path = shop.path("app.py")
    shown = ask(talker, path, 1).json()
    path.write_text("changed\n")
    answer = ask(talker, path, 1, shown["present"])
    assert (answer.status, answer.json()["error"]["code"]) == (409, "changed")
    assert path.read_text() == "changed\n"


@pytest.mark.parametrize("name", [HIDDEN, "../elsewhere.py"])
def test_other_places_are_left_to_the_command(talker: Talker, shop: Project, name: str) -> None:
    """Hidden files may be settings that run programs; files outside are not allowed."""
    path = Path(os.path.normpath(shop.path(name)))
    path.write_text("present\n")
    answer = ask(talker, path, 1)
    assert answer.status == 422
    assert "recollect restore" in answer.json()["error"]["message"]
    assert path.read_text() == "present\n"


def test_links_are_not_followed(talker: Talker, shop: Project, tmp_path: Path) -> None:
    """Neither the file nor a parent directory may be a link."""
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
    """The nonce of another page is refused."""
    nonce = talker.find_nonce(f"/file?path={quote(str(shop.path(HIDDEN)))}")
    answer = talker.post(RESTORE, nonce, path=str(shop.path("app.py")), version=1)
    assert (answer.status, answer.json()["error"]["code"]) == (403, "wrong_nonce")


def test_what_is_known_in_part_cannot_be_restored(talker: Talker, shop: Project) -> None:
    """Its page offers neither the command nor the button."""
    page = talker.server.get(f"/file?path={quote(str(shop.path('long.py')))}").body.decode()
    assert ("partial" in page, "recollect restore" in page, "data-restore=" in page) == (
        True,
        False,
        False,
    )


def test_without_leave_there_is_only_the_command(
    tmp_path: Path, folder: Path, shop: Project
) -> None:
    """Without --allow-run there is no button."""
    with run_server(tmp_path, folder / "claude") as server:
        server.wait_until_current()
        page = server.get(f"/file?path={quote(str(shop.path('app.py')))}").body.decode()
        assert ("recollect restore" in page, '<button type="button" data-restore' in page) == (
            True,
            False,
        )
