"""Tests of recollect.launch.client_commands: the command that resumes a session."""

from pathlib import Path

import pytest

from recollect.launch.client_commands import plan_resume
from recollect.locations.references import locate_file
from tests.cli.demo_home import run_at
from tests.library.claude_root import FIRST, ClaudeRoot, prompt
from tests.process import RunRecollect


@pytest.fixture
def root(tmp_path: Path) -> ClaudeRoot:
    """A Claude directory with one session."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, prompt("drain the pond", cwd="/w"))
    return root


def test_a_fork_and_extra_arguments(root: ClaudeRoot) -> None:
    """The fork option and extra arguments come after the session id."""
    (path,) = root.path.rglob("*.jsonl")
    plan = plan_resume(locate_file(path), "/w", fork=True, extra_arguments=("--model", "it's"))
    assert plan.arguments == ("claude", "--resume", FIRST, "--fork-session", "--model", "it's")


def test_the_command_line_passes_extra_arguments(
    run_recollect: RunRecollect, root: ClaudeRoot
) -> None:
    """Everything after `--` is quoted word by word in the printed command."""
    done = run_at(
        run_recollect, 80, "resume", "-1", "--print", "--fork", "--claude-dir", str(root.path),
        "--", "--model", "a; b", "-1",
    )  # fmt: skip
    settings = f"CLAUDE_CONFIG_DIR={root.path}"
    assert done.stdout == (
        f"cd /w && {settings} claude --resume {FIRST} --fork-session --model 'a; b' -1\n"
    )


def test_nothing_is_hidden_in_the_printed_command(
    run_recollect: RunRecollect, root: ClaudeRoot
) -> None:
    """A command with control characters is not printed for copying."""
    done = run_at(
        run_recollect,
        80,
        "resume",
        "-1",
        "--print",
        "--claude-dir",
        str(root.path),
        "--",
        "\x1b[2J",
    )
    assert (done.code, done.stdout) == (2, "")
