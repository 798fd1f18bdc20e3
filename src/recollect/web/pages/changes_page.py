"""`/s/{id}/changes`: the files that a session changed, with the prompt of each change; and
`/s/{id}/checkpoints`: its files as they were at a prompt, and the changes after it.

For checkpoints, the session is read unmasked, because masked edits do not match the backups; the
result is masked afterwards.
"""

import shlex
from collections.abc import Iterator
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from recollect.documents.file_versions import FileChange
from recollect.documents.session_listing import SessionListing
from recollect.documents.turn_documents import Diff
from recollect.launch.request_details import compare_texts
from recollect.library.opening import open_transcript
from recollect.reader.line_blocks import masked_by
from recollect.redact.quick_masks import mask_in_lines, mask_path
from recollect.render.html.html_parts import render_parts
from recollect.render.views.overview import list_changes
from recollect.session.session import Session
from recollect.versions.file_paths import relative_to
from recollect.versions.recorded_evidence import BackupDirectory
from recollect.versions.session_checkpoints import (
    Checkpoint,
    FileState,
    SessionCheckpoints,
    build_checkpoints,
)
from recollect.web.http_messages import Id
from recollect.web.pages.session_page import make_file_url, make_session_url
from recollect.web.services import Services
from recollect.web.session_endpoints import SessionParameters
from recollect.web.template_filters import split_name
from recollect.web.templating import PageContent

MAX_DIFFS: Final = 300
"""Maximum number of changes with a diff on one page."""


class RenderedChange(Struct, frozen=True, kw_only=True):
    """A change of a file; `body` is None beyond the maximum of diffs on a page."""

    change: FileChange
    body: Markup | None
    url: str
    """The URL of the call that made it, or that started the subagent that made it."""
    turn: int | None
    """The number of that turn."""


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file and its changes, oldest first."""

    number: int
    link: str
    """Its page; empty if its name contains a secret."""
    folder: str
    """Relative to the directory of the session, if inside."""
    name: str
    changes: tuple[RenderedChange, ...]
    lines_added: int
    lines_removed: int


class ChangesPage(Struct, frozen=True, kw_only=True):
    """The files that a session changed, in the order of their first change."""

    session: SessionListing
    url: str
    files: tuple[ChangedFile, ...]
    changes: int
    lines_added: int
    lines_removed: int


class _Origin(Struct, frozen=True):
    """The turn and the anchor of a call."""

    uuid: str | None
    turn: int | None


def render_changes_page(services: Services, wanted: SessionParameters) -> PageContent:
    """Render the changes of a session and its subagents, by file."""
    found = services.workspace.locate(wanted.id, wanted.project)
    with services.workspace.use(found) as session:
        changes = list_changes([session], with_diff=True)
        origins = dict(_iter_origins(session))
    drawn = [
        RenderedChange(
            change=change,
            body=render_parts(change.diff) if number < MAX_DIFFS else None,
            url=make_session_url(wanted.id, at=origins[change.call_id].uuid),
            turn=origins[change.call_id].turn,
        )
        for number, change in enumerate(changes)
    ]
    files = tuple(_group(drawn, found.listing.cwd))
    page = ChangesPage(
        session=services.workspace.complete(found.listing),
        url=make_session_url(wanted.id),
        files=files,
        changes=len(drawn),
        lines_added=sum(each.lines_added for each in files),
        lines_removed=sum(each.lines_removed for each in files),
    )
    return PageContent("changes.html", page, title="session.changes", section="sessions")


def _iter_origins(session: Session) -> Iterator[tuple[str, _Origin]]:
    """Yield the id and the origin of each call, including calls by subagents."""
    turns = {
        uuid: turn.number
        for turn in session.turns
        for message in turn.messages
        for uuid in message.uuids
    }
    for call in session.tool_calls:
        yield call.id, _Origin(call.call_uuid, turns.get(call.call_uuid or ""))
    for child in session.subagents:
        uuid = child.call.call_uuid if child.call else None
        origin = _Origin(uuid, turns.get(uuid or ""))
        for name, _ in _iter_origins(child.session):
            yield name, origin


def _group(changes: list[RenderedChange], directory: str | None) -> Iterator[ChangedFile]:
    by_path: dict[str, list[RenderedChange]] = {}
    for each in changes:
        by_path.setdefault(each.change.path, []).append(each)
    for number, (path, members) in enumerate(by_path.items(), 1):
        folder, name = split_name(path, directory)
        yield ChangedFile(
            number=number,
            link=make_file_url(path),
            folder=folder,
            name=name,
            changes=tuple(members),
            lines_added=sum(each.change.lines_added for each in members),
            lines_removed=sum(each.change.lines_removed for each in members),
        )


class CheckpointParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a session, and the number of a prompt, by default the first."""

    id: Id
    project: str | None = None
    at: int | None = None


class CheckpointFileRow(Struct, frozen=True, kw_only=True):
    """A file at the checkpoint."""

    link: str
    """Its page; empty if its name contains a secret."""
    name: str
    """Relative to the directory of the session, if inside."""
    known: str | None
    exists: bool
    body: Markup | None
    """The changes until the next checkpoint."""


class CheckpointPage(Struct, frozen=True, kw_only=True):
    """One checkpoint of a session, and the numbers of the others."""

    session: SessionListing
    url: str
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
    known = build_checkpoints(session, BackupDirectory(found.transcript.root))
    first = known.checkpoints[0] if known.checkpoints else None
    chosen = first if wanted.at is None else known.find(wanted.at)
    later = [each for each in known.checkpoints if chosen and each.number > chosen.number]
    following = later[0] if later else None
    page = CheckpointPage(
        session=services.workspace.complete(found.listing),
        url=make_session_url(wanted.id),
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
            link=make_file_url(state.path),
            name=mask_path(relative_to(state.path, known.directory) or state.path),
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
    """Return the diff between two states, if both are known and differ."""
    old, new = _read(before), _read(after)
    if old is None or new is None or old == new:
        return None
    hunks = compare_texts(old, new)
    return render_parts([Diff(mask_path(before.path), hunks, is_new_file=not before.exists)])


def _read(state: FileState) -> str | None:
    if not state.exists:
        return ""
    text = state.version.text if state.version else None
    return None if text is None else mask_in_lines(text)
