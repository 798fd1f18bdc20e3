"""Quality of search: `python -m benchmarks.relevance`.

Runs the known-item test beside the project: queries as people type them, each with the sessions and
records that it should find. Skipped without that folder.
"""

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_SHARED = Path(os.environ.get("RECOLLECT_SHARED") or _ROOT.parent / "shared")


def main() -> int:
    """Print the figures and return 0, or what the test returned."""
    runner = _SHARED / "relevance" / "relevance.py"
    if not runner.is_file():
        print(f"skipped: there is no {runner}")
        return 0
    program = Path(sys.executable).with_name("recollect")
    queries, corpus = runner.with_name("queries.json"), _SHARED / "corpus"
    command = [sys.executable, str(runner), str(queries), str(corpus), "--recollect", str(program)]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
