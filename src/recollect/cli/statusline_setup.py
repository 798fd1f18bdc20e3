"""Rarely used parts of `recollect statusline`: the settings snippet and the background sync.

The snippet is only printed, never installed. The sync updates the index for later lines, because
some users run no other command. It never creates an index: that can take a while, and is the user's
decision.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final


def make_setup() -> str:
    """Return the snippet for `settings.json`."""
    program = "recollect" if shutil.which("recollect") else _name_module()
    command = {"type": "command", "command": f"{program} statusline"}
    return json.dumps({"statusLine": command}, indent=2)


def _name_module() -> str:
    """Return the command for when `recollect` is not on the PATH."""
    return f"{shlex.quote(sys.executable)} -m recollect"


STAMP_NAME: Final = "statusline.stamp"
PAUSE_SECONDS: Final = 15.0
"""Minimum time between two syncs, whether or not they succeed."""


def start_sync(directory: Path, root: str) -> subprocess.Popen[bytes] | None:
    """Start a sync of the Claude directory `root`; None if one was started recently."""
    try:
        if not _is_due(directory / STAMP_NAME):
            return None
        return subprocess.Popen(
            [sys.executable, "-m", "recollect", "index", "--claude-dir", root],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Claude Code kills a status line that takes too long, including its children.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError):
        return None


def _is_due(stamp: Path) -> bool:
    """Check and update the time stamp; raise OSError if it cannot be written."""
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
