"""Snippets that keep the archive up to date: each runs the same command, however odd its words."""

import json
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.cli.archive_text import iter_snippets, make_command
from tests.cli.demo_home import make_demo_home
from tests.process import RunRecollect

ODD = """/odd place/50% $HOME "it's" \\ <&>"""
COMMAND = ["/usr/bin/env", f"CLAUDE_CONFIG_DIR={ODD}", "recollect", "archive", "sync", "--quiet"]


def find_snippet(system: str, start: str) -> str:
    """Return the snippet under the heading that starts so."""
    return next(
        text for heading, text in iter_snippets(COMMAND, system) if heading.startswith(start)
    )


def test_places_are_part_of_the_command(tmp_path: Path) -> None:
    """A timer has none of the variables of a shell; a passphrase is never written down."""
    places = {"CLAUDE_CONFIG_DIR": "/a b", "RECOLLECT_ARCHIVE_IDENTITY": "/key.txt"}
    environment = {**places, "RECOLLECT_ARCHIVE_PASSPHRASE": "secret", "PATH": "/bin"}
    command = make_command([tmp_path], "linux", environment)
    assert command[:3] == [
        "/usr/bin/env",
        "CLAUDE_CONFIG_DIR=/a b",
        "RECOLLECT_ARCHIVE_IDENTITY=/key.txt",
    ]
    assert command[-5:] == ["archive", "sync", "--quiet", "--claude-dir", str(tmp_path)]
    assert make_command((), "win32", environment)[-3:] == ["archive", "sync", "--quiet"]
    assert "secret" not in " ".join(command)


def test_hook_and_cron_are_read_by_a_shell() -> None:
    """Cron ends a command at an unescaped percent sign."""
    hook = json.loads(find_snippet("linux", "After every session"))
    assert shlex.split(hook["hooks"]["SessionEnd"][0]["hooks"][0]["command"]) == COMMAND
    line = find_snippet("linux", "Every hour with cron").removeprefix("0 * * * * ")
    assert re.search(r"(?<!\\)%", line) is None
    assert shlex.split(line.replace("\\%", "%")) == COMMAND


def test_launchd_reads_the_property_list() -> None:
    """Its arguments are the words of the command."""
    found = plistlib.loads(find_snippet("darwin", "Every hour with launchd").encode())
    assert (found["ProgramArguments"], found["StartInterval"]) == (COMMAND, 3600)


def test_systemd_reads_the_service() -> None:
    """Words are quoted as in C, and nothing in them is expanded."""
    (line,) = re.findall("ExecStart=(.*)", find_snippet("linux", "Every hour with systemd"))
    words = re.findall(r'"(?:[^"\\]|\\.)*"', line)
    assert [json.loads(word).replace("%%", "%").replace("$$", "$") for word in words] == COMMAND


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_accepts_service_and_timer(tmp_path: Path) -> None:
    """`systemd-analyze verify` reports no problems."""
    command = ["/usr/bin/env", "A=50% $HOME", sys.executable, "archive", "sync"]
    texts = [text for heading, text in iter_snippets(command, "linux") if "systemd" in heading]
    units = [tmp_path / "recollect-archive.service", tmp_path / "recollect-archive.timer"]
    for unit, text in zip(units, texts, strict=True):
        unit.write_text(text + "\n", encoding="utf-8")
    checker = ["systemd-analyze", "verify", "--user", "--man=no", *map(str, units)]
    done = subprocess.run(checker, capture_output=True, text=True, check=False)
    assert "recollect" not in done.stderr, done


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_the_hook_archives(run_recollect: RunRecollect) -> None:
    """The printed command works in a shell with another directory and an empty environment."""
    home = make_demo_home()
    run_recollect("archive", "enable", "--yes")
    printed = run_recollect("archive", "enable", "--hook").stdout
    hook, _ = json.JSONDecoder().raw_decode(printed[printed.index("{") :])
    command = hook["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd="/",
        env={"HOME": str(home)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert json.loads(run_recollect("archive", "status", "--json").stdout)["files_behind"] == 0
