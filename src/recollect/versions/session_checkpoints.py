"""The state of a session's files at each prompt, which includes everything that a rewind would
restore; and the checkpoints that opcode, a front end for Claude Code, keeps beside a session.

`.timelines/SESSION/timeline.json` has a tree of opcode's checkpoints; the content of files is
beside it in a compressed pool. They are only listed and never used as a source of versions: opcode
copies a whole project when a message is complete, so the change that made a file is unknown.

The backups of Claude Code contain the exact content of a file when a prompt was sent. Without a
backup, the content is inferred from the previous version, or from the next one seen if only a
person can have changed the file. Files that no tool of the session touched are not covered, nor are
changes by shell commands to files that were never read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from recollect.errors import NothingFound
from recollect.library.processes import read_small
from recollect.locations import Transcript, is_plain_name
from recollect.locations.claude_directories import TIMELINES_DIRECTORY
from recollect.redact.quick_masks import cut_text, mask_name, mask_words
from recollect.session.session import Session
from recollect.session.times import parse_time
from recollect.session.turns import Turn
from recollect.sources.safe_files import find_directory
from recollect.versions import file_paths, recorded_evidence, session_evidence
from recollect.versions.evidence import Cause, CauseKind, Rename, Sighting, SightingKind
from recollect.versions.replay import Grade, Version, VersionKind, replay

_FILE_NAME: Final = "timeline.json"
_MAX_SIZE: Final = 16 * 1024 * 1024
_MAX_PROMPT: Final = 500


class OpcodeCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A project state that opcode saved."""

    id: str
    time: str | None
    words: str
    """Its description, or the prompt before it, as one line without definite secrets."""
    files: int


class _Metadata(msgspec.Struct, rename="camel"):
    user_prompt: str = ""


class _Checkpoint(msgspec.Struct, rename="camel"):
    id: str
    timestamp: str | None = None
    description: str | None = None
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Node(msgspec.Struct, rename="camel"):
    checkpoint: _Checkpoint
    children: tuple[_Node, ...] = ()
    file_snapshot_ids: tuple[str, ...] = ()


class _Timeline(msgspec.Struct, rename="camel"):
    root_node: _Node | None = None


def list_opcode_checkpoints(transcript: Transcript) -> tuple[OpcodeCheckpoint, ...]:
    """Return opcode's checkpoints of a session, oldest first; none if unreadable."""
    name = transcript.session_id or ""
    if not is_plain_name(name):
        return ()
    place = find_directory(transcript.project_dir, TIMELINES_DIRECTORY, name)
    data = read_small(place / _FILE_NAME, _MAX_SIZE) if isinstance(place, Path) else None
    if data is None:
        return ()
    try:
        timeline = msgspec.json.decode(data, type=_Timeline)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ()
    return tuple(sorted(_list_nodes(timeline.root_node), key=lambda each: each.time or ""))


def _list_nodes(root: _Node | None) -> list[OpcodeCheckpoint]:
    pending = [root] if root else []
    found: list[OpcodeCheckpoint] = []
    while pending:
        node = pending.pop()
        found.append(_describe(node))
        pending += node.children
    return found


def _describe(node: _Node) -> OpcodeCheckpoint:
    checkpoint = node.checkpoint
    words = mask_words(checkpoint.description or checkpoint.metadata.user_prompt)
    return OpcodeCheckpoint(
        id=mask_name(checkpoint.id),
        time=checkpoint.timestamp if parse_time(checkpoint.timestamp) else None,
        words=cut_text(" ".join(cut_text(words, 2 * _MAX_PROMPT).split()), _MAX_PROMPT),
        files=len(node.file_snapshot_ids),
    )


