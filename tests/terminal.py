"""Run a program in a terminal of its own: send keys and inspect the screen.

The screen is a terminal emulator, so that a test sees what a user would see, not the bytes.
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

SECONDS = 120.0
"""The limit for a screen to show something, on a busy machine."""


class _AnsweringScreen(pyte.Screen):
    """A screen that answers queries for the cursor position, as terminals do."""

    def __init__(self, master: int, columns: int, lines: int) -> None:
        self._master = master
        super().__init__(columns, lines)

    def write_process_input(self, data: str) -> None:
        """Send an answer to the program."""
        os.write(self._master, data.encode())


class Terminal:
    """A running program and its screen."""

    def __init__(
        self, process: subprocess.Popen[bytes], master: int, size: tuple[int, int]
    ) -> None:
        self._process = process
        self._master = master
        self._screen = _AnsweringScreen(master, *size)
        self._stream = pyte.ByteStream(self._screen)
        self.received = b""

    @property
    def lines(self) -> list[str]:
        """Return the lines of the screen."""
        self._read(0.0)
        return [line.rstrip() for line in self._screen.display]

    @property
    def cells(self) -> list[list[Char]]:
        """The cells of the screen with their styles, without the second cell of wide characters."""
        self._read(0.0)
        rows = (self._screen.buffer[number] for number in range(self._screen.lines))
        cells = ([row[column] for column in range(self._screen.columns)] for row in rows)
        return [[cell for cell in row if cell.data] for row in cells]

    @property
    def title(self) -> str:
        """Return the window title."""
        return str(self._screen.title)

    def resize(self, columns: int, lines: int) -> None:
        """Resize the window."""
        _set_size(self._master, columns, lines)
        self._screen.resize(lines, columns)

    def send(self, keys: str) -> None:
        """Send these keys."""
        os.write(self._master, keys.encode())

    def wait_for(self, is_there: Callable[[list[str]], bool]) -> list[str]:
        """Wait until the screen matches and return it; fails with its content if it never does."""
        deadline = time.monotonic() + SECONDS
        while not is_there(self.lines):
            screen = "\n".join(self.lines)
            assert time.monotonic() < deadline, f"the screen never matched:\n{screen}"
            self._read(0.05)
        return self.lines

    def press_until(self, key: str, is_there: Callable[[list[str]], bool]) -> list[str]:
        """Press the key repeatedly until the screen matches, and return it."""
        deadline = time.monotonic() + SECONDS
        while not is_there(self.lines) and time.monotonic() < deadline:
            self.send(key)
            self._read(0.5)
        return self.wait_for(is_there)

    def wait_for_text(self, text: str) -> list[str]:
        """Wait until the screen contains `text` and return it."""
        return self.wait_for(lambda lines: any(text in line for line in lines))

    def wait_for_end(self) -> int:
        """Wait for the program to exit and return its exit code."""
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


def _set_size(descriptor: int, columns: int, lines: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


@contextmanager
def open_terminal(
    *args: str,
    columns: int = 80,
    lines: int = 24,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
) -> Iterator[Terminal]:
    """Run `recollect` with these arguments in a terminal; kill it at the end if needed."""
    master, slave = pty.openpty()
    _set_size(slave, columns, lines)
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
