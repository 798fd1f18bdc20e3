"""One client of a conversation: a child process whose output is passed on as it arrives.

Handles pipes and signals and ends the client, but does not interpret messages. Runs in one event
loop. The client is the leader of a new process session, so Ctrl+C in a terminal does not reach it,
and a guard ends it if this process is killed.
"""

import asyncio
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from recollect.errors import UsageError
from recollect.launch import client_guard, client_process
from recollect.launch.conversation_options import ConversationOptions, Timing

MAX_WORDS: Final = 20
"""Maximum number of lines of stderr to keep to explain an exit."""

_STDOUT: Final = 1
_STDERR: Final = 2
_HAS_GROUPS: Final = sys.platform != "win32"
"""Whether the system has process groups and signals."""

Output = client_process.StdoutMessage | client_process.StderrLine
OnOutput = Callable[[Output], None]


class ConversationProcess(asyncio.SubprocessProtocol):
    """A running client; `on_output` is called in the event loop with everything it prints."""

    def __init__(self, on_output: OnOutput, stream_name: str = "") -> None:
        self.mark = client_guard.make_mark()
        self._on_output = on_output
        self._messages = client_process.MessageDecoder(stream_name)
        self._errors = client_process.StderrSplitter()
        self._words: deque[str] = deque(maxlen=MAX_WORDS)
        self._open_pipes = {_STDOUT, _STDERR}
        self._exited = asyncio.Event()
        self._drained = asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self._transport.get_pid() or 0 if self._transport else 0

    @property
    def code(self) -> int | None:
        """Return its exit code as a shell reports it; None while it runs."""
        return client_process.read_exit_code(
            self._transport.get_returncode() if self._transport else None
        )

    @property
    def words(self) -> str:
        """Return its last lines on stderr."""
        return "\n".join(self._words)

    def send(self, line: bytes) -> None:
        """Write a line to the client's input; do nothing if that is closed."""
        pipe = self._find_input()
        if pipe is not None:
            pipe.write(line)

    async def wait(self) -> None:
        """Wait until the client has exited and its output has been read.

        A program that it has started may keep the pipes open, so they are not read forever.
        """
        await self._exited.wait()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._drained.wait(), client_process.LINGER_SECONDS)
        self._finish()

    async def end(self, steps: tuple[float, float]) -> None:
        """Close its input, then terminate it, then kill it, with everything it started."""
        tree = (
            await asyncio.to_thread(client_guard.list_process_tree, self.pid, self.mark)
            if _HAS_GROUPS
            else []
        )
        pipe = self._find_input()
        if pipe is not None:
            pipe.close()
        patience, grace = steps
        await self._wait_for_exit(patience)
        await asyncio.to_thread(client_guard.end_process_tree, self.pid, tree, self.mark, grace)
        if not self._exited.is_set() and self._transport is not None:
            self._transport.kill()
        await self.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        if isinstance(transport, asyncio.SubprocessTransport):
            self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Pass on the client's output."""
        if fd == _STDOUT:
            for message in self._messages.feed(data):
                self._on_output(message)
        else:
            self._forward_errors(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Pass on the rest of the output."""
        if fd in self._open_pipes:
            self._open_pipes.discard(fd)
            self._flush(fd)
        if not self._open_pipes:
            self._drained.set()

    def process_exited(self) -> None:
        """Record that the process has exited."""
        self._exited.set()

    async def _wait_for_exit(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)

    def _find_input(self) -> asyncio.WriteTransport | None:
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        if not isinstance(pipe, asyncio.WriteTransport) or pipe.is_closing():
            return None
        return pipe

    def _forward_errors(self, data: bytes) -> None:
        for line in self._errors.feed(data):
            self._words.append(line.text)
            self._on_output(line)

    def _flush(self, fd: int) -> None:
        if fd == _STDOUT:
            for message in self._messages.finish():
                self._on_output(message)
        else:
            self._forward_errors(b"")

    def _finish(self) -> None:
        for fd in sorted(self._open_pipes):
            self._flush(fd)
        self._open_pipes.clear()
        if _HAS_GROUPS:
            # Processes that it left in its own group.
            client_guard.signal_process_tree(self.pid, [], signal.SIGTERM)
        if self._transport is not None:
            self._transport.close()


async def start_process(
    words: Sequence[str],
    options: ConversationOptions,
    environment: Mapping[str, str],
    on_output: OnOutput,
) -> tuple[ConversationProcess, "asyncio.Task[None]"]:
    """Start a client; the task ends when it and all its children have exited.

    Raises OSError if it cannot be started.
    """
    process = ConversationProcess(on_output, options.stream_name)
    name, _, value = process.mark.partition("=")
    await asyncio.get_running_loop().subprocess_exec(
        lambda: process,
        *words,
        cwd=options.directory,
        env={**environment, name: value},
        start_new_session=_HAS_GROUPS,
    )
    return process, asyncio.create_task(_watch(process))


async def _watch(process: ConversationProcess) -> None:
    guard = client_guard.start_guard(process.pid, process.mark)
    try:
        await process.wait()
    finally:
        if process.code is None and guard is not None and guard.stdin is not None:
            # Cancelled because the event loop ends: the guard then acts as if we had exited.
            guard.stdin.close()
        else:
            client_guard.stop_guard(guard)


class Activity:
    """Tracks when a client last printed something."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._last = 0.0
        self._is_reported = False
        self.interval = max(min(timing.silence, timing.idle or timing.silence, 20.0) / 4, 0.02)
        """How often to check, in seconds."""

    @property
    def seconds(self) -> float:
        """Return how long ago that was, in seconds."""
        return asyncio.get_running_loop().time() - self._last

    def record_output(self) -> None:
        """Record that it has just printed something."""
        self._last = asyncio.get_running_loop().time()
        self._is_reported = False

    def is_idle(self) -> bool:
        """Return whether a client with nothing to do should be ended."""
        return self._timing.idle is not None and self.seconds >= self._timing.idle

    def is_silent(self) -> bool:
        """Return once whether a client that should be working has been silent for long."""
        if self._is_reported or self.seconds < self._timing.silence:
            return False
        self._is_reported = True
        return True


class ProcessLimit:
    """A limit on the number of running clients, shared by several conversations."""

    def __init__(self, max_processes: int) -> None:
        self._max_processes = max_processes
        self.running = 0

    def take(self) -> None:
        """Count one more client; raises UsageError if the limit is reached."""
        if self.running >= self._max_processes:
            raise UsageError(
                f"{self._max_processes} conversations are running already. End one of them first."
            )
        self.running += 1

    def release(self) -> None:
        """Count one client less."""
        self.running -= 1
