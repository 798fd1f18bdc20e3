"""Short labels of sessions for lists, search results, the picker and messages.

All labels are safe for a terminal and on a single line.
"""

from pathlib import PurePosixPath, PureWindowsPath
from typing import Final

from recollect.render.terminal import safe_text

NO_TITLE: Final = "(no prompt)"
_ID_LENGTH: Final = 8


def label_id(session_id: str) -> str:
    """Return the start of an id, without the prefix that all ids of subagents share."""
    return safe_text(session_id.removeprefix("agent-")[:_ID_LENGTH], single_line=True)


def label_project(path: str) -> str:
    """Return the last component of a working directory, Windows or POSIX."""
    kind = PureWindowsPath if "\\" in path else PurePosixPath
    return join_lines(kind(path).name or path)


def label_title(title: str | None, first_prompt: str | None) -> str:
    """Return the title, or else the first prompt."""
    return join_lines(title or first_prompt or NO_TITLE)


def join_lines(text: str) -> str:
    """Collapse whitespace, including line breaks, to single spaces."""
    return safe_text(" ".join(text.split()), single_line=True)
