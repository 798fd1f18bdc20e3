"""Tokens and what they cost, by anything, and where a figure comes from.

The same documents as `recollect usage --json`, typed so that their shape can be published.
"""

from datetime import date
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from recollect.documents.kinds import Group
from recollect.documents.usage_report import ExplainDocument, UsageDocument
from recollect.errors import NothingFound
from recollect.session.calendar import EXAMPLES, find_day, parse_day_range
from recollect.usage.client_costs import add_client_costs
from recollect.usage.explain import explain
from recollect.usage.explain_document import describe_explanation
from recollect.usage.ledger_access import UsageLedger, add_titles, find_pace, load_rows
from recollect.usage.reports import ReportOrder, RowFilter, UsageQuestion, UsageReport, make_report
from recollect.usage.usage_documents import describe_report
from recollect.usage.zones import Zone, load_zone
from recollect.web.parameters import MAX_ID, blame
from recollect.web.services import Services, query_ledger

FIRST_WAIT: Final = 5.0
"""Seconds to wait for titles while a server that was just started is listing."""

Day = Annotated[str, Meta(max_length=20, description=f"{EXAMPLES}.")]
ZoneName = Annotated[str, Meta(max_length=100, description="Europe/Berlin, UTC, or local.")]
Text = Annotated[str, Meta(max_length=500)]


class UsageParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a report is asked for."""

    group: Group = Group.DAY
    since: Day | None = None
    until: Day | None = None
    project: Text = ""
    model: Text = ""
    timezone: ZoneName | None = None
    order: ReportOrder | None = None
    breakdown: Annotated[bool, Meta(description="Split each row by model.")] = False
    only: (
        Annotated[
            Group, Meta(description="Count only what one row of this other group holds, see `key`.")
        ]
        | None
    ) = None
    key: Annotated[
        str, Meta(max_length=5000, description="That row; empty for what the records do not tell.")
    ] = ""
    client_costs: Annotated[
        bool,
        Meta(description="Of sessions, Claude Code's own total too; this reads every transcript."),
    ] = False
    limit: Annotated[int, Meta(ge=1, le=100_000, description="Rows at most.")] = 1000


class ExplainParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be taken apart."""

    target: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_ID,
            description="A session's id, a subagent's, a message's, or a day.",
        ),
    ]
    timezone: ZoneName | None = None


def report_usage(services: Services, wanted: UsageParameters) -> UsageDocument:
    """The report that is wanted."""
    question = make_question(services, wanted)
    now = services.settings.now().timestamp()

    def answer(ledger: UsageLedger) -> UsageDocument:
        report = make_report(load_rows(ledger, question), question)
        pace = find_pace(report, ledger, now)
        shown = replace(report, rows=report.rows[: wanted.limit])
        if wanted.group is Group.SESSION:
            shown = _take_listed_titles(add_titles(shown, ledger), services)
            if wanted.client_costs:
                shown = add_client_costs(shown, ledger)
        omitted = len(report.rows) - len(shown.rows)
        return describe_report(shown, pace, omitted_rows=omitted)

    return query_ledger(services, answer)


def _take_listed_titles(report: UsageReport, services: Services) -> UsageReport:
    """The report with the titles that lists show; those of deleted sessions stay as they are."""
    services.catalog.wait_for_all(FIRST_WAIT)
    titles = {each.id: each.title for each in reversed(services.catalog.snapshot.sessions)}
    rows = (replace(row, title=titles.get(row.key or "", row.title)) for row in report.rows)
    return replace(report, rows=tuple(rows))


def make_question(services: Services, wanted: UsageParameters) -> UsageQuestion:
    """The question that the parameters put."""
    with blame("timezone"):
        zone = load_zone(wanted.timezone)
    now = services.settings.now()
    local = zone.find_local(int(now.timestamp())) or now
    with blame("since"):
        parse_day_range(wanted.since, None, local)
    with blame("until"):
        since, until = parse_day_range(wanted.since, wanted.until, local)
    return UsageQuestion(
        group=wanted.group,
        zone=zone,
        since=since,
        until=until,
        project=wanted.project,
        model=wanted.model,
        order=wanted.order,
        breakdown=wanted.breakdown,
        only=None if wanted.only is None else RowFilter(wanted.only, wanted.key or None),
    )


def explain_usage(services: Services, wanted: ExplainParameters) -> ExplainDocument:
    """What a figure is made of."""
    with blame("timezone"):
        zone = load_zone(wanted.timezone)
    today = find_today(services, zone)

    def answer(ledger: UsageLedger) -> ExplainDocument:
        if not _is_known(ledger, wanted.target, today):
            raise NothingFound(
                f"{wanted.target!r} is no session, subagent or message that was counted, and no "
                "day such as 2026-11-15."
            )
        return describe_explanation(explain(ledger, wanted.target, zone, today))

    return query_ledger(services, answer)


def find_today(services: Services, zone: Zone) -> date:
    """The day that it is in a time zone."""
    now = services.settings.now()
    return zone.find_day(int(now.timestamp())) or now.date()


def _is_known(ledger: UsageLedger, target: str, today: date) -> bool:
    """Whether the ledger can tell; the command line would look among files and titles too.

    A browser must name nothing on the disk, and no request should read every transcript's title.
    """
    names = {name for row in ledger.files.values() for name in (row.session_id, row.agent_id)}
    return (
        target in names
        or target.removeprefix("agent-") in names
        or find_day(target, today) is not None
        or any(entry.file_id in ledger.files for entry in ledger.queries.select_of_message(target))
    )
