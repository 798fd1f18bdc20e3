"""Every command on files and directories whose names are not ids, or not valid UTF-8."""

import json
from pathlib import Path

import pytest

from tests.library.claude_root import FIRST
from tests.odd_names import NAMES, write_odd_root
from tests.process import RunRecollect

COMMANDS = (
    "list", "list --json", "list --tree", "show -1", "show -2 --json", "search pond",
    "search pond --json", "usage", "usage session --json", "usage project",
    f"usage explain {FIRST}", f"usage explain {FIRST} --json", "tools", "tools --json",
    "files -1", "files -2 --json", "doctor", "doctor --json", "index", "index --status --json",
)  # fmt: skip


@pytest.fixture
def odd_root(tmp_path: Path) -> Path:
    """A Claude directory with such names."""
    root = tmp_path / "claude"
    write_odd_root(root)
    return root


def test_every_command_takes_names_that_are_no_text(
    odd_root: Path, run_recollect: RunRecollect
) -> None:
    """All commands work, also from the index, and none reports a bug."""
    for command in (*COMMANDS, *COMMANDS):
        done = run_recollect(*command.split(), "--claude-dir", str(odd_root))
        assert (command, done.code, "bug" in done.stderr) == (command, 0, False), done.stderr


def test_every_listed_session_can_be_opened(odd_root: Path, run_recollect: RunRecollect) -> None:
    """The id that `list` prints opens that session in other commands."""
    options = ("--json", "--claude-dir", str(odd_root))
    listed = json.loads(run_recollect("list", *options).stdout)["sessions"]
    ids = [each["id"] for each in listed]
    assert sorted(ids) == sorted(NAMES.values())
    shown = [
        json.loads(run_recollect("show", each, *options).stdout)["session"]["id"] for each in ids
    ]
    assert shown == ids
    for command in (("usage", "explain"), ("files",), ("tools", "--session")):
        for each in ids:
            assert (each, run_recollect(*command, each, *options).code) == (each, 0)


def test_a_session_can_be_named_by_its_file(odd_root: Path, run_recollect: RunRecollect) -> None:
    """The name of the file is a name of the session, also where its id is written otherwise."""
    done = run_recollect("show", "--json", "--claude-dir", str(odd_root), "--", "-rf")
    assert json.loads(done.stdout)["session"]["id"] == "%2Drf"
