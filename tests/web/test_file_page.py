"""The pages of files: only what sessions recorded, escaped, and without a look at the disk."""

import json
import os
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from recollect.workspace.file_queries import MAX_READ
from tests.web.running import RunningServer, copy_demo, run_server

CLI = "/home/mina/projects/tidepool/src/tidepool/cli.py"


def test_versions_are_listed_with_their_grades(server: RunningServer) -> None:
    """The newest is compared with the one before it."""
    page = server.read(f"/file?path={quote(CLI)}")
    assert re.findall(r'<a class="number"[^>]*>(v\d+)<', page) == ["v3", "v2", "v1"]
    assert "Comparing v2 → v3" in page
    assert f"recollect restore {CLI} --at 3" in page
    rows = re.findall(r'<tr class="changed">', page)
    assert len(rows) == 4


def test_two_versions_can_be_chosen(server: RunningServer) -> None:
    """Any two can be compared; a number that does not exist is an error."""
    page = server.read(f"/file?path={quote(CLI)}&a=1&b=3")
    assert "Comparing v1 → v3" in page
    assert server.get(f"/file?path={quote(CLI)}&b=9").status == 404
    assert server.get(f"/file?path={quote(CLI)}&b=x").status == 422


def test_all_lines_can_be_shown_with_their_authors(server: RunningServer) -> None:
    """Unchanged lines are left out at first; a link shows them, and other versions stay whole."""
    short = server.read(f"/file?path={quote(CLI)}")
    link = f"/file?path={quote(CLI, safe='')}&amp;whole=true"
    assert re.findall(r'<tr class="skipped"><td colspan="5"><a href="([^"]*)">', short) == [link]
    assert "8 unchanged lines" in short
    whole = server.read(link.replace("&amp;", "&"))
    numbers = re.findall(r'<td class="line-number">(\d+)</td>\s*<td class="new', whole)
    assert numbers == [str(number) for number in range(1, 16)]
    assert "unchanged lines" not in whole
    assert f'href="/file?path={quote(CLI, safe="")}">Changed lines only' in whole
    assert f"/file?path={quote(CLI, safe='')}&amp;b=1&amp;whole=true" in whole


def test_a_file_that_no_session_names_is_not_read(server: RunningServer) -> None:
    """Whether it exists on disk or not: the answer is the same."""
    for path in ("/etc/hostname", "/nowhere", "../../etc/hostname", "relative.py"):
        assert server.get(f"/file?path={quote(path)}").status == 404
    assert server.get("/file?path=a%00b").status == 422
    assert server.get("/file").status == 422


def test_changes_lead_to_the_history_of_a_file(server: RunningServer) -> None:
    """From the changes of a session, and from the list of files of a project."""
    link = f'href="/file?path={quote(CLI, safe="")}"'
    session = "8facb961-b86b-4d27-b5bd-038c0d96c55c"
    assert link in server.read(f"/s/{session}/changes")
    assert link in server.read("/files?project=-home-mina-projects-tidepool&text=CLI")


def test_projects_have_the_names_of_their_directories(server: RunningServer) -> None:
    """Claude Code's encoded names are only in the address."""
    page = server.read("/files")
    options = re.findall(r'<option value="([^"]+)"[^>]*>([^<]+)<', page)
    assert dict(options)["-home-mina-projects-tidepool"] == "/home/mina/projects/tidepool"
    assert all(name.startswith("/home/mina/") for _, name in options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "is_complete"),
    [
        (f"/file?path={quote(CLI)}", f"recollect restore {CLI} --at 3"),
        ("/files?project=-home-mina-projects-tidepool", f'title="{CLI}"'),
    ],
)
def test_what_is_not_read_yet_is_read_in_the_background(
    tmp_path: Path, path: str, is_complete: str
) -> None:
    """The page says how many sessions are missing, and is complete once they are read."""
    root = copy_demo(tmp_path)
    _add_large(root / "projects" / "-home-mina-projects-tidepool")
    with run_server(tmp_path, root) as server:
        server.wait_until_current()
        first = server.read(path)
        assert re.findall(r"\d+ more sessions are being read", first) == [
            "3 more sessions are being read"
        ]
        assert is_complete not in first
        server.wait_for(lambda: "being read" not in server.read(path))
        assert is_complete in server.read(path)


def _add_large(project: Path) -> None:
    """Add a session that is newer than the others, and larger than what is read at once."""
    transcripts = list(project.glob("*.jsonl"))
    large = project / "ffffffff-0000-4000-8000-000000000000.jsonl"
    record = {"type": "summary", "summary": "x" * 1_000_000, "leafUuid": "none"}
    line = json.dumps(record) + "\n"
    large.write_text(line * (MAX_READ // len(line) + 1), "utf-8")
    # A file that was written just now may change without that being seen.
    now = large.stat().st_mtime
    for age, each in enumerate((large, *transcripts), 1):
        os.utime(each, (now, now - 100 * age))
