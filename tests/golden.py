"""Golden files: expected outputs that are compared as a whole.

`RECOLLECT_WRITE_GOLDEN=1 pytest …` rewrites them; review the diff like any other change.
"""

import os
from pathlib import Path

WRITE_VARIABLE = "RECOLLECT_WRITE_GOLDEN"


def check_golden(path: Path, actual: str) -> None:
    """Fail unless `actual` equals the file, or rewrite the file if requested."""
    if os.environ.get(WRITE_VARIABLE):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(actual, encoding="utf-8", newline="")
    expected = path.read_bytes().decode() if path.exists() else "(the file does not exist)"
    assert actual == expected, f"{path.name} differs; set {WRITE_VARIABLE}=1 to rewrite it"
