"""`/s/{id}/changes`: what a session changed in files."""

from markupsafe import Markup
from msgspec import Struct

from recollect.render.html.parts import render_parts
from recollect.render.views.file_changes import Change, list_changes
from recollect.web.api.rows import SessionRow, make_row
from recollect.web.api.sessions import SessionParameters, locate
from recollect.web.pages.drawn import Drawn
from recollect.web.pages.session import make_address
from recollect.web.services import Services

MOST_DIFFS = 300
"""Changes that are drawn whole on one page."""


class DrawnChange(Struct, frozen=True, kw_only=True):
    """A change of a file; `body` is None where a page already shows enough of them."""

    change: Change
    body: Markup | None


class ChangesPage(Struct, frozen=True, kw_only=True):
    """What a session changed in files."""

    session: SessionRow
    address: str
    changes: tuple[DrawnChange, ...]
    files: int
    lines_added: int
    lines_removed: int


def draw_changes(services: Services, wanted: SessionParameters) -> Drawn:
    """What a session and its subagents changed, in the order of time."""
    found = locate(services, wanted)
    with services.opened.use(found) as session:
        changes = list_changes([session], with_diff=True)
    drawn = tuple(
        DrawnChange(change=change, body=render_parts(change.parts) if number < MOST_DIFFS else None)
        for number, change in enumerate(changes)
    )
    page = ChangesPage(
        session=make_row(services.shelf.known, found.listing),
        address=make_address(wanted.id),
        changes=drawn,
        files=len({change.path for change in changes}),
        lines_added=sum(change.lines_added for change in changes),
        lines_removed=sum(change.lines_removed for change in changes),
    )
    return Drawn("changes.html", page, title="session.changes", section="sessions")
