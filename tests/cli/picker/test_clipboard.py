"""Copying, with a small program instead of the desktop's."""

import base64
from pathlib import Path

import pytest

from recollect.cli.picker_screen import copy_text


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is the only one on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("WAYLAND_DISPLAY", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def _install(directory: Path, name: str, script: str) -> None:
    program = directory / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_the_desktop_gets_the_text(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A desktop program reads it, and the terminal gets nothing."""
    _install(programs, "wl-copy", f'IFS= read -r line; echo "$line" > {programs}/copied')
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    written: list[str] = []
    copy_text("claude --resume x\n", written.append)
    assert (written, (programs / "copied").read_text()) == ([], "claude --resume x\n")


def test_the_terminal_is_asked_when_no_program_does_it(programs: Path) -> None:
    """Programs without a display, or that fail, are skipped."""
    _install(programs, "wl-copy", "exit 0")
    _install(programs, "clip.exe", "exit 1")
    written: list[str] = []
    copy_text("cd /a", written.append)
    assert written == [f"\x1b]52;c;{base64.b64encode(b'cd /a').decode()}\x07"]
