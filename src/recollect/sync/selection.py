"""Which sessions of a list are wanted."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from recollect.library.selection import holds, is_under_way
from recollect.store.listings import Listing


class Conditions(Struct, frozen=True, kw_only=True):
    """What a session must meet; None asks for nothing.

    Texts are looked for within, in any case of letters: `text` in the title, the first prompt and
    the id, `project` in the work directory, `model` in the names of its models.
    """

    text: str | None = None
    project: str | None = None
    branch: str | None = None
    model: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    has_errors: bool = False

    @property
    def needs_figures(self) -> bool:
        """Whether they ask for something that only reading whole transcripts tells."""
        return self.model is not None or self.has_errors


def select(listings: Iterable[Listing], conditions: Conditions) -> list[Listing]:
    """Those of `listings` that meet all conditions, in their order."""
    return [each for each in listings if _fits(each, conditions)]


def _fits(listing: Listing, wanted: Conditions) -> bool:
    return (
        holds(wanted.text, listing.title, listing.first_prompt, listing.id)
        and holds(wanted.project, listing.cwd, listing.project)
        and wanted.branch in (None, listing.git_branch)
        and holds(wanted.model, *listing.models)
        and is_under_way(listing, wanted.since, wanted.until)
        and bool(listing.error_count or not wanted.has_errors)
    )
