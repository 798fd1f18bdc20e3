"""A running client: what it prints, as it prints it, and its end.

Knows pipes, threads and signals; refuses to know what a message means. Two threads empty the pipes
at all times, so that a client that is told to end is never held up by a reader that is busy; their
queue has no limit, because a stream is as long as one answer. A program that the client left behind
may hold the pipes open: once the client has ended they are read for a moment longer, not for ever.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import FileIO
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final, cast

from msgspec import Struct

from recollect.launch.run import Run
from recollect.reader import MAX_LINE, StreamDecoder, StreamItem
from recollect.records.irregular import Oversized

CHUNK: Final = 64 * 1024
LINGER_SECONDS: Final = 1.0
Rung = tuple[signal.Signals, float]
LADDER: Final[tuple[Rung, ...]] = ((signal.SIGINT, 5.0), (signal.SIGTERM, 3.0))
"""What a client is told when it shall end, and how long it has to obey; then it is killed."""

LONGEST_COMPLAINT: Final = 10_000
_NEITHER: Final = 128
"""Shells tell an end by a signal as this and the signal's number."""


_Chunks = SimpleQueue[tuple[bool | None, bytes]]
"""Whether it came from standard error, and the bytes, none at the end; None is a wish to stop."""


class Complaint(Struct, frozen=True):
    """A line that the client wrote to its standard error."""

    text: str


class Told(Struct, frozen=True):
    """A message, or what stands in its place, with its bytes; those of a line too long are none."""

    item: StreamItem
    raw: bytes


class ClientProcess:
    """The client while it runs, and after."""

    def __init__(
        self, process: subprocess.Popen[bytes], kept: int | None, ladder: Sequence[Rung]
    ) -> None:
        self._process = process
        self._kept = kept
        self._ladder = ladder
        self._chunks: _Chunks = SimpleQueue()
        self._tape = _Tape()
        self._complaint = b""
        self._open = {False, True}
        for is_error, pipe in ((False, process.stdout), (True, process.stderr)):
            reader = (cast(FileIO, pipe), is_error, self._chunks)
            Thread(target=_pump, args=reader, daemon=True).start()

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Its exit code, as a shell tells it; None while it runs."""
        code = self._process.poll()
        return None if code is None else code if code >= 0 else _NEITHER - code

    def iter_items(self, pause: float) -> Iterator[Told | Complaint | None]:
        """What the client says until it has ended, and None after each `pause` without a word."""
        silent = 0.0
        while self._open:
            try:
                is_error, chunk = self._chunks.get(timeout=pause)
            except Empty:
                silent += pause
                if self._process.poll() is not None and silent >= LINGER_SECONDS:
                    break
                yield None
                continue
            silent = 0.0
            if is_error is None:
                self.stop()
            else:
                yield from self._take(is_error, chunk)
        self._open.clear()
        self._process.wait()

    def interrupt(self) -> None:
        """Have whoever reads the items stop the client; the one thing that a signal may call."""
        self._chunks.put((None, b""))

    def stop(self) -> None:
        """End the client, politely first; what it still says is there to be read."""
        try:
            for number, patience in self._ladder:
                if self._process.poll() is None:
                    self._tell(number)
                    self._wait(patience)
        finally:
            self._end_group()
            self._process.wait()

    def _take(self, is_error: bool, chunk: bytes) -> Iterator[Told | Complaint]:
        if not chunk:
            self._open.discard(is_error)
        if is_error:
            yield from self._read_complaints(chunk)
        elif chunk:
            if self._kept is not None:
                _write_all(self._kept, chunk)
            yield from self._tape.feed(chunk)
        else:
            yield from self._tape.finish()

    def _read_complaints(self, chunk: bytes) -> Iterator[Complaint]:
        *lines, rest = (self._complaint + chunk).split(b"\n")
        if rest and (not chunk or len(rest) > LONGEST_COMPLAINT):
            lines, rest = [*lines, rest], b""
        self._complaint = rest
        for line in lines:
            yield Complaint(line[:LONGEST_COMPLAINT].decode(errors="replace"))

    def _tell(self, number: int) -> None:
        if sys.platform == "win32":
            self._process.send_signal(signal.CTRL_BREAK_EVENT)
        elif number == signal.SIGINT:
            # It alone: what it has started is its own to end, and it wants to say how that went.
            self._process.send_signal(number)
        else:
            _signal_group(self._process.pid, number)

    def _wait(self, patience: float) -> bool:
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _end_group(self) -> None:
        """Leave nothing behind that the client has started in its own group."""
        is_running = self._process.poll() is None
        if sys.platform != "win32":
            _signal_group(self._process.pid, signal.SIGKILL if is_running else signal.SIGTERM)
        elif is_running:
            self._process.kill()


class _Tape:
    """Messages with the bytes that they were read from, which are held no longer than that."""

    def __init__(self) -> None:
        self._decoder = StreamDecoder()
        self._held = bytearray()
        self._start = 0

    def feed(self, chunk: bytes) -> Iterator[Told]:
        self._held += chunk
        yield from map(self._cut, self._decoder.feed(chunk))
        if len(self._held) > MAX_LINE:
            # One line that nobody will take for a message.
            self._start += len(self._held)
            self._held.clear()

    def finish(self) -> Iterator[Told]:
        yield from map(self._cut, self._decoder.finish())

    def _cut(self, item: StreamItem) -> Told:
        if item.span is None or isinstance(item, Oversized):
            return Told(item, b"")
        start = item.span.offset - self._start
        end = start + item.span.length
        raw = bytes(self._held[start:end])
        del self._held[:end]
        self._start += end
        return Told(item, raw)


@contextmanager
def start_client(
    client: str, run: Run, kept: int | None = None, ladder: Sequence[Rung] = LADDER
) -> Iterator[ClientProcess]:
    """The client at the path `client`, running; it has ended when this is left.

    What it prints is also written to the descriptor `kept`. What is piped to us is piped to it; a
    terminal is not, because its keys are for us.
    """
    process = subprocess.Popen(  # noqa: S603 - the user's own program, no shell
        [client, *run.arguments[1:]],
        cwd=run.directory,
        env=_make_environment(run, os.environ),
        stdin=subprocess.DEVNULL if os.isatty(0) else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        # A group of its own, so that Ctrl-C reaches it once, by us, and not twice.
        process_group=None if sys.platform == "win32" else 0,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    running = ClientProcess(process, kept, ladder)
    try:
        yield running
    finally:
        if process.poll() is None:
            running.stop()


def _make_environment(run: Run, environment: Mapping[str, str]) -> dict[str, str]:
    place = {"PWD": run.directory} if run.directory else {}
    return {**environment, **run.environment, **place}


def _pump(pipe: FileIO, is_error: bool, chunks: _Chunks) -> None:
    """Hand on what comes out of `pipe`, and nothing at its end."""
    with pipe:
        while chunk := pipe.read(CHUNK):
            chunks.put((is_error, chunk))
    chunks.put((is_error, b""))


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        # All of it has ended, which is what was wanted.
        return
