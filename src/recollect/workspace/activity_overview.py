"""The overview of a workspace: activity, this week, running and expiring sessions, and projects. A
project can have several directories: worktrees and former locations.

Directories are grouped by evidence in the transcripts, because the folders may be gone and their
paths are untrusted: a worktree made by Claude Code is below `.claude/worktrees`; a folder was moved
if a session is found in two project directories, or if no record of it has the path that its
project directory is named after.

Uses only queries that every workspace supports, so that commands and the server agree.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from recollect.documents.session_documents import ActivityDay, Overview, PeriodTotals, ProjectGroup
from recollect.documents.session_listing import SessionListing
from recollect.documents.usage_groups import Group
from recollect.health.retention import SOON
from recollect.library.session_filters import find_start
from recollect.locations.claude_directories import encode_project_path, list_project_names
from recollect.quantities import to_dollars
from recollect.sync import find_calls
from recollect.usage.totals import Totals, add_up
from recollect.usage.zones import Zone, load_zone
from recollect.workspace.maintenance import list_unarchived
from recollect.workspace.usage_requests import find_today

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.locations import Transcript
    from recollect.usage.reports import UsageReport
    from recollect.workspace.session_selection import SessionSelection
    from recollect.workspace.workspace import Workspace


WORKTREES: Final = "--claude-worktrees-"
"""`/.claude/worktrees/`, as it is encoded in the name of a project directory."""


class ProjectMembers(Struct, frozen=True, kw_only=True):
    """Project directories that belong together."""

    main: str
    """The directory that the others are worktrees or former locations of."""
    path: str | None
    projects: tuple[str, ...]
    """All of them, the main one first."""
    worktrees: int
    listings: tuple[SessionListing, ...]


def group_projects(listings: Iterable[SessionListing]) -> list[ProjectMembers]:
    """Group sessions by project, in order of first occurrence."""
    by_project: defaultdict[str, list[SessionListing]] = defaultdict(list)
    for each in listings:
        if not each.is_subagent:
            by_project[each.project].append(each)
    owners = _choose_owners(by_project)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for project in by_project:
        groups[owners[project]].append(project)
    return [_describe_members(members, by_project) for members in groups.values()]


def is_named_after(project: str, path: str) -> bool:
    """Return whether a project directory is named after a working directory."""
    return project in list_project_names(path)


def _choose_owners(by_project: Mapping[str, Sequence[SessionListing]]) -> dict[str, str]:
    """Return a representative for each project; the same for those that belong together."""
    owners = {project: project for project in by_project}

    def find(project: str) -> str:
        while owners[project] != project:
            project = owners[project]
        return project

    for one, other in _find_links(by_project):
        if one in owners and other in owners:
            owners[find(one)] = find(other)
    return {project: find(project) for project in owners}


def _find_links(
    by_project: Mapping[str, Sequence[SessionListing]],
) -> Iterable[tuple[str, str]]:
    seen: dict[str, str] = {}
    named: dict[str, str] = {}
    for project, listings in by_project.items():
        if WORKTREES in project:
            yield project, project.partition(WORKTREES)[0]
        for each in listings:
            if each.id in seen:
                yield project, seen[each.id]
            seen[each.id] = project
        for path in dict.fromkeys(each.cwd for each in listings):
            if path and not is_named_after(project, path):
                name = encode_project_path(path)
                yield project, name
                # There may be no project directory named after the folder.
                yield project, named.setdefault(name, project)


def _describe_members(
    members: Sequence[str], by_project: Mapping[str, Sequence[SessionListing]]
) -> ProjectMembers:
    folders = [each for each in members if WORKTREES not in each] or list(members)
    main = max(folders, key=lambda each: max(one.activity for one in by_project[each]))
    listings = [each for project in members for each in by_project[project]]
    return ProjectMembers(
        main=main,
        path=_find_path(by_project[main]),
        projects=(main, *(each for each in members if each != main)),
        worktrees=len(members) - len(folders),
        listings=tuple(listings),
    )


def _find_path(listings: Iterable[SessionListing]) -> str | None:
    places = Counter(each.cwd for each in listings if each.cwd)
    return next((place for place, _ in places.most_common(1)), None)


DAYS: Final = 7 * 53
RECENT: Final = 11
EXPIRING: Final = 6
PROJECT_DAYS: Final = 90
MAX_PROJECTS: Final = 8
_LIVE_ORDER: Final = {"waiting": 0, "busy": 1, "idle": 2}


class OverviewReports(NamedTuple):
    """The reports that take time."""

    days: UsageReport
    projects: UsageReport


def load_reports(workspace: Workspace) -> OverviewReports:
    """Count the usage that an overview shows: by day, and by project."""
    today = find_today(load_zone(None), workspace.now)

    def load(group: Group, days: int) -> UsageReport:
        first = today - timedelta(days=days - 1)
        return workspace.usage(group, since=first.isoformat(), until=today.isoformat()).report

    return OverviewReports(load(Group.DAY, DAYS), load(Group.PROJECT, PROJECT_DAYS))


def find_weeks(workspace: Workspace) -> tuple[date, date]:
    """Return the Monday of last week and the Sunday of this one."""
    today = find_today(load_zone(None), workspace.now)
    monday = today - timedelta(days=today.weekday())
    return monday - timedelta(days=7), monday + timedelta(days=6)


class CallCounts(NamedTuple):
    """Tool calls, and how many of them failed."""

    calls: int
    failed: int


def count_calls(
    directory: Path, transcripts: Iterable[Transcript], first: date, last: date
) -> tuple[CallCounts, ...]:
    """Return the indexed tool calls of each day from `first` to `last`."""
    days = [first + timedelta(days=at) for at in range((last - first).days + 2)]
    midnights = [datetime.combine(day, datetime.min.time()).timestamp() for day in days]
    # An older file has no call of these days.
    recent = [each.file for each in transcripts if each.mtime_ns / 1e9 >= midnights[0]]
    unique = {
        call.id or (path, at): call
        for path, calls in find_calls(directory, recent).items()
        for at, call in enumerate(calls)
    }
    counts = [[0, 0] for _ in days]
    for call in unique.values():
        if call.started is not None and midnights[0] <= call.started < midnights[-1]:
            day = counts[bisect_right(midnights, call.started) - 1]
            day[0] += 1
            day[1] += call.status == "failed"
    return tuple(CallCounts(*each) for each in counts[:-1])


def make_overview(
    workspace: Workspace, selection: SessionSelection, reports: OverviewReports
) -> Overview:
    """Return the overview of the selected sessions, as of now."""
    zone = load_zone(None)
    today = find_today(zone, workspace.now)
    sessions = selection.sessions
    days = _list_days(reports.days, sessions, zone, today)
    monday = today - timedelta(days=today.weekday())
    week = timedelta(days=7)
    expiring = list_unarchived(workspace, _find_expiring(selection, workspace.now))
    return Overview(
        today=today.isoformat(),
        timezone=zone.name,
        sessions=len(sessions),
        live=_find_live(selection),
        days=tuple(days.values()),
        this_week=_add_up_days(days, monday, today),
        last_week=_add_up_days(days, monday - week, today - week),
        recent=selection.complete(sessions[:RECENT]),
        expiring=tuple(expiring[:EXPIRING]),
        expiring_total=len(expiring),
        projects=_list_projects(reports.projects, sessions),
    )


def _list_days(
    report: UsageReport, sessions: Sequence[SessionListing], zone: Zone, today: date
) -> dict[str, ActivityDay]:
    first = today - timedelta(days=DAYS - 1)
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


def _find_live(selection: SessionSelection) -> tuple[SessionListing, ...]:
    def rank(listing: SessionListing) -> int:
        status = (listing.live.status if listing.live else None) or "busy"
        return _LIVE_ORDER.get(status.partition("_")[0], 1)

    live = selection.present.live
    found = selection.complete(each for each in selection.sessions if each.id in live)
    return tuple(sorted((each for each in found if each.live), key=rank))


def _find_expiring(selection: SessionSelection, now: datetime) -> list[SessionListing]:
    found = selection.complete(selection.list_expiring(now.astimezone(UTC) + SOON))
    return sorted(found, key=lambda each: (each.expires or "", each.path))


def _list_projects(
    report: UsageReport, sessions: Sequence[SessionListing]
) -> tuple[ProjectGroup, ...]:
    usage = {row.key: row.totals for row in report.rows if row.key}
    named: defaultdict[str, list[str]] = defaultdict(list)
    for path in usage:
        named[encode_project_path(path)].append(path)
    groups = (_describe_group(each, usage, named) for each in group_projects(sessions))
    return tuple(sorted(groups, key=lambda each: -each.last_active)[:MAX_PROJECTS])


def _describe_group(
    members: ProjectMembers, usage: Mapping[str, Totals], named: Mapping[str, Sequence[str]]
) -> ProjectGroup:
    """Describe a group; `named` has the working directories that projects are named after.

    Usage is known by working directory, even where the project directory has another name.
    """
    own = {each.cwd for each in members.listings if each.cwd in usage}
    own.update(path for each in members.projects for path in named.get(each, ()))
    totals = add_up(usage[path] for path in own if path is not None)
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
