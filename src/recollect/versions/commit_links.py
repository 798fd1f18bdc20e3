"""Link commits to a session, by its output, by notes and trailers, or by content; and make the
outline of a session, which records its file changes with references instead of contents.

The time and branch of a commit are only a hint. A hash that a command printed counts if the
repository still has it; after a rebase, a squash or an amend, equal contents still show it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final

import msgspec

from recollect.records.tools.shell_tools import SHELL_TOOLS, ShellResult
from recollect.session.session import Session
from recollect.session.times import parse_time
from recollect.versions import file_paths, git_repository, session_evidence, session_outline
from recollect.versions.evidence import (
    BackupReference,
    CallReference,
    Cause,
    CommitMention,
    Evidence,
    Origin,
    Reference,
    Rename,
    Sighting,
)
from recollect.versions.replay import replay

_PRINTED: Final = re.compile(r"^\[([^\]\s]+)(?: \([^)]*\))? ([0-9a-f]{7,40})\] ", re.MULTILINE)
_LATER: Final = timedelta(days=30)
"""Maximum time after a session in which its content may be committed."""
_SOON: Final = timedelta(hours=1)
"""Maximum time after a session in which a commit may be linked to it as a hint."""


class LinkKind(StrEnum):
    """The evidence that links a commit to a session, most certain first."""

    PRINTED = "printed"
    """A command in the session printed its hash, or the client recorded it."""
    NOTE = "note"
    """A note of git-ai names the session."""
    TRAILER = "trailer"
    """A trailer written by Entire leads to the session."""
    CONTENT = "content"
    """A file in the commit equals a version of the session."""
    TIME = "time"
    """The commit is on the session's branch, made during the session or within an hour: a hint."""


class CommitLink(msgspec.Struct, frozen=True, kw_only=True):
    """A commit, its most certain link to the session, and the linked turns."""

    id: str
    kind: LinkKind
    turns: tuple[int, ...] = ()
    commit: git_repository.Commit | None = None
    """None if the repository does not have the commit."""
    files: tuple[str, ...] = ()
    """The files that equal a version of the session."""


def find_mentions(session: Session) -> tuple[CommitMention, ...]:
    """Return the commits that commands of a session, or of its subagents, made."""
    turns = {
        uuid: turn.number
        for turn in session.turns
        for message in turn.messages
        for uuid in message.uuids
    }
    return tuple(_iter_mentions(session, turns, None))


def _iter_mentions(
    session: Session, turns: Mapping[str, int], turn: int | None
) -> Iterator[CommitMention]:
    for call in session.tool_calls:
        if call.name in SHELL_TOOLS and b"git" in bytes(call.raw_input):
            at = turn or turns.get(call.call_uuid or "")
            result = call.result
            shas = [match[2] for match in _PRINTED.finditer(call.text)]
            operation = result.git_operation if isinstance(result, ShellResult) else None
            if operation and operation.commit and operation.commit.sha:
                shas.append(operation.commit.sha)
            for sha in dict.fromkeys(shas):
                yield CommitMention(sha, at, call.call_uuid, call.ended)
    for child in session.subagents:
        started = turn or turns.get((child.call.call_uuid if child.call else None) or "")
        yield from _iter_mentions(child.session, turns, started)


def link_commits(
    session: Session,
    evidence: Iterable[Evidence],
    repository: git_repository.Repository,
    directory: str,
) -> list[CommitLink]:
    """Return the commits that belong to a session, oldest first, with their most certain links.

    `directory` is the root of the repository in recorded paths.
    """
    linker = _Linker(session, repository)
    linker.add_printed()
    linker.add_stated()
    linker.add_equal(_hash_versions(list(evidence), directory))
    linker.add_near()
    return linker.list_links()


class _Linker:
    """Collects links, most certain first."""

    def __init__(self, session: Session, repository: git_repository.Repository) -> None:
        self._session = session
        self._repository = repository
        self._links: dict[str, CommitLink] = {}
        metadata = session.metadata
        self._since = parse_time(metadata.created)
        self._until = parse_time(metadata.last_active)
        self._commits: list[git_repository.Commit] = []
        if self._since and self._until:
            self._commits = repository.list_commits(self._since, self._until + _LATER)

    def add_printed(self) -> None:
        for mention in find_mentions(self._session):
            found = self._repository.find_commit(mention.sha)
            commit = self._repository.read_commit(found) if found else None
            turns = (mention.turn,) if mention.turn else ()
            self._add(found or mention.sha, LinkKind.PRINTED, turns, commit)

    def add_stated(self) -> None:
        session_id = self._session.id
        noted = self._repository.list_noted()
        for commit in self._commits:
            text = self._repository.read_note(commit.id) if commit.id in noted else None
            note = git_repository.parse_note(text) if text else None
            if note and any(agent.id == session_id for agent in note.sessions):
                self._add(commit.id, LinkKind.NOTE, (), commit)
            stated = self._repository.iter_checkpoint_sessions(commit)
            if any(f'"{session_id}"' in text for text in stated):
                self._add(commit.id, LinkKind.TRAILER, (), commit)

    def add_equal(self, blobs: Mapping[tuple[str, str], int]) -> None:
        """Link commits with a file that equals a version; `blobs` has the turns of the versions."""
        for commit in self._commits:
            same = [each for each in commit.files if (each.path, each.blob) in blobs]
            if same:
                turns = tuple(sorted({blobs[each.path, each.blob] for each in same}))
                files = tuple(each.path for each in same)
                self._add(commit.id, LinkKind.CONTENT, turns, commit, files)

    def add_near(self) -> None:
        if not (self._since and self._until):
            return
        until = self._until + _SOON
        branches = {change.value for change in self._session.facts.git_branches}
        near = {
            commit
            for branch in branches
            for commit in self._repository.list_branch(branch, self._since, until)
        }
        for commit in self._commits:
            if commit.id in near:
                self._add(commit.id, LinkKind.TIME, (), commit)

    def _add(
        self,
        commit_id: str,
        kind: LinkKind,
        turns: tuple[int, ...],
        commit: git_repository.Commit | None,
        files: tuple[str, ...] = (),
    ) -> None:
        known = self._links.get(commit_id)
        self._links[commit_id] = CommitLink(
            id=commit_id,
            kind=known.kind if known else kind,
            turns=tuple(sorted({*turns, *(known.turns if known else ())})),
            commit=commit,
            files=files or (known.files if known else ()),
        )

    def list_links(self) -> list[CommitLink]:
        def order(link: CommitLink) -> float:
            return link.commit.time.timestamp() if link.commit else 0.0

        return sorted(self._links.values(), key=order)


