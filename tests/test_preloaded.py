"""A command in a fork of the loaded program behaves as in a process of its own."""

import subprocess
from pathlib import Path

import pytest

from tests.preloaded import CAN_FORK, find_program
from tests.process import RunRecollect, run_python

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="needs fork and sockets that pass files")


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("demo", "list"),
        ("demo", "usage", "--breakdown", "--json"),
        ("show", "nothing-like-this"),
        ("nosuch",),
        ("replay", "-"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_output_is_the_same(run_recollect: RunRecollect, words: tuple[str, ...], zone: str) -> None:
    """Exit code, stdout and stderr, in the given environment."""
    environment = {"TZ": zone, "COLUMNS": "90"}
    own = run_python("-m", "recollect", *words, input="{}\n", env=environment)
    assert run_recollect(*words, input="{}\n", env=environment) == own


def test_commands_leave_nothing_behind(
    run_recollect: RunRecollect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Environment and working directory of one do not affect the next."""
    (tmp_path / "empty.jsonl").touch()
    messages = []
    for zone, directory in (("UTC", "/"), ("Asia/Tokyo", str(tmp_path)), ("UTC", "/")):
        monkeypatch.chdir(directory)
        shown = run_recollect("show", "empty.jsonl").stderr
        messages.append((shown, run_recollect("demo", "usage", "block", env={"TZ": zone}).stdout))
    first, other, again = messages
    assert first == again
    assert (first[0] != other[0], first[1] != other[1]) == (True, True)


def test_a_command_that_hangs_is_killed(safe_environment: None, tmp_path: Path) -> None:
    """The time limit is enforced, and the next command runs."""
    environment = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "none")}
    program = find_program(environment)
    assert program is not None
    with pytest.raises(subprocess.TimeoutExpired):
        program.run(["serve", "--no-open", "--port", "0"], b"", environment, 0.01)
    done = program.run(["--version"], b"", environment, 60)
    assert done is not None
    assert (done.code, done.stderr) == (0, b"")
