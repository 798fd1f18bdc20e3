"""The checkpoints of a session: marked in its outline, and their files on a page."""

import re
from pathlib import Path

import pytest

from tests.versions.small_project import Project
from tests.web.running import RunningServer, run_server

SESSION = "8facb961-b86b-4d27-b5bd-038c0d96c55c"
KEY = "AKIAIOSFODNN7RTGHJKL"


def test_prompts_with_backups_lead_to_their_checkpoint(server: RunningServer) -> None:
    """The files are as they were at the prompt, with the changes up to the next one."""
    turns = server.get(f"/api/sessions/{SESSION}/outline").json()["turns"]
    marked = [turn["number"] for turn in turns if turn["backups"]]
    assert marked == [3]
    page = server.read(f"/s/{SESSION}/checkpoints?at=3")
    assert re.findall(r"<code>(src/[^<]*)</code>", page) == ["src/tidepool/cli.py"]
    assert f"recollect restore {SESSION} --checkpoint 3" in page


def test_the_numbers_of_a_page_are_those_of_prompts(server: RunningServer) -> None:
    """Without a number it is the first; one that does not exist is an error."""
    page = server.read(f"/s/{SESSION}/checkpoints")
    assert re.findall(r'checkpoints\?at=(\d+)"[^>]* aria-current', page) == ["1"]
    assert server.get(f"/s/{SESSION}/checkpoints?at=99").status == 404
    assert server.get(f"/s/{SESSION}/checkpoints?at=x").status == 422


@pytest.mark.slow
def test_what_changed_until_the_next_prompt(tmp_path: Path) -> None:
    """The diff is escaped and masked; without changes, the page says so."""
    project = Project(tmp_path / "work")
    for words, text in (("write", "one\n"), ("edit", f"<b>two</b>\n{KEY}\n"), ("look", "")):
        project.prompt(words)
        if text:
            project.write("a.txt", text)
    project.prompt("thank you")
    project.save(tmp_path / "claude")
    with run_server(tmp_path, tmp_path / "claude") as server:
        address = f"/s/{project.session}/checkpoints?at="
        pages = [server.read(f"{address}{number}") for number in range(1, 5)]
    assert ["did not exist yet" in page for page in pages] == [True, False, False, False]
    assert ["No changes before" in page for page in pages] == [False, False, True, False]
    assert ["This is the last prompt" in page for page in pages] == [False, False, False, True]
    assert "&lt;b&gt;two" in pages[1]
    assert not any(KEY in page or "<b>two" in page for page in pages)
