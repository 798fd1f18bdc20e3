"""Where the sessions of this user are, with what to do for somebody who has none yet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from recollect.errors import NothingFound
from recollect.locations import Transcript, resolve_roots
from recollect.locations.names import PROJECTS_DIRECTORY
from recollect.sync.level import find_transcripts

TIP: Final = "To see what it would look like: recollect demo"


def find_roots(given: Sequence[Path]) -> tuple[Path, ...]:
    """The Claude directories; raises NothingFound, with the places and a tip, if there is none."""
    try:
        return resolve_roots(given)
    except NothingFound as error:
        raise NothingFound(f"{error}\n{TIP}") from error


def require_transcripts(roots: Sequence[Path]) -> list[Transcript]:
    """All transcripts; raises NothingFound, with the places and a tip, if there is none yet."""
    transcripts = find_transcripts(roots)
    if not transcripts:
        places = "".join(f"\n  {root / PROJECTS_DIRECTORY}" for root in roots)
        raise NothingFound(f"There is no session yet. Looked at:{places}\n{TIP}")
    return transcripts
