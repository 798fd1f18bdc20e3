"""A Claude directory with sessions whose files have unusual names."""

import os
from pathlib import Path

import pytest

from tests.library.claude_root import CWD, FIRST, call, encode, prompt, reply, result

NAMES = {
    b"p\xff/" + FIRST.encode(): FIRST,
    b"q/caf\xe9": "caf%E9",
    b"r/-rf": "%2Drf",
    b"r/$(id)": "$(id)",
    b"r/a\x1b[2Jb": "a%1B[2Jb",
    b"r/exe.\xe2\x80\xaegnp": "exe.%E2%80%AEgnp",
    b"r/..": "%2E.",
    b"r/a b?c#d&e": "a b?c#d&e",
    b"r/" + b"x" * 249: "x" * 249,
}
"""The path of each below `projects`, without suffix, and its session id."""

WRITTEN = {"file_path": f"{CWD}/frog.py", "content": "print(1)\n"}


def write_odd_root(root: Path) -> None:
    """Write the Claude directory, or skip the test if the file system rejects such names."""
    lines = [
        prompt("the pond"),
        call("Write", WRITTEN),
        result("File created", given={"type": "create", **WRITTEN}),
        reply("done"),
    ]
    try:
        for number, name in enumerate(NAMES):
            path = Path(os.fsdecode(os.fsencode(root / "projects") + b"/" + name + b".jsonl"))
            path.parent.mkdir(parents=True, exist_ok=True)
            # Distinct ids: the same message in two files counts once.
            path.write_bytes(encode(lines).replace(b'"msg_', b'"msg_%d_' % number))
    except OSError:
        pytest.skip("this file system accepts only valid text as a name")
