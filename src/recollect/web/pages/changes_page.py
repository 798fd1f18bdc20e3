"""`/s/{id}/changes`: the files that a session changed, and each change with its prompt."""

from collections.abc import Iterator
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from recollect.documents.file_versions import FileChange
from recollect.documents.session_listing import SessionListing
from recollect.render.html.html_parts import render_parts
from recollect.render.views.overview import list_changes
from recollect.render.views.part_builders import shorten_path
from recollect.session.session import Session
from recollect.web.api.session_endpoints import SessionParameters
from recollect.web.pages.session_page import make_address
from recollect.web.services import Services
from recollect.web.templating import PageContent

MAX_DIFFS: Final = 300
"""Changes that are shown completely on one page."""


class RenderedChange(Struct, frozen=True, kw_only=True):
    """A change of a file; `body` is None if the page already has enough of them."""

    change: FileChange
    body: Markup | None
    address: str
    """The call in the session that made it, or that started the subagent which did."""
    turn: int | None
    """The number of that turn."""


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file and its changes, in the order of time."""

    number: int
    path: str
    folder: str
    """Relative to the directory of the session, as far as it lies there."""
    name: str
    changes: tuple[RenderedChange, ...]
    lines_added: int
    lines_removed: int


class ChangesPage(Struct, frozen=True, kw_only=True):
    """The files that a session changed, in the order of their first change."""

    session: SessionListing
    address: str
    files: tuple[ChangedFile, ...]
    changes: int
    lines_added: int
    lines_removed: int


class _Origin(Struct, frozen=True):
    """Where in a session a call belongs."""

    uuid: str | None
    turn: int | None


def render_changes_page(services: Services, wanted: SessionParameters) -> PageContent:
    """Render what a session and its subagents changed, by file."""
    found = services.workspace.locate(wanted.id, wanted.project)
    with services.workspace.use(found) as session:
        changes = list_changes([session], with_diff=True)
        origins = dict(_iter_origins(session))
    drawn = [
        RenderedChange(
            change=change,
            body=render_parts(change.diff) if number < MAX_DIFFS else None,
            address=make_address(wanted.id, at=origins[change.call_id].uuid),
            turn=origins[change.call_id].turn,
        )
        for number, change in enumerate(changes)
    ]
    files = tuple(_group(drawn, found.listing.cwd))
    page = ChangesPage(
        session=services.workspace.complete(found.listing),
        address=make_address(wanted.id),
        files=files,
        changes=len(drawn),
        lines_added=sum(each.lines_added for each in files),
        lines_removed=sum(each.lines_removed for each in files),
    )
    return PageContent("changes.html", page, title="session.changes", section="sessions")


def _iter_origins(session: Session) -> Iterator[tuple[str, _Origin]]:
    """Yield the place of each call, also of those that subagents made, by the id of the call."""
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
        shown = shorten_path(path, directory)
        at = max(shown.rfind("/"), shown.rfind("\\")) + 1
        yield ChangedFile(
            number=number,
            path=path,
            folder=shown[:at],
            name=shown[at:],
            changes=tuple(members),
            lines_added=sum(each.change.lines_added for each in members),
            lines_removed=sum(each.change.lines_removed for each in members),
        )
