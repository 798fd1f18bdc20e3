"""`recollect star` and `recollect note`, and how lists show them."""

import json
from pathlib import Path

import pytest

from recollect.cli.clock import NOW_VARIABLE
from recollect.demo import CLAUDE_DIRECTORY
from tests.cli.demo_home import NOW
from tests.process import RunRecollect

DEMO = ("--claude-dir", str(CLAUDE_DIRECTORY))
HARBOUR = "94791a87-9d13-410a-a632-25a9b25c1b45"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A data directory for each test."""
    return {"RECOLLECT_DATA_DIR": str(tmp_path / "data"), "TZ": "UTC", NOW_VARIABLE: NOW}


def test_starred_sessions_are_found_again(
    run_recollect: RunRecollect, environment: dict[str, str]
) -> None:
    """`list` marks them, `--starred` lists only these, and JSON has star and note."""
    run_recollect("star", "harbour", "latest", *DEMO, env=environment)
    run_recollect("star", "latest", "--remove", *DEMO, env=environment)
    run_recollect("note", HARBOUR[:8], "the batch\x1b[31m trick", *DEMO, env=environment)
    shown = run_recollect("list", "--starred", *DEMO, env=environment)
    assert shown.stdout.splitlines()[1].startswith("★  2026-11-09 09:06  94791a87  tidepool")
    assert shown.stderr == "★ starred by you\n"
    listed = json.loads(run_recollect("list", "--json", *DEMO, env=environment).stdout)
    assert {
        each["id"]: (each["starred"], each["note"])
        for each in listed["sessions"]
        if each["starred"] or each["note"]
    } == {HARBOUR: (True, "the batch\x1b[31m trick")}
    note = run_recollect("note", "harbour", *DEMO, env=environment)
    assert note.stdout == "the batch␛[31m trick\n"
    run_recollect("note", "harbour", "--remove", *DEMO, env=environment)
    assert run_recollect("note", "harbour", *DEMO, env=environment).stdout == ""


def test_what_cannot_be_marked(run_recollect: RunRecollect, environment: dict[str, str]) -> None:
    """Exits with 3 for an unknown session, with 2 for conflicting options, and writes nothing."""
    codes = [
        run_recollect(*words, *DEMO, env=environment).code
        for words in (
            ("star", "no such session"),
            ("note", "no such session", "x"),
            ("note", "latest", "x", "--remove"),
        )
    ]
    assert codes == [3, 3, 2]
    assert not (Path(environment["RECOLLECT_DATA_DIR"]) / "marks.json").exists()
