"""Read a listing: what a list shows of a session, without decoding all of its file.

Uses the same code as an opened session, so that the two never differ in title, first prompt or
tag. Of a large file only the head, the tail and the lines that name the session are read; models
that replied only in the middle are missing. `SessionContext` knows what other files say about a
transcript: titles, and running clients.
"""

from pathlib import Path
from zlib import crc32

from recollect.documents.session_listing import LiveProcess, SessionListing
from recollect.errors import UnreadableInput
from recollect.library.processes import find_live_processes
from recollect.library.transcript_ends import (
    HeadAndTail,
    NamingLines,
    collect_summaries,
    is_stray,
    read_head_and_tail,
)
from recollect.locations import Transcript, TranscriptKind, find_root_of
from recollect.locations.project_names import encode_id
from recollect.locations.transcript_files import name_of
from recollect.records.conversation import SYNTHETIC_MODEL, Assistant
from recollect.session.facts import Facts, build_facts
from recollect.session.metadata import Provenance, build_metadata
from recollect.session.times import milliseconds_between, parse_time


class SessionContext:
    """Looks around transcripts, at each place once."""

    def __init__(self) -> None:
        self._titles: dict[Path, dict[str, dict[str, str]]] = {}
        self._summaries: dict[Path, dict[str, str]] = {}
        self._processes: dict[Path, dict[str, LiveProcess]] = {}

    def describe(self, transcript: Transcript) -> Provenance:
        """Where the records of `transcript` come from."""
        session_id = name_of(transcript)
        return Provenance(
            id=session_id,
            project=transcript.project,
            path=transcript.file,
            size=transcript.size,
            modified=modified_of(transcript),
            agent_id=transcript.agent_id,
            foreign_summaries=self._summaries_beside(transcript),
            live=self._processes_of(transcript).get(session_id),
        )

    def hash_titles(self, transcript: Transcript) -> str:
        """A text that changes with the titles that other files may hold for it; empty for none."""
        is_session = transcript.kind is TranscriptKind.SESSION
        return self.hash_project_titles(transcript.project_dir) if is_session else ""

    def hash_project_titles(self, directory: Path) -> str:
        """A text that changes with the titles in the files of a project; empty for none."""
        summaries = self._summaries_in(directory)
        return f"{crc32(repr(sorted(summaries.items())).encode()):08x}" if summaries else ""

    def find_title_file(self, transcript: Transcript, title: str | None) -> str:
        """The other file that a title of `transcript` is written in; empty for none."""
        if transcript.kind is not TranscriptKind.SESSION:
            return ""
        files = self._titles_in(transcript.project_dir)
        holding = (file for file, titles in reversed(files.items()) if title in titles.values())
        return next((file for file in holding if file != transcript.file), "")

    def _summaries_beside(self, transcript: Transcript) -> dict[str, str]:
        is_session = transcript.kind is TranscriptKind.SESSION
        return self._summaries_in(transcript.project_dir) if is_session else {}

    def _summaries_in(self, directory: Path) -> dict[str, str]:
        if directory not in self._summaries:
            files = self._titles_in(directory)
            found = {leaf: title for titles in files.values() for leaf, title in titles.items()}
            self._summaries[directory] = found
        return self._summaries[directory]

    def _titles_in(self, directory: Path) -> dict[str, dict[str, str]]:
        if directory not in self._titles:
            self._titles[directory] = collect_summaries(directory)
        return self._titles[directory]

    def _processes_of(self, transcript: Transcript) -> dict[str, LiveProcess]:
        root = find_root_of(transcript)
        if root is None:
            return {}
        if root not in self._processes:
            self._processes[root] = find_live_processes(root)
        return self._processes[root]


def modified_of(transcript: Transcript) -> float:
    """When it was last written, in seconds since 1970."""
    return transcript.mtime_ns / 1e9


def read_listing(
    transcript: Transcript, surroundings: SessionContext, lines: NamingLines | None = None
) -> SessionListing | None:
    """What a list shows of `transcript`; None if it holds no session or is gone."""
    try:
        if is_stray(transcript):
            return None
        origins = surroundings.describe(transcript)
        ends = read_head_and_tail(transcript.path, origins.foreign_summaries, lines)
    except UnreadableInput as error:
        is_gone = isinstance(error.__cause__, FileNotFoundError)
        return None if is_gone else _list_unreadable(transcript, str(error))
    if ends.is_warmup or ends.is_foreign:
        return None
    return _list_session(transcript, origins, ends)


def _list_session(transcript: Transcript, origins: Provenance, ends: HeadAndTail) -> SessionListing:
    facts = build_facts(ends.log.chain, ends.log.states)
    metadata = build_metadata(origins, ends.log, ends.messages, facts)
    is_subagent = transcript.kind is not TranscriptKind.SESSION or metadata.is_subagent
    modified = modified_of(transcript)
    return SessionListing(
        id=metadata.id,
        project=transcript.project,
        path=transcript.file,
        size=transcript.size,
        modified=modified,
        activity=_find_activity(metadata.last_active, modified),
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
        duration_ms=milliseconds_between(metadata.created, metadata.last_active),
        live=metadata.live,
    )


def _find_activity(last_active: str | None, modified: float) -> float:
    """Return the time of the newest record, but not later than the file was written.

    If no record has a time, that of the file.
    """
    moment = parse_time(last_active)
    return modified if moment is None else min(moment.timestamp(), modified)


def _list_unreadable(transcript: Transcript, reason: str) -> SessionListing:
    modified = modified_of(transcript)
    return SessionListing(
        id=name_of(transcript),
        project=transcript.project,
        path=transcript.file,
        size=transcript.size,
        modified=modified,
        activity=modified,
        is_subagent=transcript.kind is not TranscriptKind.SESSION,
        agent_id=transcript.agent_id,
        unreadable=reason,
    )


def _find_parent(transcript: Transcript, facts: Facts) -> str | None:
    if transcript.kind is not TranscriptKind.SESSION and transcript.session_id:
        return transcript.session_id
    return encode_id(facts.session_ids[0]) if facts.session_ids else None


def _find_origin(own_id: str, facts: Facts) -> str | None:
    """The session that the records were copied from: by a field, or by an id left on a copy."""
    if facts.forked_from is not None and facts.forked_from.session_id:
        return encode_id(facts.forked_from.session_id)
    first = encode_id(facts.session_ids[0]) if facts.session_ids else own_id
    return first if first != own_id else None


def _find_first_reply(ends: HeadAndTail) -> str | None:
    replies = (link.message for link in ends.log.chain if isinstance(link, Assistant))
    return next((each.id for each in replies if each and each.model != SYNTHETIC_MODEL), None)
