"""Tests of recollect.launch.resume: what is passed on to the client that takes a session up."""

from pathlib import Path

import pytest

from recollect.launch.resume import plan_resume
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


def test_a_copy_can_be_gone_on_with(root: ClaudeRoot) -> None:
    """A fork and the words for the client stand behind the session that is named."""
    (path,) = root.path.rglob("*.jsonl")
    plan = plan_resume(locate_file(path), "/w", fork=True, passed_on=("--model", "it's"))
    assert plan.arguments == ("claude", "--resume", FIRST, "--fork-session", "--model", "it's")


def test_the_command_line_passes_them_on(run_recollect: RunRecollect, root: ClaudeRoot) -> None:
    """What is behind `--` is quoted word by word in the command that is shown."""
    done = run_at(
        run_recollect, 80, "resume", "-1", "--print", "--fork", "--claude-dir", str(root.path),
        "--", "--model", "a; b", "-1",
    )  # fmt: skip
    settings = f"CLAUDE_CONFIG_DIR={root.path}"
    assert done.stdout == (
        f"cd /w && {settings} claude --resume {FIRST} --fork-session --model 'a; b' -1\n"
    )


def test_nothing_is_hidden_in_what_is_shown(run_recollect: RunRecollect, root: ClaudeRoot) -> None:
    """A word that a terminal would obey is not printed to be copied."""
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
