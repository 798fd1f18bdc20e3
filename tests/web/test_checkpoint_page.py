"""The checkpoints of a session: marked in its outline, and their files on a page."""

import re

from tests.web.running import RunningServer

SESSION = "8facb961-b86b-4d27-b5bd-038c0d96c55c"


def test_prompts_with_backups_lead_to_their_checkpoint(server: RunningServer) -> None:
    """The files are as they were at the prompt, with what changed until the next one."""
    turns = server.get(f"/api/sessions/{SESSION}/outline").json()["turns"]
    marked = [turn["number"] for turn in turns if turn["backups"]]
    assert marked == [3]
    page = _read(server, f"/s/{SESSION}/checkpoints?at=3")
    assert re.findall(r"<code>(src/[^<]*)</code>", page) == ["src/tidepool/cli.py"]
    assert f"recollect restore {SESSION} --checkpoint 3" in page


def test_the_numbers_of_a_page_are_those_of_prompts(server: RunningServer) -> None:
    """Without a number it is the first; one that does not exist is an error."""
    page = _read(server, f"/s/{SESSION}/checkpoints")
    assert re.findall(r'checkpoints\?at=(\d+)"[^>]* aria-current', page) == ["1"]
    assert server.get(f"/s/{SESSION}/checkpoints?at=99").status == 404
    assert server.get(f"/s/{SESSION}/checkpoints?at=x").status == 422


def _read(server: RunningServer, path: str) -> str:
    answer = server.get(path)
    assert answer.status == 200
    return answer.body.decode()
