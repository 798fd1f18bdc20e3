"""Run the user's own client as a child process, and read what it prints.

Handles pipes, threads and signals, but does not interpret messages. Two threads drain the pipes at
all times, so a client that should stop never blocks on a busy reader; their queue is unbounded,
because a stream is only as long as one reply. A program that the client has started may outlive it
and keep the pipes open, so they are read only for `LINGER_SECONDS` after the client has exited.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final, cast

from msgspec import Struct

from recollect.launch import client_guard
from recollect.launch.client_commands import Run
from recollect.reader.line_blocks import MAX_LINE
from recollect.reader.stream_reader import StreamDecoder, StreamItem
from recollect.records.envelope import Oversized

CHUNK: Final = 64 * 1024
LINGER_SECONDS: Final = 1.0
StopStep = tuple[signal.Signals, float]
STOP_STEPS: Final[tuple[StopStep, ...]] = ((signal.SIGINT, 5.0), (signal.SIGTERM, 3.0))
"""The signals that stop a client, each with the seconds to wait after it; after the last one it is
killed."""

MAX_STDERR_LINE: Final = 10_000
_SIGNAL_EXIT_BASE: Final = 128
"""Shells report an exit by signal as this plus the signal number."""

_PR_SET_PDEATHSIG: Final = 1
"""The option of Linux's `prctl` that requests a signal when the parent exits."""

_Chunks = SimpleQueue[tuple[bool | None, bytes]]
"""Whether the bytes came from stderr, and the bytes, which are empty at the end; None is a request
to stop."""


class StderrLine(Struct, frozen=True):
    """A line that the client wrote to stderr."""

    text: str


class StdoutMessage(Struct, frozen=True):
    """A message, or the value for an invalid line; `raw` is empty if the line is too long."""

    item: StreamItem
    raw: bytes


