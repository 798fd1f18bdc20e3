"""A program in a terminal of its own: keys go in, and the screen can be looked at.

The screen is a real emulation, so that a test sees what a person would see, not what was sent.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pyte
from pyte.screens import Char

SECONDS = 30.0
"""How long a screen may take to show something, on a busy machine."""


class Terminal:
    """A running program and its screen."""

    def __init__(
        self, process: subprocess.Popen[bytes], master: int, size: tuple[int, int]
    ) -> None:
        self._process = process
        self._master = master
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self.received = b""

    @property
    def lines(self) -> list[str]:
        """What is on the screen, line by line."""
        self._read(0.0)
        return [line.rstrip() for line in self._screen.display]

    @property
    def cells(self) -> list[list[Char]]:
        """What is on the screen with its looks; what stands behind a wide letter is left out."""
        self._read(0.0)
        rows = (self._screen.buffer[number] for number in range(self._screen.lines))
        cells = ([row[column] for column in range(self._screen.columns)] for row in rows)
        return [[cell for cell in row if cell.data] for row in cells]

    @property
    def title(self) -> str:
        """The title of the window."""
        return str(self._screen.title)

    def send(self, keys: str) -> None:
        """Press these keys."""
        os.write(self._master, keys.encode())

    def wait_for(self, is_there: Callable[[list[str]], bool]) -> list[str]:
        """The screen once it is as it should be; fails with what it shows when it never is."""
        deadline = time.monotonic() + SECONDS
        while not is_there(self.lines):
            screen = "\n".join(self.lines)
            assert time.monotonic() < deadline, f"never came to be:\n{screen}"
            self._read(0.05)
        return self.lines

    def press_until(self, key: str, is_there: Callable[[list[str]], bool]) -> list[str]:
        """The screen once it is as it should be, with the key pressed every now and then."""
        deadline = time.monotonic() + SECONDS
        while not is_there(self.lines) and time.monotonic() < deadline:
            self.send(key)
            self._read(0.5)
        return self.wait_for(is_there)

    def wait_for_text(self, text: str) -> list[str]:
        """The screen once `text` stands in it."""
        return self.wait_for(lambda lines: any(text in line for line in lines))

    def wait_for_end(self) -> int:
        """The exit code of the program, once it has ended."""
        deadline = time.monotonic() + SECONDS
        while self._process.poll() is None:
            assert time.monotonic() < deadline, "\n".join(self.lines)
            self._read(0.05)
        self._read(0.0)
        return self._process.returncode

    def _read(self, seconds: float) -> None:
        while select.select([self._master], [], [], seconds)[0]:
            try:
                data = os.read(self._master, 65536)
            except OSError:  # the other end is closed
                return
            if not data:
                return
            self.received += data
            self._stream.feed(data)
            seconds = 0.0


@contextmanager
def open_terminal(
    *args: str,
    columns: int = 80,
    lines: int = 24,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
) -> Iterator[Terminal]:
    """`recollect` with these arguments in a terminal; it is killed at the end if it still runs."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", **(env or {})}
    for name in ("COLUMNS", "LINES"):
        environment.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", *args],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
        cwd=cwd,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(process, master, (columns, lines))
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(master)
