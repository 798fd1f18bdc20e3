"""Snippets that run `recollect archive sync` by itself; they are printed and never installed."""

import json
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

_LABEL = "recollect-archive"


def find_program() -> list[str]:
    """Return the command that runs this program, by its path: timers have a short PATH."""
    script = shutil.which("recollect")
    return [str(Path(script).absolute())] if script else [sys.executable, "-m", "recollect"]


def iter_snippets(system: str = sys.platform) -> Iterator[tuple[str, str]]:
    """Yield a heading and a snippet for each way that this system has."""
    command = [*find_program(), "archive", "sync", "--quiet"]
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
    yield "Every hour with cron: add this line with `crontab -e`", f"0 * * * * {_quote(command)}"


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
