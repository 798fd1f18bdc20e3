"""Resolve the SESSION argument of commands through the index."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.cli.session_labels import find_roots, require_transcripts
from recollect.errors import NothingFound
from recollect.locations import Transcript
from recollect.locations.references import locate_file, looks_like_file
from recollect.store.data_directory import find_data_directory
from recollect.sync import Conditions, find_transcripts, list_current, locate_indexed, select

if TYPE_CHECKING:
    from recollect.session.session import Session


def find_named(ref: str, claude_dirs: Sequence[Path] = ()) -> Transcript:
    """Return the transcript for a path, an id or the start of one, a title, `latest` or `-1`.

    Raise NothingFound if there is none and AmbiguousSession if there are several.
    """
    if looks_like_file(ref):
        return locate_file(Path(ref))
    roots = find_roots(claude_dirs)
    try:
        return locate_indexed(ref, find_data_directory(), roots)
    except NothingFound:
        # If there are no sessions at all, say that instead.
        require_transcripts(roots)
        raise


def find_in_project(project: str, claude_dirs: Sequence[Path] = ()) -> list[Transcript]:
    """Return the sessions of all projects whose path contains `project`, oldest first.

    Raise NothingFound if there are none.
    """
    roots = find_roots(claude_dirs)
    found = find_transcripts(roots, include_subagents=False)
    listings = list_current(find_data_directory(), found)
    wanted = select(listings, Conditions(project=project))
    by_path = {each.file: each for each in found}
    if not wanted:
        require_transcripts(roots)
        raise NothingFound(f"No project path contains {project!r}.")
    return [by_path[listing.path] for listing in reversed(wanted)]


def open_named(ref: str, claude_dirs: Sequence[Path] = ()) -> "Session":
    """Open the session that `ref` names, with its subagents."""
    from recollect.library.opening import open_transcript, price_noted  # the whole model

    return open_transcript(find_named(ref, claude_dirs), price_noted)
