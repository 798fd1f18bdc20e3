"""`/s/ID/checkpoints`: the files of a session as they were at a prompt, and what changed after it.

The session is read without a mask, because masked edits do not fit the backups; what is shown is
masked afterwards.
"""

import shlex
from collections.abc import Iterator

from markupsafe import Markup
from msgspec import Struct

from recollect.documents.session_listing import SessionListing
from recollect.documents.turns import Diff
from recollect.launch.proposed_changes import compare_texts
from recollect.library.opening import open_transcript
from recollect.locations.sidecars import find_root_of
from recollect.reader.line_masking import masked_by
from recollect.redact.text_masking import mask_in_lines
from recollect.render.html.html_parts import render_parts
from recollect.versions.backups import BackupDirectory
from recollect.versions.recorded_paths import relative_to
from recollect.versions.session_checkpoints import (
    Checkpoint,
    FileState,
    SessionCheckpoints,
    build_checkpoints,
)
from recollect.web.pages.changes_page import MAX_DIFFS
from recollect.web.pages.session_page import make_address
from recollect.web.parameters import Id
from recollect.web.services import Services
from recollect.web.templating import PageContent


class CheckpointParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which session, and which prompt of it; without one, the first."""

    id: Id
    project: str | None = None
    at: int | None = None


class CheckpointFileRow(Struct, frozen=True, kw_only=True):
    """A file at the checkpoint."""

    path: str
    name: str
    """Relative to the directory of the session, if it is there."""
    known: str | None
    exists: bool
    body: Markup | None
    """What changed until the next checkpoint."""


class CheckpointPage(Struct, frozen=True, kw_only=True):
    """One checkpoint of a session, and the numbers of the others."""

    session: SessionListing
    address: str
    project: str | None
    checkpoints: tuple[Checkpoint, ...]
    chosen: Checkpoint | None
    following: int | None
    is_unchanged: bool
    """Whether all files are known to be the same at the next checkpoint."""
    files: tuple[CheckpointFileRow, ...]
    restore: str


def render_checkpoint_page(services: Services, wanted: CheckpointParameters) -> PageContent:
    """Render the files of a session at one of its prompts."""
    found = services.workspace.locate(wanted.id, wanted.project)
    with masked_by(None):
        session = open_transcript(found.transcript)
    known = build_checkpoints(session, BackupDirectory(find_root_of(found.transcript)))
    first = known.checkpoints[0] if known.checkpoints else None
    chosen = first if wanted.at is None else known.find(wanted.at)
    later = [each for each in known.checkpoints if chosen and each.number > chosen.number]
    following = later[0] if later else None
    page = CheckpointPage(
        session=services.workspace.complete(found.listing),
        address=make_address(wanted.id),
        project=wanted.project,
        checkpoints=known.checkpoints,
        chosen=chosen,
        following=following.number if following else None,
        is_unchanged=_is_unchanged(chosen, following),
        files=tuple(_iter_files(known, chosen, following)) if chosen else (),
        restore=_name_command(wanted.id, chosen) if chosen else "",
    )
    return PageContent("checkpoints.html", page, title="checkpoints.title", section="sessions")


def _name_command(session_id: str, chosen: Checkpoint) -> str:
    words = ["recollect", "restore", session_id, "--checkpoint", str(chosen.number)]
    return shlex.join(words)


def _iter_files(
    known: SessionCheckpoints, chosen: Checkpoint, following: Checkpoint | None
) -> Iterator[CheckpointFileRow]:
    later = {each.path: each for each in following.files} if following else {}
    drawn = 0
    for state in chosen.files:
        body = _compare(state, later[state.path]) if state.path in later else None
        drawn += body is not None
        yield CheckpointFileRow(
            path=state.path,
            name=relative_to(state.path, known.directory) or state.path,
            known=state.known.value if state.known else None,
            exists=state.exists,
            body=body if drawn <= MAX_DIFFS else None,
        )


def _is_unchanged(chosen: Checkpoint | None, following: Checkpoint | None) -> bool:
    if chosen is None or following is None:
        return False
    states = list(map(_read, chosen.files))
    return None not in states and states == list(map(_read, following.files))


def _compare(before: FileState, after: FileState) -> Markup | None:
    """Return what changed between two states, if that is known and anything did."""
    old, new = _read(before), _read(after)
    if old is None or new is None or old == new:
        return None
    hunks = compare_texts(old, new)
    return render_parts([Diff(before.path, hunks, is_new_file=not before.exists)])


def _read(state: FileState) -> str | None:
    if not state.exists:
        return ""
    text = state.version.text if state.version else None
    return None if text is None else mask_in_lines(text)
