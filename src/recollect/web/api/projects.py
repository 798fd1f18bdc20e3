"""The projects that sessions belong to."""

from msgspec import Struct

from recollect.web.choices import ProjectRow
from recollect.web.services import Services


class NoParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing to choose."""


class ProjectsDocument(Struct, frozen=True, kw_only=True):
    """All projects, the most recently active first."""

    projects: tuple[ProjectRow, ...]


def list_projects(services: Services, _: NoParameters) -> ProjectsDocument:
    """All projects."""
    services.shelf.wait_for_list(3.0)
    return ProjectsDocument(projects=services.choices.find(services.shelf.known).projects)
