"""Short labels of sessions for lists, search results, the picker and messages; Claude directories.

All labels are safe for a terminal and on a single line. Missing directories and sessions raise
NothingFound with the searched paths and a tip for newcomers.
"""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final

from recollect.cli.archive_access import use_archive
from recollect.errors import NothingFound
from recollect.locations import Transcript, resolve_roots
from recollect.locations.project_names import PROJECTS_DIRECTORY
from recollect.render.terminal import safe_text
from recollect.sync import find_transcripts

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


TIP: Final = "To try it with sample sessions: recollect demo"


def find_roots(given: Sequence[Path]) -> tuple[Path, ...]:
    """Return the Claude directories; raise NothingFound if there are none.

    From then on, sessions that Claude Code has deleted are read from the archive.
    """
    try:
        roots = resolve_roots(given)
    except NothingFound as error:
        raise NothingFound(f"{error}\n{TIP}") from error
    use_archive(roots)
    return roots


def require_transcripts(roots: Sequence[Path]) -> list[Transcript]:
    """Return all transcripts; raise NothingFound if there are none."""
    transcripts = find_transcripts(roots)
    if not transcripts:
        searched = "".join(f"\n  {root / PROJECTS_DIRECTORY}" for root in roots)
        raise NothingFound(f"No sessions yet. Looked in:{searched}\n{TIP}")
    return transcripts
