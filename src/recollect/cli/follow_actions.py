"""Actions for growing sessions: desktop notifications and the user's programs for `recollect follow
--on`, and rewriting an export.

Programs are started from an argument vector, never through a shell. No text from a transcript
becomes an argument of the user's program; it is passed in the environment, shortened and made safe.
Programs run one at a time, in the background.
"""

import asyncio
import html
import os
import shutil
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final

import click

from recollect.errors import (
    AmbiguousSession,
    NothingFound,
    RecollectError,
    UnreadableInput,
    UsageError,
)
from recollect.live import follow, live_events, triggers
from recollect.render.terminal import clip, safe_line, safe_text
from recollect.workspace.workspace import Workspace

MAX_WAITING: Final = 100
MAX_TEXT: Final = 200

_SCRIPT: Final = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


def find_notifier() -> str:
    """Return the program that shows desktop notifications; raise UsageError if there is none."""
    for name in ("notify-send", "osascript"):
        if path := shutil.which(name):
            return path
    raise UsageError(
        "--notify needs notify-send or osascript, and neither was found. "
        "Install libnotify, or use --run with a program of your own."
    )


def find_program(command: Sequence[str]) -> tuple[str, ...]:
    """Return `command` with the full path of its program; raise UsageError if not found."""
    path = shutil.which(command[0])
    if path is None:
        raise UsageError(f"Program not found: {command[0]!r}. Try its full path.")
    return (path, *command[1:])


def make_notification(notifier: str, fired: triggers.FiredTrigger) -> tuple[str, ...]:
    """Return the command that shows a notification."""
    title = f"Recollect: {fired.trigger} in session {fired.session_id[:8]}"
    title, text = _make_safe(title), _make_safe(fired.text) or "(no text)"
    if Path(notifier).name == "osascript":
        lines = [part for line in _SCRIPT for part in ("-e", line)]
        return (notifier, *lines, title, text)
    # The body may contain markup, the title may not.
    return (notifier, "--app-name=Recollect", "--", title, html.escape(text))


def make_environment(fired: triggers.FiredTrigger) -> dict[str, str]:
    """Return the environment for the user's program."""
    return {
        **os.environ,
        "RECOLLECT_TRIGGER": _make_safe(fired.trigger),
        "RECOLLECT_SESSION": _make_safe(fired.session_id),
        "RECOLLECT_AGENT": _make_safe(fired.agent_id or ""),
        "RECOLLECT_TRANSCRIPT": (fired.path or "").replace("\0", ""),
        "RECOLLECT_TEXT": _make_safe(fired.text),
    }


def _make_safe(text: str) -> str:
    """Return a short single line without control characters."""
    return clip(safe_line(" ".join(text[: 4 * MAX_TEXT].split())), MAX_TEXT)


class Actions:
    """Runs programs and shows notifications in the background, in the order of events."""

    def __init__(self, command: Sequence[str], *, notify: bool) -> None:
        self._command = find_program(command) if command else ()
        self._notifier = find_notifier() if notify else ""
        self._waiting: asyncio.Queue[triggers.FiredTrigger] = asyncio.Queue(MAX_WAITING)
        self._task: asyncio.Task[None] | None = None

    def start(self, fired: triggers.FiredTrigger) -> None:
        """Queue an action for a trigger."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        try:
            self._waiting.put_nowait(fired)
        except asyncio.QueueFull:
            click.echo("recollect: Too many triggers at once; some were dropped.", err=True)

    async def finish(self) -> None:
        """Wait until all actions are done."""
        if self._task is not None:
            await self._waiting.join()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            fired = await self._waiting.get()
            if self._notifier:
                await _call(make_notification(self._notifier, fired), fired)
            if self._command:
                await _call(self._command, fired)
            self._waiting.task_done()


async def _call(arguments: Sequence[str], fired: triggers.FiredTrigger) -> None:
    """Run a program to completion; its output goes to stderr."""
    try:
        process = await asyncio.create_subprocess_exec(
            *arguments, stdin=DEVNULL, stdout=sys.stderr, env=make_environment(fired)
        )
    except OSError as error:
        click.echo(f"recollect: {safe_text(arguments[0])}: {error.strerror}", err=True)
        return
    code = await process.wait()
    if code:
        click.echo(f"recollect: {safe_text(arguments[0])} exited with {code}", err=True)


_REST_SECONDS: Final = 0.5
"""A reply is written as several lines; one export is enough for them."""


def watch_session(workspace: Workspace, name: str, write_again: Callable[[], None]) -> None:
    """Call `write_again` after changes, until the session ends or the user interrupts."""
    events = workspace.follow(name, start="end", options=follow.FollowOptions(until="end"))
    asyncio.run(write_on_change(events, write_again))


async def write_on_change(
    events: AsyncGenerator[live_events.AnyEvent, None], write_again: Callable[[], None]
) -> None:
    """Call `write_again` after events, once per burst.

    A transcript that is missing is perhaps being replaced, so that is only raised at the end.
    """
    changed = asyncio.Event()
    watching = asyncio.create_task(_notice(events, changed))
    missing: RecollectError | None = None
    # Changes during the last export are exported too, even if the session has ended.
    while changed.is_set() or not watching.done():
        waiting = asyncio.create_task(changed.wait())
        await asyncio.wait({waiting, watching}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if changed.is_set():
            changed.clear()
            await asyncio.sleep(_REST_SECONDS)
            missing = None
            try:
                # In this thread, because an interrupt does not stop another one.
                write_again()
            except AmbiguousSession:
                raise
            except (NothingFound, UnreadableInput) as error:
                missing = error
    await watching
    if missing is not None:
        raise missing


async def _notice(
    events: AsyncGenerator[live_events.AnyEvent, None], changed: asyncio.Event
) -> None:
    async with aclosing(events):
        async for event in events:
            changed.set()
            if isinstance(event, live_events.Ended) and event.reason == follow.DELETED:
                return
