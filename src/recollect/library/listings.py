"""What a list shows of a session, from the two ends of its file.

Knows how to describe one transcript without reading all of it, by the very code that describes an
opened session. What stands only in the middle of a large file is missing here: a title that was
given there and never repeated, or a record that somebody else's summary names.
"""

from msgspec import Struct

from recollect.errors import UnreadableInput
from recollect.library.ends import Ends, read_ends
from recollect.library.origins import Surroundings, modified_of
from recollect.locations import Transcript, TranscriptKind, is_stray
from recollect.locations.transcript_files import name_of
from recollect.records.conversation import SYNTHETIC_MODEL, Assistant
from recollect.session.facts import Facts, build_facts
from recollect.session.live_process import LiveProcess
from recollect.session.metadata import Origins, build_metadata
from recollect.session.times import parse_time


class SessionListing(Struct, frozen=True, kw_only=True):
    """A session in a list: what the ends of its file and its surroundings tell.

    Fields are those of `Metadata`, and as there None means that no record says it.
    """

    id: str
    """The session's id; for a subagent the name of its file, `agent-…`."""
    project: str
    """Name of the project's directory below `projects/`."""
    path: str
    size: int
    modified: float
    """When the file was last written, in seconds since 1970."""
    last_active: str | None = None
    created: str | None = None
    cwd: str | None = None
    title: str | None = None
    first_prompt: str | None = None
    first_prompt_time: str | None = None
    git_branch: str | None = None
    version: str | None = None
    tag: str | None = None
    is_subagent: bool = False
    agent_id: str | None = None
    parent_id: str | None = None
    """For a subagent, the session that it worked for."""
    forked_from: str | None = None
    """The session that its first records were copied from, where they say so."""
    continued_in: str | None = None
    """The session that takes this one up without a copy."""
    first_reply_id: str | None = None
    """Id of the first reply: two sessions with the same one began as the same conversation."""
    models: tuple[str, ...] = ()
    """The models that replied, in order of appearance; of a large file those at its ends."""
    message_count: int | None = None
    """Prompts of a person and distinct replies; None when the file was not read as a whole."""
    live: LiveProcess | None = None
    """The client that has the session open right now."""
    unreadable: str | None = None
    """Why the file could not be read; everything that records would tell is None then."""

    @property
    def activity(self) -> float:
        """When something last happened in it, in seconds since 1970.

        The time of its newest record; that of the file if no record has one, or if the record
        claims to be newer than the file that holds it.
        """
        moment = parse_time(self.last_active)
        return self.modified if moment is None else min(moment.timestamp(), self.modified)


def read_listing(transcript: Transcript, surroundings: Surroundings) -> SessionListing | None:
    """What a list shows of `transcript`; None if it holds no session or is gone."""
    try:
        if is_stray(transcript):
            return None
        ends = read_ends(transcript.path)
    except UnreadableInput as error:
        is_gone = isinstance(error.__cause__, FileNotFoundError)
        return None if is_gone else _list_unreadable(transcript, str(error))
    if ends.is_warmup:
        return None
    return _list_session(transcript, surroundings.describe(transcript), ends)


def _list_session(transcript: Transcript, origins: Origins, ends: Ends) -> SessionListing:
    facts = build_facts(ends.log.chain, ends.log.states)
    metadata = build_metadata(origins, ends.log, ends.messages, facts)
    is_subagent = transcript.kind is not TranscriptKind.SESSION or metadata.is_subagent
    return SessionListing(
        id=metadata.id,
        project=transcript.project_dir.name,
        path=transcript.file,
        size=transcript.size,
        modified=modified_of(transcript),
        last_active=metadata.last_active,
        created=metadata.created,
        cwd=metadata.cwd,
        title=metadata.title,
        first_prompt=metadata.first_prompt,
        first_prompt_time=metadata.first_prompt_time,
        git_branch=metadata.git_branch,
        version=metadata.version,
        tag=metadata.tag,
        is_subagent=is_subagent,
        agent_id=metadata.agent_id,
        parent_id=_find_parent(transcript, facts) if is_subagent else None,
        forked_from=None if is_subagent else _find_origin(metadata.id, facts),
        continued_in=facts.continued_in,
        first_reply_id=_find_first_reply(ends),
        models=tuple(dict.fromkeys(change.value for change in facts.models)),
        message_count=metadata.message_count if ends.is_whole else None,
        live=metadata.live,
    )


def _list_unreadable(transcript: Transcript, reason: str) -> SessionListing:
    return SessionListing(
        id=name_of(transcript),
        project=transcript.project_dir.name,
        path=transcript.file,
        size=transcript.size,
        modified=modified_of(transcript),
        is_subagent=transcript.kind is not TranscriptKind.SESSION,
        agent_id=transcript.agent_id,
        unreadable=reason,
    )


def _find_parent(transcript: Transcript, facts: Facts) -> str | None:
    if transcript.kind is not TranscriptKind.SESSION and transcript.session_id:
        return transcript.session_id
    return facts.session_ids[0] if facts.session_ids else None


def _find_origin(own_id: str, facts: Facts) -> str | None:
    """The session that the records were copied from: by a field, or by an id left on a copy."""
    if facts.forked_from is not None and facts.forked_from.session_id:
        return facts.forked_from.session_id
    first = facts.session_ids[0] if facts.session_ids else own_id
    return first if first != own_id else None


def _find_first_reply(ends: Ends) -> str | None:
    replies = (link.message for link in ends.log.chain if isinstance(link, Assistant))
    return next((each.id for each in replies if each and each.model != SYNTHETIC_MODEL), None)
