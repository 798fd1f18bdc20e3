"""A home whose Claude directory is the demo data, with the times that its files would have."""

import json
import os
import re
import shutil
from datetime import datetime
from pathlib import Path

from recollect.cli.clock import NOW_VARIABLE
from recollect.demo import CLAUDE_DIRECTORY
from tests.process import Finished, RunRecollect

NOW = "2026-11-13T12:00:00Z"
WIDTHS = (60, 80, 140)
GOLDEN = Path(__file__).parent / "golden"
"""The output of commands on the demo data."""

_TIME = re.compile(r'"timestamp":"([^"]+)"')


def make_demo_home() -> Path:
    """Put the demo data where the program looks for it, and return that home."""
    home = Path(os.environ["HOME"])
    root = home / ".claude"
    shutil.copytree(CLAUDE_DIRECTORY, root)
    root.chmod(0o700)
    for path in root.rglob("*.jsonl"):
        times = _TIME.findall(path.read_text(encoding="utf-8"))
        moment = datetime.fromisoformat(max(times, default=NOW)).timestamp()
        os.utime(path, (moment, moment))
    return home


def pretend_to_serve(home: Path) -> None:
    """Write the state file that a web app leaves while it runs."""
    note = home / ".local" / "share" / "recollect" / "server.json"
    note.parent.mkdir(parents=True, mode=0o700)
    note.write_text(json.dumps({"pid": os.getpid(), "port": 8123}), encoding="utf-8")


def run_at(
    run: RunRecollect, width: int, *arguments: str, input: str | None = None, now: str = NOW
) -> Finished:
    """The result of the program in a terminal of that width, at the time of the demo data."""
    return run(*arguments, input=input, env={NOW_VARIABLE: now, "TZ": "UTC", "COLUMNS": str(width)})
