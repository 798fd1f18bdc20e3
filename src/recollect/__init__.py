"""Find, read, search, follow and keep your Claude Code sessions, and see what they cost.

The public names of the library are imported on first use, so that a program that only needs the
version does not load the parser.
"""

from typing import TYPE_CHECKING

from recollect import lazy_names

if TYPE_CHECKING:
    from recollect.documents.kinds import InputKind, ToolStatus
    from recollect.documents.session_listing import Metadata, SessionListing
    from recollect.errors import (
        AmbiguousSession,
        ClientFailure,
        NothingFound,
        RecollectError,
        UnreadableInput,
        UsageError,
    )
    from recollect.launch.conversation import Conversation, converse
    from recollect.launch.conversation_options import ConversationOptions
    from recollect.library.listings import iter_sessions, list_sessions
    from recollect.library.opening import open_session
    from recollect.library.session_filters import SessionPage, SessionQuery
    from recollect.library.sidecar_files import load_sidecars, read_spilled_output
    from recollect.locations import encode_project_path
    from recollect.reader.transcript_reader import read_transcript
    from recollect.session.branches import Branch
    from recollect.session.messages import Message
    from recollect.session.metadata import Metrics
    from recollect.session.session import Session
    from recollect.session.subagents import Subagent
    from recollect.session.tool_calls import ToolCall
    from recollect.session.turns import RoundKind, Segment, Turn, classify_round
    from recollect.workspace.workspace import Workspace, open_workspace

__version__ = "0.1.0"

__all__ = [
    "AmbiguousSession",
    "Branch",
    "ClientFailure",
    "Conversation",
    "ConversationOptions",
    "InputKind",
    "Message",
    "Metadata",
    "Metrics",
    "NothingFound",
    "RecollectError",
    "RoundKind",
    "Segment",
    "Session",
    "SessionListing",
    "SessionPage",
    "SessionQuery",
    "Subagent",
    "ToolCall",
    "ToolStatus",
    "Turn",
    "UnreadableInput",
    "UsageError",
    "Workspace",
    "__version__",
    "classify_round",
    "converse",
    "encode_project_path",
    "iter_sessions",
    "list_sessions",
    "load_sidecars",
    "open_session",
    "open_workspace",
    "read_spilled_output",
    "read_transcript",
]

_MODULES = {
    "documents.kinds": "InputKind ToolStatus",
    "documents.session_listing": "Metadata SessionListing",
    "errors": (
        "AmbiguousSession ClientFailure NothingFound RecollectError UnreadableInput UsageError"
    ),
    "launch.conversation": "Conversation converse",
    "launch.conversation_options": "ConversationOptions",
    "library.listings": "iter_sessions list_sessions",
    "library.opening": "open_session",
    "library.session_filters": "SessionPage SessionQuery",
    "library.sidecar_files": "load_sidecars read_spilled_output",
    "locations": "encode_project_path",
    "reader.transcript_reader": "read_transcript",
    "session.branches": "Branch",
    "session.messages": "Message",
    "session.metadata": "Metrics",
    "session.session": "Session",
    "session.subagents": "Subagent",
    "session.tool_calls": "ToolCall",
    "session.turns": "RoundKind Segment Turn classify_round",
    "workspace.workspace": "Workspace open_workspace",
}

__getattr__ = lazy_names.import_on_first_use(globals(), _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
