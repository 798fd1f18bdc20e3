"""A session as bytes: equal sessions give equal bytes, whatever way they were built."""

import msgspec

from recollect.session.session import Session
from recollect.session.subagents import Subagent

VIEWS = (
    "messages",
    "tree",
    "main_path",
    "branches",
    "turns",
    "tool_calls",
    "orphan_results",
    "segments",
    "facts",
    "files",
    "todos",
    "tasks",
    "hooks",
    "media",
    "metadata",
    "metrics",
    "resume_chain",
    "resumable_messages",
    "resumable_texts",
    "irregular",
)


def dump_session(session: Session) -> bytes:
    """Every view of `session` and of its subagents."""
    parts = [msgspec.json.encode(getattr(session, view)) for view in VIEWS]
    parts += [dump_subagent(subagent) for subagent in session.subagents]
    return b"\n".join(parts)


def dump_subagent(subagent: Subagent) -> bytes:
    """A subagent, the call that it is joined to, and its own session."""
    ties = (subagent.agent_id, subagent.kind, subagent.call, subagent.joined_by, subagent.meta)
    return msgspec.json.encode(ties) + dump_session(subagent.session)
