"""What the full-text index is: how large, and how far behind the files; changes nothing."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from recollect.locations import Transcript
from recollect.store.text_database import DIRECTORY


class TextStatus(Struct, frozen=True, kw_only=True):
    """The full-text index as it was found."""

    bytes: int = 0
    """Its size on disk; 0 when there is none."""
    is_level: bool = False
    files_behind: int = 0
    """Transcripts with texts that it does not know, or that are gone and that it still knows."""


def find_text_status(
    directory: Path, version: str, transcripts: Sequence[Transcript]
) -> TextStatus:
    """What the full-text index in a data directory is, for texts made by this recipe's version."""
    from recollect.sync.texts import plan_texts  # noqa: PLC0415 - starts processes

    plan = plan_texts(directory, version, transcripts)
    behind = {stretch.path for stretch in plan.stretches} | set(plan.gone)
    files = (found for found in (directory / DIRECTORY).glob("*.db*") if found.is_file())
    return TextStatus(
        bytes=sum(found.stat().st_size for found in files),
        is_level=plan.is_empty,
        files_behind=len(behind),
    )
