"""Snippets that run `recollect archive sync` by itself; they are printed and never installed.

A timer does not see the variables of the user's shell, so those that say where things are become
part of the command. A passphrase never does.
"""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from recollect.archive import archive_directory
from recollect.archive.keys import IDENTITY_VARIABLE
from recollect.cli import config_file
from recollect.locations.roots import CONFIG_VARIABLE
from recollect.store import data_directory

_LABEL = "recollect-archive"
_PLACES = (
    CONFIG_VARIABLE,
    archive_directory.VARIABLE,
    IDENTITY_VARIABLE,
    config_file.VARIABLE,
    data_directory.VARIABLE,
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)


def find_program() -> list[str]:
    """Return the command that runs this program, by its path: timers have a short PATH."""
    script = shutil.which("recollect")
    return [str(Path(script).absolute())] if script else [sys.executable, "-m", "recollect"]


def make_command(
    claude_dirs: Sequence[Path] = (),
    system: str = sys.platform,
    environment: Mapping[str, str] = os.environ,
) -> list[str]:
    """Return the command that copies what is new, wherever it is started."""
    places = [f"{name}={value}" for name in _PLACES if (value := environment.get(name))]
    # Windows has no such program, and its tasks see the user's variables.
    prefix = ["/usr/bin/env", *places] if places and system != "win32" else []
    roots = [word for each in claude_dirs for word in ("--claude-dir", str(each.absolute()))]
    return [*prefix, *find_program(), "archive", "sync", "--quiet", *roots]


def iter_snippets(command: list[str], system: str = sys.platform) -> Iterator[tuple[str, str]]:
    """Yield a heading and a snippet for each way to run the command on this system."""
    yield "After every session: add this to Claude Code's settings.json", _make_hook(command)
    if system == "win32":
        yield "Every hour with Task Scheduler: run this once", _make_task(command)
        return
    if system == "darwin":
        place = f"~/Library/LaunchAgents/{_LABEL}.plist"
        yield f"Every hour with launchd: save as {place}", _make_plist(command)
    else:
        place = f"~/.config/systemd/user/{_LABEL}"
        yield f"Every hour with systemd: save as {place}.service", _make_service(command)
        yield f"and this as {place}.timer", _make_timer()
        enable = f"systemctl --user enable --now {_LABEL}.timer"
        yield "then run", enable
    # To cron, an unescaped % is the end of the command.
    line = "0 * * * * " + _quote(command).replace("%", "\\%")
    yield "Every hour with cron: add this line with `crontab -e`", line


def _make_hook(command: list[str]) -> str:
    hook = {"type": "command", "command": _quote(command)}
    return json.dumps({"hooks": {"SessionEnd": [{"hooks": [hook]}]}}, indent=2)


def _make_service(command: list[str]) -> str:
    # systemd expands % and $ itself; everything else is quoted as in C.
    words = [json.dumps(word).replace("%", "%%").replace("$", "$$") for word in command]
    return (
        "[Unit]\nDescription=Archive Claude Code sessions\n\n"
        f"[Service]\nType=oneshot\nExecStart={' '.join(words)}"
    )


def _make_timer() -> str:
    return (
        "[Unit]\nDescription=Archive Claude Code sessions every hour\n\n"
        "[Timer]\nOnCalendar=hourly\nPersistent=true\n\n[Install]\nWantedBy=timers.target"
    )


def _make_plist(command: list[str]) -> str:
    words = "".join(f"\n    <string>{escape(word)}</string>" for word in command)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<plist version="1.0"><dict>\n'
        f"  <key>Label</key><string>{_LABEL}</string>\n"
        f"  <key>ProgramArguments</key><array>{words}\n  </array>\n"
        "  <key>StartInterval</key><integer>3600</integer>\n"
        "</dict></plist>"
    )


def _make_task(command: list[str]) -> str:
    program = " ".join(f'\\"{word}\\"' if " " in word else word for word in command)
    return f'schtasks /Create /TN {_LABEL} /SC HOURLY /TR "{program}"'


def _quote(command: list[str]) -> str:
    return " ".join(map(shlex.quote, command))
