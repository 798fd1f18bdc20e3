"""The chart above a usage table.

Periods are on an axis that includes days without usage, if there is room; other groups are a list
of the largest.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from recollect.documents.usage_groups import Group
from recollect.documents.usage_report import Figures, UsageDocument
from recollect.quantities import format_dollars, format_number, format_rate, format_short_number
from recollect.web.charts import SERIES, Bar, Rule, Slice, draw_columns, draw_rows
from recollect.web.pages.usage_table import (
    Measure,
    TableRow,
    count_tokens,
    find_monday,
    measure_figures,
)
from recollect.web.templating import Translator

MAX_SLOTS: Final = 366 * 20
"""Days; times that are decades apart are not those of one person's sessions."""
MAX_BARS: Final = 120
"""Maximum columns without gaps."""
MIN_RULED_DAYS: Final = 35
MAX_MONTHS: Final = 13
"""Months that have room for their names."""
MAX_ROWS: Final = 12
_MAX_NAME_WIDTH: Final = 46

_CLASSES: Final = ("output", "input", "cache_write", "cache_read")


class ChartEntry(Struct, frozen=True):
    """A colour, and what it means."""

    series: int
    name: str


class Chart(Struct, frozen=True, kw_only=True):
    """A drawing with its texts."""

    caption: str
    drawing: Markup
    legend: tuple[ChartEntry, ...]
    has_unknown: bool


def make_chart(
    report: UsageDocument, rows: Sequence[TableRow], measure: Measure, translator: Translator
) -> Chart:
    """Make the chart of a report."""
    kinds = _Kinds(report, measure, translator)
    name = translator(f"group.{report.group.value}")
    # Inside a sentence; but MCP stays MCP.
    name = name[:1].lower() + name[1:] if name[1:2].islower() else name
    caption = translator(f"usage.chart_{measure}", group=name)
    named = [row for row in rows if row.figures.key is not None or not report.group.is_time]
    if report.group.is_time:
        axis, slots = lay_out([row.figures.key or "" for row in named], report.group)
        rules = rule_months(axis, report.group, translator("home.months").split())
        bars = [
            kinds.make_bar(row, slots[row.figures.key]) for row in named if row.figures.key in slots
        ]
        show = format_rate if measure == "cost" else _show_count
        drawing = draw_columns(_shorten(axis), bars, show, caption, rules)
    else:
        named.sort(key=lambda row: -(measure_figures(row.figures, measure) or 0))
        bars = [kinds.make_bar(row) for row in named[:MAX_ROWS]]
        drawing = draw_rows(bars, caption)
        if len(named) > MAX_ROWS:
            caption = f"{caption} · {translator('usage.largest', count=MAX_ROWS)}"
    return Chart(
        caption=caption,
        drawing=drawing,
        legend=kinds.legend,
        has_unknown=any(bar.is_open for bar in bars),
    )


def _show_count(tokens: float) -> str:
    """Format a round number without decimals."""
    return format_short_number(tokens).replace(".0", "")


def lay_out(keys: Sequence[str], group: Group) -> tuple[list[str], dict[str | None, int]]:
    """Return the labels of an axis, and the slot of each key on it.

    Periods without usage keep their place. Only if times are decades apart, as in damaged records,
    columns are placed side by side.
    """
    keys = sorted(keys)
    numbers = [_number(key, group) for key in keys]
    if group is not Group.BLOCK and numbers and numbers[-1] - numbers[0] < MAX_SLOTS:
        axis = [_label(number, group) for number in range(numbers[0], numbers[-1] + 1)]
        return axis, {key: number - numbers[0] for key, number in zip(keys, numbers, strict=True)}
    shown = keys[-MAX_BARS:]
    axis = [key[:16].replace("T", " ") for key in shown]
    return axis, {key: slot for slot, key in enumerate(shown)}


