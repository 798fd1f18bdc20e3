"""Titles that one session's file holds for the others of its project.

Clients 1.0.x wrote `summary` records for other sessions into the file that they had just opened,
by the uuid of a record. Knows the heads of a project's files only: that is where those records
stand, and the question is asked of every project that is listed.
"""

from pathlib import Path
from typing import Final

from recollect.library.project_files import list_project
from recollect.library.small_files import read_head
from recollect.locations import Transcript, TranscriptKind
from recollect.records.decoding import decode_record
from recollect.records.state import Summary

HEAD: Final = 64 * 1024
"""Bytes of each file that are looked at: room for some two hundred titles."""


def collect_summaries(directory: Path) -> dict[str, str]:
    """The titles in a project's files by the uuid that each names; the newest file wins."""
    sessions = [found for found in list_project(directory) if found.kind is TranscriptKind.SESSION]
    found: dict[str, str] = {}
    for transcript in sorted(sessions, key=lambda session: session.mtime_ns):
        found.update(_read_summaries(transcript))
    return found


def _read_summaries(transcript: Transcript) -> dict[str, str]:
    head = read_head(transcript.path, HEAD) or b""
    if b'"leafUuid"' not in head or b'"summary"' not in head:
        return {}
    records = [decode_record(line) for line in head.split(b"\n") if b'"leafUuid"' in line]
    return {
        record.leaf_uuid: record.summary
        for record in records
        if isinstance(record, Summary) and record.leaf_uuid and record.summary
    }
