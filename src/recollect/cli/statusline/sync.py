"""Brings the index level behind a status line's back, for the next line to read.

A line must not wait for that, and nobody else may ever do it for somebody who only looks at
status lines. Only an index that exists is kept level: making one can take a while, and is not
for a status line to decide.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

STAMP_NAME: Final = "statusline.stamp"
PAUSE_SECONDS: Final = 15.0
"""Between two syncs, however often lines are asked for and whether or not a sync succeeds."""


def start_sync(directory: Path, root: str) -> subprocess.Popen[bytes] | None:
    """A sync of the Claude directory `root`, at work; None if one was started lately."""
    try:
        if not _is_due(directory / STAMP_NAME):
            return None
        return subprocess.Popen(  # noqa: S603 - our own program, without a shell
            [sys.executable, "-m", "recollect", "index", "--claude-dir", root],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Claude Code ends a status line that takes too long, with all that it started.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError):
        return None


def _is_due(stamp: Path) -> bool:
    """Whether it is time; takes note that it was asked. Raises where nothing can be written."""
    now = time.time()
    try:
        is_recent = 0 <= now - stamp.stat().st_mtime < PAUSE_SECONDS
    except FileNotFoundError:
        is_recent = False
    if is_recent:
        return False
    os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT, 0o600))
    os.utime(stamp)
    return True
