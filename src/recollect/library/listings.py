"""Listings of sessions, and sessions by name, read from the files each time, without an index.

A listing is read by the same code as an opened session, so that title, first prompt and tag never
differ. Only the head, the tail and the lines with titles are read of a large file; models that
replied only in the middle are missing. `SessionContext` has the data of other files about a
transcript: titles, running clients, and the parent of a fork that does not name it.

The order by activity is lazy: no record is newer than its file, so the newest sessions are known
long before the last file has been read. Finding a title among thousands of sessions is slow;
`recollect.workspace` does the same with an index.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final, NamedTuple, get_args
from zlib import crc32

from recollect.documents.session_listing import LiveProcess, SessionListing
from recollect.errors import UnreadableInput, UsageError
from recollect.library import session_filters, transcript_ends
from recollect.library.processes import find_live_processes
from recollect.locations import (
    Transcript,
    TranscriptKind,
    claude_directories,
    discover_root,
    references,
    resolve_roots,
)
from recollect.locations.discovery import list_project
from recollect.records import envelope, system_records
from recollect.records.conversation_records import SYNTHETIC_MODEL, Assistant
from recollect.session.facts import Facts
from recollect.session.metadata import Provenance, summarize_log
from recollect.session.times import parse_time

_UUID_LENGTH: Final = 36
_MARK: Final = b'"compact_boundary"'


class CompactedForks:
    """Finds the parents of sessions that begin with a compaction and do not name their parent.

    A fork copies only the records after the last compaction. The copy keeps the uuid of the
    compaction, which is in the middle of the parent; other forks begin with it too. The files of a
    project are searched for compactions once, for any number of forks.
    """

    def __init__(self) -> None:
        self._sessions: dict[Path, tuple[Transcript, ...]] = {}
        self._compactions: dict[str, frozenset[str]] = {}

    def find_parent(self, transcript: Transcript, opening: envelope.Record) -> str | None:
        """Return the name of the session in the same project with the compaction `opening`.

        None if no session has it in its middle, or several have.
        """
        if not isinstance(opening, system_records.CompactBoundary):
            return None
        uuid = opening.uuid
        if uuid is None or len(uuid) != _UUID_LENGTH:
            return None
        moment = parse_time(opening.timestamp)
        # No record is newer than its file.
        earliest = moment.timestamp() * 1e9 if moment else 0
        found = {
            each.name
            for each in self._list_sessions(transcript.project_dir)
            if each.file != transcript.file
            and each.mtime_ns >= earliest
            and uuid in self._list_compactions(each.file)
        }
        return found.pop() if len(found) == 1 else None

    def _list_sessions(self, directory: Path) -> tuple[Transcript, ...]:
        if directory not in self._sessions:
            self._sessions[directory] = tuple(
                each for each in list_project(directory) if each.kind is TranscriptKind.SESSION
            )
        return self._sessions[directory]

    def _list_compactions(self, path: str) -> frozenset[str]:
        """Return the compactions in a transcript after other records of a conversation."""
        if path not in self._compactions:
            found = {
                each.uuid
                for each in transcript_ends.list_marked(path, _MARK)
                if isinstance(each, system_records.CompactBoundary) and each.uuid
            }
            first = transcript_ends.find_first_uuid(path) if found else None
            self._compactions[path] = frozenset(found - {first})
        return self._compactions[path]


class SessionContext:
    """Caches data from the directories around transcripts, each read once."""

    def __init__(self) -> None:
        self._titles: dict[Path, dict[str, dict[str, str]]] = {}
        self._summaries: dict[Path, dict[str, str]] = {}
        self._processes: dict[Path, dict[str, LiveProcess]] = {}
        self.forks = CompactedForks()

    def describe(self, transcript: Transcript) -> Provenance:
        """Return the provenance of the records in `transcript`."""
        session_id = transcript.name
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
        """Return a hash of titles for a session in other files; empty for none."""
        is_session = transcript.kind is TranscriptKind.SESSION
        return self.hash_project_titles(transcript.project_dir) if is_session else ""

    def hash_project_titles(self, directory: Path) -> str:
        """Return a hash of the titles in the files of a project; empty for none."""
        summaries = self._summaries_in(directory)
        return f"{crc32(repr(sorted(summaries.items())).encode()):08x}" if summaries else ""

    def find_title_file(self, transcript: Transcript, title: str | None) -> str:
        """Return the other file that contains the title of `transcript`; empty for none."""
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
            self._titles[directory] = transcript_ends.collect_summaries(directory)
        return self._titles[directory]

    def _processes_of(self, transcript: Transcript) -> dict[str, LiveProcess]:
        root = transcript.root
        if root is None:
            return {}
        if root not in self._processes:
            self._processes[root] = find_live_processes(root)
        return self._processes[root]


def modified_of(transcript: Transcript) -> float:
    """Return when the file was last written, in seconds since 1970."""
    return transcript.mtime_ns / 1e9


def read_listing(
    transcript: Transcript,
    context: SessionContext,
    lines: transcript_ends.NamingLines | None = None,
) -> SessionListing | None:
    """Return the listing of `transcript`; None if it contains no session or was deleted."""
    try:
        if transcript_ends.is_stray(transcript):
            return None
        provenance = context.describe(transcript)
        ends = transcript_ends.read_head_and_tail(
            transcript.file, provenance.foreign_summaries, lines
        )
    except UnreadableInput as error:
        is_gone = isinstance(error.__cause__, FileNotFoundError)
        return None if is_gone else _list_unreadable(transcript, str(error))
    if ends.is_warmup or ends.is_foreign:
        return None
    return _list_session(transcript, provenance, ends, context.forks)


class TracedListing(NamedTuple):
    """A listing, and the other files that its title depends on."""

    listing: SessionListing
    titles_hash: str
    """Changes with the titles in all files of the project; empty for none."""
    title_file: str
    """The other file that contains the title; empty for none."""


def trace_listing(
    transcript: Transcript,
    context: SessionContext,
    lines: transcript_ends.NamingLines | None = None,
) -> TracedListing | None:
    """Like `read_listing`, and also return the other dependencies of the result."""
    found = read_listing(transcript, context, lines)
    if found is None:
        return None
    title_file = context.find_title_file(transcript, found.title)
    return TracedListing(found, context.hash_titles(transcript), title_file)


def _list_session(
    transcript: Transcript,
    provenance: Provenance,
    ends: transcript_ends.HeadAndTail,
    forks: CompactedForks,
) -> SessionListing:
    found = summarize_log(provenance, ends.log, ends.first_prompt, is_whole=ends.is_whole)
    metadata, facts = found.metadata, found.facts
    is_subagent = transcript.kind is not TranscriptKind.SESSION or metadata.is_subagent
    modified = modified_of(transcript)
    return SessionListing(
        id=metadata.id,
        project=transcript.project,
        path=transcript.file,
        size=transcript.size,
        modified=modified,
        # No record is newer than its file.
        activity=modified if found.last_active is None else min(found.last_active, modified),
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
        forked_from=None if is_subagent else _find_origin(transcript, ends, facts, forks),
        continued_in=facts.continued_in,
        first_reply_id=_find_first_reply(ends),
        models=tuple(dict.fromkeys(change.value for change in facts.models)),
        message_count=metadata.message_count if ends.is_whole else None,
        duration_ms=found.duration_ms,
        live=metadata.live,
    )


def _list_unreadable(transcript: Transcript, reason: str) -> SessionListing:
    modified = modified_of(transcript)
    return SessionListing(
        id=transcript.name,
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
    return claude_directories.encode_id(facts.session_ids[0]) if facts.session_ids else None


def _find_origin(
    transcript: Transcript,
    ends: transcript_ends.HeadAndTail,
    facts: Facts,
    forks: CompactedForks,
) -> str | None:
    """The session that the records were copied from: by a field, by an id left on a copy, or by
    the compaction that it begins with.
    """
    if facts.forked_from is not None and facts.forked_from.session_id:
        return claude_directories.encode_id(facts.forked_from.session_id)
    own_id = transcript.name
    first = claude_directories.encode_id(facts.session_ids[0]) if facts.session_ids else own_id
    if first != own_id:
        return first
    return forks.find_parent(transcript, ends.log.chain[0]) if ends.log.chain else None


def _find_first_reply(ends: transcript_ends.HeadAndTail) -> str | None:
    replies = (link.message for link in ends.log.chain if isinstance(link, Assistant))
    return next((each.id for each in replies if each and each.model != SYNTHETIC_MODEL), None)


Root = str | Path | Sequence[str | Path] | None
"""A Claude directory, several of them, or None for those in the environment."""


def iter_sessions(
    project: str | Path | None = None,
    *,
    include_subagents: bool = False,
    root: Root = None,
) -> Iterator[SessionListing]:
    """Yield the sessions of `root`, or of all roots, most recently active first.

    `project` is a working directory, or the name of a project's directory below `projects/`. Raises
    NothingFound when there is no root at all.
    """
    transcripts = list_transcripts(project, include_subagents=include_subagents, root=root)
    return iter_by_activity(transcripts, SessionContext())


def list_sessions(
    project: str | Path | None = None,
    query: session_filters.SessionQuery | None = None,
    *,
    include_subagents: bool = False,
    page: int = 1,
    page_size: int = 20,
    root: Root = None,
) -> session_filters.SessionPage:
    """Return one page of the sessions that match `query`; pages are counted from 1.

    `project` is given as for `iter_sessions`.
    """
    query = query or session_filters.SessionQuery()
    if query.needs_usage or query.order not in get_args(session_filters.SessionOrder):
        raise UsageError(
            f"Cannot sort by {query.order!r} without the index. Use activity, modified, created or "
            "size, or call `Workspace.sessions`."
        )
    found = iter_sessions(
        project, include_subagents=include_subagents or query.include_subagents, root=root
    )
    matching = [
        each for each in session_filters.select(found, query) if each.live or not query.is_live
    ]
    return session_filters.make_page(
        session_filters.sort_sessions(matching, query.order), page, page_size
    )


def list_transcripts(
    project: str | Path | None, *, include_subagents: bool, root: Root
) -> tuple[Transcript, ...]:
    """Return the transcripts of a project below all roots; opens as few files as possible."""
    places = resolve_roots(list_roots(root))
    found = [
        transcript
        for place in places
        for transcript in discover_root(place).transcripts
        if include_subagents or transcript.kind is TranscriptKind.SESSION
    ]
    if project is None:
        return tuple(found)
    if _is_directory_name(project):
        return tuple(each for each in found if project in (each.project, each.project_dir.name))
    return references.select_transcripts(found, _complete_path(project), transcript_ends.find_cwd)


def list_roots(root: Root) -> tuple[Path, ...]:
    """Return the directories given by `root`; empty for those in the environment."""
    if root is None:
        return ()
    return (Path(root),) if isinstance(root, str | Path) else tuple(map(Path, root))


def _is_directory_name(project: str | Path) -> bool:
    """Return whether `project` is the name of a directory below `projects/`, not a path."""
    return isinstance(project, str) and project not in {".", ".."} and not {"/", "\\"} & {*project}


def _complete_path(project: str | Path) -> str:
    """Return a working directory in the form of records; a path of another system is unchanged."""
    is_complete = any(kind(project).is_absolute() for kind in (PurePosixPath, PureWindowsPath))
    return str(project) if is_complete else str(Path(project).resolve())


def iter_by_activity(
    transcripts: Iterable[Transcript], context: SessionContext
) -> Iterator[SessionListing]:
    """Yield the listings of `transcripts`, most recently active first, reading lazily."""
    read: list[tuple[float, str, SessionListing]] = []
    for transcript in sorted(transcripts, key=modified_of, reverse=True):
        while read and -read[0][0] > modified_of(transcript):
            yield heappop(read)[-1]
        listing = read_listing(transcript, context)
        if listing is not None:
            heappush(read, (-listing.activity, listing.path, listing))
    while read:
        yield heappop(read)[-1]


def locate_session(ref: str, *, root: Root = None) -> Transcript:
    """Return the only transcript that matches `ref`, which is never treated as a path.

    Raises NothingFound when there is none and AmbiguousSession when there are several.
    """
    places = resolve_roots(list_roots(root))
    transcripts = list_transcripts(None, include_subagents=True, root=places)
    return references.match_session(ref, transcripts, places, _read)


def _read(transcripts: Sequence[Transcript]) -> Iterator[references.SessionFacts]:
    by_path = {each.file: each for each in transcripts}
    for each in iter_by_activity(transcripts, SessionContext()):
        yield references.SessionFacts(
            by_path[each.path], each.title, each.cwd or each.project, each.activity
        )
