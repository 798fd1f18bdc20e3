"""Writes the Claude directory that comes with Recollect: `python -m tools.generate_demo [DIR]`.

Everything in it is made up. The same files come out on every machine and on every day, so that a
test can tell whether what is committed is what this program writes.
"""

import shutil
import sys
from pathlib import Path

from tools.demo_stories.letterpress import tell_of_letterpress
from tools.demo_stories.recipes import tell_of_recipes
from tools.demo_stories.tidepool import tell_of_tidepool
from tools.demo_stories.writer import Files, write_history

TARGET = Path(__file__).resolve().parent.parent / "src" / "recollect" / "demo" / "claude"


def build() -> Files:
    """Every file of the directory: its path below the root, and its bytes."""
    sessions = [*tell_of_tidepool(), *tell_of_letterpress(), *tell_of_recipes()]
    files = {path: data for session in sessions for path, data in session.files().items()}
    return {**files, "history.jsonl": write_history(sessions)}


def main(target: Path = TARGET) -> None:
    """Replace the directory at `target` by a fresh one."""
    shutil.rmtree(target, ignore_errors=True)
    for path, data in build().items():
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
