"""`recollect demo` as a user sees it."""

import json
import os
from pathlib import Path

from tests.process import RunRecollect


def test_any_command_runs_on_made_up_sessions(run_recollect: RunRecollect) -> None:
    """Without a command the sessions are listed; options belong to the command that is tried."""
    listed = run_recollect("demo", env={"TZ": "UTC"})
    assert listed == run_recollect("demo", "list", env={"TZ": "UTC"})
    shape = json.loads(run_recollect("demo", "list", "-n", "0", "--json").stdout)
    assert (listed.code, shape["total"]) == (0, 8)


def test_nothing_is_left_behind(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Neither in the temporary directory nor in the home."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    run_recollect("demo", "tools", env={"TMPDIR": str(temporary)})
    assert [*temporary.iterdir(), *Path(os.environ["HOME"]).iterdir()] == []


def test_exit_codes_pass_through(run_recollect: RunRecollect) -> None:
    """The command's own code is that of the demo, and so is its help."""
    assert run_recollect("demo", "list", "no such words").code == 3
    assert run_recollect("demo", "nonsense").code == 2
    assert run_recollect("demo", "tools", "-h").stdout.splitlines()[0] == (
        "Usage: recollect demo tools [OPTIONS]"
    )