class FileState(msgspec.Struct, frozen=True):
    """A file at a checkpoint; without a version, its content is unknown."""

    path: str
    version: Version | None
    exists: bool = True

    @property
    def known(self) -> Grade | None:
        """Return how certain the content is."""
        return self.version.known if self.version else None


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a session at a prompt; numbered by the turn of the prompt."""

    number: int
    time: str | None
    prompt: str
    files: tuple[FileState, ...]


class SessionCheckpoints(msgspec.Struct, frozen=True, kw_only=True):
    """The checkpoints of a session, and its working directory."""

    session_id: str
    directory: str
    checkpoints: tuple[Checkpoint, ...]
    opcode: tuple[OpcodeCheckpoint, ...] = ()
    """The checkpoints made by opcode, which are only listed."""

    def find(self, number: int) -> Checkpoint:
        """Return the checkpoint of a turn; raise NothingFound if there is none."""
        for each in self.checkpoints:
            if each.number == number:
                return each
        raise NothingFound(
            f"There is no checkpoint {number}. `recollect checkpoints` lists them all."
        )


def build_checkpoints(
    session: Session, backups: recorded_evidence.Backups | None = None
) -> SessionCheckpoints:
    """Return the state of all files that the session touched, at each user prompt."""
    evidence = session_evidence.collect_evidence(session, backups)
    seen = {
        (each.path, each.origin.uuid or ""): each
        for each in evidence
        if isinstance(each, Sighting) and each.kind is SightingKind.BACKUP
    }
    paths = sorted({each.path for each in evidence if not isinstance(each, Cause | Rename)})
    histories = {path: replay(path, evidence).versions for path in paths}
    changed = {
        path: versions
        for path, versions in histories.items()
        if any(version.kind is not VersionKind.SEEN for version in versions)
    }
    renames = [each for each in evidence if isinstance(each, Rename)]
    cwds = session.facts.cwds
    return SessionCheckpoints(
        session_id=session.id,
        directory=file_paths.normalize_path(cwds[0].value) if cwds else "",
        checkpoints=tuple(
            _make(turn, changed, seen, renames) for turn in session.turns if turn.is_by_person
        ),
    )


def _make(
    turn: Turn,
    histories: dict[str, tuple[Version, ...]],
    seen: dict[tuple[str, str], Sighting],
    renames: Sequence[Rename],
) -> Checkpoint:
    uuids = [uuid for message in turn.messages[:1] for uuid in message.uuids]
    sightings = {
        path: seen[path, uuid] for path in histories for uuid in uuids if (path, uuid) in seen
    }
    states = []
    for path, versions in histories.items():
        name = _name_at(turn, path, renames)
        if name == path or name not in histories:
            states.append(_find_state(name, versions, turn, sightings.get(path)))
    return Checkpoint(
        number=turn.number,
        time=turn.start,
        prompt=session_evidence.name_prompt(turn),
        files=tuple(states),
    )


def _name_at(turn: Turn, path: str, renames: Sequence[Rename]) -> str:
    """Return the name of a file at a prompt, before later commands moved it."""
    for each in reversed(renames):
        if each.path == path and (each.origin.turn or 0) >= turn.number:
            path = each.old_path
    return path


def _find_state(
    path: str, versions: Sequence[Version], turn: Turn, sighting: Sighting | None
) -> FileState:
    if sighting is not None:
        return _find_seen(path, versions, sighting)
    before = [version for version in versions if (version.origin.turn or 0) < turn.number]
    following = versions[len(before)] if len(before) < len(versions) else None
    if following is not None and _was_there(following, turn):
        found = following
    elif before:
        found = before[-1]
    elif following is not None and following.change is not None and following.change.is_new:
        return FileState(path, None, exists=False)
    else:
        # Seen later, before this session changed it.
        is_content = following is not None and following.change is None
        return FileState(path, _downgrade(following) if following and is_content else None)
    return FileState(path, _downgrade(found), found.exists)


def _find_seen(path: str, versions: Sequence[Version], sighting: Sighting) -> FileState:
    """Return the state that is proven by a backup."""
    if sighting.text is None:
        return FileState(path, None, exists=False)
    same = [version for version in versions if version.text == sighting.text]
    if not same:
        return FileState(path, None)
    return FileState(
        path, msgspec.structs.replace(same[-1], known=Grade.EXACT, backup=sighting.backup)
    )


def _was_there(version: Version, turn: Turn) -> bool:
    """Return whether content seen during a turn probably existed when the turn began."""
    is_from_person = all(cause.kind in _BY_PERSON for cause in version.causes)
    is_seen = version.kind in (VersionKind.OUTSIDE, VersionKind.DELETED)
    return is_seen and is_from_person and version.origin.turn == turn.number


_BY_PERSON = frozenset({CauseKind.PROMPT, CauseKind.NOTICED})


def _downgrade(version: Version) -> Version:
    is_certain = version.known in (Grade.EXACT, Grade.REPLAYED)
    return msgspec.structs.replace(version, known=Grade.INFERRED) if is_certain else version
