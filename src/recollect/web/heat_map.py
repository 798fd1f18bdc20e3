"""The heat map of a year and the small bars of a week, as SVG without script or style of their own.

Days are links to their sessions. Those of a heat map are left out of the tab order: hundreds of
stops would stand between a keyboard and the rest of the page, and lists have a date filter.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from recollect.render.html.html_code import show_text

PITCH: Final = 14
_CELL: Final = 12
_LEFT: Final = 30
_TOP: Final = 17
_LEVELS: Final = 4
_BAR: Final = 15
_BAR_HEIGHT: Final = 28
_MIN_LABEL_WEEKS: Final = 2
"""Weeks that a month needs for its name."""


class HeatMapWords(Struct, frozen=True, kw_only=True):
    """The texts of a heat map."""

    label: str
    months: Sequence[str]
    weekdays: Sequence[str]
    describe: Callable[[date], str]
    """A day and its figure."""
    address: Callable[[date], str]
    """The page of a day."""


def draw_heat_map(values: Mapping[date, float], last: date, weeks: int, words: HeatMapWords) -> str:
    """Draw the weeks up to `last`, Monday at the top; a day without a value is not a link."""
    first = last - timedelta(days=last.weekday() + 7 * (weeks - 1))
    thresholds = find_thresholds([value for value in values.values() if value > 0])
    days = [first + timedelta(days=at) for at in range((last - first).days + 1)]
    cells = (_draw_day(day, first, values.get(day, 0), thresholds, words) for day in days)
    width, height = _LEFT + weeks * PITCH, _TOP + 7 * PITCH
    return Markup(
        '<svg class="heat" viewBox="0 0 {} {}" role="group" aria-label="{}">{}{}{}{}</svg>'
    ).format(
        width,
        height,
        show_text(words.label),
        _draw_months(first, weeks, words.months),
        _draw_weekdays(words.weekdays),
        Markup().join(cells),
        _draw_box(last, first, "today"),
    )


def find_thresholds(values: Sequence[float]) -> list[float]:
    """Return the upper ends of the levels but the last: quartiles, so that one peak hides none."""
    ordered = sorted(values)
    return (
        [ordered[len(ordered) * part // _LEVELS] for part in range(1, _LEVELS)] if ordered else []
    )


def draw_week(values: Sequence[float], before: Sequence[float]) -> Markup:
    """Draw the days of a week in front of those of the week before."""
    most = max((*values, *before), default=0) or 1
    bars = [
        *(_draw_bar("previous", at, value / most, 12) for at, value in enumerate(before)),
        *(_draw_bar("current", at, value / most, 6) for at, value in enumerate(values)),
    ]
    return Markup(
        '<svg class="week" width="{}" height="31" aria-hidden="true"><path d="M0 30.5h{}"/>{}</svg>'
    ).format(7 * _BAR, 7 * _BAR, Markup().join(bars))


def _draw_bar(name: str, place: int, share: float, width: int) -> Markup:
    height = round(share * _BAR_HEIGHT, 1)
    return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
        name, place * _BAR + (12 - width) // 2, round(30 - height, 1), width, height
    )


def _draw_day(
    day: date, first: date, value: float, thresholds: Sequence[float], words: HeatMapWords
) -> Markup:
    if value <= 0:
        return _draw_box(day, first, "heat-0")
    level = 1 + sum(value >= each for each in thresholds)
    title = show_text(words.describe(day))
    return Markup('<a href="{}" tabindex="-1" aria-label="{}"><title>{}</title>{}</a>').format(
        words.address(day), title, title, _draw_box(day, first, f"heat-{min(level, _LEVELS)}")
    )


def _draw_box(day: date, first: date, name: str) -> Markup:
    week, weekday = divmod((day - first).days, 7)
    return Markup('<rect class="{}" x="{}" y="{}" width="{size}" height="{size}"/>').format(
        name, _LEFT + week * PITCH, _TOP + weekday * PITCH, size=_CELL
    )


def _draw_months(first: date, weeks: int, names: Sequence[str]) -> Markup:
    mondays = [first + timedelta(days=7 * week) for week in range(weeks)]
    # A month is named above its first Monday, unless too little of it is left for the name.
    starts = [week for week in range(weeks) if mondays[week].day <= 7]  # noqa: PLR2004
    return Markup().join(
        _draw_text(_LEFT + week * PITCH, _TOP - 6, names[mondays[week].month - 1])
        for week in starts
        if week <= weeks - _MIN_LABEL_WEEKS
    )


def _draw_weekdays(names: Sequence[str]) -> Markup:
    return Markup().join(
        _draw_text(0, _TOP + at * PITCH + 10, names[at])
        for at in range(0, len(names), 2)
        if at < 5  # noqa: PLR2004
    )


def _draw_text(x: int, y: int, words: str) -> Markup:
    return Markup('<text x="{}" y="{}">{}</text>').format(x, y, show_text(words))
