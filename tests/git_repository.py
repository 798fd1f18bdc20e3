"""Real git repositories for tests, with fixed names and dates and so with fixed hashes."""

import os
import subprocess
from pathlib import Path

DEFAULT_TIME = "2026-11-01T10:30:00Z"


def run_git(directory: Path, *arguments: str, time: str = DEFAULT_TIME) -> str:
    """Run git as Mina, at a time; return what it prints."""
    settings = ("-c", "user.name=Mina", "-c", "user.email=mina@example.org")
    times = {"GIT_COMMITTER_DATE": time, "GIT_AUTHOR_DATE": time}
    done = subprocess.run(
        ["git", *settings, *arguments],
        cwd=directory,
        env={"PATH": os.environ["PATH"], "HOME": str(directory), **times},
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return done.stdout.strip()


def commit_everything(directory: Path) -> None:
    """Make a directory a repository, with everything in it as one commit."""
    run_git(directory, "init", "--quiet", "--initial-branch=main")
    run_git(directory, "add", ".")
    run_git(directory, "commit", "--quiet", "-m", "Begin")
