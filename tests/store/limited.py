"""A sync in a process that may do less: without a superuser's rights, or with little room.

Tests often run as a superuser, whom permissions do not bind; so the rights are given away first.
"""

import json
import sys
from pathlib import Path

import pytest

from tests.process import run_python
from tests.sync.world import World

CODE = """
import ctypes, json, os, sys
root, data, room, drop = sys.argv[1:]
if drop == "drop" and os.geteuid() == 0:
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)()) != 0:
        print(json.dumps("cannot give rights away"))
        sys.exit()
if int(room):
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(room), int(room)))
from pathlib import Path
from recollect.errors import RecollectError
from recollect.sync.index_access import find_transcripts, is_current
from recollect.sync.sync_engine import sync
try:
    found = find_transcripts([Path(root)])
    level = is_current(Path(data), found)
    report = sync(Path(data), found)
    print(json.dumps([level, report.files_read, report.problems]))
except RecollectError as error:
    print(json.dumps([level, type(error).__name__, str(error)]))
"""


def sync_limited(world: World, *, room: int = 0, data: Path | None = None) -> list[object]:
    """Whether the index was up to date, and then what a sync did or how it failed."""
    if sys.platform != "linux":
        pytest.skip("needs a system that lets a process give its rights away")
    result = run_python("-c", CODE, str(world.root), str(data or world.data), str(room), "drop")
    assert (result.code, result.stderr) == (0, "")
    said = json.loads(result.stdout)
    if not isinstance(said, list):
        pytest.skip(said)
    return said
