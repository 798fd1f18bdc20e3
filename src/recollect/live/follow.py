"""`follow`: an endless stream of events about transcripts that grow.

A single task reads one step at a time, in a worker thread that it awaits, so nothing is read twice
and a slow consumer gets backpressure instead of a growing queue. Changed paths come from a
`WatcherSupervisor`; a periodic sweep over all files finds what it missed. Once a file has been
quiet for a while, everything read from it is verified against the file.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from typing import Final

from msgspec import Struct

from recollect.live import live_events
from recollect.live.followed_files import Edge, FollowedFiles, FollowScope
from recollect.live.tail import NOTHING_READ, Piece, TailStep
from recollect.live.watching import SystemWatcher, Watcher, WatcherSupervisor
from recollect.locations import TranscriptKind

SCAN_SECONDS: Final = 0.2
SCAN_SHARE: Final = 10
"""A scan is repeated after this many times its last duration: it takes at most a tenth of the
time."""

DELETED: Final = "its transcript was deleted"


class FollowOptions(Struct, frozen=True, kw_only=True):
    """Options for `follow`."""

    poll: bool = False
    """Poll instead of using file-system events."""
    watch_limit: int | None = None
    """Maximum number of directories to watch with file-system events; None is half the system's
    limit."""
    until: live_events.Until | None = None
    """Stop when all followed sessions are idle, or have ended."""
    status_seconds: float = 1.0
    sweep_seconds: float = 10.0
    quiet_seconds: float = 2.0
    """How long a file must be unchanged before everything read from it is verified."""


async def follow(
    scope: FollowScope,
    start: str = "end",
    options: FollowOptions = FollowOptions(),
    watcher: Watcher | None = None,
) -> AsyncGenerator[live_events.AnyEvent, None]:
    """Yield the events of the files in `scope` as they happen.

    `start` is where to begin in files that already exist: "start", "end", or the id of an event to
    resume after. Raises UsageError for an invalid id. Close the generator when done, for example
    with `contextlib.aclosing`.
    """
    edges = {edge.value: edge for edge in Edge}
    position = edges.get(start) or live_events.decode_cursor(start)
    supervisor = WatcherSupervisor(watcher or SystemWatcher(options.watch_limit), poll=options.poll)
    follower = _Follower(scope, FollowedFiles(position), supervisor, options)
    try:
        async for event in follower.run():
            yield event
    finally:
        await supervisor.stop()


class _Follower:
    """One run of `follow`."""

    def __init__(
        self,
        scope: FollowScope,
        files: FollowedFiles,
        supervisor: WatcherSupervisor,
        options: FollowOptions,
    ) -> None:
        self._scope = scope
        self._files = files
        self._watcher = supervisor
        self._options = options
        self._status_tracker = live_events.StatusTracker(scope.roots)
        self._queue: dict[str, None] = {}
        self._quiet_since: dict[str, float] = {}
        self._check: tuple[str, Iterator[None]] | None = None
        self._missing: set[str] = set()
        self._is_caught_up = False
        self._is_scan_due = False
        self._next_scan = 0.0
        self._next_sweep = 0.0
        self._last_change = 0.0
        self._next_status = 0.0

    async def run(self) -> AsyncGenerator[live_events.AnyEvent, None]:
        """Yield events until the `until` condition holds."""
        for event in await self._begin():
            yield event
        announced_polling: bool | None = None
        while True:
            if announced_polling != self._watcher.is_polling:
                announced_polling = self._watcher.is_polling
                yield live_events.Watching(
                    checkpoint=self._checkpoint,
                    is_polling=announced_polling,
                    reason=self._watcher.reason,
                )
            async for event in self._drain():
                yield event
            async for event in self._run_periodic():
                yield event
            if self._is_finished():
                for event in self._iter_unterminated():
                    yield event
                return
            await self._wait()

    @property
    def _checkpoint(self) -> live_events.Checkpoint:
        return live_events.Checkpoint(self._files.cursor)

    async def _begin(self) -> list[live_events.AnyEvent]:
        found = await asyncio.to_thread(self._scope.scan)
        self._queue |= dict.fromkeys(self._files.begin(found.transcripts))
        await self._watcher.watch(found.directories)
        self._next_sweep = time.monotonic() + self._options.sweep_seconds
        if not self._scope.is_narrow:
            return []
        return [self._announce(each.file) for each in found.transcripts]

    def _announce(self, path: str) -> live_events.Found:
        file = self._files[path]
        file.is_announced = True
        return live_events.Found(
            checkpoint=self._checkpoint, source=self._files.describe(path), is_new=file.is_new
        )

    async def _drain(self) -> AsyncGenerator[live_events.AnyEvent, None]:
        """Read queued files until nothing is left to read."""
        await self._queue_changes()
        while self._queue:
            path = next(iter(self._queue))
            del self._queue[path]
            step = await asyncio.to_thread(self._files.read, path)
            for event in self._iter_events(path, step):
                yield event
            if not step.is_caught_up:
                self._queue[path] = None
            elif not self._queue:
                await self._queue_changes()
        if not self._is_caught_up:
            self._is_caught_up = True
            yield live_events.CaughtUp(checkpoint=self._checkpoint)

    async def _queue_changes(self) -> None:
        """Queue changed files, and scan the scope if an unknown path changed."""
        for path in sorted(self._watcher.take_changes()):
            if path in self._files:
                self._queue[path] = None
            elif not self._scope.is_excluded(path):
                self._is_scan_due = True
        if self._watcher.take_gap():
            self._is_scan_due, self._next_scan = True, 0.0
        if self._is_scan_due and time.monotonic() >= self._next_scan:
            await self._scan()

    async def _scan(self, *, is_sweep: bool = False) -> None:
        self._is_scan_due = False
        start = time.monotonic()
        found = await asyncio.to_thread(self._scope.scan)
        took = time.monotonic() - start
        self._next_scan = start + max(SCAN_SECONDS, SCAN_SHARE * took)
        changed = self._files.update(found.transcripts)
        if is_sweep and any(self._was_missed(path) for path in changed):
            self._watcher.note_missed()
        self._queue |= dict.fromkeys(changed)
        await self._watcher.watch(found.directories)

    def _was_missed(self, path: str) -> bool:
        """Return whether the watcher should already have reported the change of a known file."""
        file = self._files[path]
        is_old = time.time() - file.transcript.mtime_ns / 1e9 > self._options.quiet_seconds
        return path not in self._queue and not file.is_new and is_old

    def _iter_events(self, path: str, step: TailStep) -> Iterator[live_events.AnyEvent]:
        self._cancel_check(path)
        if step.is_gone:
            self._missing.add(path)
            self._is_scan_due = True
            return
        self._missing.discard(path)
        self._quiet_since[path] = time.monotonic()
        if step.pieces:
            self._last_change = time.monotonic()
        file = self._files[path]
        if not file.is_announced and (step.pieces or step.reset or self._scope.is_narrow):
            yield self._announce(path)
        source = self._files.describe(path)
        if step.reset:
            self._is_caught_up = False
            if source.kind is TranscriptKind.SESSION:
                self._status_tracker.reset(source.session_id)
            checkpoint = self._files.move_cursor(path, NOTHING_READ)
            yield live_events.Reset(checkpoint=checkpoint, source=source, reason=step.reset)
        yield from self._iter_appended(path, source, step.pieces)
        self._files.record_position(path)

    def _iter_appended(
        self, path: str, source: live_events.EventSubject, pieces: tuple[Piece, ...]
    ) -> Iterator[live_events.AnyEvent]:
        base, key = self._files.cursor, live_events.path_key(path)
        for piece in pieces:
            checkpoint = live_events.Checkpoint(base, key, piece.mark)
            yield live_events.Appended(
                checkpoint=checkpoint, source=source, record=piece.record, raw=piece.raw
            )
            if source.kind is TranscriptKind.SESSION:
                move = self._status_tracker.add(source.session_id, piece.record, checkpoint)
                if move is not None:
                    yield move
                    self._include(move.next_id)
        if pieces:
            self._files.move_cursor(path, pieces[-1].mark)

    async def _run_periodic(self) -> AsyncGenerator[live_events.AnyEvent, None]:
        """Sweep over all files and update the status of the sessions, when due."""
        now = time.monotonic()
        if now >= self._next_sweep:
            await self._scan(is_sweep=True)
            self._next_sweep = time.monotonic() + self._options.sweep_seconds
        if now < self._next_status:
            return
        self._next_status = now + self._options.status_seconds
        for event in self._iter_deleted():
            yield event
        wanted = self._scope.session_ids
        await asyncio.to_thread(self._status_tracker.refresh, self._files.find_session, wanted)
        for change in self._status_tracker.iter_changes(self._checkpoint):
            yield change
            if isinstance(change, live_events.Continued):
                self._include(change.next_id)

    def _include(self, session_id: str) -> None:
        self._scope.include(session_id)
        self._is_scan_due = True

    def _iter_deleted(self) -> Iterator[live_events.Ended]:
        for path in sorted(self._missing):
            file = self._files[path]
            session_id = file.transcript.session_id
            is_session = file.transcript.kind is TranscriptKind.SESSION
            if is_session and session_id and self._files.find_session(session_id) is None:
                yield live_events.Ended(
                    checkpoint=self._checkpoint, session_id=session_id, reason=DELETED
                )
        self._missing.clear()

    def _is_finished(self) -> bool:
        until = self._options.until
        if until is None or self._queue or self._watcher.changed.is_set():
            return False
        if time.monotonic() - self._last_change < self._options.quiet_seconds:
            # A client reports its status before it writes the records that caused it.
            return False
        last = self._scope.session_ids[-1:] or self._status_tracker.session_ids
        if until == "end" and self._scope.is_narrow and not last:
            # A subagent alone, which has no status.
            return False
        return self._status_tracker.is_done(until, last)

    def _iter_unterminated(self) -> Iterator[live_events.AnyEvent]:
        """Yield complete last lines that lack their newline."""
        for file in self._files:
            if file.tail is not None:
                path = str(file.transcript.path)
                pieces = file.tail.read_rest()
                yield from self._iter_appended(path, self._files.describe(path), pieces)

    async def _wait(self) -> None:
        """Wait until something changed or is due; use the time to verify quiet files."""
        now = time.monotonic()
        pause = min(self._next_sweep, self._next_status) - now
        if self._is_scan_due:
            pause = min(pause, self._next_scan - now)
        checked = await self._verify_some(now)
        if checked is not None:
            pause = min(pause, checked)
        if self._queue:
            pause = 0.0
        try:
            # Not `wait_for`: in Python 3.11 it loses a cancellation that arrives with a change.
            async with asyncio.timeout(max(pause, 0.001)):
                await self._watcher.changed.wait()
        except TimeoutError:
            return

    async def _verify_some(self, now: float) -> float | None:
        """Verify a chunk of a quiet file and return how long to pause; None if none is due."""
        if self._check is None:
            due = [
                path
                for path, moment in self._quiet_since.items()
                if now - moment >= self._options.quiet_seconds
            ]
            for path in due[:1]:
                del self._quiet_since[path]
                tail = self._files[path].tail
                if tail is not None and tail.needs_verification:
                    self._check = path, tail.check()
        if self._check is None:
            return None
        path, steps = self._check
        start = time.monotonic()
        is_over = await asyncio.to_thread(next, steps, True)
        if is_over:
            self._check = None
            self._queue[path] = None
        return 10 * (time.monotonic() - start)

    def _cancel_check(self, path: str) -> None:
        if self._check and self._check[0] == path:
            self._check = None