def _hash_versions(evidence: list[Evidence], directory: str) -> dict[tuple[str, str], int]:
    """Return the turn of each version by its path in the repository and blob id."""
    paths = {each.path for each in evidence if not isinstance(each, Cause | Rename)}
    found: dict[tuple[str, str], int] = {}
    for path in paths:
        inside = file_paths.relative_to(path, directory)
        for version in replay(path, evidence).versions if inside else ():
            if version.text is None or version.change is None:
                continue
            for text in (version.text, version.text.replace("\n", "\r\n")):
                found[inside or "", hash_blob(text)] = version.origin.turn or 0
    return found


def hash_blob(text: str) -> str:
    """Return the git blob id of a file with this text."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


_UUID_LENGTH: Final = 8
"""Number of characters to keep of a cause's uuid: enough to recognise copies of it."""


def make_outline(session: Session) -> session_outline.Outline:
    """Return the outline of a session with its subagents."""
    maker = _Maker()
    parts: dict[int, list[tuple[int, session_outline.Entry]]] = {}
    for number, each in enumerate(session_evidence.collect_references(session)):
        entry = maker.convert(each)
        parts.setdefault(entry.path, []).append((number, entry))
    trees = [tree for tree in session.facts.worktrees if tree is not None and tree.worktree_path]
    return session_outline.Outline(
        session_id=session.id,
        cwds=tuple(file_paths.normalize_path(change.value) for change in session.facts.cwds),
        worktrees=tuple(
            (
                file_paths.normalize_path(tree.worktree_path or ""),
                file_paths.normalize_path(tree.original_cwd or ""),
            )
            for tree in trees
        ),
        files=tuple(maker.files),
        texts=tuple(maker.texts),
        parts=tuple(
            session_outline.OutlinePart(path, msgspec.Raw(msgspec.msgpack.encode(entries)))
            for path, entries in parts.items()
        ),
        commits=find_mentions(session),
    )


class _Maker:
    """Collects the texts and files of an outline."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {"": 0}
        self.files: dict[bytes, int] = {}

    def convert(self, each: Evidence | Reference) -> session_outline.Entry:
        match each:
            case CallReference():
                return self._convert_call(each)
            case BackupReference():
                origin = self._origin(each.origin)
                return session_outline.BackupEntry(
                    self._put(each.path), origin, each.kind, each.name, each.time
                )
            case Sighting():
                # A sighting that is not a reference: the file did not exist.
                return session_outline.BackupEntry(
                    self._put(each.path), self._origin(each.origin), each.kind, None
                )
            case Rename():
                return session_outline.RenameEntry(
                    self._put(each.path), self._put(each.old_path), self._origin(each.origin)
                )
            case Cause():
                place = each.origin
                uuid = place.uuid[:_UUID_LENGTH] if place.uuid else None
                return session_outline.CauseEntry(
                    each.kind, place.time, uuid, place.turn, self._put(each.path)
                )
        raise TypeError(type(each).__name__)

    def _convert_call(self, call: CallReference) -> session_outline.CallEntry:
        file = os.fsencode(call.spans[0].file) if call.spans else b""
        spans = [number for span in call.spans for number in (span.offset, span.length)]
        place = self.files.setdefault(file, len(self.files))
        return session_outline.CallEntry(
            self._put(call.path), self._origin(call.origin), place, tuple(spans)
        )

    def _origin(self, origin: Origin) -> session_outline.OutlinedOrigin:
        return session_outline.OutlinedOrigin(
            origin.time,
            origin.uuid,
            origin.turn,
            self._put(origin.prompt),
            self._put(origin.agent_id),
            origin.call_id,
            self._put(origin.tool),
            self._put(origin.model),
        )

    def _put(self, text: str | None) -> int:
        # The index cannot store an unpaired surrogate, and no path would match the name.
        clean = (text or "").encode("utf-8", "replace").decode()
        return self.texts.setdefault(clean, len(self.texts))
