"""`/usage`: tokens and list prices by any group, with a chart and a table."""

from typing import Final

from msgspec import Struct

from recollect.documents.api_documents import ErrorDetail
from recollect.documents.usage_groups import Group
from recollect.documents.usage_report import CurrentBlock, UsageDocument, UsageRow
from recollect.errors import UsageError
from recollect.usage.reports import ReportOrder
from recollect.usage.zones import load_zone
from recollect.web.api.usage_endpoints import UsageParameters, report_usage
from recollect.web.pages.usage_chart import Chart, make_chart
from recollect.web.pages.usage_table import (
    EXPLAINED,
    MAX_ROWS,
    TableRow,
    UsagePageParameters,
    make_rows,
    name_key,
)
from recollect.web.responses import describe_failure
from recollect.web.services import Services
from recollect.web.templating import PageContent, Translator

TABS: Final = (
    Group.DAY,
    Group.WEEK,
    Group.MONTH,
    Group.PROJECT,
    Group.MODEL,
    Group.SESSION,
    Group.TOOL,
    Group.BLOCK,
)
"""The most common groups; the others are in a menu."""


class RunningBlock(Struct, frozen=True):
    """The current 5-hour block, and its usage so far."""

    pace: CurrentBlock
    used: UsageRow


class UsagePage(Struct, frozen=True, kw_only=True):
    """A report, or what is wrong with the request."""

    wanted: UsagePageParameters
    tabs: tuple[str, ...]
    more_tabs: tuple[str, ...]
    orders: tuple[str, ...]
    projects: tuple[str, ...]
    models: tuple[str, ...]
    only: str
    """The name of the only row that is shown."""
    report: UsageDocument | None
    rows: tuple[TableRow, ...]
    chart: Chart | None
    current: RunningBlock | None
    error: ErrorDetail | None


def render_usage_page(
    services: Services, wanted: UsagePageParameters, translator: Translator
) -> PageContent:
    """Render a report."""
    report, error, chart = None, None, None
    rows: tuple[TableRow, ...] = ()
    try:
        report = report_usage(services, _make_parameters(wanted))
        rows = make_rows(report, wanted, load_zone(wanted.timezone or None), translator)
        chart = make_chart(report, rows, wanted.measure, translator) if rows else None
    except UsageError as failure:
        error = describe_failure(failure)[1]
    choices = services.workspace.choices
    # A single row can only be split by groups that are explained line by line.
    tabs = TABS if wanted.only is None else EXPLAINED
    page = UsagePage(
        wanted=wanted,
        tabs=tuple(group.value for group in tabs),
        more_tabs=tuple(group.value for group in Group if tabs is TABS and group not in TABS),
        orders=tuple(order.value for order in ReportOrder),
        projects=tuple(each.path or each.id for each in choices.projects),
        models=choices.models,
        only=name_key(wanted.key or None, wanted.only, translator) if wanted.only else "",
        report=report,
        rows=rows,
        chart=chart,
        current=find_running(services),
        error=error,
    )
    return PageContent("usage.html", page, title="usage.title", section="usage")


def find_running(services: Services) -> RunningBlock | None:
    """Return the current block, whatever the report is about."""
    report = report_usage(
        services, UsageParameters(group=Group.BLOCK, order=ReportOrder.DESC, limit=1)
    )
    if not isinstance(report.current_block, CurrentBlock) or not report.rows:
        return None
    return RunningBlock(report.current_block, report.rows[0])


def _make_parameters(wanted: UsagePageParameters) -> UsageParameters:
    orders = {order.value for order in ReportOrder}
    order = ReportOrder(wanted.order) if wanted.order in orders else None
    return UsageParameters(
        group=wanted.group,
        since=wanted.since or None,
        until=wanted.until or None,
        project=wanted.project,
        model=wanted.model,
        timezone=wanted.timezone or None,
        # Newest first: if a list is cut, old rows are dropped.
        order=order or (ReportOrder.DESC if wanted.group.is_time else None),
        breakdown=wanted.breakdown,
        only=wanted.only,
        key=wanted.key,
        client_costs=wanted.client_costs,
        limit=MAX_ROWS,
    )
