"""Install claude-code-log and measure how it exports a transcript as HTML."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import Run, run_program

_PACKAGE = "claude-code-log"


@dataclass(frozen=True, slots=True)
class Peer:
    """The installed program."""

    program: Path
    version: str
    home: Path

    def export(self, transcript: Path, target: Path) -> Run:
        """Export one transcript as one page, without a cache."""
        command = [str(self.program), str(transcript), "--output", str(target), "--no-cache"]
        return run_program(command, {**os.environ, "HOME": str(self.home)})


def install(folder: Path) -> Peer | None:
    """Install the newest version into `folder`; None if that fails."""
    environment, home = folder / "environment", folder / "home"
    home.mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "pip"), "--disable-pip-version-check"]
    installed = subprocess.run([*pip, "install", "-q", _PACKAGE], capture_output=True, check=False)
    if installed.returncode:
        return None
    shown = subprocess.run([*pip, "show", _PACKAGE], capture_output=True, check=True, text=True)
    fields = dict(line.partition(": ")[::2] for line in shown.stdout.splitlines())
    return Peer(environment / "bin" / _PACKAGE, fields["Version"], home)