def rule_months(axis: Sequence[str], group: Group, names: Sequence[str]) -> list[Rule]:
    """Return where months begin on an axis of days or weeks that is long enough for that.

    If there are many, only some have their name; January has that of its year.
    """
    days = {Group.DAY: 1, Group.WEEK: 7}.get(group, 0)
    if len(axis) * days < MIN_RULED_DAYS:
        return []
    starts: list[tuple[int, date]] = []
    for slot, label in enumerate(axis):
        day = date.fromisoformat(label) if group is Group.DAY else find_monday(label)
        if day.day <= days:
            starts.append((slot, day))
    step = -(-len(starts) // MAX_MONTHS) or 1
    return [
        Rule(slot, _name_month(day, names) if number % step == 0 else "")
        for number, (slot, day) in enumerate(starts)
    ]


def _name_month(day: date, names: Sequence[str]) -> str:
    return str(day.year) if day.month == 1 else names[day.month - 1]


def _number(key: str, group: Group) -> int:
    if group is Group.DAY:
        return date.fromisoformat(key).toordinal()
    if group is Group.WEEK:
        return find_monday(key).toordinal() // 7
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
    """Remove the year if all have the same, except for months."""
    years = {label[:4] for label in axis}
    is_long = any(len(label) > len("2026-11") for label in axis)
    return [label[5:] for label in axis] if len(years) == 1 and is_long else axis


class _Kinds:
    """The meaning of a chart's colours, and the bars in them."""

    def __init__(self, report: UsageDocument, measure: Measure, translator: Translator) -> None:
        self._measure = measure
        self._translator = translator
        self._models = _rank_models(report, measure)
        self.legend = tuple(self._make_legend())

    def make_bar(self, row: TableRow, slot: int = 0) -> Bar:
        figures = row.figures
        slices = tuple(sorted(self._iter_slices(row), key=lambda each: each.series))
        is_open = self._measure == "cost" and figures.unpriced_messages > 0
        shown = self._show(figures)
        label = (
            row.label
            if len(row.label) <= _MAX_NAME_WIDTH
            else f"{row.label[: _MAX_NAME_WIDTH - 1]}…"
        )
        return Bar(
            label=label,
            title="\n".join(self._describe(row, shown)),
            shown=shown,
            slices=slices,
            is_open=is_open,
            slot=slot,
        )

    def _make_legend(self) -> Iterator[ChartEntry]:
        if self._models:
            shown = list(self._models)[: SERIES - 1]
            yield from (ChartEntry(at, name or "—") for at, name in enumerate(shown))
            if len(self._models) > len(shown):
                yield ChartEntry(SERIES - 1, self._translator("usage.other_models"))
        elif self._measure == "tokens":
            for at, name in enumerate(_CLASSES):
                yield ChartEntry(at, self._translator(f"usage.{name}"))

    def _iter_slices(self, row: TableRow) -> Iterator[Slice]:
        figures = row.figures
        if isinstance(figures.models, tuple):
            for each in figures.models:
                value = measure_figures(each, self._measure)
                if value is not None:
                    yield Slice(min(self._models.index(each.model), SERIES - 1), value)
        elif self._measure == "tokens":
            writes = figures.cache_write_5m_tokens + figures.cache_write_1h_tokens
            classes = (figures.output_tokens, figures.input_tokens, writes)
            for at, tokens in enumerate((*classes, figures.cache_read_tokens)):
                yield Slice(at, tokens)
        elif figures.cost_usd is not None:
            yield Slice(0, figures.cost_usd)

    def _show(self, figures: Figures) -> str:
        if self._measure == "tokens":
            return format_short_number(count_tokens(figures))
        if figures.cost_usd is None:
            return self._translator("usage.unknown")
        return f"{'≥ ' if figures.unpriced_messages else ''}{format_dollars(figures.cost_usd)}"

    def _describe(self, row: TableRow, shown: str) -> Iterator[str]:
        figures = row.figures
        yield f"{row.label}: {shown}"
        yield self._translator(
            "usage.bar_title",
            messages=format_number(figures.messages),
            tokens=format_number(count_tokens(figures)),
        )
        if isinstance(figures.models, tuple):
            yield from (f"{each.model or '—'}: {self._show(each)}" for each in figures.models)


def _rank_models(report: UsageDocument, measure: Measure) -> list[str | None]:
    """Return the models of a report that is split by them, the largest first."""
    sums: defaultdict[str | None, float] = defaultdict(float)
    for row in report.rows:
        for each in row.models if isinstance(row.models, tuple) else ():
            sums[each.model] += measure_figures(each, measure) or 0
    return sorted(sums, key=lambda model: (-sums[model], model or ""))
