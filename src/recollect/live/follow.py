"""Following: an endless series of events about files that grow.

One task reads, a step at a time and in a thread that it waits for, so that nothing is read twice
and a slow listener slows down nobody but himself: what is not asked for is not read. Changes come
from a `Lookout`; a sweep over everything now and then finds what it missed. A file that has come to
rest is compared once with all that was read of it.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from typing import Final

from msgspec import Struct

from recollect.live.events import (
    AnyEvent,
    Appended,
    Continued,
    Ended,
    Found,
    Level,
    Reset,
    Source,
    Watching,
)
from recollect.live.files import Edge, Files
from recollect.live.lookout import Lookout
from recollect.live.positions import Checkpoint, decode_cursor, key_of
from recollect.live.scope import Scope
from recollect.live.standings import Standings, Until
from recollect.live.tail import NOTHING_READ, Piece, Step
from recollect.live.watching import SystemWatcher, Watcher
from recollect.locations import TranscriptKind

SURVEY_SECONDS: Final = 0.2
SURVEY_SHARE: Final = 10
"""Looking for new files takes at most a tenth of the time, however many there are."""

DELETED: Final = "its file was deleted"


class FollowOptions(Struct, frozen=True, kw_only=True):
    """How to follow."""

    poll: bool = False
    """Do not ask the system which files change."""
    watch_limit: int | None = None
    """Directories that the system may be asked to watch; None is half of what it allows."""
    until: Until | None = None
    """Stop when all sessions in sight are at rest, or have ended."""
    status_seconds: float = 1.0
    sweep_seconds: float = 10.0
    settle_seconds: float = 2.0
    """How long a file must not have changed before all of it is compared."""


async def follow(
    scope: Scope,
    start: str = "end",
    options: FollowOptions = FollowOptions(),  # noqa: B008 - it is immutable
    watcher: Watcher | None = None,
) -> AsyncGenerator[AnyEvent, None]:
    """What happens in the files of `scope`, as it happens.

    `start` is where to begin with files that are there: "start", "end", or the id of an event, to
    go on behind it. Raises UsageError for an id that none is. Close it when done, as with
    `contextlib.aclosing`.
    """
    edges = {edge.value: edge for edge in Edge}
    beginning = edges.get(start) or decode_cursor(start)
    lookout = Lookout(watcher or SystemWatcher(options.watch_limit), poll=options.poll)
    follower = _Follower(scope, Files(beginning), lookout, options)
    try:
        async for event in follower.run():
            yield event
    finally:
        await lookout.stop()


class _Follower:
    """One run of `follow`."""

    def __init__(
        self, scope: Scope, files: Files, lookout: Lookout, options: FollowOptions
    ) -> None:
        self._scope = scope
        self._files = files
        self._lookout = lookout
        self._options = options
        self._standings = Standings(scope.roots)
        self._queue: dict[str, None] = {}
        self._resting: dict[str, float] = {}
        self._check: tuple[str, Iterator[None]] | None = None
        self._lost: set[str] = set()
        self._is_level = False
        self._is_survey_due = False
        self._next_survey = 0.0
        self._next_sweep = 0.0
        self._last_change = 0.0
        self._next_status = 0.0

    async def run(self) -> AsyncGenerator[AnyEvent, None]:
        """The events, until following shall stop."""
        for event in await self._begin():
            yield event
        told_polling: bool | None = None
        while True:
            if told_polling != self._lookout.is_polling:
                told_polling = self._lookout.is_polling
                yield Watching(
                    checkpoint=self._place,
                    is_polling=told_polling,
                    reason=self._lookout.reason,
                )
            async for event in self._drain():
                yield event
            async for event in self._keep_up():
                yield event
            if self._is_finished():
                for event in self._iter_rest():
                    yield event
                return
            await self._rest()

    @property
    def _place(self) -> Checkpoint:
        return Checkpoint(self._files.cursor)

    async def _begin(self) -> list[AnyEvent]:
        survey = await asyncio.to_thread(self._scope.survey)
        self._queue |= dict.fromkeys(self._files.begin(survey.transcripts))
        await self._lookout.watch(survey.directories)
        self._next_sweep = time.monotonic() + self._options.sweep_seconds
        if not self._scope.is_narrow:
            return []
        return [self._announce(each.file) for each in survey.transcripts]

    def _announce(self, path: str) -> Found:
        file = self._files[path]
        file.is_announced = True
        return Found(checkpoint=self._place, source=self._files.describe(path), is_new=file.is_new)

    async def _drain(self) -> AsyncGenerator[AnyEvent, None]:
        """Read until there is nothing left to read."""
        await self._notice()
        while self._queue:
            path = next(iter(self._queue))
            del self._queue[path]
            step = await asyncio.to_thread(self._files.read, path)
            for event in self._tell(path, step):
                yield event
            if not step.is_level:
                self._queue[path] = None
            elif not self._queue:
                await self._notice()
        if not self._is_level:
            self._is_level = True
            yield Level(checkpoint=self._place)

    async def _notice(self) -> None:
        """Queue what changed, and look around if that may be something new."""
        for path in sorted(self._lookout.take()):
            if path in self._files:
                self._queue[path] = None
            elif not self._scope.is_foreign(path):
                self._is_survey_due = True
        if self._lookout.take_gap():
            self._is_survey_due, self._next_survey = True, 0.0
        if self._is_survey_due and time.monotonic() >= self._next_survey:
            await self._look_around()

    async def _look_around(self, *, is_sweep: bool = False) -> None:
        self._is_survey_due = False
        start = time.monotonic()
        survey = await asyncio.to_thread(self._scope.survey)
        took = time.monotonic() - start
        self._next_survey = start + max(SURVEY_SECONDS, SURVEY_SHARE * took)
        changed = self._files.update(survey.transcripts)
        if is_sweep and any(self._is_overlooked(path) for path in changed):
            self._lookout.note_missed()
        self._queue |= dict.fromkeys(changed)
        await self._lookout.watch(survey.directories)

    def _is_overlooked(self, path: str) -> bool:
        """Whether a change of a known file should have been told by now."""
        file = self._files[path]
        is_old = time.time() - file.transcript.mtime_ns / 1e9 > self._options.settle_seconds
        return path not in self._queue and not file.is_new and is_old

    def _tell(self, path: str, step: Step) -> Iterator[AnyEvent]:
        self._abandon_check(path)
        if step.is_gone:
            self._lost.add(path)
            self._is_survey_due = True
            return
        self._lost.discard(path)
        self._resting[path] = time.monotonic()
        if step.pieces:
            self._last_change = time.monotonic()
        file = self._files[path]
        if not file.is_announced and (step.pieces or step.reset or self._scope.is_narrow):
            yield self._announce(path)
        source = self._files.describe(path)
        if step.reset:
            self._is_level = False
            if source.kind is TranscriptKind.SESSION:
                self._standings.forget(source.session_id)
            place = self._files.stand_behind(path, NOTHING_READ)
            yield Reset(checkpoint=place, source=source, reason=step.reset)
        yield from self._iter_appended(path, source, step.pieces)
        self._files.settle(path)

    def _iter_appended(
        self, path: str, source: Source, pieces: tuple[Piece, ...]
    ) -> Iterator[AnyEvent]:
        base, key = self._files.cursor, key_of(path)
        for piece in pieces:
            checkpoint = Checkpoint(base, key, piece.mark)
            yield Appended(checkpoint=checkpoint, source=source, record=piece.record, raw=piece.raw)
            if source.kind is TranscriptKind.SESSION:
                move = self._standings.add(source.session_id, piece.record, checkpoint)
                if move is not None:
                    yield move
                    self._adopt(move.next_id)
        if pieces:
            self._files.stand_behind(path, pieces[-1].mark)

    async def _keep_up(self) -> AsyncGenerator[AnyEvent, None]:
        """What is due now and then: how the sessions stand, and a sweep."""
        now = time.monotonic()
        if now >= self._next_sweep:
            await self._look_around(is_sweep=True)
            self._next_sweep = time.monotonic() + self._options.sweep_seconds
        if now < self._next_status:
            return
        self._next_status = now + self._options.status_seconds
        for event in self._iter_lost():
            yield event
        wanted = self._scope.session_ids
        await asyncio.to_thread(self._standings.ask, self._files.find_session, wanted)
        for change in self._standings.iter_changes(self._place):
            yield change
            if isinstance(change, Continued):
                self._adopt(change.next_id)

    def _adopt(self, session_id: str) -> None:
        self._scope.adopt(session_id)
        self._is_survey_due = True

    def _iter_lost(self) -> Iterator[Ended]:
        for path in sorted(self._lost):
            file = self._files[path]
            session_id = file.transcript.session_id
            is_session = file.transcript.kind is TranscriptKind.SESSION
            if is_session and session_id and self._files.find_session(session_id) is None:
                yield Ended(checkpoint=self._place, session_id=session_id, reason=DELETED)
        self._lost.clear()

    def _is_finished(self) -> bool:
        until = self._options.until
        if until is None or self._queue or self._lookout.changed.is_set():
            return False
        if time.monotonic() - self._last_change < self._options.settle_seconds:
            # Clients write behind what they say of themselves.
            return False
        last = self._scope.session_ids[-1:] or self._standings.session_ids
        return self._standings.is_done(until, last)

    def _iter_rest(self) -> Iterator[AnyEvent]:
        """Last lines that are whole but were never ended."""
        for file in self._files:
            if file.tail is not None:
                path = str(file.transcript.path)
                pieces = file.tail.read_rest()
                yield from self._iter_appended(path, self._files.describe(path), pieces)

    async def _rest(self) -> None:
        """Wait until something changed or is due; use the time to compare files at rest."""
        now = time.monotonic()
        pause = min(self._next_sweep, self._next_status) - now
        if self._is_survey_due:
            pause = min(pause, self._next_survey - now)
        checked = await self._check_a_little(now)
        if checked is not None:
            pause = min(pause, checked)
        if self._queue:
            pause = 0.0
        try:
            # Not `wait_for`, which in Python 3.11 forgets a cancellation that comes with a change.
            async with asyncio.timeout(max(pause, 0.001)):
                await self._lookout.changed.wait()
        except TimeoutError:
            return

    async def _check_a_little(self, now: float) -> float | None:
        """Compare a little of a file at rest, and say how long to pause; None if there is none."""
        if self._check is None:
            due = [
                path
                for path, moment in self._resting.items()
                if now - moment >= self._options.settle_seconds
            ]
            for path in due[:1]:
                del self._resting[path]
                tail = self._files[path].tail
                if tail is not None and tail.is_doubtful:
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

    def _abandon_check(self, path: str) -> None:
        if self._check and self._check[0] == path:
            self._check = None
