"""Run the program in forks of a process that has loaded it.

Loading a command takes longer than running it, and the tests run thousands. Each run still has a
process, an environment and a working directory of its own. Tests of what is imported, and of how
Python starts, use `tests.process.run_python` instead.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CAN_FORK = sys.platform == "linux"
READ_AT_START = ("PYTHON", "LC_", "LANG")
"""Python reads variables with these prefixes only once."""

_REQUEST_BYTES = 1 << 20
_STREAMS = 3


class Output(NamedTuple):
    """The exit code of a command, and what it wrote."""

    code: int
    stdout: bytes
    stderr: bytes


class LoadedProgram:
    """A process that has imported the program, and forks for each command."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._lock = Lock()
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.preloaded", str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=environment, pass_fds=[theirs.fileno()]
            )

    def run(
        self, arguments: list[str], given: bytes, environment: Mapping[str, str], seconds: float
    ) -> Output | None:
        """Return the output of a command; None while another one is running."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
                stdin.write(given)
                stdin.seek(0)
                streams = [each.fileno() for each in (stdin, stdout, stderr)]
                code = self._ask([arguments, dict(environment), str(Path.cwd())], streams, seconds)
                stdout.seek(0)
                stderr.seek(0)
                return Output(code, stdout.read(), stderr.read())
        finally:
            self._lock.release()

    def _ask(self, request: object, streams: list[int], seconds: float) -> int:
        socket.send_fds(self._connection, [json.dumps(request).encode()], streams)
        pid = int(self._connection.recv(_REQUEST_BYTES))
        self._connection.settimeout(seconds)
        try:
            return int(self._connection.recv(_REQUEST_BYTES))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            self._connection.settimeout(None)
            self._connection.recv(_REQUEST_BYTES)
            raise subprocess.TimeoutExpired(str(request), seconds) from None
        finally:
            self._connection.settimeout(None)


def find_program(environment: Mapping[str, str]) -> LoadedProgram | None:
    """Return the process for commands in `environment`; None if there can be none."""
    if not CAN_FORK:
        return None
    fixed = {name: each for name, each in environment.items() if name.startswith(READ_AT_START)}
    return _start(os.getpid(), json.dumps(fixed, sort_keys=True))


@cache
def _start(_pid: int, fixed: str) -> LoadedProgram:
    others = {name: each for name, each in os.environ.items() if not name.startswith(READ_AT_START)}
    return LoadedProgram({**others, **json.loads(fixed)})


def load_program() -> None:
    """Import all commands, what they import when they are called, and the rules for secrets."""
    package = importlib.import_module("recollect")
    for module in pkgutil.walk_packages(package.__path__, "recollect."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # Compiling the rules takes longer than most commands, and they depend on nothing.
    importlib.import_module("recollect.redact.prefilter").find_suspicious_lines(b"")


def serve(connection: socket.socket) -> None:
    """Fork for each request; returns in the children, and exits when the tests have ended."""
    while True:
        request, streams, _, _ = socket.recv_fds(connection, _REQUEST_BYTES, _STREAMS)
        if not request:
            sys.exit()
        pid = os.fork()
        if pid == 0:
            connection.close()
            become(json.loads(request), list(streams))
            return
        for stream in streams:
            os.close(stream)
        connection.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def become(request: tuple[list[str], dict[str, str], str], streams: list[int]) -> None:
    """Give this process the arguments, environment, directory and streams of a command."""
    arguments, environment, directory = request
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(directory)
    sys.argv = [str(ROOT / "src" / "recollect" / "__main__.py"), *arguments]


def run_and_exit() -> None:
    """Run the program; exit as Python does, but without tearing down modules."""
    from recollect.cli import main

    code: object = 0
    try:
        main()
    except SystemExit as request:
        code = request.code
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        # The program closes what its reader has left.
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    load_program()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
    run_and_exit()
