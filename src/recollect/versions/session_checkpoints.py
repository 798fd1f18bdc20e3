"""The state of a session's files at each of its prompts: what a rewind would bring back, and more.

The backups of Claude Code say for certain what a file contained when a prompt was sent. Where there
are none, it is inferred: from the last version before, or from what was seen next if only a person
can have changed it. Files that no tool of the session touched are not covered, and neither is what
shell commands did to files that were never looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from recollect.errors import NothingFound
from recollect.session.session import Session
from recollect.session.turns import Turn
from recollect.versions.backups import Backups
from recollect.versions.evidence import Cause, CauseKind, Rename, Sighting, SightingKind
from recollect.versions.opcode_timelines import OpcodeCheckpoint
from recollect.versions.recorded_paths import normalize_path
from recollect.versions.replay import Grade, Version, VersionKind, replay
from recollect.versions.session_evidence import collect_evidence, name_prompt


class FileState(Struct, frozen=True):
    """A file at a checkpoint; without a version, nothing is known about it then."""

    path: str
    version: Version | None
    exists: bool = True

    @property
    def known(self) -> Grade | None:
        """How well the content is known."""
        return self.version.known if self.version else None


class Checkpoint(Struct, frozen=True, kw_only=True):
    """The files of a session at a prompt, whose turn gives it its number."""

    number: int
    time: str | None
    prompt: str
    files: tuple[FileState, ...]


class SessionCheckpoints(Struct, frozen=True, kw_only=True):
    """The checkpoints of a session, and the directory that it worked in."""

    session_id: str
    directory: str
    checkpoints: tuple[Checkpoint, ...]
    opcode: tuple[OpcodeCheckpoint, ...] = ()
    """Those that opcode made, which are listed only."""

    def find(self, number: int) -> Checkpoint:
        """Return the checkpoint of a turn; raise NothingFound if there is none."""
        for each in self.checkpoints:
            if each.number == number:
                return each
        raise NothingFound(
            f"There is no checkpoint {number}. `recollect checkpoints` lists them all."
        )


def build_checkpoints(session: Session, backups: Backups | None = None) -> SessionCheckpoints:
    """Return the state of all files that the session touched, at each prompt of a person."""
    evidence = collect_evidence(session, backups)
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
    cwds = session.facts.cwds
    return SessionCheckpoints(
        session_id=session.id,
        directory=normalize_path(cwds[0].value) if cwds else "",
        checkpoints=tuple(
            _make(turn, changed, seen) for turn in session.turns if turn.is_by_person
        ),
    )


def _make(
    turn: Turn,
    histories: dict[str, tuple[Version, ...]],
    seen: dict[tuple[str, str], Sighting],
) -> Checkpoint:
    uuids = [uuid for message in turn.messages[:1] for uuid in message.uuids]
    sightings = {
        path: seen[path, uuid] for path in histories for uuid in uuids if (path, uuid) in seen
    }
    return Checkpoint(
        number=turn.number,
        time=turn.start,
        prompt=name_prompt(turn),
        files=tuple(
            _find_state(path, each, turn, sightings.get(path)) for path, each in histories.items()
        ),
    )


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
        # Seen later, before anything of this session changed it.
        is_content = following is not None and following.change is None
        return FileState(path, _doubt(following) if following and is_content else None)
    return FileState(path, _doubt(found), found.exists)


def _find_seen(path: str, versions: Sequence[Version], sighting: Sighting) -> FileState:
    """Return the state that a backup proves."""
    if sighting.text is None:
        return FileState(path, None, exists=False)
    same = [version for version in versions if version.text == sighting.text]
    if not same:
        return FileState(path, None)
    return FileState(path, replace(same[-1], known=Grade.EXACT, backup=sighting.backup))


def _was_there(version: Version, turn: Turn) -> bool:
    """Whether what was seen during a turn was probably there when it began."""
    is_from_person = all(cause.kind in _BY_PERSON for cause in version.causes)
    is_seen = version.kind in (VersionKind.OUTSIDE, VersionKind.DELETED)
    return is_seen and is_from_person and version.origin.turn == turn.number


_BY_PERSON = frozenset({CauseKind.PROMPT, CauseKind.NOTICED})


def _doubt(version: Version) -> Version:
    is_certain = version.known in (Grade.EXACT, Grade.REPLAYED)
    return replace(version, known=Grade.INFERRED) if is_certain else version
