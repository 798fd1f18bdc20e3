"""Every command on directories and files whose names are bytes that are no text."""

import os
from pathlib import Path

import pytest

from tests.library.claude_root import CWD, FIRST, call, encode, prompt, reply, result
from tests.process import RunRecollect

COMMANDS = (
    "list", "list --json", "list --tree", "show -1", "show -2 --json", "search pond",
    "search pond --json", "usage", "usage session --json", "usage project",
    f"usage explain {FIRST}", f"usage explain {FIRST} --json", "tools", "tools --json",
    "files -1", "files -2 --json", "doctor", "doctor --json", "index", "index --status --json",
)  # fmt: skip
WRITTEN = {"file_path": f"{CWD}/frog.py", "content": "print(1)\n"}


@pytest.fixture
def odd_root(tmp_path: Path) -> Path:
    """A Claude directory with such a directory, and such a file in another."""
    root = tmp_path / "claude"
    lines = [
        prompt("the pond"),
        call("Write", WRITTEN),
        result("File created", given={"type": "create", **WRITTEN}),
        reply("done"),
    ]
    try:
        for name in (b"p\xff/" + FIRST.encode(), b"q/caf\xe9"):
            path = Path(os.fsdecode(os.fsencode(root / "projects") + b"/" + name + b".jsonl"))
            path.parent.mkdir(parents=True)
            path.write_bytes(encode(lines))
    except OSError:
        pytest.skip("this file system takes names that are text only")
    return root


def test_every_command_takes_names_that_are_no_text(
    odd_root: Path, run_recollect: RunRecollect
) -> None:
    """All of them answer, again from the index, and say nothing about a bug."""
    for command in (*COMMANDS, *COMMANDS):
        done = run_recollect(*command.split(), "--claude-dir", str(odd_root))
        assert (command, done.code, "bug" in done.stderr) == (command, 0, False), done.stderr
