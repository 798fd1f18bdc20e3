"""What `recollect doctor` knows: what is on disk, what is new in it, and what is broken."""

from msgspec import Struct

from recollect.health.report import Report
from recollect.web.api.projects import NoParameters
from recollect.web.services import Services


class HealthDocument(Struct, frozen=True, kw_only=True):
    """The state of the files, and of our own index."""

    report: Report
    sessions: int
    is_listed: bool
    is_searchable: bool
    index_failure: str | None


def describe_health(services: Services, _: NoParameters) -> HealthDocument:
    """How the files and the index are."""
    services.shelf.wait_for_list(3.0)
    report = services.surveys.find_report(services.shelf.known)
    known = services.shelf.known
    return HealthDocument(
        report=report,
        sessions=len(known.sessions),
        is_listed=known.is_listed,
        is_searchable=known.is_searchable,
        index_failure=known.failure,
    )
