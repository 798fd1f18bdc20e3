"""Which versions of the client are tried, and where `make test-client` puts them.

`python -m tests.client.versions` installs those that are missing, with npm and into the folder that
RECOLLECT_CLIENTS names. The client is proprietary: it is fetched for the run and never kept here.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VARIABLE = "RECOLLECT_CLIENTS"
FOLDER = os.environ.get(VARIABLE)
"""Read when the tests are collected: what is set for the program does not reach a test."""

VERSIONS = ("1.0.128", "2.1.112", "2.1.325")
"""An old one, the last that is a script, and the newest that was tried."""

FILE_VERSIONS = ("1.0.128", "2.0.77", "2.1.112", "2.1.325")
"""Those whose records of files differ."""

OLDEST = VERSIONS[0]
SCRIPT_UNTIL = (2, 1, 112)
_MACHINES = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def find_client(version: str) -> list[str] | None:
    """Return the command that starts a version; None if it is not installed."""
    if not FOLDER:
        return None
    package = Path(FOLDER) / version / "node_modules" / name_package(version)
    script, program = package / "cli.js", package / "claude"
    node = shutil.which("node")
    if script.is_file() and node:
        return [node, str(script)]
    return [str(program)] if program.is_file() else None


def require_client(version: str) -> list[str]:
    """Return the command that starts a version; skips the test if it is not installed."""
    client = find_client(version)
    if client is None:
        pytest.skip(f"the client {version} is not in {VARIABLE}; `make test-client` installs it")
    return client


def name_package(version: str) -> str:
    """Return the package with a version for this machine."""
    if tuple(map(int, version.split("."))) <= SCRIPT_UNTIL:
        return "@anthropic-ai/claude-code"
    machine = _MACHINES.get(platform.machine(), platform.machine())
    return f"@anthropic-ai/claude-code-{sys.platform}-{machine}"


def install(version: str) -> None:
    """Install a version, without running its install scripts."""
    folder = Path(FOLDER or ".") / version
    folder.mkdir(parents=True, exist_ok=True)
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    package = f"{name_package(version)}@{version}"
    subprocess.run(["npm", "install", "--prefix", str(folder), *quiet, package], check=True)


def main() -> None:
    """Install missing versions."""
    if not FOLDER:
        sys.exit(f"Say in {VARIABLE} where to put the clients.")
    if shutil.which("npm") is None:
        sys.exit("npm is not installed, and the client comes from there.")
    for version in sorted({*VERSIONS, *FILE_VERSIONS}):
        if find_client(version) is None:
            print(f"installing the client {version}")  # noqa: T201 - a program for maintainers
            install(version)


if __name__ == "__main__":
    main()
