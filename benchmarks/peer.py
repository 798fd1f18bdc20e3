"""claude-code-log, installed for the occasion: what it takes to turn one transcript into HTML."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import Run, run_program

_PACKAGE = "claude-code-log"


@dataclass(frozen=True, slots=True)
class Peer:
    """The program, in an environment of its own."""

    program: Path
    version: str
    home: Path

    def export(self, transcript: Path, target: Path) -> Run:
        """Write one transcript as one page, with nothing kept from before."""
        command = [str(self.program), str(transcript), "--output", str(target), "--no-cache"]
        return run_program(command, {**os.environ, "HOME": str(self.home)})


def install(folder: Path) -> Peer | None:
    """The newest version, installed into `folder`; None where that cannot be had."""
    place, home = folder / "environment", folder / "home"
    home.mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    pip = [str(place / "bin" / "pip"), "--disable-pip-version-check"]
    installed = subprocess.run([*pip, "install", "-q", _PACKAGE], capture_output=True, check=False)
    if installed.returncode:
        return None
    shown = subprocess.run([*pip, "show", _PACKAGE], capture_output=True, check=True, text=True)
    fields = dict(line.partition(": ")[::2] for line in shown.stdout.splitlines())
    return Peer(place / "bin" / _PACKAGE, fields["Version"], home)
