"""Leftovers of a resume, which are not sessions: files that are empty or hold only summaries.

Knows just enough JSON to see the type of a line; does not read files of more than 64 KB, because
such leftovers have some hundred bytes each and every transcript of a list is checked.
"""

import json
from typing import Final

from recollect.locations import Transcript
from recollect.sources.source import DIRECTORY, Source

STRAY_LIMIT: Final = 64 * 1024


def is_stray(transcript: Transcript, source: Source = DIRECTORY) -> bool:
    """Whether a transcript is no session: 0 bytes, or nothing but `summary` records.

    Raises UnreadableInput if the file has to be read and cannot be.
    """
    if transcript.is_empty or transcript.size > STRAY_LIMIT:
        return transcript.is_empty
    with source.open(transcript.file) as file:
        head = file.read(STRAY_LIMIT + 1)
    lines = [line for line in head.split(b"\n") if line.strip()]
    return len(head) <= STRAY_LIMIT and all(map(_is_summary, lines))


def _is_summary(line: bytes) -> bool:
    if b'"summary"' not in line:
        return False
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        # Damaged: there is something in the file that the reader has to account for.
        return False
    return isinstance(record, dict) and record.get("type") == "summary"
