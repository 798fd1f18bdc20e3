"""What a session goes by where it has one line: the same in lists, hits, the picker and messages.

Everything here is safe for a terminal and on a single line.
"""

from pathlib import PurePosixPath, PureWindowsPath
from typing import Final

from recollect.render.terminal import safe_text

NO_TITLE: Final = "(no prompt)"
_ID_LENGTH: Final = 8


def label_id(session_id: str) -> str:
    """Enough of an id to name the session by; what subagents' ids all begin with is left out."""
    return safe_text(session_id.removeprefix("agent-")[:_ID_LENGTH], single_line=True)


def label_project(place: str) -> str:
    """The last part of a work directory, of whichever system that was."""
    kind = PureWindowsPath if "\\" in place else PurePosixPath
    return join_lines(kind(place).name or place)


def label_title(title: str | None, first_prompt: str | None) -> str:
    """What the session is about: its title, or what was asked first."""
    return join_lines(title or first_prompt or NO_TITLE)


def join_lines(text: str) -> str:
    """Spaces of any number and kind as one, as in any heading."""
    return safe_text(" ".join(text.split()), single_line=True)
