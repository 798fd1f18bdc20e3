"""Tokens and what they cost, by anything, and where a figure comes from.

The same documents as `recollect usage --json`, typed so that their shape can be published.
"""

from datetime import date
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from recollect.errors import NothingFound
from recollect.usage.comparison import add_client_costs
from recollect.usage.current import find_pace
from recollect.usage.days import find_day, parse_days
from recollect.usage.documents import ExplainDocument, UsageDocument
from recollect.usage.explain import explain
from recollect.usage.explain_document import describe_explanation
from recollect.usage.groups import Group
from recollect.usage.loading import Books, load_rows
from recollect.usage.report_document import describe_report
from recollect.usage.reports import Only, Order, Question, make_report
from recollect.usage.titles import add_titles
from recollect.usage.zones import Zone, load_zone
from recollect.web.ledger import ask_books
from recollect.web.parameters import blame
from recollect.web.services import Services

Day = Annotated[str, Meta(max_length=20, description="2026-11-15, 2026-11, 7d, today.")]
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
    order: Order | None = None
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
            max_length=200,
            description="A session's id, a subagent's, a message's, or a day.",
        ),
    ]
    timezone: ZoneName | None = None


class UsageAnswer(UsageDocument, frozen=True, kw_only=True):
    """A report, of which a page may ask for a part only."""

    group: Group
    omitted_rows: int
    """Rows beyond the limit; they are part of the totals."""


def report_usage(services: Services, wanted: UsageParameters) -> UsageAnswer:
    """The report that is wanted."""
    question = make_question(services, wanted)
    now = services.settings.now().timestamp()

    def answer(books: Books) -> dict[str, object]:
        report = make_report(load_rows(books, question), question)
        pace = find_pace(report, books, now)
        shown = replace(report, rows=report.rows[: wanted.limit])
        if wanted.group is Group.SESSION:
            shown = add_titles(shown, books)
            if wanted.client_costs:
                shown = add_client_costs(shown, books)
        omitted = len(report.rows) - len(shown.rows)
        return {**describe_report(shown, pace), "omitted_rows": omitted}

    return msgspec.convert(ask_books(services, answer), UsageAnswer)


def make_question(services: Services, wanted: UsageParameters) -> Question:
    """The question that the parameters put."""
    with blame("timezone"):
        zone = load_zone(wanted.timezone)
    today = find_today(services, zone)
    with blame("since"):
        since = parse_days(wanted.since, today)[0] if wanted.since else None
    with blame("until"):
        until = parse_days(wanted.until, today)[1] if wanted.until else None
    return Question(
        group=wanted.group,
        zone=zone,
        since=since,
        until=until,
        project=wanted.project,
        model=wanted.model,
        order=wanted.order,
        breakdown=wanted.breakdown,
        only=None if wanted.only is None else Only(wanted.only, wanted.key or None),
    )


def explain_usage(services: Services, wanted: ExplainParameters) -> ExplainDocument:
    """What a figure is made of."""
    with blame("timezone"):
        zone = load_zone(wanted.timezone)
    today = find_today(services, zone)

    def answer(books: Books) -> dict[str, object]:
        if not _is_known(books, wanted.target, today):
            raise NothingFound(
                f"{wanted.target!r} is no session, subagent or message that was counted, and no "
                "day such as 2026-11-15."
            )
        return describe_explanation(explain(books, wanted.target, zone, today))

    return msgspec.convert(ask_books(services, answer), ExplainDocument)


def find_today(services: Services, zone: Zone) -> date:
    """The day that it is in a time zone."""
    now = services.settings.now()
    return zone.find_day(int(now.timestamp())) or now.date()


def _is_known(books: Books, target: str, today: date) -> bool:
    """Whether the ledger can tell; the command line would look among files and titles too.

    A browser must name nothing on the disk, and no request should read every transcript's title.
    """
    names = {name for row in books.files.values() for name in (row.session_id, row.agent_id)}
    return (
        target in names
        or target.removeprefix("agent-") in names
        or find_day(target, today) is not None
        or any(entry.file_id in books.files for entry in books.ledger.select_of_message(target))
    )
