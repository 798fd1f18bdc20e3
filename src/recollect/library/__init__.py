"""Sessions by path, id or title, and lists of them: reader, session and locations joined.

Knows which files make up a session and what a list shows of it; refuses a database and an event
loop, so every answer is read from the files at the moment it is asked for.
"""

from recollect.library.listings import SessionListing, read_listing
from recollect.library.opening import open_session, open_transcript
from recollect.library.origins import Surroundings
from recollect.library.references import locate_session
from recollect.library.sessions import (
    SessionPage,
    SessionQuery,
    iter_by_activity,
    iter_sessions,
    list_sessions,
    list_transcripts,
)
from recollect.library.sidecars import (
    SessionSidecars,
    TodoFile,
    TypedPrompt,
    WorkflowFile,
    load_sidecars,
    read_spilled_output,
)

__all__ = [
    "SessionListing",
    "SessionPage",
    "SessionQuery",
    "SessionSidecars",
    "Surroundings",
    "TodoFile",
    "TypedPrompt",
    "WorkflowFile",
    "iter_by_activity",
    "iter_sessions",
    "list_sessions",
    "list_transcripts",
    "load_sidecars",
    "locate_session",
    "open_session",
    "open_transcript",
    "read_listing",
    "read_spilled_output",
]
