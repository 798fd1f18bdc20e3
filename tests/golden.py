"""Outputs as they are meant to look, kept as files and compared whole.

`RECOLLECT_WRITE_GOLDEN=1 pytest …` writes them anew; the change is then read like any other.
"""

import os
from pathlib import Path

WRITE_VARIABLE = "RECOLLECT_WRITE_GOLDEN"


def check_golden(path: Path, actual: str) -> None:
    """Fail unless `actual` is what the file says; or make the file say so, when asked to."""
    if os.environ.get(WRITE_VARIABLE):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(actual, encoding="utf-8", newline="")
    expected = path.read_bytes().decode() if path.exists() else "(there is no such file yet)"
    assert actual == expected, f"{path.name} differs; {WRITE_VARIABLE}=1 writes it anew"
