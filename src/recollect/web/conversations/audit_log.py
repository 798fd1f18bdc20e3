"""A log of what was started, answered and stopped from pages: when, what and where, no content.

One line of JSON per event, in a file that only its owner may read. It is opened for every line:
a line a minute is many here, and no descriptor has to be closed.
"""

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from recollect.store.data_directory import make_private_directory

NAME: Final = "conversations.log"
Action = Literal["start", "answer", "stop"]


class AuditLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that a page asked for."""

    time: str
    action: Action
    conversation: str
    session: str = ""
    directory: str = ""
    """Where a client was started."""
    tool: str = ""
    """The tool that a request was about."""
    decision: str = ""
    """What was answered, or how a conversation was stopped."""


class AuditLog:
    """Appends lines to the log."""

    def __init__(self, directory: Path, now: Callable[[], datetime]) -> None:
        self.path = directory / NAME
        self._now = now

    def write(self, action: Action, conversation: str, **details: str) -> None:
        """Append a line."""
        line = AuditLine(
            time=self._now().isoformat(timespec="seconds"),
            action=action,
            conversation=conversation,
            **details,
        )
        make_private_directory(self.path.parent)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(self.path, flags, 0o600)
        try:
            os.write(descriptor, msgspec.json.encode(line) + b"\n")
        finally:
            os.close(descriptor)
