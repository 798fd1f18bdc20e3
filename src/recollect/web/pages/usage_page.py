"""`/usage`: tokens and list prices by any group, with a chart and a table.

Periods are drawn on an axis that includes days without usage, if there is room; for other groups,
the largest are listed.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from recollect.documents.session_documents import ErrorDetail
from recollect.documents.usage_groups import Group
from recollect.documents.usage_report import CurrentBlock, Figures, UsageDocument, UsageRow
from recollect.errors import UsageError
from recollect.quantities import format_dollars, format_number, format_rate, format_short_number
from recollect.render.html.html_turns import shorten_model
from recollect.usage.reports import ReportOrder
from recollect.usage.totals import average_days
from recollect.usage.zones import load_zone
from recollect.web import charts, history_endpoints, http_messages, templating
from recollect.web.pages import usage_table
from recollect.web.services import Services
from recollect.workspace.usage_requests import UsageSummary

MAX_SLOTS: Final = 366 * 20
"""Maximum number of days on an axis; longer ranges come from damaged records."""
MAX_BARS: Final = 120
"""Maximum number of columns without gaps."""
MIN_RULED_DAYS: Final = 35
MAX_MONTHS: Final = 13
"""Maximum number of labelled months."""
MAX_NAMED_BARS: Final = 12
_MAX_NAME_WIDTH: Final = 46

_CLASSES: Final = ("output", "input", "cache_write", "cache_read")


class ChartEntry(Struct, frozen=True):
    """A colour, and its meaning."""

    series: int
    name: str


class Chart(Struct, frozen=True, kw_only=True):
    """A chart with its texts."""

    caption: str
    drawing: Markup
    legend: tuple[ChartEntry, ...]
    has_unknown: bool
    has_average: bool


def make_chart(
    report: UsageDocument,
    rows: Sequence[usage_table.TableRow],
    measure: usage_table.Measure,
    translator: templating.Translator,
) -> Chart:
    """Make the chart of a report."""
    kinds = _Kinds(report, measure, translator)
    name = translator(f"group.{report.group.value}")
    # Lower case inside a sentence; but MCP stays MCP.
    name = name[:1].lower() + name[1:] if name[1:2].islower() else name
    caption = translator(f"usage.chart_{measure}", group=name)
    named = [row for row in rows if row.figures.key is not None or not report.group.is_time]
    average: list[float] = []
    if report.group.is_time:
        axis, slots = lay_out([row.figures.key or "" for row in named], report.group)
        rules = rule_months(axis, report.group, translator("home.months").split())
        bars = [
            kinds.make_bar(row, slots[row.figures.key]) for row in named if row.figures.key in slots
        ]
        show = format_rate if measure == "cost" else _show_count
        average = _average_bars(report, bars, axis)
        drawing = charts.render_columns(_shorten(axis), bars, show, caption, rules, average)
    else:
        named.sort(key=lambda row: -(usage_table.measure_figures(row.figures, measure) or 0))
        bars = [kinds.make_bar(row) for row in named[:MAX_NAMED_BARS]]
        drawing = charts.render_rows(bars, caption)
        if len(named) > MAX_NAMED_BARS:
            caption = f"{caption} · {translator('usage.largest', count=MAX_NAMED_BARS)}"
    return Chart(
        caption=caption,
        drawing=drawing,
        legend=kinds.legend,
        has_unknown=any(bar.is_open for bar in bars),
        has_average=bool(average),
    )


def _average_bars(
    report: UsageDocument, bars: Sequence[charts.Bar], axis: Sequence[str]
) -> list[float]:
    """Return the 7-day average; empty if the axis does not have all days."""
    if report.group is not Group.DAY or report.omitted_rows or not axis:
        return []
    if _number(axis[-1], Group.DAY) - _number(axis[0], Group.DAY) >= len(axis):
        return []
    values = [0.0] * len(axis)
    for bar in bars:
        values[bar.slot] = bar.value
    return average_days(values)


def _show_count(tokens: float) -> str:
    """Format a round number without decimals."""
    return format_short_number(tokens).replace(".0", "")


def lay_out(keys: Sequence[str], group: Group) -> tuple[list[str], dict[str | None, int]]:
    """Return the labels of an axis, and the slot of each key on it.

    Periods without usage have a slot too, unless times are decades apart, as in damaged records.
    """
    keys = sorted(keys)
    numbers = [_number(key, group) for key in keys]
    if group is not Group.BLOCK and numbers and numbers[-1] - numbers[0] < MAX_SLOTS:
        axis = [_label(number, group) for number in range(numbers[0], numbers[-1] + 1)]
        return axis, {key: number - numbers[0] for key, number in zip(keys, numbers, strict=True)}
    shown = keys[-MAX_BARS:]
    axis = [key[:16].replace("T", " ") for key in shown]
    return axis, {key: slot for slot, key in enumerate(shown)}


def rule_months(axis: Sequence[str], group: Group, names: Sequence[str]) -> list[charts.Rule]:
    """Return the starts of months on an axis of days or weeks, if it is long enough.

    If there are many, only some are labelled; January is labelled with its year.
    """
    days = {Group.DAY: 1, Group.WEEK: 7}.get(group, 0)
    if len(axis) * days < MIN_RULED_DAYS:
        return []
    starts: list[tuple[int, date]] = []
    for slot, label in enumerate(axis):
        day = date.fromisoformat(label) if group is Group.DAY else usage_table.find_monday(label)
        if day.day <= days:
            starts.append((slot, day))
    step = -(-len(starts) // MAX_MONTHS) or 1
    return [
        charts.Rule(slot, _name_month(day, names) if number % step == 0 else "")
        for number, (slot, day) in enumerate(starts)
    ]


def _name_month(day: date, names: Sequence[str]) -> str:
    return str(day.year) if day.month == 1 else names[day.month - 1]


def _number(key: str, group: Group) -> int:
    if group is Group.DAY:
        return date.fromisoformat(key).toordinal()
    if group is Group.WEEK:
        return usage_table.find_monday(key).toordinal() // 7
    if group is Group.MONTH:
        year, month = key.split("-")
        return int(year) * 12 + int(month) - 1
    return 0


def _label(number: int, group: Group) -> str:
    if group is Group.DAY:
        return date.fromordinal(number).isoformat()
    if group is Group.WEEK:
        # The ordinal of a Monday modulo 7 is 1.
        week = date.fromordinal(number * 7 + 1).isocalendar()
        return f"{week.year:04}-W{week.week:02}"
    return f"{number // 12:04}-{number % 12 + 1:02}"


def _shorten(axis: list[str]) -> list[str]:
    """Remove the year if it is the same for all, except for months."""
    years = {label[:4] for label in axis}
    is_long = any(len(label) > len("2026-11") for label in axis)
    return [label[5:] for label in axis] if len(years) == 1 and is_long else axis


class _Kinds:
    """The meaning of a chart's colours, and the bars in them."""

    def __init__(
        self, report: UsageDocument, measure: usage_table.Measure, translator: templating.Translator
    ) -> None:
        self._measure = measure
        self._translator = translator
        self._models = _rank_models(report, measure)
        self.legend = tuple(self._make_legend())

    def make_bar(self, row: usage_table.TableRow, slot: int = 0) -> charts.Bar:
        figures = row.figures
        slices = tuple(sorted(self._iter_slices(row), key=lambda each: each.series))
        is_open = self._measure == "cost" and figures.unpriced_messages > 0
        shown = self._show(figures)
        label = (
            row.label
            if len(row.label) <= _MAX_NAME_WIDTH
            else f"{row.label[: _MAX_NAME_WIDTH - 1]}…"
        )
        return charts.Bar(
            label=label,
            title="\n".join(self._describe(row, shown)),
            shown=shown,
            slices=slices,
            is_open=is_open,
            slot=slot,
        )

    def _make_legend(self) -> Iterator[ChartEntry]:
        if self._models:
            shown = list(self._models)[: charts.SERIES - 1]
            names = (shorten_model(name or "—") for name in shown)
            yield from (ChartEntry(at, name) for at, name in enumerate(names))
            if len(self._models) > len(shown):
                yield ChartEntry(charts.SERIES - 1, self._translator("usage.other_models"))
        elif self._measure == "tokens":
            for at, name in enumerate(_CLASSES):
                yield ChartEntry(at, self._translator(f"usage.{name}"))

    def _iter_slices(self, row: usage_table.TableRow) -> Iterator[charts.Slice]:
        figures = row.figures
        if isinstance(figures.models, tuple):
            for each in figures.models:
                value = usage_table.measure_figures(each, self._measure)
                if value is not None:
                    yield charts.Slice(
                        min(self._models.index(each.model), charts.SERIES - 1), value
                    )
        elif self._measure == "tokens":
            writes = figures.cache_write_5m_tokens + figures.cache_write_1h_tokens
            classes = (figures.output_tokens, figures.input_tokens, writes)
            for at, tokens in enumerate((*classes, figures.cache_read_tokens)):
                yield charts.Slice(at, tokens)
        elif figures.cost_usd is not None:
            yield charts.Slice(0, figures.cost_usd)

    def _show(self, figures: Figures) -> str:
        if self._measure == "tokens":
            return format_short_number(usage_table.count_tokens(figures))
        if figures.cost_usd is None:
            return self._translator("usage.unknown")
        return f"{'≥ ' if figures.unpriced_messages else ''}{format_dollars(figures.cost_usd)}"

    def _describe(self, row: usage_table.TableRow, shown: str) -> Iterator[str]:
        figures = row.figures
        yield f"{row.label}: {shown}"
        yield self._translator(
            "usage.bar_title",
            messages=format_number(figures.messages),
            tokens=format_number(usage_table.count_tokens(figures)),
        )
        if isinstance(figures.models, tuple):
            yield from (f"{each.model or '—'}: {self._show(each)}" for each in figures.models)


