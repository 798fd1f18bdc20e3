"""Opening a session: its records, its subagents and what lies around it, put together.

Knows which parts make up a session; which file is meant is for `references` to find out. A
subagent is opened without the session that it worked for, which may be far larger; what it started
itself is there.
"""

from pathlib import Path

from recollect.errors import UnreadableInput
from recollect.library.family import find_subagent_files, load_children, make_child
from recollect.library.heads import find_session_id
from recollect.library.origins import Surroundings
from recollect.library.references import locate_session
from recollect.library.sessions import Root
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.references import locate_file, looks_like_file
from recollect.locations.transcript_files import name_of
from recollect.reader import read_transcript
from recollect.records.envelope import Record
from recollect.records.irregular import Blank, Damaged, Oversized, Torn, Unknown
from recollect.session.metadata import Origins
from recollect.session.session import Session, attach_subagents


def open_session(ref: str | Path, *, root: Root = None) -> Session:
    """The session that `ref` names, with its subagents.

    `ref` is the path of a `.jsonl` file, a session's id or a unique beginning of one (four
    characters at least), an agent's id, a title or a unique part of one, `latest`, or `-1`, `-2` …
    for the newest, the one before it and so on. Raises NothingFound when there is no such session,
    AmbiguousSession when there are several, and UnreadableInput for a file that is no transcript.
    """
    if isinstance(ref, Path) or looks_like_file(ref):
        return open_transcript(locate_file(Path(ref)))
    return open_transcript(locate_session(ref, root=root))


def open_transcript(transcript: Transcript) -> Session:
    """The session that a transcript holds, with its subagents."""
    surroundings = Surroundings()
    session = Session(_read_records(transcript), surroundings.describe(transcript))
    if transcript.kind is TranscriptKind.SESSION:
        files = find_subagent_files(transcript.project_dir, name_of(transcript))
        attach_subagents(session, load_children(files, surroundings))
    else:
        _attach_nested(session, transcript, surroundings)
    return session


def _attach_nested(session: Session, transcript: Transcript, surroundings: Surroundings) -> None:
    """Give a subagent those of its siblings that it started; the others go to a stand-in."""
    parent_id = transcript.session_id or find_session_id(transcript.path) or ""
    siblings = [
        found
        for found in find_subagent_files(transcript.project_dir, parent_id)
        if (found.agent_id, found.run_id) != (transcript.agent_id, transcript.run_id)
    ]
    children = [make_child(transcript, session), *load_children(siblings, surroundings)]
    attach_subagents(Session((), Origins(id=parent_id)), children)


def _read_records(transcript: Transcript) -> list[Record]:
    records = list(read_transcript(transcript.path))
    if records and not any(map(_is_record, records)):
        raise UnreadableInput(
            f"{transcript.path} holds no record of Claude Code. Give a transcript, a .jsonl file "
            "from below `projects`."
        )
    return records


def _is_record(record: Record) -> bool:
    """Whether a line was written by a client, maybe by one that is newer than this program."""
    if isinstance(record, Unknown):
        return record.record_type is not None
    return not isinstance(record, Damaged | Torn | Oversized | Blank)
