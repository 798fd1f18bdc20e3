"""Where Claude Code keeps its files, and how to access them safely.

Knows paths, names and the state of files, but not records, which is up to the layers above. Nothing
here writes, and nothing found on disk or in a record is trusted. Every command starts with the
names here; what only some need is imported from its module.
"""

from recollect.locations.claude_directories import encode_project_path, is_plain_name, resolve_roots
from recollect.locations.discovery import Discovery, discover, discover_root
from recollect.locations.transcript_files import Transcript, TranscriptKind
from recollect.sources.safe_files import Refusal, Refused

__all__ = [
    "Discovery",
    "Refusal",
    "Refused",
    "Transcript",
    "TranscriptKind",
    "discover",
    "discover_root",
    "encode_project_path",
    "is_plain_name",
    "resolve_roots",
]