def _rank_models(report: UsageDocument, measure: usage_table.Measure) -> list[str | None]:
    """Return the models of a report that is split by model, the largest first."""
    sums: defaultdict[str | None, float] = defaultdict(float)
    for row in report.rows:
        for each in row.models if isinstance(row.models, tuple) else ():
            sums[each.model] += usage_table.measure_figures(each, measure) or 0
    return sorted(sums, key=lambda model: (-sums[model], model or ""))


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

    burn_rate: CurrentBlock
    used: UsageRow


class SummaryTiles(Struct, frozen=True, kw_only=True):
    """Figures in tiles that are not totals, and in the notes below tiles."""

    summary: UsageSummary
    tokens: int
    per_day: float | None
    """The cost of an active day, in dollars."""
    change: str
    """The change of the cost from the same number of days before, such as `+12%`; may be empty."""
    cached: str
    """The share of tokens that was read from the cache; empty without tokens."""


def make_tiles(totals: Figures, summary: UsageSummary) -> SummaryTiles:
    """Return the tiles of a report with these totals."""
    cost, before, tokens = totals.cost_usd, summary.cost_before, usage_table.count_tokens(totals)
    change = "" if cost is None or not before else f"{cost / before - 1:+z,.0%}"
    return SummaryTiles(
        summary=summary,
        tokens=tokens,
        per_day=None if cost is None or not summary.active_days else cost / summary.active_days,
        change=change.replace("-", "\N{MINUS SIGN}"),
        cached=f"{totals.cache_read_tokens / tokens:.1%}" if tokens else "",
    )


