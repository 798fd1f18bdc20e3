"""Usage queries: from request parameters to reports from the ledger.

Turns filters into a query, and completes reports with titles, the costs that clients reported and
the burn rate of the current block. The workspace chooses the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, TypedDict

from msgspec import Struct, structs

from recollect.documents.usage_groups import Group
from recollect.quantities import to_dollars
from recollect.usage import reports
from recollect.usage.ledger_access import UsageLedger, load_figures, load_report
from recollect.usage.zones import Zone, load_zone

if TYPE_CHECKING:
    from recollect.documents.session_listing import SessionUsage
    from recollect.usage.explain import Explanation
    from recollect.usage.totals import BurnRate
    from recollect.workspace.workspace import Workspace


class UsageScope(TypedDict, total=False):
    """Filters of a report: which messages are counted."""

    since: str | None
    """The first day, such as `2026-11-15`, `2026-11`, `7d` or `yesterday`."""
    until: str | None
    """The last day."""
    project: str
    """Only projects whose path contains this text."""
    model: str
    """Only models whose name contains this text."""
    timezone: str | None
    """The time zone of days, such as `Europe/Berlin`; the default is the local one."""
    only: reports.RowFilter | None
    """Count only the messages in one row of another report."""


class UsageFilters(UsageScope, total=False):
    """Filters of a report, and how its rows are split and sorted."""

    order: reports.ReportOrder | str | None
    breakdown: bool
    """Split each row by model."""
    client_costs: bool
    """By session: add the cost that Claude Code reported. Reads the transcripts in the report."""
    limit: int | None
    """Maximum number of rows; the totals cover all of them."""


class UsageResult(Struct, frozen=True, kw_only=True):
    """A usage report, and errors."""

    report: reports.UsageReport
    burn_rate: BurnRate | None = None
    """The burn rate of the current 5-hour block, in a report by block."""
    problems: Mapping[str, str]
    """Why transcripts could not be read, by path."""
    failure: str | None = None
    """Why the index could not be used; in that case deleted transcripts are missing."""
    omitted_rows: int = 0
    """Rows beyond the limit."""

    @property
    def rows(self) -> tuple[reports.ReportRow, ...]:
        """The rows of the report."""
        return self.report.rows


class ExplainResult(Struct, frozen=True, kw_only=True):
    """A figure broken down into lines, and the files that could not be read."""

    explanation: Explanation
    zone: Zone
    problems: Mapping[str, str]
    failure: str | None = None


def make_usage_query(
    group: Group | str, filters: UsageFilters, now: datetime
) -> reports.UsageQuery:
    """Return the query for a request; raises UsageError for a value that is not valid."""
    zone = load_zone(filters.get("timezone"))
    since, until = _find_days(filters.get("since"), filters.get("until"), zone, now)
    order = filters.get("order")
    return reports.UsageQuery(
        group=Group(group),
        zone=zone,
        since=since,
        until=until,
        project=filters.get("project", ""),
        model=filters.get("model", ""),
        order=reports.ReportOrder(order) if order else None,
        breakdown=filters.get("breakdown", False),
        only=filters.get("only"),
    )


def _find_days(
    since: str | None, until: str | None, zone: Zone, now: datetime
) -> tuple[date | None, date | None]:
    if not since and not until:
        return None, None
    from recollect.session.times import parse_day_range  # not for every report

    return parse_day_range(since, until, zone.find_local(int(now.timestamp())) or now)


def find_today(zone: Zone, now: datetime) -> date:
    """Return the current day in a time zone."""
    return zone.find_day(int(now.timestamp())) or now.date()


def find_usage(
    ledger: UsageLedger,
    query: reports.UsageQuery,
    now: datetime,
    limit: int | None = None,
) -> UsageResult:
    """Return the report, without titles."""
    report, burn_rate, problems = load_figures(ledger, query, now.timestamp())
    return UsageResult(
        report=structs.replace(report, rows=report.rows[:limit]),
        burn_rate=burn_rate,
        problems=problems,
        omitted_rows=0 if limit is None else max(len(report.rows) - limit, 0),
    )


def complete_report(
    workspace: Workspace, report: reports.UsageReport, ledger: UsageLedger, filters: UsageFilters
) -> reports.UsageReport:
    """Return a report by session with titles, and with the costs that clients reported."""
    if report.query.group is not Group.SESSION:
        return report
    report = workspace.add_titles(report, ledger)
    if filters.get("client_costs", False):
        from recollect.usage.scopes import add_client_costs  # reads transcripts

        report = add_client_costs(report, ledger, workspace.track_files)
    return report


class UsageSummary(Struct, frozen=True, kw_only=True):
    """Figures about a report that do not depend on how its rows are grouped."""

    active_days: int
    days: int
    """Number of days in the report; without dates, from the first to the last active day."""
    sessions: int
    median_cost: float | None
    """The median cost of its sessions in dollars; None if no price is known."""
    cost_before: float | None
    """The cost of the same number of days before, in dollars; None without a first day."""


def summarize_usage(ledger: UsageLedger, query: reports.UsageQuery, now: datetime) -> UsageSummary:
    """Return the summary of the messages that match `query`."""
    from statistics import median  # loads random and fractions; most reports need no summary

    by_day = load_report(ledger, structs.replace(query, group=Group.DAY, breakdown=False))
    by_session = load_report(ledger, structs.replace(query, group=Group.SESSION, breakdown=False))
    active = [date.fromisoformat(row.key) for row in by_day.rows if row.key]
    sessions = [row for row in by_session.rows if row.key is not None]
    costs = [row.totals.known_cost for row in sessions]
    known = [cost for cost in costs if cost is not None]
    today = find_today(query.zone, now)
    first = query.since or min(active, default=today)
    last = query.until or (today if query.since else max(active, default=today))
    days = max((min(last, today) - first).days + 1, len(active))
    return UsageSummary(
        active_days=len(active),
        days=days,
        sessions=len(sessions),
        median_cost=to_dollars(round(median(known))) if known else None,
        cost_before=_find_cost_before(ledger, query, days),
    )


def _find_cost_before(ledger: UsageLedger, query: reports.UsageQuery, days: int) -> float | None:
    """Return the cost of the same number of days before a report that starts on a day."""
    if query.since is None or query.since.toordinal() <= days:
        return None
    before = structs.replace(
        query,
        group=Group.DAY,
        breakdown=False,
        since=query.since - timedelta(days=days),
        until=query.since - timedelta(days=1),
    )
    return to_dollars(load_report(ledger, before).totals.known_cost)


def sum_by_session(ledger: UsageLedger) -> dict[str, SessionUsage]:
    """Return the usage of each session by id."""
    from recollect.usage.token_shares import sum_copied_tokens  # only for lists of sessions

    query = reports.UsageQuery(group=Group.SESSION, zone=load_zone("UTC"), breakdown=True)
    report = load_report(ledger, query)
    rows = {row.key: row for row in report.rows if row.key is not None}
    copied = sum_copied_tokens(ledger)
    # A fork may have nothing but copies.
    return {key: _summarize(rows.get(key), copied.get(key, 0)) for key in {**rows, **copied}}


def _summarize(row: reports.ReportRow | None, copied: int) -> SessionUsage:
    from recollect.documents.session_listing import SessionUsage  # only for lists of sessions

    if row is None:
        return SessionUsage(copied_tokens=copied)
    return SessionUsage(
        replies=row.totals.messages,
        tokens=row.totals.tokens,
        copied_tokens=copied,
        cost_usd=row.cost_usd,
        client_priced=row.totals.client_priced,
        models=tuple(each.key for each in row.models if each.key),
    )
