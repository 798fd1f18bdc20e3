"""What is done when something happens that somebody waits for: a program is run, a note is shown.

A program is started from an argument vector and never through a shell. Nothing of a transcript
becomes an argument of the user's program; it is in the environment, cut short and made safe, for
those who want it. Programs run one after the other, and never hold up the following.
"""

import asyncio
import html
import os
import shutil
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from recollect.errors import UsageError
from recollect.live.triggers import Fired
from recollect.render.terminal import clip, safe_text

MOST_WAITING: Final = 100
MOST_TEXT: Final = 200

_SCRIPT: Final = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


def find_notifier() -> str:
    """The program that shows notes on this desktop; raises UsageError if there is none."""
    for name in ("notify-send", "osascript"):
        if path := shutil.which(name):
            return path
    raise UsageError(
        "There is no notify-send and no osascript on this system, so --notify cannot work. "
        "Install libnotify, or give a program of your own with --run."
    )


def find_program(command: Sequence[str]) -> tuple[str, ...]:
    """`command` with the place of its program; raises UsageError if there is no such program."""
    path = shutil.which(command[0])
    if path is None:
        raise UsageError(f"There is no program called {command[0]!r} to run. Give its full path.")
    return (path, *command[1:])


def make_note(notifier: str, fired: Fired) -> tuple[str, ...]:
    """The arguments that show a note."""
    title = f"Recollect: {fired.trigger} in session {fired.session_id[:8]}"
    title, text = _make_safe(title), _make_safe(fired.text) or "(no text)"
    if Path(notifier).name == "osascript":
        lines = [part for line in _SCRIPT for part in ("-e", line)]
        return (notifier, *lines, title, text)
    # The body of such a note may hold markup, and the title is an argument like any other.
    return (notifier, "--app-name=Recollect", "--", title, html.escape(text))


def make_environment(fired: Fired) -> dict[str, str]:
    """The environment of a program that is run."""
    return {
        **os.environ,
        "RECOLLECT_TRIGGER": _make_safe(fired.trigger),
        "RECOLLECT_SESSION": _make_safe(fired.session_id),
        "RECOLLECT_AGENT": _make_safe(fired.agent_id or ""),
        "RECOLLECT_TRANSCRIPT": (fired.path or "").replace("\0", ""),
        "RECOLLECT_TEXT": _make_safe(fired.text),
    }


def _make_safe(text: str) -> str:
    """One short line without anything that a terminal or a desktop would obey."""
    return clip(safe_text(" ".join(text[: 4 * MOST_TEXT].split()), single_line=True), MOST_TEXT)


class Actions:
    """Does what was asked for, in the background, in the order in which things happened."""

    def __init__(self, command: Sequence[str], *, notify: bool) -> None:
        self._command = find_program(command) if command else ()
        self._notifier = find_notifier() if notify else ""
        self._waiting: asyncio.Queue[Fired] = asyncio.Queue(MOST_WAITING)
        self._task: asyncio.Task[None] | None = None

    def start(self, fired: Fired) -> None:
        """Have something done about what happened."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        try:
            self._waiting.put_nowait(fired)
        except asyncio.QueueFull:
            click.echo("recollect: too much at once, so something was left out.", err=True)

    async def finish(self) -> None:
        """Wait until all of it is done."""
        if self._task is not None:
            await self._waiting.join()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            fired = await self._waiting.get()
            if self._notifier:
                await _call(make_note(self._notifier, fired), fired)
            if self._command:
                await _call(self._command, fired)
            self._waiting.task_done()


async def _call(arguments: Sequence[str], fired: Fired) -> None:
    """Run a program to its end; what it prints goes where talk goes, and not among the data."""
    try:
        process = await asyncio.create_subprocess_exec(
            *arguments, stdin=DEVNULL, stdout=sys.stderr, env=make_environment(fired)
        )
    except OSError as error:
        click.echo(f"recollect: {safe_text(arguments[0])}: {error.strerror}", err=True)
        return
    code = await process.wait()
    if code:
        click.echo(f"recollect: {safe_text(arguments[0])} ended with {code}", err=True)
