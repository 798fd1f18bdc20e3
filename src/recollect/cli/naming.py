"""The session that an argument names, by the index; every command that takes one asks here."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.cli.roots import find_roots, require_transcripts
from recollect.errors import NothingFound
from recollect.locations import Transcript
from recollect.locations.references import locate_file, looks_like_file
from recollect.store.place import find_data_directory
from recollect.sync.naming import locate_level

if TYPE_CHECKING:
    from recollect.session.session import Session


def find_named(ref: str, claude_dirs: Sequence[Path] = ()) -> Transcript:
    """The transcript that `ref` names: a path, an id or its beginning, a title, `latest`, `-1`.

    Raises NothingFound when there is none and AmbiguousSession when there are several.
    """
    if looks_like_file(ref):
        return locate_file(Path(ref))
    roots = find_roots(claude_dirs)
    try:
        return locate_level(ref, find_data_directory(), roots)
    except NothingFound:
        # Where there is no session at all, that is the better answer.
        require_transcripts(roots)
        raise


def open_named(ref: str, claude_dirs: Sequence[Path] = ()) -> "Session":
    """The session that `ref` names, read, with its subagents."""
    from recollect.library.opening import open_transcript  # noqa: PLC0415 - the whole model

    return open_transcript(find_named(ref, claude_dirs))
