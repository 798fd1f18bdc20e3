"""The state of a session's files at each of its prompts: what a rewind would bring back, and more.

At a prompt a file is what its last version before it says. A file that was touched later for the
first time had the content that was seen then. Files that no tool of the session touched are not
covered, and neither is what shell commands did to files that were never looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from recollect.errors import NothingFound
from recollect.session.session import Session
from recollect.session.turns import Turn
from recollect.versions.evidence import Cause, Rename
from recollect.versions.recorded_paths import normalize_path
from recollect.versions.replay import Grade, Version, VersionKind, replay
from recollect.versions.session_evidence import Backups, collect_evidence, name_prompt


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
    evidence = collect_evidence(session, backups=backups)
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
        checkpoints=tuple(_make(turn, changed) for turn in session.turns if turn.is_by_person),
    )


def _make(turn: Turn, histories: dict[str, tuple[Version, ...]]) -> Checkpoint:
    return Checkpoint(
        number=turn.number,
        time=turn.start,
        prompt=name_prompt(turn),
        files=tuple(_find_state(path, each, turn) for path, each in histories.items()),
    )


def _find_state(path: str, versions: Sequence[Version], turn: Turn) -> FileState:
    before = [version for version in versions if _is_before(version, turn)]
    if before:
        last = before[-1]
        return FileState(path, last, last.exists)
    first = versions[0]
    if first.change is not None and first.change.is_new:
        return FileState(path, None, exists=False)
    if first.change is None and first.exists:
        # Seen later, before anything of this session changed it; a person may have in between.
        is_backup = first.backup is not None
        return FileState(path, first if is_backup else replace(first, known=Grade.INFERRED))
    return FileState(path, None)


def _is_before(version: Version, turn: Turn) -> bool:
    """Whether a version was there when the prompt was sent."""
    number = version.origin.turn
    if number is None:
        return False
    is_seen_at_prompt = version.origin.call_id is None and version.change is None
    return number < turn.number or (number == turn.number and is_seen_at_prompt)