class UsagePage(Struct, frozen=True, kw_only=True):
    """A report, or the error in the request."""

    wanted: usage_table.UsagePageParameters
    tabs: tuple[str, ...]
    more_tabs: tuple[str, ...]
    orders: tuple[str, ...]
    projects: tuple[str, ...]
    models: tuple[str, ...]
    only: str
    """The name of the only row in the report, if restricted to one."""
    report: UsageDocument | None
    rows: tuple[usage_table.TableRow, ...]
    has_shares: bool
    """Whether there is a total that rows are a share of."""
    tiles: SummaryTiles | None
    chart: Chart | None
    current: RunningBlock | None
    error: ErrorDetail | None


def render_usage_page(
    services: Services, wanted: usage_table.UsagePageParameters, translator: templating.Translator
) -> templating.PageContent:
    """Render a report."""
    report, error, chart, tiles = None, None, None, None
    rows: tuple[usage_table.TableRow, ...] = ()
    try:
        parameters = _make_parameters(wanted)
        report = history_endpoints.report_usage(services, parameters)
        rows = usage_table.make_rows(report, wanted, load_zone(wanted.timezone or None), translator)
        if rows:
            chart = make_chart(report, rows, wanted.measure, translator)
            tiles = make_tiles(
                report.totals, history_endpoints.summarize_usage(services, parameters)
            )
    except UsageError as failure:
        error = http_messages.describe_failure(failure)[1]
    choices = services.workspace.choices
    # A single row can only be split by groups that are explained line by line.
    tabs = TABS if wanted.only is None else usage_table.EXPLAINED
    page = UsagePage(
        wanted=wanted,
        tabs=tuple(group.value for group in tabs),
        more_tabs=tuple(group.value for group in Group if tabs is TABS and group not in TABS),
        orders=tuple(order.value for order in ReportOrder),
        projects=tuple(each.path or each.id for each in choices.projects),
        models=choices.models,
        only=usage_table.name_key(wanted.key or None, wanted.only, translator)
        if wanted.only
        else "",
        report=report,
        rows=rows,
        has_shares=any(row.share is not None for row in rows),
        tiles=tiles,
        chart=chart,
        current=find_running(services),
        error=error,
    )
    return templating.PageContent("usage.html", page, title="usage.title", section="usage")


def find_running(services: Services) -> RunningBlock | None:
    """Return the current block, whatever the report is grouped by."""
    report = history_endpoints.report_usage(
        services,
        history_endpoints.UsageParameters(group=Group.BLOCK, order=ReportOrder.DESC, limit=1),
    )
    if not isinstance(report.current_block, CurrentBlock) or not report.rows:
        return None
    return RunningBlock(report.current_block, report.rows[0])


def _make_parameters(wanted: usage_table.UsagePageParameters) -> history_endpoints.UsageParameters:
    orders = {order.value for order in ReportOrder}
    order = ReportOrder(wanted.order) if wanted.order in orders else None
    return history_endpoints.UsageParameters(
        group=wanted.group,
        since=wanted.since or None,
        until=wanted.until or None,
        project=wanted.project,
        model=wanted.model,
        timezone=wanted.timezone or None,
        # Newest first, so that a limit cuts old rows.
        order=order or (ReportOrder.DESC if wanted.group.is_time else None),
        # The columns of a time axis are split by model; the rows of the table only on request.
        breakdown=wanted.breakdown or (wanted.group.is_time and wanted.measure == "cost"),
        only=wanted.only,
        key=wanted.key,
        client_costs=wanted.client_costs,
        limit=usage_table.MAX_ROWS,
    )
