"""Completion, called as by the scripts of the shells."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.demo_home import GOLDEN, make_demo_home, run_at
from tests.golden import check_golden
from tests.process import RunRecollect

HARBOUR = "94791a87-9d13-410a-a632-25a9b25c1b45"
VARIABLE = "_RECOLLECT_COMPLETE"


def complete(run: RunRecollect, words: str, *, shell: str = "bash", place: int) -> list[str]:
    """Return the completions for the word at index `place` of the line."""
    count = {"COMP_WORDS": words, "COMP_CWORD": str(place)}
    done = run(env={VARIABLE: f"{shell}_complete", **count})
    assert (done.code, done.stderr) == (0, "")
    return done.stdout.split()


def test_sessions_are_offered_as_the_last_list_showed_them(run_recollect: RunRecollect) -> None:
    """By the start of an id or by words of a title; nothing before the first list."""
    make_demo_home()
    assert complete(run_recollect, "recollect resume 94", place=2) == []
    run_at(run_recollect, 80, "list")
    assert complete(run_recollect, "recollect resume 94", place=2) == [f"plain,{HARBOUR}"]
    assert complete(run_recollect, "recollect resume harbour", place=2) == [f"plain,{HARBOUR}"]
    assert complete(run_recollect, "recollect resume lates", place=2) == ["plain,latest"]
    assert complete(run_recollect, "recollect tools --session 94", place=3) == [f"plain,{HARBOUR}"]


def test_commands_and_options_are_offered(run_recollect: RunRecollect) -> None:
    """Completion works whatever the state of the data."""
    assert complete(run_recollect, "recollect too", place=1) == ["plain,tools"]
    assert complete(run_recollect, "recollect list --json-", place=2) == ["plain,--json-lines"]


def test_powershell_gets_a_line_with_a_title(run_recollect: RunRecollect) -> None:
    """In PowerShell, COMP_CWORD is the typed word instead of its index."""
    make_demo_home()
    run_at(run_recollect, 80, "list")
    environment = {VARIABLE: "powershell_complete", "COMP_CWORD": "94"}
    done = run_recollect(env={**environment, "COMP_WORDS": "recollect show 94"})
    assert done.stdout == f"{HARBOUR}\tSpeed up the harbour import\n"


def test_a_damaged_index_prints_nothing(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A shell asks at every key: an error would destroy the line that is being typed."""
    make_demo_home()
    data = tmp_path / "data"
    data.mkdir()
    (data / "index.db").write_bytes(b"no database" * 1000)
    environment = {VARIABLE: "bash_complete", "COMP_WORDS": "recollect show 94"}
    done = run_recollect(env={**environment, "COMP_CWORD": "2", "RECOLLECT_DATA_DIR": str(data)})
    assert (done.code, done.stdout, done.stderr) == (0, "\n", "")


def test_the_script_for_powershell_is_our_own(run_recollect: RunRecollect) -> None:
    """The others are those of click; this one is kept whole."""
    done = run_recollect("completion", "powershell")
    check_golden(GOLDEN / "completion.txt", done.stdout)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_scripts_are_ones_that_the_shell_understands(
    run_recollect: RunRecollect, shell: str, tmp_path: Path
) -> None:
    """Each names the variable that the program answers to; a shell that is here has read it."""
    done = run_recollect("completion", shell)
    assert (done.code, done.stdout.count(VARIABLE) > 0) == (0, True)
    program = shutil.which(shell)
    if program is not None:
        script = tmp_path / "script"
        script.write_text(done.stdout)
        subprocess.run([program, "-n", str(script)], check=True, capture_output=True)
