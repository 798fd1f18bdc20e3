"""The files of a session's subagents, of all eras, read and joined to it.

Knows where subagents lie: in the session's directory, in one per workflow run below it, or flat
beside the session, where only the records tell whose they are. What ties a subagent to the call
that started it is for `recollect.session` to say.
"""

from collections.abc import Iterable
from pathlib import Path

from recollect.errors import UnreadableInput
from recollect.library.heads import find_session_id
from recollect.library.origins import Surroundings
from recollect.library.project_files import list_project
from recollect.library.small_files import read_small
from recollect.locations import (
    Transcript,
    TranscriptKind,
    discover,
    find_subagent_meta,
    is_plain_name,
)
from recollect.locations.entries import find_directory
from recollect.locations.transcript_files import name_of
from recollect.reader import read_transcript
from recollect.records.decoding import decode_value
from recollect.session.session import Child, Session
from recollect.session.subagents import SubagentMeta


def find_subagent_files(project_dir: Path, session_id: str) -> tuple[Transcript, ...]:
    """The transcripts of the subagents that worked for a session."""
    if not is_plain_name(session_id):
        return ()
    flat = [
        found
        for found in list_project(project_dir)
        if found.kind is TranscriptKind.SUBAGENT and find_session_id(found.path) == session_id
    ]
    directory = find_directory(project_dir, session_id, "subagents")
    nested = discover(directory).transcripts if isinstance(directory, Path) else ()
    return (*flat, *(found for found in nested if found.kind is not TranscriptKind.SESSION))


def load_children(transcripts: Iterable[Transcript], surroundings: Surroundings) -> list[Child]:
    """The subagents in these files; one whose file cannot be read is there, but says nothing."""
    return [make_child(each, _load_session(each, surroundings)) for each in transcripts]


def make_child(transcript: Transcript, session: Session) -> Child:
    """A subagent with what its sidecar says, if there is a readable one."""
    path = find_subagent_meta(transcript)
    data = read_small(path) if path else None
    return Child(
        agent_id=transcript.agent_id or name_of(transcript),
        session=session,
        meta=decode_value(data, SubagentMeta) if data else None,
        run_id=transcript.run_id,
    )


def _load_session(transcript: Transcript, surroundings: Surroundings) -> Session:
    origins = surroundings.describe(transcript)
    try:
        return Session(read_transcript(transcript.path), origins)
    except UnreadableInput:
        return Session((), origins)
