"""The rows of a usage table: their names and links.

Every row links to its records. A day or a session is explained line by line; any other row links to
a report of that row alone, by day or by session.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Final, Literal
from urllib.parse import quote, urlencode

from markupsafe import Markup
from msgspec import UNSET, Meta, Struct

from recollect.documents.usage_groups import Group
from recollect.documents.usage_report import Figures, UsageDocument, UsageRow
from recollect.quantities import format_duration
from recollect.usage.totals import find_share
from recollect.usage.zones import Zone
from recollect.web.charts import render_share
from recollect.web.template_filters import make_unique_names
from recollect.web.templating import Translator

MAX_ROWS: Final = 400
EXPLAINED: Final = (Group.DAY, Group.SESSION)
"""Groups that are explained line by line."""

_DASH: Final = "\N{EN DASH}"
_BY_DAY: Final = (Group.WEEK, Group.MONTH)

Text = Annotated[str, Meta(max_length=500)]
Measure = Literal["cost", "tokens"]


class UsageFilters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters that filter usage; an empty form value does not filter."""

    since: Annotated[str, Meta(max_length=20)] = ""
    until: Annotated[str, Meta(max_length=20)] = ""
    project: Text = ""
    model: Text = ""
    timezone: Annotated[str, Meta(max_length=100)] = ""

    @property
    def filters(self) -> dict[str, str]:
        """The active filters, as query parameters."""
        names = UsageFilters.__struct_fields__
        return {name: value for name in names if (value := getattr(self, name))}


class UsagePageParameters(UsageFilters, frozen=True, kw_only=True):
    """Parameters of a report."""

    group: Group = Group.DAY
    measure: Measure = "cost"
    order: str = ""
    breakdown: bool = False
    only: Group | None = None
    key: Annotated[str, Meta(max_length=5000)] = ""
    client_costs: bool = False

    @property
    def query(self) -> dict[str, str]:
        """All parameters except the order and slow options, as query parameters."""
        form = {"group": self.group.value, "measure": self.measure}
        if self.breakdown:
            form["breakdown"] = "true"
        return {**form, **self.filters, **self.narrowing}

    @property
    def narrowing(self) -> dict[str, str]:
        """The only row in the report, as query parameters."""
        return {} if self.only is None else {"only": self.only.value, "key": self.key}


class TableRow(Struct, frozen=True, kw_only=True):
    """A row with its name and links."""

    label: str
    detail: str
    url: str
    """The page of the session or project."""
    explanation: str
    """The page that explains its figures."""
    figures: UsageRow
    bar: Markup
    share: float | None
    """Its share of the total; None if the cost is not known."""
    model_shares: tuple[float | None, ...]
    """The shares of its models, in their order."""


def count_tokens(figures: Figures) -> int:
    """Return the tokens of all classes."""
    writes = figures.cache_write_5m_tokens + figures.cache_write_1h_tokens
    return figures.input_tokens + figures.output_tokens + figures.cache_read_tokens + writes


def measure_figures(figures: Figures, measure: Measure) -> float | None:
    """Return the value of a bar; None if the cost is not known."""
    return figures.cost_usd if measure == "cost" else count_tokens(figures)


def make_rows(
    report: UsageDocument,
    wanted: UsagePageParameters,
    zone: Zone,
    translator: Translator,
) -> tuple[TableRow, ...]:
    """Return the rows of a report."""
    measured = [measure_figures(row, wanted.measure) for row in report.rows]
    most = max((value for value in measured if value is not None), default=0)
    total = measure_figures(report.totals, wanted.measure)
    names = _Names(report, zone, translator)

    def share(figures: Figures) -> float | None:
        return find_share(measure_figures(figures, wanted.measure), total)

    return tuple(
        TableRow(
            label=names.label(row),
            detail=names.detail(row),
            url=_find_page(row, report.group) or find_explanation(row.key, wanted),
            explanation=find_explanation(row.key, wanted),
            figures=row,
            bar=render_share(value, most),
            share=share(row),
            model_shares=tuple(map(share, row.models)) if isinstance(row.models, tuple) else (),
        )
        for row, value in zip(report.rows, measured, strict=True)
    )


