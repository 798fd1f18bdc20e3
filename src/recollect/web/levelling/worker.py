"""The process that keeps the index level, until its pipe is closed."""

import os
import signal
import sys
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Final

from recollect.web.levelling.rounds import Rounds, Task

if TYPE_CHECKING:
    from recollect.web.levelling.alarm import Alarm

STANDARD_ERROR: Final = 2
REST: Final = 10
"""Pauses that go by without a look while the system would tell of any change."""


def keep_level(connection: "Connection[object, object]", task: Task) -> None:
    """Tell through `connection` what changes; anything sent to it asks for a look at once."""
    # Ctrl+C in a terminal reaches this process too; when to end is for the server to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    if not task.shows_errors:
        _hush()
    rounds = Rounds(task, connection.send)
    try:
        while (pause := rounds.run()) == 0:
            if connection.poll():
                connection.recv()
        # Not before: it takes long to load, and a process with threads cannot be forked, which is
        # how the first index is made.
        from recollect.web.levelling.alarm import Alarm  # noqa: PLC0415

        alarm = Alarm(task.roots)
        while True:
            if connection.poll(pause):
                connection.recv()
            pause = _rest_and_run(rounds, alarm, connection, pause)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        # The server is gone.
        sys.exit(0)


def _rest_and_run(
    rounds: Rounds, alarm: "Alarm", connection: "Connection[object, object]", pause: float
) -> float:
    """Wait for a reason to look again, if any would be told, and look; the seconds to pause."""
    may_rest = pause > 0 and alarm.is_reliable
    was_told = not may_rest or alarm.wait(connection, REST * pause)
    alarm.silence()
    pause = rounds.run()
    if not was_told and rounds.has_found:
        alarm.note_miss()
    return pause


def _hush() -> None:
    """Send what Python says about a bug nowhere; it may hold somebody's words."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, STANDARD_ERROR)
    os.close(nowhere)


def _end(number: int, frame: object) -> None:  # noqa: ARG001 - the signature of a handler
    # As an exception, so that the processes that index for this one are ended with it.
    sys.exit(0)
