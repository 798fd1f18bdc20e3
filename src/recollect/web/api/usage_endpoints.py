"""Tokens and what they cost, by anything, and where a figure comes from.

The same documents as `recollect usage --json`, typed so that their shape can be published.
"""

from typing import Annotated

from msgspec import Meta, Struct

from recollect.documents.usage_groups import Group
from recollect.documents.usage_report import CauseDocument, ExplainDocument, UsageDocument
from recollect.session.calendar import EXAMPLES, parse_day_range
from recollect.usage.causes import Cause
from recollect.usage.reports import ReportOrder, RowFilter
from recollect.usage.usage_documents import describe_explanation, describe_report
from recollect.usage.zones import load_zone
from recollect.web.parameters import MAX_ID, blame
from recollect.web.services import Services
from recollect.workspace.cause_questions import answer_causes
from recollect.workspace.usage_questions import UsageFilters

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
    """Return the report."""
    check_filters(services, wanted)
    answer = services.workspace.usage(
        wanted.group,
        since=wanted.since,
        until=wanted.until,
        project=wanted.project,
        model=wanted.model,
        timezone=wanted.timezone,
        order=wanted.order,
        breakdown=wanted.breakdown,
        only=None if wanted.only is None else RowFilter(wanted.only, wanted.key or None),
        client_costs=wanted.client_costs,
        limit=wanted.limit,
    )
    return describe_report(answer.report, answer.pace, omitted_rows=answer.omitted_rows)


def check_filters(services: Services, wanted: "UsageParameters | CauseParameters") -> None:
    """Raise BadParameter with the name of a parameter that is not valid."""
    with blame("timezone"):
        zone = load_zone(wanted.timezone)
    now = services.workspace.now
    local = zone.find_local(int(now.timestamp())) or now
    with blame("since"):
        parse_day_range(wanted.since, None, local)
    with blame("until"):
        parse_day_range(wanted.since, wanted.until, local)


class CauseParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is counted, and the cause whose messages are listed."""

    since: Day | None = None
    until: Day | None = None
    project: Text = ""
    model: Text = ""
    timezone: ZoneName | None = None
    cause: Annotated[Cause, Meta(description="List the messages of this cause.")] | None = None


def report_causes(services: Services, wanted: CauseParameters) -> CauseDocument:
    """Return tokens and cost by cause."""
    check_filters(services, wanted)
    filters = UsageFilters(
        since=wanted.since,
        until=wanted.until,
        project=wanted.project,
        model=wanted.model,
        timezone=wanted.timezone,
    )
    return answer_causes(services.workspace, filters, wanted.cause).document


def explain_usage(services: Services, wanted: ExplainParameters) -> ExplainDocument:
    """Return what a figure consists of."""
    with blame("timezone"):
        load_zone(wanted.timezone)
    answer = services.workspace.explain(wanted.target, timezone=wanted.timezone)
    return describe_explanation(answer.explanation)