class ClientProcess:
    """A client process that is running or has exited."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        mark: str,
        copy_to: int | None,
        stop_steps: Sequence[StopStep],
    ) -> None:
        self._process = process
        self._mark = mark
        self._copy_to = copy_to
        self._stop_steps = stop_steps
        self._chunks: _Chunks = SimpleQueue()
        self._messages = MessageDecoder()
        self._errors = StderrSplitter()
        self._open_pipes = {False, True}
        for is_error, pipe in ((False, process.stdout), (True, process.stderr)):
            reader = (cast(FileIO, pipe), is_error, self._chunks)
            Thread(target=_pump, args=reader, daemon=True).start()

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Return its exit code as a shell reports it; None while it runs."""
        return read_exit_code(self._process.poll())

    def iter_items(self, pause: float) -> Iterator[StdoutMessage | StderrLine | None]:
        """Yield the client's output until it has exited, and None after each `pause` of silence."""
        silent = 0.0
        while self._open_pipes:
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
        self._open_pipes.clear()
        self._process.wait()

    def interrupt(self) -> None:
        """Make `iter_items` stop the client; the only method that a signal handler may call."""
        self._chunks.put((None, b""))

    def stop(self) -> None:
        """Stop the client, gracefully at first; its remaining output can still be read.

        Clients up to 2.1.112 may leave tools running, in separate process groups.
        """
        has_tree = sys.platform != "win32"
        tree = client_guard.list_process_tree(self.pid, self._mark) if has_tree else []
        try:
            for number, seconds in self._stop_steps:
                if self._process.poll() is None:
                    self._send_signal(number)
                    self._wait(seconds)
        finally:
            self._end_group()
            if has_tree:
                client_guard.end_process_tree(self.pid, tree, self._mark)
            self._process.wait()

    def _take(self, is_error: bool, chunk: bytes) -> Iterator[StdoutMessage | StderrLine]:
        if not chunk:
            self._open_pipes.discard(is_error)
        if is_error:
            yield from self._errors.feed(chunk)
        elif chunk:
            if self._copy_to is not None:
                _write_all(self._copy_to, chunk)
            yield from self._messages.feed(chunk)
        else:
            yield from self._messages.finish()

    def _send_signal(self, number: int) -> None:
        if sys.platform == "win32":
            self._process.send_signal(signal.CTRL_BREAK_EVENT)
        elif number == signal.SIGINT:
            # Signal only the client: it stops its own children and reports the result.
            self._process.send_signal(number)
        else:
            _signal_group(self._process.pid, number)

    def _wait(self, seconds: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def _end_group(self) -> None:
        """Stop every process in the client's own process group."""
        is_running = self._process.poll() is None
        if sys.platform != "win32":
            _signal_group(self._process.pid, signal.SIGKILL if is_running else signal.SIGTERM)
        elif is_running:
            self._process.kill()


def read_exit_code(code: int | None) -> int | None:
    """Return an exit code as a shell reports it; None while the process runs."""
    return None if code is None else code if code >= 0 else _SIGNAL_EXIT_BASE - code


class StderrSplitter:
    """Splits stderr into lines; an unfinished line is cut when it gets too long."""

    def __init__(self) -> None:
        self._partial_line = b""

    def feed(self, chunk: bytes) -> Iterator[StderrLine]:
        """Yield the lines that `chunk` completes; an empty chunk marks the end."""
        *lines, rest = (self._partial_line + chunk).split(b"\n")
        if rest and (not chunk or len(rest) > MAX_STDERR_LINE):
            lines, rest = [*lines, rest], b""
        self._partial_line = rest
        for line in lines:
            yield StderrLine(line[:MAX_STDERR_LINE].decode(errors="replace"))


class MessageDecoder:
    """Decodes messages and pairs each with its bytes, which are kept no longer than needed."""

    def __init__(self, file: str = "") -> None:
        self._decoder = StreamDecoder(file)
        self._held = bytearray()
        self._start = 0

    def feed(self, chunk: bytes) -> Iterator[StdoutMessage]:
        """Yield the messages that `chunk` completes."""
        self._held += chunk
        yield from map(self._cut, self._decoder.feed(chunk))
        if len(self._held) > MAX_LINE:
            # Such a long line becomes an Oversized value without its bytes.
            self._start += len(self._held)
            self._held.clear()

    def finish(self) -> Iterator[StdoutMessage]:
        """Yield the value of a last line without a line end."""
        yield from map(self._cut, self._decoder.finish())

    def _cut(self, item: StreamItem) -> StdoutMessage:
        if item.span is None or isinstance(item, Oversized):
            return StdoutMessage(item, b"")
        start = item.span.offset - self._start
        end = start + item.span.length
        raw = bytes(self._held[start:end])
        del self._held[:end]
        self._start += end
        return StdoutMessage(item, raw)


@contextmanager
def start_client(
    client: str,
    run: Run,
    copy_to: int | None = None,
    stop_steps: Sequence[StopStep] = STOP_STEPS,
) -> Iterator[ClientProcess]:
    """Run the client at the path `client`; it has exited when the block ends.

    Its stdout is also copied to the file descriptor `copy_to`. Piped standard input is passed on to
    it; a terminal is not, because we read its keys ourselves.
    """
    mark = client_guard.make_mark()
    name, _, value = mark.partition("=")
    process = subprocess.Popen(
        [client, *run.arguments[1:]],
        cwd=run.directory,
        env={**_make_environment(run, os.environ), name: value},
        stdin=subprocess.DEVNULL if os.isatty(0) else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        # A separate process group, so that Ctrl+C reaches the client once, through us, and not
        # twice.
        process_group=None if sys.platform == "win32" else 0,
        preexec_fn=_make_exit_with_parent() if sys.platform == "linux" else None,  # noqa: PLW1509 - no thread has been started yet
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    running = ClientProcess(process, mark, copy_to, stop_steps)
    try:
        yield running
    finally:
        if process.poll() is None:
            running.stop()


def _make_exit_with_parent() -> Callable[[], None]:
    """Return a `preexec_fn` that makes the system terminate the client if we are killed.

    Other signals are caught and passed on to it, but SIGKILL cannot be caught.
    """
    import ctypes  # used nowhere else

    set_option = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def exit_with_parent() -> None:
        set_option(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(_SIGNAL_EXIT_BASE + signal.SIGTERM)

    return exit_with_parent


def _make_environment(run: Run, environment: Mapping[str, str]) -> dict[str, str]:
    directory = {"PWD": run.directory} if run.directory else {}
    return {**environment, **run.environment, **directory}


def _pump(pipe: FileIO, is_error: bool, chunks: _Chunks) -> None:
    """Put the output of `pipe` into `chunks`, with an empty chunk at its end."""
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
        # The whole group has exited already.
        return
