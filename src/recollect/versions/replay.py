"""Replay evidence into versions: the content of a file over time, and how certain it is.

A text is carried from one piece of evidence to the next. It stays certain only while no unseen
change is possible: the client refuses to edit a file that changed since it was read, so an edit
with a result proves that the file was unchanged, unless part of it was read again in between or the
client reports that it went ahead anyway. Everything else is inferred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from recollect.records.tools import count_patch_lines
from recollect.versions import file_texts
from recollect.versions.evidence import (
    BackupName,
    Cause,
    CauseKind,
    Change,
    Evidence,
    FileEvidence,
    Origin,
    Rename,
    Sighting,
    SightingKind,
    Window,
)


class Grade(StrEnum):
    """How certain the content of a version is."""

    EXACT = "exact"
    """The whole content is recorded."""
    REPLAYED = "replayed"
    """An unbroken chain of edits leads to it from an exact version."""
    INFERRED = "inferred"
    """It agrees with all records, but an unseen change is possible."""
    PARTIAL = "partial"
    """Only the changed lines are known."""


class VersionKind(StrEnum):
    """The origin of a version."""

    WRITE = "write"
    EDIT = "edit"
    SEEN = "seen"
    """The first known content, or the first known again, without a change that made it."""
    OUTSIDE = "outside"
    """Changed by something other than a tool that edits files."""
    DELETED = "deleted"


class Version(Struct, frozen=True, kw_only=True):
    """The content of a file for a period of time; `text` is None if it is not known."""

    number: int
    path: str
    kind: VersionKind
    known: Grade
    origin: Origin
    text: str | None
    added: int = 0
    removed: int = 0
    causes: tuple[Cause, ...] = ()
    """For an outside change: its possible causes, most likely first."""
    change: Change | None = None
    windows: tuple[Window, ...] = ()
    """For a partial version: the lines that were seen."""
    backup: BackupName | None = None
    """The file-history backup with the content."""

    @property
    def exists(self) -> bool:
        """Whether the file existed."""
        return self.kind is not VersionKind.DELETED


class CheckedPrediction(Struct, frozen=True, kw_only=True):
    """A predicted content that was compared with recorded content."""

    path: str
    origin: Origin
    predicted: Grade
    agrees: bool
    causes: tuple[Cause, ...] = ()


class Replay(Struct, frozen=True):
    """The versions of one file, oldest first, and the checked predictions."""

    versions: tuple[Version, ...]
    checks: tuple[CheckedPrediction, ...]
    later_causes: tuple[Cause, ...] = ()
    """Possible causes of changes after the last evidence."""


FindBase = Callable[[Change, Sequence[Window]], str | None]
"""Returns a committed content that fits a change and windows."""


def replay(path: str, evidence: Iterable[Evidence], find_base: FindBase | None = None) -> Replay:
    """Return the versions of the file at `path`; evidence about other files is ignored."""
    machine = _Machine(path, find_base)
    for each in _drop_late_copies(follow_renames(path, list(evidence))):
        machine.take(each)
    versions = tuple(_fill_backwards(machine.versions))
    return Replay(versions, tuple(machine.checks), tuple(machine.causes.values()))


def follow_renames(path: str, evidence: Sequence[Evidence]) -> list[FileEvidence | Cause]:
    """Return the evidence about the file at `path`, including under its earlier names."""
    name = path
    found: list[FileEvidence | Cause] = []
    for each in reversed(evidence):
        match each:
            case Rename() if each.path == name and _is_known(each.old_path, evidence):
                name = each.old_path
            case Cause() if each.path in (name, None):
                found.append(each)
            case Change() | Sighting() | Window() if each.path == name:
                found.append(each if name == path else replace(each, path=path))
    return found[::-1]


def _is_known(path: str, evidence: Iterable[Evidence]) -> bool:
    """Return whether there was such a file: a tool used it, or a command moved a file there."""
    return any(each.path == path and not isinstance(each, Cause) for each in evidence)


def _drop_late_copies(evidence: Sequence[FileEvidence | Cause]) -> list[FileEvidence | Cause]:
    """Leave out first backups that a change contradicts or makes unnecessary.

    2.0.x sometimes copies the file after its first edit; then the edit itself is right.
    """
    kept: list[FileEvidence | Cause] = []
    following: Change | None = None
    for each in reversed(evidence):
        if isinstance(each, Change):
            following = each
        if isinstance(each, Sighting) and each.kind is SightingKind.FIRST_BACKUP:
            known = following is not None and (following.before is not None or following.is_new)
            if known:
                continue
        kept.append(each)
    return kept[::-1]


class _Machine:
    """The state of one file while its evidence is replayed."""

    def __init__(self, path: str, find_base: FindBase | None) -> None:
        self._path = path
        self.versions: list[Version] = []
        self.checks: list[CheckedPrediction] = []
        self._find_base = find_base
        self._text: str | None = None
        self._grade = Grade.PARTIAL
        self._is_deleted = False
        self._session: str | None = None
        self.causes: dict[CauseKind, Cause] = {}
        """Possible causes of changes since then, the last of each kind."""
        self._is_unsure = False
        self._windows: list[Window] = []

    def take(self, evidence: FileEvidence | Cause) -> None:
        if isinstance(evidence, Cause):
            self.causes[evidence.kind] = evidence
            return
        self._cross_session(evidence)
        match evidence:
            case Sighting():
                self._compare_content(evidence.text, evidence.origin, evidence.backup)
            case Window():
                self._read_window(evidence)
            case Change():
                self._change(evidence)

    def _cross_session(self, evidence: FileEvidence) -> None:
        session = evidence.origin.session_id
        if self._session not in (None, session):
            # Half of all files change between sessions, and no client checks that.
            cause = Cause(kind=CauseKind.SESSION, origin=evidence.origin)
            self.causes[cause.kind] = cause
            self._is_unsure = True
        self._session = session

    def _confirm(self, text: str | None, grade: Grade) -> None:
        """Continue with `text` as the content."""
        self._text, self._grade = text, grade
        self._is_deleted = False
        self.causes.clear()
        self._windows.clear()
        self._is_unsure = False

    def _compare_content(
        self, text: str | None, origin: Origin, backup: BackupName | None = None
    ) -> None:
        """Compare with a recorded whole content."""
        if text is None:
            self._record_absence(origin)
            return
        predicted = self._text
        if predicted is not None:
            self._note_check(origin, agrees=predicted == text)
        if predicted == text and self._grade is not Grade.INFERRED:
            self._upgrade(backup)
            self._confirm(text, Grade.EXACT)
            return
        kind = VersionKind.SEEN
        if (predicted is not None and predicted != text) or self._is_deleted:
            kind = VersionKind.OUTSIDE
        self._adopt_into_partial(text)
        self._append(kind, Grade.EXACT, origin, text)
        self.versions[-1] = replace(self.versions[-1], backup=backup)
        self._confirm(text, Grade.EXACT)

    def _record_absence(self, origin: Origin) -> None:
        if not self._is_deleted and self.versions:
            self._append(VersionKind.DELETED, Grade.EXACT, origin, None)
        self._confirm(None, Grade.EXACT)
        self._is_deleted = True

    def _note_check(self, origin: Origin, *, agrees: bool) -> None:
        if self._grade is Grade.EXACT and not self.causes and agrees:
            return
        self.checks.append(
            CheckedPrediction(
                path=self._path,
                origin=origin,
                predicted=self._grade,
                agrees=agrees,
                causes=tuple(self._rank_causes()),
            )
        )

    def _upgrade(self, backup: BackupName | None) -> None:
        """Mark a replayed content as exact, because it was seen later."""
        if not self.versions or self.versions[-1].text != self._text:
            return
        last = self.versions[-1]
        known = Grade.EXACT if last.known is Grade.REPLAYED else last.known
        self.versions[-1] = replace(last, known=known, backup=last.backup or backup)

    def _adopt_into_partial(self, text: str) -> None:
        """Give a partial version the content that was seen after it, if that contains its lines."""
        last = self.versions[-1] if self.versions else None
        if last is None or last.known is not Grade.PARTIAL or last.change is None:
            return
        if last.change.hunks and file_texts.reconcile_with_patch(text, last.change.hunks) == text:
            self.versions[-1] = replace(last, text=text, known=Grade.INFERRED)

    def _read_window(self, window: Window) -> None:
        """Compare with recorded lines."""
        if self._text is None:
            self._windows.append(window)
        elif not file_texts.fits_window(self._text, window.start, window.lines, window.total):
            self._append(VersionKind.OUTSIDE, Grade.PARTIAL, window.origin, None)
            self._confirm(None, Grade.PARTIAL)
            self._windows.append(window)
        elif self.causes:
            # The client now considers the file read: its next edit proves nothing about the rest.
            self._is_unsure = True

    def _change(self, change: Change) -> None:
        if change.before is not None and not change.is_new:
            self._compare_content(change.before, change.origin)
        elif change.is_new and self._text is not None:
            self._append(VersionKind.DELETED, Grade.EXACT, change.origin, None)
            self._confirm(None, Grade.EXACT)
        elif change.after is not None and not change.is_modified:
            self._see_patched(change, change.after)
        elif self._text is None and not self._is_deleted:
            self._start_from_base(change)
        if change.after is not None and not change.is_modified:
            self._append_change(change, change.after, Grade.EXACT)
        else:
            self._apply(change)

    def _see_patched(self, change: Change, after: str) -> None:
        """Compare with the content before the patch of a whole file."""
        before = file_texts.revert_patch(after, change.hunks)
        if (
            before is None
            or self._text is None
            or file_texts.equals_ignoring_tabs(before, self._text)
        ):
            return
        self._append(VersionKind.OUTSIDE, Grade.INFERRED, change.origin, before)
        self._confirm(before, Grade.INFERRED)

    def _start_from_base(self, change: Change) -> None:
        """Start with a committed content that fits the change and all windows."""
        if change.is_new or self._find_base is None or not (change.hunks or change.steps):
            return
        if self.versions:
            # Content seen before is not committed yet, so no committed content can be right.
            return
        base = self._find_base(change, tuple(self._windows))
        if base is not None:
            origin = Origin(session_id=change.origin.session_id, time=change.origin.time)
            self._append(VersionKind.SEEN, Grade.INFERRED, origin, base)
            self._text, self._grade = base, Grade.INFERRED

    def _apply(self, change: Change) -> None:
        text = "" if change.is_new else self._text
        after = predict(text, change) if text is not None and change.steps else None
        if after is None:
            self._append_change(change, None, Grade.PARTIAL)
        elif self._is_certain(change):
            self._append_change(change, after, Grade.REPLAYED)
        else:
            self._append_change(change, after, Grade.INFERRED)

    def _is_certain(self, change: Change) -> bool:
        if change.is_new or change.before is not None:
            return not change.is_modified
        if self._grade is Grade.INFERRED or change.is_modified or change.is_stale:
            return False
        return not (self._is_unsure or (self.causes and not change.has_result))

    def _append_change(self, change: Change, text: str | None, grade: Grade) -> None:
        kind = VersionKind.EDIT if change.after is None else VersionKind.WRITE
        self._append(kind, grade, change.origin, text, change)
        self._confirm(text, grade)

    def _append(
        self,
        kind: VersionKind,
        grade: Grade,
        origin: Origin,
        text: str | None,
        change: Change | None = None,
    ) -> None:
        added, removed = self._count(text, change)
        is_outside = kind in (VersionKind.OUTSIDE, VersionKind.DELETED)
        self.versions.append(
            Version(
                number=len(self.versions) + 1,
                path=self._path,
                kind=kind,
                known=grade,
                origin=origin,
                text=text,
                added=added,
                removed=removed,
                causes=tuple(self._rank_causes()) if is_outside else (),
                change=change,
                windows=tuple(self._windows) if text is None else (),
            )
        )

    def _count(self, text: str | None, change: Change | None) -> tuple[int, int]:
        if change and change.hunks:
            counted = count_patch_lines(change.hunks)
            return counted.added, counted.removed
        before = self._text
        if text is None:
            return 0, (len(file_texts.split_lines(before)) if before and change is None else 0)
        return file_texts.count_changes(
            file_texts.split_lines(before or ""), file_texts.split_lines(text)
        )

    def _rank_causes(self) -> list[Cause]:
        """Return the causes, most specific first."""
        order = {kind: place for place, kind in enumerate(_RANK)}
        return sorted(self.causes.values(), key=lambda cause: order[cause.kind])


_RANK: Final = (
    CauseKind.FORMATTER,
    CauseKind.GIT,
    CauseKind.SHELL,
    CauseKind.HOOK,
    CauseKind.SUBAGENT,
    CauseKind.TOOL,
    CauseKind.SESSION,
    CauseKind.NOTICED,
    CauseKind.PROMPT,
)


def predict(text: str, change: Change) -> str | None:
    """Return the content after a change; None if the change does not fit."""
    if not file_texts.fits_patch_before(text, change.hunks):
        return None
    after = file_texts.apply_steps(text, change.steps)
    return None if after is None else file_texts.reconcile_with_patch(after, change.hunks)


def _fill_backwards(versions: Sequence[Version]) -> list[Version]:
    """Give partial versions the content that results from undoing the next change."""
    filled = list(versions)
    for at in range(len(filled) - 2, -1, -1):
        version, following = filled[at], filled[at + 1]
        if version.known is not Grade.PARTIAL or following.change is None:
            continue
        if following.text is None or following.known is Grade.PARTIAL:
            continue
        text = _revert(following.text, following.change)
        if text is not None and version.change and version.change.hunks:
            text = (
                text
                if file_texts.reconcile_with_patch(text, version.change.hunks) == text
                else None
            )
        if text is not None:
            filled[at] = replace(version, text=text, known=Grade.INFERRED)
    return filled


def _revert(text: str, change: Change) -> str | None:
    if change.is_new:
        return None
    return (
        file_texts.revert_steps(text, change.steps)
        if change.steps
        else file_texts.revert_patch(text, change.hunks)
    )
