"""Session → its outline: what it says about files, with references instead of contents."""

from __future__ import annotations

import os
from typing import Final

import msgspec
from msgspec import Raw

from recollect.session.session import Session
from recollect.versions.commit_links import find_mentions
from recollect.versions.evidence import (
    BackupReference,
    CallReference,
    Cause,
    Evidence,
    Origin,
    Reference,
    Rename,
    Sighting,
)
from recollect.versions.recorded_paths import normalize_path
from recollect.versions.session_evidence import collect_references
from recollect.versions.session_outline import (
    BackupEntry,
    CallEntry,
    CauseEntry,
    Entry,
    Outline,
    OutlinedOrigin,
    OutlinePart,
    RenameEntry,
)

_UUID_LENGTH: Final = 8
"""Characters of the uuid of a cause: enough to recognize its copies."""


def make_outline(session: Session) -> Outline:
    """Return the outline of a session with its subagents."""
    maker = _Maker()
    parts: dict[int, list[tuple[int, Entry]]] = {}
    for number, each in enumerate(collect_references(session)):
        entry = maker.convert(each)
        parts.setdefault(entry.path, []).append((number, entry))
    trees = [tree for tree in session.facts.worktrees if tree is not None and tree.worktree_path]
    return Outline(
        session_id=session.id,
        cwds=tuple(normalize_path(change.value) for change in session.facts.cwds),
        worktrees=tuple(
            (normalize_path(tree.worktree_path or ""), normalize_path(tree.original_cwd or ""))
            for tree in trees
        ),
        files=tuple(maker.files),
        texts=tuple(maker.texts),
        parts=tuple(
            OutlinePart(path, Raw(msgspec.msgpack.encode(entries)))
            for path, entries in parts.items()
        ),
        commits=find_mentions(session),
    )


class _Maker:
    """Collects the texts and files of an outline."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {"": 0}
        self.files: dict[bytes, int] = {}

    def convert(self, each: Evidence | Reference) -> Entry:
        match each:
            case CallReference():
                return self._convert_call(each)
            case BackupReference():
                return BackupEntry(
                    self._put(each.path), self._origin(each.origin), each.kind, each.name
                )
            case Sighting():
                # The only ones that are no reference: the file did not exist.
                return BackupEntry(self._put(each.path), self._origin(each.origin), each.kind, None)
            case Rename():
                return RenameEntry(
                    self._put(each.path), self._put(each.old_path), self._origin(each.origin)
                )
            case Cause():
                origin = each.origin
                uuid = origin.uuid[:_UUID_LENGTH] if origin.uuid else None
                return CauseEntry(each.kind, origin.time, uuid, origin.turn, self._put(each.path))
        raise TypeError(type(each).__name__)

    def _convert_call(self, call: CallReference) -> CallEntry:
        file = os.fsencode(call.spans[0].file) if call.spans else b""
        spans = [number for span in call.spans for number in (span.offset, span.length)]
        place = self.files.setdefault(file, len(self.files))
        return CallEntry(self._put(call.path), self._origin(call.origin), place, tuple(spans))

    def _origin(self, origin: Origin) -> OutlinedOrigin:
        return OutlinedOrigin(
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
        # A lone surrogate has no form in the index; such a name is found by no path either.
        clean = (text or "").encode("utf-8", "replace").decode()
        return self.texts.setdefault(clean, len(self.texts))
