"""`/`: running sessions, activity, this week, expiring and recent sessions, and projects, or how to
get started without any session.
"""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Annotated, Literal
from urllib.parse import urlencode

from markupsafe import Markup
from msgspec import Meta, Struct

from recollect.documents.session_documents import ActivityDay, Overview, PeriodTotals
from recollect.quantities import format_dollars, format_number, format_short_number
from recollect.web.charts import HeatMapWords, render_heat_map, render_share, render_week
from recollect.web.services import Services
from recollect.web.template_filters import DASH, make_unique_names
from recollect.web.templating import PageContent, Translator
from recollect.workspace.activity_overview import CallCounts
from recollect.workspace.maintenance import can_archive
from recollect.workspace.served_workspace import ServedWorkspace

WEEKS = 53
MINUS = "\N{MINUS SIGN}"
Measure = Literal["cost", "tokens", "sessions"]
MEASURES: tuple[Measure, ...] = ("cost", "tokens", "sessions")


class HomeParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The figure in the heat map, and how many sessions have just been archived."""

    measure: Measure = "cost"
    archived: Annotated[int, Meta(ge=0)] | None = None


class EmptyPage(Struct, frozen=True, kw_only=True):
    """The page without sessions: the searched directories, and how to start the demo."""

    roots: tuple[str, ...]
    is_listed: bool


class WeekFigure(Struct, frozen=True, kw_only=True):
    """A figure of this week, compared with the same days of last week."""

    measure: Measure | Literal["failures"]
    value: str
    url: str
    """The page that breaks it down."""
    change: str
    """Empty without a figure for last week."""
    before: str
    bars: Markup
    basis: str = ""
    """The counts behind a share."""


class HomePage(Struct, frozen=True, kw_only=True):
    """The overview with its charts."""

    overview: Overview
    measure: Measure
    measures: tuple[Measure, ...]
    heat_map: str
    first_day: str
    busiest: ActivityDay | None
    busiest_value: str
    week: tuple[WeekFigure, ...]
    """Empty if there was nothing in this week or in the last."""
    shares: tuple[Markup, ...]
    """A bar for each project."""
    project_names: dict[str, str]
    """Display names by project directory."""
    waiting: int
    can_archive: bool
    archived: int | None
    now: float
    last_event: str
    """The event id to resume after; later changes are not on this page."""


def render_home_page(
    services: Services, wanted: HomeParameters, translator: Translator
) -> PageContent:
    """Render the overview, or the page for users without sessions."""
    workspace = services.workspace
    # Read first, so that a change in between is reported twice rather than lost.
    last_event = workspace.changes.last_id
    known = workspace.snapshot
    if not known.sessions:
        return render_empty_page(services, "home")
    overview = workspace.overview()
    days = {date.fromisoformat(each.day): each for each in overview.days}
    busiest = max(days.values(), key=lambda each: _measure(each, wanted.measure), default=None)
    most = max((each.cost_usd or 0 for each in overview.projects), default=0)
    page = HomePage(
        overview=overview,
        measure=wanted.measure,
        measures=MEASURES,
        heat_map=_render_activity(overview, days, wanted.measure, translator),
        first_day=_find_first_day(overview).isoformat(),
        busiest=busiest,
        busiest_value=_format_day(busiest, wanted.measure) if busiest else "",
        week=_describe_weeks(overview, days, workspace, translator),
        shares=tuple(
            render_share(each.cost_usd, most) if each.tokens else Markup()
            for each in overview.projects
        ),
        project_names=make_unique_names(
            each.path or each.projects[0] for each in overview.projects
        ),
        waiting=sum(bool(each.live and _is_waiting(each.live.status)) for each in overview.live),
        can_archive=can_archive(workspace) and not services.settings.is_demo,
        archived=wanted.archived,
        now=workspace.now.timestamp(),
        last_event=last_event,
    )
    return PageContent("home.html", page, title="home.title", section="home")


def render_empty_page(services: Services, section: str) -> PageContent:
    """Render a section for users without sessions."""
    roots = tuple(str(root) for root in services.settings.roots)
    page = EmptyPage(roots=roots, is_listed=services.workspace.snapshot.is_listed)
    return PageContent("nothing.html", page, title=f"{section}.title", section=section)


def _is_waiting(status: str | None) -> bool:
    return (status or "").startswith("waiting")


def _find_first_day(overview: Overview) -> date:
    today = date.fromisoformat(overview.today)
    return today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))


def _measure(day: ActivityDay | PeriodTotals, measure: Measure) -> float:
    values = {"cost": day.cost_usd or 0, "tokens": day.tokens, "sessions": day.sessions}
    return values[measure]


def _format_day(day: ActivityDay | PeriodTotals, measure: Measure) -> str:
    if measure == "cost":
        return DASH if day.cost_usd is None else format_dollars(day.cost_usd)
    return format_short_number(day.tokens) if measure == "tokens" else format_number(day.sessions)


def _render_activity(
    overview: Overview, days: dict[date, ActivityDay], measure: Measure, translator: Translator
) -> str:
    def describe(day: date) -> str:
        figures = translator(
            "home.day",
            cost=_format_day(days[day], "cost"),
            tokens=_format_day(days[day], "tokens"),
            sessions=_format_day(days[day], "sessions"),
        )
        return f"{day.isoformat()}: {figures}"

    words = HeatMapWords(
        label=translator("home.heat_map"),
        months=translator("home.months").split(),
        weekdays=translator("home.weekdays").split(),
        describe=describe,
        url=lambda day: f"/sessions?{urlencode({'since': day, 'until': day})}",
    )
    values = {day: _measure(each, measure) for day, each in days.items()}
    return render_heat_map(values, date.fromisoformat(overview.today), WEEKS, words)


def _describe_weeks(
    overview: Overview,
    days: dict[date, ActivityDay],
    workspace: ServedWorkspace,
    translator: Translator,
) -> tuple[WeekFigure, ...]:
    if not any(week.sessions or week.tokens for week in (overview.this_week, overview.last_week)):
        return ()
    return (
        *(_describe_week(overview, days, each) for each in MEASURES),
        *_describe_failures(overview, workspace.count_calls(), translator),
    )


def _describe_week(
    overview: Overview, days: dict[date, ActivityDay], measure: Measure
) -> WeekFigure:
    this, last = overview.this_week, overview.last_week
    monday = date.fromisoformat(this.since)
    values = [
        _measure(days[day], measure) if (day := monday + timedelta(days=at)) in days else 0
        for at in range(-7, 7)
    ]
    path = "/sessions" if measure == "sessions" else "/usage"
    query = {"since": this.since, "until": this.until} | (
        {} if measure == "sessions" else {"group": "day", "measure": measure}
    )
    return WeekFigure(
        measure=measure,
        value=_format_day(this, measure),
        url=f"{path}?{urlencode(query)}",
        change=_compare(_measure(this, measure), _measure(last, measure), measure),
        before=_format_day(last, measure),
        bars=render_week(values[7:], values[:7]),
    )


def _describe_failures(
    overview: Overview, counts: Sequence[CallCounts], translator: Translator
) -> Iterator[WeekFigure]:
    """Yield the share of this week's calls that failed, unless no call of either week failed."""
    since, until = overview.this_week.since, overview.this_week.until
    days = (date.fromisoformat(until) - date.fromisoformat(since)).days + 1
    this, last = _add_up(counts[7 : 7 + days]), _add_up(counts[:days])
    if not (this.failed or last.failed):
        return
    shares = [_share(each) for each in counts]
    change = f"{(_share(this) - _share(last)) * 100:+.1f}".replace("-", MINUS)
    yield WeekFigure(
        measure="failures",
        value=f"{_share(this):.1%}",
        url=f"/search?{urlencode({'q': f'is:error role:tool since:{since} until:{until}'})}",
        change=change if last.calls else "",
        before=f"{_share(last):.1%}",
        bars=render_week(shares[7:], shares[:7]),
        basis=translator(
            "home.failed_of", failed=format_number(this.failed), calls=format_number(this.calls)
        ),
    )


def _add_up(counts: Sequence[CallCounts]) -> CallCounts:
    return CallCounts(sum(each.calls for each in counts), sum(each.failed for each in counts))


def _share(counts: CallCounts) -> float:
    return counts.failed / counts.calls if counts.calls else 0.0


def _compare(value: float, before: float, measure: Measure) -> str:
    if not before:
        return ""
    change = f"{value - before:+.0f}" if measure == "sessions" else f"{value / before - 1:+.0%}"
    return change.replace("-", MINUS)
