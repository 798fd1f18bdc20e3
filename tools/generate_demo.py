"""Generate the sample sessions that come with Recollect: `python -m tools.generate_demo [DIR]`.

Everything in them is fictional. The output is deterministic, so that a test can check that the
committed files are up to date.
"""

import shutil
import sys
from pathlib import Path

from tools.demo_stories.letterpress import make_letterpress
from tools.demo_stories.recipes import make_recipes
from tools.demo_stories.tidepool import make_tidepool
from tools.demo_stories.writer import Files, write_history

TARGET = Path(__file__).resolve().parent.parent / "src" / "recollect" / "demo" / "claude"


def build() -> Files:
    """Return the content of all files by their path below the root."""
    sessions = [*make_tidepool(), *make_letterpress(), *make_recipes()]
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
