"""The overview of a workspace: activity, this week, what runs, what expires, and projects.

Built from the questions that any workspace answers, so that commands and a server agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from recollect.documents.session_documents import ActivityDay, Overview, PeriodTotals, ProjectGroup
from recollect.documents.usage_groups import Group
from recollect.health.retention import SOON
from recollect.library.session_filters import find_start
from recollect.locations.project_names import encode_project_path
from recollect.usage.totals import Totals, add_up, to_dollars
from recollect.usage.zones import Zone, load_zone
from recollect.workspace.project_groups import ProjectMembers, group_projects
from recollect.workspace.usage_questions import find_today

if TYPE_CHECKING:
    from recollect.documents.session_listing import SessionListing
    from recollect.workspace.workspace import Workspace

DAYS: Final = 7 * 53
RECENT: Final = 11
EXPIRING: Final = 6
PROJECT_DAYS: Final = 90
MAX_PROJECTS: Final = 8
_LIVE_ORDER: Final = {"waiting": 0, "busy": 1, "idle": 2}


def make_overview(workspace: Workspace) -> Overview:
    """Return the overview of all sessions, as of now."""
    zone = load_zone(None)
    today = find_today(zone, workspace.now)
    sessions = workspace.sessions(with_usage=True).sessions
    days = _list_days(workspace, sessions, zone, today)
    monday = today - timedelta(days=today.weekday())
    week = timedelta(days=7)
    expiring = _find_expiring(sessions, workspace.now)
    return Overview(
        today=today.isoformat(),
        timezone=zone.name,
        sessions=len(sessions),
        live=_find_live(sessions),
        days=tuple(days.values()),
        this_week=_add_up_days(days, monday, today),
        last_week=_add_up_days(days, monday - week, today - week),
        recent=sessions[:RECENT],
        expiring=tuple(expiring[:EXPIRING]),
        expiring_total=len(expiring),
        projects=_list_projects(workspace, sessions, today),
    )


def _list_days(
    workspace: Workspace, sessions: Sequence[SessionListing], zone: Zone, today: date
) -> dict[str, ActivityDay]:
    first = today - timedelta(days=DAYS - 1)
    report = workspace.usage(Group.DAY, since=first.isoformat(), until=today.isoformat()).report
    usage = {row.key: row for row in report.rows if row.key}
    starts = (zone.find_day(int(find_start(each))) for each in sessions)
    started = Counter(day.isoformat() for day in starts if day and first <= day <= today)
    return {
        day: ActivityDay(
            day=day,
            cost_usd=usage[day].cost_usd if day in usage else 0.0,
            tokens=usage[day].tokens if day in usage else 0,
            sessions=started[day],
        )
        for day in sorted({*usage, *started})
    }


def _add_up_days(days: Mapping[str, ActivityDay], first: date, last: date) -> PeriodTotals:
    since, until = first.isoformat(), last.isoformat()
    members = [each for day, each in days.items() if since <= day <= until]
    costs = [each.cost_usd for each in members if each.cost_usd is not None]
    return PeriodTotals(
        since=since,
        until=until,
        # Costs are whole millionths; sums of fractions are not.
        cost_usd=round(sum(costs), 6) if costs or not members else None,
        tokens=sum(each.tokens for each in members),
        sessions=sum(each.sessions for each in members),
    )


def _find_live(sessions: Iterable[SessionListing]) -> tuple[SessionListing, ...]:
    def rank(listing: SessionListing) -> int:
        status = (listing.live.status if listing.live else None) or "busy"
        return _LIVE_ORDER.get(status.partition("_")[0], 1)

    return tuple(sorted((each for each in sessions if each.live), key=rank))


def _find_expiring(sessions: Iterable[SessionListing], now: datetime) -> list[SessionListing]:
    last = (now.astimezone(UTC) + SOON).isoformat(timespec="seconds")
    found = [each for each in sessions if each.expires and each.expires <= last]
    return sorted(found, key=lambda each: (each.expires or "", each.path))


def _list_projects(
    workspace: Workspace, sessions: Sequence[SessionListing], today: date
) -> tuple[ProjectGroup, ...]:
    first = today - timedelta(days=PROJECT_DAYS - 1)
    report = workspace.usage(Group.PROJECT, since=first.isoformat(), until=today.isoformat()).report
    usage = {encode_project_path(row.key): row.totals for row in report.rows if row.key}
    groups = (_describe(each, usage) for each in group_projects(sessions))
    return tuple(sorted(groups, key=lambda each: -each.last_active)[:MAX_PROJECTS])


def _describe(members: ProjectMembers, usage: Mapping[str, Totals]) -> ProjectGroup:
    totals = add_up(usage[each] for each in members.projects if each in usage)
    return ProjectGroup(
        path=members.path,
        projects=members.projects,
        worktrees=members.worktrees,
        moved=len(members.projects) - 1 - members.worktrees,
        sessions=len(members.listings),
        tokens=totals.tokens,
        cost_usd=to_dollars(totals.known_cost),
        last_active=max(each.activity for each in members.listings),
    )