def find_explanation(key: str | None, wanted: UsagePageParameters) -> str:
    """Return the URL that explains a row."""
    group = wanted.group
    if key is not None and group in EXPLAINED:
        query = {"target": key}
        if wanted.timezone:
            query["timezone"] = wanted.timezone
        if set(wanted.filters) - {"timezone"} or wanted.only is not None:
            query["narrowed"] = "true"
        return f"/usage/explain?{urlencode(query)}"
    split = Group.DAY if group in _BY_DAY else Group.SESSION
    query = {"group": split.value, **wanted.filters, "only": group.value, "key": key or ""}
    return f"/usage?{urlencode(query)}"


def name_key(key: str | None, group: Group, translator: Translator) -> str:
    """Return the name of a row from its key alone."""
    if key is not None:
        return key
    unset = {
        **dict.fromkeys((Group.DAY, Group.WEEK, Group.MONTH, Group.BLOCK), "date"),
        Group.BRANCH: "branch",
        Group.TOOL: "tool",
        Group.MCP_SERVER: "mcp-server",
    }
    return translator(f"unset.{unset.get(group, 'other')}")


class _Names:
    """Finds the names of a report's rows."""

    def __init__(self, report: UsageDocument, zone: Zone, translator: Translator) -> None:
        self._group = report.group
        self._zone = zone
        self._translator = translator
        self._titles = _find_titles(report) if self._group is Group.SESSION else {}
        projects = (row.key if self._group is Group.PROJECT else row.project for row in report.rows)
        self._projects = make_unique_names({each for each in projects if isinstance(each, str)})

    def label(self, row: UsageRow) -> str:
        if row.key is None:
            return name_key(None, self._group, self._translator)
        if self._group is Group.SESSION:
            return self._titles.get(row.key, row.key)
        if self._group is Group.PROJECT:
            return self._projects[row.key]
        if self._group is Group.BLOCK:
            return f" {_DASH} ".join(self._iter_clock(row)) or row.key
        return row.key

    def detail(self, row: UsageRow) -> str:
        if self._group is Group.SESSION:
            return self._projects[row.project] if isinstance(row.project, str) else ""
        if self._group is Group.PROJECT:
            return row.key or ""
        if self._group is Group.WEEK and row.key:
            return describe_week(row.key)
        if self._group is Group.BLOCK and isinstance(row.idle_hours_before, int):
            idle = format_duration(row.idle_hours_before * 3_600_000, self._translator.language)
            return self._translator("usage.idle", time=idle) if row.idle_hours_before else ""
        return ""

    def _iter_clock(self, row: UsageRow) -> Iterator[str]:
        """Yield the start and the end of a block, in the reader's time zone."""
        for moment, form in ((row.start, "%Y-%m-%d %H:%M"), (row.end, "%H:%M")):
            if moment is not UNSET:
                local = self._zone.find_local(read_moment(moment))
                if local is not None:
                    yield local.strftime(form)


def read_moment(text: str) -> int:
    """Parse a time in a document as a Unix timestamp."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def find_monday(week: str) -> date:
    """Return the first day of a week such as 2026-W46."""
    year, _, number = week.partition("-W")
    return date.fromisocalendar(int(year), int(number), 1)


def describe_week(week: str) -> str:
    """Return the first and the last day of a week."""
    monday = find_monday(week)
    sunday = date.fromordinal(monday.toordinal() + 6)
    return f"{monday:%m-%d} {_DASH} {sunday:%m-%d}"


def _find_titles(report: UsageDocument) -> Mapping[str, str]:
    return {row.key: row.title for row in report.rows if row.key and row.title}


def _find_page(row: UsageRow, group: Group) -> str | None:
    return f"/s/{quote(row.key, safe='')}" if row.key and group is Group.SESSION else None
