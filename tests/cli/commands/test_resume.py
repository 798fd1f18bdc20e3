"""`recollect resume` as a user sees it, with a fake client."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.demo_home import run_at
from tests.library.claude_root import FIRST, ClaudeRoot, prompt
from tests.process import Finished, RunRecollect

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="runs a script by its first line")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A working directory whose name needs quoting."""
    work = tmp_path / "it's here"
    work.mkdir()
    return work


@pytest.fixture
def root(work: Path) -> ClaudeRoot:
    """The Claude directory in the environment, with one session."""
    root = ClaudeRoot(Path(os.environ["CLAUDE_CONFIG_DIR"]))
    root.session(FIRST, prompt("drain the pond", cwd=str(work)))
    return root


def make_client(directory: Path) -> str:
    """Put a `claude` on the PATH that prints its arguments; return that PATH."""
    client = directory / "claude"
    body = "import json, os, sys; print(json.dumps([os.getcwd(), *sys.argv[1:]]))"
    client.write_text(f"#!{sys.executable}\n{body}\n")
    client.chmod(0o755)
    return f"{directory}{os.pathsep}{os.environ['PATH']}"


def resume(run: RunRecollect, *arguments: str, path: str | None = None) -> Finished:
    """Run the command, with another PATH if need be."""
    return run("resume", *arguments, env={"PATH": path} if path is not None else {})


@needs_posix
def test_the_client_is_started_where_the_session_was(
    run_recollect: RunRecollect, root: ClaudeRoot, work: Path, tmp_path: Path
) -> None:
    """The process becomes the client, in the session's directory, with the id as an argument."""
    done = resume(run_recollect, "latest", path=make_client(tmp_path))
    assert json.loads(done.stdout) == [str(work.resolve()), "--resume", FIRST]
    assert (done.code, done.stderr) == (0, "")


def test_the_command_can_be_printed(
    run_recollect: RunRecollect, root: ClaudeRoot, work: Path
) -> None:
    """`--print` quotes for a shell, and needs neither the directory nor the client."""
    done = resume(run_recollect, "1111", "--print", path="")
    quoted = f"'{work.parent}/it'\"'\"'s here'"
    assert done == Finished(0, f"cd {quoted} && claude --resume {FIRST}\n", "")


def test_another_claude_directory_is_named_to_the_client(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """`CLAUDE_CONFIG_DIR` is set, because the client would not find the session."""
    other = ClaudeRoot(tmp_path / "other root")
    other.session(FIRST, prompt("drain the pond", cwd="/w"))
    done = resume(run_recollect, "latest", "--print", "--claude-dir", str(other.path))
    assert done.stdout == (f"cd /w && CLAUDE_CONFIG_DIR='{other.path}' claude --resume {FIRST}\n")


def test_a_directory_that_is_gone_is_reported(
    run_recollect: RunRecollect, root: ClaudeRoot, work: Path, tmp_path: Path
) -> None:
    """Nothing is started, and the message says what still works."""
    work.rmdir()
    done = resume(run_recollect, "latest", path=str(tmp_path))
    assert (done.code, done.stdout) == (3, "")
    assert done.stderr == (
        f"recollect: The directory of the session no longer exists: {work}\n"
        f"Restore it, or run `claude --resume {FIRST}` in another one: recent versions of "
        "Claude Code find the session by its id.\n"
    )


def test_a_client_that_is_not_there_is_reported(
    run_recollect: RunRecollect, root: ClaudeRoot, tmp_path: Path
) -> None:
    """The reason names the PATH."""
    done = resume(run_recollect, "latest", path=str(tmp_path))
    reason = "`claude` is not on the PATH. Install Claude Code, or use --print to see the command."
    assert (done.code, done.stderr) == (3, f"recollect: {reason}\n")


def test_a_transcript_that_is_gone_is_reported(
    run_recollect: RunRecollect, root: ClaudeRoot
) -> None:
    """A session that was listed before is reported as deleted."""
    run_at(run_recollect, 80, "list")
    (path,) = root.path.rglob(f"{FIRST}.jsonl")
    path.unlink()
    done = resume(run_recollect, FIRST[:8])
    assert (done.code, done.stdout) == (3, "")
    assert done.stderr.splitlines()[0] == (
        f"recollect: Cannot resume {FIRST}: its transcript no longer exists: {path}"
    )
