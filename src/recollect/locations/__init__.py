"""Where Claude Code keeps its files, and how to access them safely.

Knows paths, names and the state of files, but not records, which is up to the layers above. Nothing
here writes, and nothing found on disk or in a record is trusted. What only some callers need is
loaded on first use: every command starts with this package.
"""

from typing import TYPE_CHECKING

from recollect.lazy_names import import_on_first_use
from recollect.locations.discovery import Discovery, discover, discover_root
from recollect.locations.project_names import encode_project_path, is_plain_name
from recollect.locations.roots import resolve_roots
from recollect.locations.transcript_files import Transcript, TranscriptKind
from recollect.sources.safe_files import Refusal, Refused

if TYPE_CHECKING:
    from recollect.locations.references import (
        find_project_directories,
        select_transcripts,
    )
    from recollect.locations.sidecars import (
        Sidecar,
        SidecarKind,
        Sidecars,
        find_root_of,
        find_subagent_meta,
        list_root_sidecars,
        list_session_sidecars,
        resolve_tool_result,
    )

__all__ = [
    "Discovery",
    "Refusal",
    "Refused",
    "Sidecar",
    "SidecarKind",
    "Sidecars",
    "Transcript",
    "TranscriptKind",
    "discover",
    "discover_root",
    "encode_project_path",
    "find_project_directories",
    "find_root_of",
    "find_subagent_meta",
    "is_plain_name",
    "list_root_sidecars",
    "list_session_sidecars",
    "resolve_roots",
    "resolve_tool_result",
    "select_transcripts",
]

_MODULE_OF = {
    "Sidecar": "sidecars",
    "SidecarKind": "sidecars",
    "Sidecars": "sidecars",
    "find_project_directories": "references",
    "find_root_of": "sidecars",
    "find_subagent_meta": "sidecars",
    "list_root_sidecars": "sidecars",
    "list_session_sidecars": "sidecars",
    "resolve_tool_result": "sidecars",
    "select_transcripts": "references",
}

__getattr__ = import_on_first_use(globals(), _MODULE_OF)
