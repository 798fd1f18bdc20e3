"""`/health`: the findings of `recollect doctor`.

A survey reads every file. The page shows the last one if it is still valid; otherwise its script
requests a new one.
"""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Final, Literal

from msgspec import Struct

from recollect.documents.command_reports import NotedKind
from recollect.documents.health_report import HealthReport
from recollect.store import is_sqlite_safe
from recollect.web.api.session_endpoints import NoParameters
from recollect.web.services import Services
from recollect.web.templating import PageContent
from recollect.workspace.secret_masks import summarize_secrets
from recollect.workspace.session_catalog import Snapshot

QUICK_BYTES: Final = 30_000_000
"""Surveyed immediately, in about a second."""
MAX_PLACES: Final = 100
"""Places that are listed; `recollect doctor --json` has all of them."""

Verdict = Literal["well", "news", "trouble"]
HealthFinding = tuple[str, str, int]
"""The type of a record, the name of a field in it, and how often it was found."""


class ExpiringSession(Struct, frozen=True, kw_only=True):
    """A session that Claude Code will delete soon."""

    id: str
    title: str
    file: str
    after: str
    is_listed: bool


class HealthPage(Struct, frozen=True, kw_only=True):
    """The last survey, and the state of our index."""

    report: HealthReport | None
    """None if there is none yet; `/api/health` makes it."""
    verdict: Verdict
    unknown_fields: tuple[HealthFinding, ...]
    misfits: tuple[HealthFinding, ...]
    going: tuple[ExpiringSession, ...]
    secrets: tuple[NotedKind, ...]
    most: int
    is_sqlite_safe: bool
    is_demo: bool
    roots: tuple[str, ...]
    data_directory: str
    sessions: int
    is_searchable: bool
    failure: str | None


def render_health_page(services: Services, _: NoParameters) -> PageContent:
    """Render the state of the files."""
    workspace = services.workspace
    known = workspace.snapshot
    size = sum(each.size for each in known.transcripts.values())
    report = workspace.health() if size < QUICK_BYTES else workspace.find_health()
    page = HealthPage(
        report=report,
        verdict=judge(report or HealthReport()),
        unknown_fields=list_findings(report.unknown_fields if report else {}),
        misfits=list_findings(report.misfits if report else {}),
        going=_list_expiring(report, known) if report else (),
        secrets=summarize_secrets(workspace.data_directory),
        most=MAX_PLACES,
        is_sqlite_safe=report is None or report.sqlite is None or is_sqlite_safe(report.sqlite),
        is_demo=services.settings.is_demo,
        roots=tuple(map(str, services.settings.roots)),
        data_directory=str(services.settings.data_directory),
        sessions=workspace.choices.sessions,
        is_searchable=known.is_searchable,
        failure=known.failure,
    )
    return PageContent("health.html", page, title="health.title", section="health")


def judge(report: HealthReport) -> Verdict:
    """Return whether everything could be read, and whether all of it is known."""
    if not report.is_complete:
        return "trouble"
    return "news" if report.has_drift else "well"


def list_findings(tables: Mapping[str, Mapping[str, int]]) -> tuple[HealthFinding, ...]:
    """Return fields by the type of their record, the most frequent first."""
    found = [(kind, name, count) for kind, names in tables.items() for name, count in names.items()]
    return tuple(sorted(found, key=lambda each: (-each[2], each[0], each[1])))


def _list_expiring(report: HealthReport, known: Snapshot) -> tuple[ExpiringSession, ...]:
    listings = {each.id: each for each in known.sessions}
    return tuple(
        ExpiringSession(
            id=name,
            title=(listing.title or listing.first_prompt or name) if listing else name,
            file=each.file,
            after=each.after,
            is_listed=listing is not None,
        )
        for root in report.roots
        for each in root.expiring
        for name in (PurePath(each.file).stem,)
        for listing in (listings.get(name),)
    )
