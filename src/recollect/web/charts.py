"""Bar charts, the heat map of a year and the small bars of a week, as SVG without scripts or
styles.

Horizontal lengths are percentages and heights are pixels, so that text has the same size at every
width. Colours are classes in the style sheet. Unknown values are hatched: a bar without a value
would be invisible.

Days are links to their sessions. Those of a heat map are not in the tab order: hundreds of tab
stops would make the rest of the page hard to reach, and lists have a date filter.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from math import floor, log10
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from recollect.render.html.html_text import show_text

SERIES: Final = 8
"""Number of colours in the style sheet; the last one is for all others."""

HEIGHT: Final = 236
_TOP: Final = 20
_BASE: Final = 206
_CAP: Final = 9
"""Height in pixels of the hatching above the known value."""
_STUB: Final = 30
"""Height in pixels of a column without any known value."""
_MAX_WIDTH: Final = 5.0
_MIN_WIDTH: Final = 0.2
"""Minimum width of a column, in percent."""
_MAX_LABELS: Final = 8
_LAST_LABEL: Final = 95
"""Percent of the width from which on the name of a line is on its left: it would be cut off."""
_MIDDLE: Final = 50
"""Percent."""
_MIN_FOR_PEAK: Final = 3
"""Minimum number of columns to label the highest one: with fewer it is obvious."""
_ROW: Final = 40
_TICKS: Final = 4
_MIN_VALUE: Final = 1e-9
_SCALE: Final = 50
"""Width in pixels of the scale's labels."""

Show = Callable[[float], str]


class Slice(Struct, frozen=True):
    """A part of a bar: its series, and its length."""

    series: int
    value: float


class Bar(Struct, frozen=True, kw_only=True):
    """A bar with its labels."""

    label: str
    title: str
    """Its tooltip."""
    shown: str = ""
    """Its formatted value."""
    slices: tuple[Slice, ...] = ()
    is_open: bool = False
    """Whether part of its value is unknown, and missing from its slices."""
    slot: int = 0
    """Its position on the axis of a column chart."""

    @property
    def value(self) -> float:
        """The known total."""
        return sum(each.value for each in self.slices)


class Rule(Struct, frozen=True):
    """The start of a period on an axis, and its name; empty for a line without a label."""

    slot: int
    name: str


def render_columns(
    axis: Sequence[str],
    bars: Sequence[Bar],
    show: Show,
    label: str,
    rules: Sequence[Rule] = (),
    average: Sequence[float] = (),
) -> Markup:
    """Draw columns on an axis with a label for every slot, including those without a bar.

    With `rules`, there is a vertical line at the start of each, and only these are labelled.
    With `average`, there is a line through its values, of which the last is that of the last slot.
    """
    ticks = find_ticks(max((bar.value for bar in bars), default=0))
    scale = (_BASE - _TOP) / ticks[-1]
    width = 100 / max(len(axis), 1)
    heights = [_BASE - tick * scale for tick in ticks]
    drawing = _frame(
        HEIGHT,
        label,
        [
            *map(_render_line, heights),
            *(_render_rule(rule, width) for rule in rules),
            *(_render_column(bar, width, scale) for bar in bars),
            *_render_average(average, len(axis), scale),
            *([] if rules else _render_labels(axis, width)),
            *_render_peak(bars, width, scale),
        ],
    )
    # Separate from the columns, which fill the remaining width.
    scale_words = Markup().join(
        _render_tick(show(tick), y) for tick, y in zip(ticks, heights, strict=True) if tick
    )
    return Markup(
        '<div class="columns"><svg class="drawing" width="{0}" height="{1}" aria-hidden="true">{2}'
        "</svg>{3}</div>"
    ).format(_SCALE, HEIGHT, scale_words, drawing)


def render_rows(bars: Sequence[Bar], label: str) -> Markup:
    """Draw horizontal bars, each with its name and value above it."""
    most = max((bar.value for bar in bars), default=0) or 1
    rows = (_render_row(bar, place * _ROW, most) for place, bar in enumerate(bars))
    return _frame(max(len(bars), 1) * _ROW, label, rows)


def render_share(value: float | None, most: float) -> Markup:
    """Draw the bar of one table row; purely visual, because the figure is next to it."""
    if value is None:
        inner = Markup('<rect class="no-share" width="100%" height="8" rx="2"/>')
    else:
        part = 100 * value / most if most else 0
        inner = Markup('<rect class="series-0" width="{}%" height="8" rx="2"/>').format(_trim(part))
    return Markup('<svg class="share" width="100%" height="8" aria-hidden="true">{}</svg>').format(
        inner
    )


def find_ticks(most: float) -> list[float]:
    """Return round values from 0 to at least `most`."""
    if most < _MIN_VALUE:
        return [0, 1]
    rough = most / _TICKS
    power = 10.0 ** floor(log10(rough))
    step = next((n * power for n in (1, 2, 2.5, 5) if n * power >= rough), 10 * power)
    ticks = [0.0]
    while ticks[-1] < most:
        ticks.append(len(ticks) * step)
    return ticks


def _frame(height: int, label: str, parts: Iterable[Markup]) -> Markup:
    return Markup(
        '<svg class="drawing" width="100%" height="{}" role="img" aria-label="{}">{}{}</svg>'
    ).format(height, show_text(label), _HATCHING, Markup().join(parts))


_HATCHING: Final = Markup(
    '<defs><pattern id="hatching" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect class="hatching-paper" width="6" height="6"/>'
    '<rect class="hatching-line" width="2.5" height="6"/></pattern></defs>'
)


def _render_line(y: float) -> Markup:
    return Markup('<line class="grid" x1="0" x2="100%" y1="{0}" y2="{0}"/>').format(_trim(y))


def _render_rule(rule: Rule, width: float) -> Markup:
    x = _trim(rule.slot * width)
    line = Markup('<line class="rule" x1="{0}%" x2="{0}%" y1="{1}" y2="{2}"/>').format(
        x, _TOP - 8, _BASE + 6
    )
    is_left = rule.slot * width > _LAST_LABEL
    name = Markup('<text class="label" x="{}%" y="{}" dx="{}" text-anchor="{}">{}</text>').format(
        x, HEIGHT - 10, -4 if is_left else 4, "end" if is_left else "start", show_text(rule.name)
    )
    return line + name if rule.name else line


def _render_tick(words: str, y: float) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(
        _SCALE - 8, _trim(y + 4), words
    )


def _render_column(bar: Bar, width: float, scale: float) -> Markup:
    thickness = max(min(width * 0.74, _MAX_WIDTH), _MIN_WIDTH)
    left = min(bar.slot * width + max(width - thickness, 0) / 2, 100 - thickness)
    parts, y = [], float(_BASE)
    for each in bar.slices:
        height = each.value * scale
        y -= height
        parts.append(_render_box(f"series-{each.series}", (left, y, thickness, height)))
    if bar.is_open:
        height = _CAP if bar.value else _STUB
        parts.append(_render_box("unknown", (left, y - height, thickness, height)))
    # The whole height reacts to the pointer, because many columns are only a few pixels high.
    target = _render_box("target", (bar.slot * width, 0, width, _BASE))
    return Markup('<g class="column"><title>{}</title>{}{}</g>').format(
        show_text(bar.title), target, Markup().join(parts)
    )


def _render_average(average: Sequence[float], slots: int, scale: float) -> list[Markup]:
    """Draw a line in units of slots, because a path cannot have percentages."""
    if not average:
        return []
    first = slots - len(average)
    bends = [
        at
        for at, value in enumerate(average)
        if at in (0, len(average) - 1) or not average[at - 1] == value == average[at + 1]
    ]
    points = " ".join(f"{first + at + 0.5:g},{_trim(_BASE - average[at] * scale)}" for at in bends)
    return [
        Markup(
            '<svg width="100%" height="{1}" viewBox="0 0 {0} {1}" preserveAspectRatio="none">'
            '<polyline class="average" points="{2}" vector-effect="non-scaling-stroke"/></svg>'
        ).format(slots, HEIGHT, points)
    ]


def _render_peak(bars: Sequence[Bar], width: float, scale: float) -> list[Markup]:
    """Name the highest of several columns, on the side that has more room."""
    peak = max(bars, key=lambda bar: bar.value, default=None)
    if peak is None or len(bars) < _MIN_FOR_PEAK or peak.value < _MIN_VALUE:
        return []
    middle = (peak.slot + 0.5) * width
    half = min(width * 0.74, _MAX_WIDTH) / 2
    is_left = middle > _MIDDLE
    return [
        Markup('<text class="peak" x="{}%" y="{}" dx="{}" text-anchor="{}">{}, {}</text>').format(
            _trim(middle - half if is_left else middle + half),
            _trim(max(_BASE - peak.value * scale + 4, _TOP - 8)),
            -6 if is_left else 6,
            "end" if is_left else "start",
            show_text(peak.label),
            show_text(peak.shown),
        )
    ]


def _render_box(name: str, box: tuple[float, float, float, float]) -> Markup:
    x, y, width, height = map(_trim, box)
    fill = Markup(' fill="url(#hatching)"') if name == "unknown" else ""
    return Markup('<rect class="{}"{} x="{}%" y="{}" width="{}%" height="{}"/>').format(
        name, fill, x, y, width, height
    )


def _render_labels(axis: Sequence[str], width: float) -> list[Markup]:
    step = -(-len(axis) // _MAX_LABELS) or 1
    return [
        Markup('<text class="{}" x="{}%" y="{}" text-anchor="middle">{}</text>').format(
            # Every other label is hidden if there is little room.
            "label minor" if at // step % 2 else "label",
            _trim((at + 0.5) * width),
            HEIGHT - 10,
            show_text(axis[at]),
        )
        for at in range(0, len(axis), step)
    ]


def _render_row(bar: Bar, top: int, most: float) -> Markup:
    parts, left = [], 0.0
    for each in bar.slices:
        part = 100 * each.value / most
        parts.append(_render_box(f"series-{each.series}", (left, top + 22, part, 10)))
        left += part
    if bar.is_open:
        # Stays inside the chart, and above the known part.
        rest = min(3.0 if left else 12.0, 100 - left)
        parts.append(_render_box("unknown", (left, top + 22, rest, 10)))
    return Markup(
        '<g class="row"><title>{}</title><text class="name" x="0" y="{y}">{}</text>'
        '<text class="value" x="100%" y="{y}" text-anchor="end">{}</text>{}</g>'
    ).format(
        show_text(bar.title), show_text(bar.label), bar.shown, Markup().join(parts), y=top + 15
    )


def _trim(number: float) -> str:
    return f"{number:.3f}".rstrip("0").rstrip(".")


PITCH: Final = 14
_CELL: Final = 12
_LEFT: Final = 30
_DAYS_TOP: Final = 17
_LEVELS: Final = 4
_BAR: Final = 15
_BAR_HEIGHT: Final = 28
_MIN_LABEL_WEEKS: Final = 2
"""Minimum number of weeks of a month to show its name."""


class HeatMapWords(Struct, frozen=True, kw_only=True):
    """The texts of a heat map."""

    label: str
    months: Sequence[str]
    weekdays: Sequence[str]
    describe: Callable[[date], str]
    """A day and its figure."""
    url: Callable[[date], str]
    """The page of a day."""


def render_heat_map(
    values: Mapping[date, float], last: date, weeks: int, words: HeatMapWords
) -> str:
    """Draw the weeks up to `last`, with Monday at the top; days without a value are not links."""
    first = last - timedelta(days=last.weekday() + 7 * (weeks - 1))
    thresholds = find_thresholds([value for value in values.values() if value > 0])
    days = [first + timedelta(days=at) for at in range((last - first).days + 1)]
    cells = (_render_day(day, first, values.get(day, 0), thresholds, words) for day in days)
    width, height = _LEFT + weeks * PITCH, _DAYS_TOP + 7 * PITCH
    return Markup(
        '<svg class="heat" viewBox="0 0 {} {}" role="group" aria-label="{}">{}{}{}{}</svg>'
    ).format(
        width,
        height,
        show_text(words.label),
        _render_months(first, weeks, words.months),
        _render_weekdays(words.weekdays),
        Markup().join(cells),
        _render_square(last, first, "today"),
    )


def find_thresholds(values: Sequence[float]) -> list[float]:
    """Return the upper bounds of all levels but the last: quartiles, robust against peaks."""
    ordered = sorted(values)
    return (
        [ordered[len(ordered) * part // _LEVELS] for part in range(1, _LEVELS)] if ordered else []
    )


def render_week(values: Sequence[float], before: Sequence[float]) -> Markup:
    """Draw the days of a week, with those of the week before behind them."""
    most = max((*values, *before), default=0) or 1
    bars = [
        *(_render_bar("previous", at, value / most, 12) for at, value in enumerate(before)),
        *(_render_bar("current", at, value / most, 6) for at, value in enumerate(values)),
    ]
    return Markup(
        '<svg class="week" width="{}" height="31" aria-hidden="true"><path d="M0 30.5h{}"/>{}</svg>'
    ).format(7 * _BAR, 7 * _BAR, Markup().join(bars))


_MIN_MONTHS: Final = 12
_MAX_MONTHS: Final = 24


def render_months(counts: Mapping[str, int], urls: Mapping[str, str]) -> Markup:
    """Draw results by month, from the oldest to the newest; empty months keep their place.

    The months are as in `2026-11`. Purely visual: a list beside it has the same figures.
    """
    places = {month: 12 * int(month[:4]) + int(month[5:]) for month in counts}
    last = max(places.values(), default=0)
    first = max(min((*places.values(), last - _MIN_MONTHS + 1)), last - _MAX_MONTHS + 1)
    width = last - first + 1
    shown = {month: count for month, count in counts.items() if places[month] >= first}
    most = max(shown.values(), default=0) or 1
    bars = Markup().join(
        Markup(
            '<a href="{}" tabindex="-1"><title>{}: {}</title><rect class="room" x="{}" width="1" '
            'height="32"/><rect class="bar" x="{}" y="{}" width="0.8" height="{}"/></a>'
        ).format(
            urls[month],
            month,
            f"{count:,}",
            places[month] - first,
            places[month] - first + 0.1,
            _trim(30 - max(28 * count / most, 1)),
            _trim(max(28 * count / most, 1)),
        )
        for month, count in shown.items()
    )
    return Markup(
        '<svg class="months" viewBox="0 0 {} 32" preserveAspectRatio="none" width="100%" '
        'height="32" aria-hidden="true"><path d="M0 30.5h{}"/>{}</svg>'
    ).format(width, width, bars)


def _render_bar(name: str, place: int, share: float, width: int) -> Markup:
    height = round(share * _BAR_HEIGHT, 1)
    return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
        name, place * _BAR + (12 - width) // 2, round(30 - height, 1), width, height
    )


def _render_day(
    day: date, first: date, value: float, thresholds: Sequence[float], words: HeatMapWords
) -> Markup:
    if value <= 0:
        return _render_square(day, first, "heat-0")
    level = 1 + sum(value >= each for each in thresholds)
    title = show_text(words.describe(day))
    return Markup('<a href="{}" tabindex="-1" aria-label="{}"><title>{}</title>{}</a>').format(
        words.url(day), title, title, _render_square(day, first, f"heat-{min(level, _LEVELS)}")
    )


def _render_square(day: date, first: date, name: str) -> Markup:
    week, weekday = divmod((day - first).days, 7)
    return Markup('<rect class="{}" x="{}" y="{}" width="{size}" height="{size}"/>').format(
        name, _LEFT + week * PITCH, _DAYS_TOP + weekday * PITCH, size=_CELL
    )


def _render_months(first: date, weeks: int, names: Sequence[str]) -> Markup:
    mondays = [first + timedelta(days=7 * week) for week in range(weeks)]
    # The name of a month is above its first Monday, if there is room for it.
    starts = [week for week in range(weeks) if mondays[week].day <= 7]  # noqa: PLR2004
    return Markup().join(
        _render_text(_LEFT + week * PITCH, _DAYS_TOP - 6, names[mondays[week].month - 1])
        for week in starts
        if week <= weeks - _MIN_LABEL_WEEKS
    )


def _render_weekdays(names: Sequence[str]) -> Markup:
    return Markup().join(
        _render_text(0, _DAYS_TOP + at * PITCH + 10, names[at])
        for at in range(0, len(names), 2)
        if at < 5  # noqa: PLR2004
    )


def _render_text(x: int, y: int, words: str) -> Markup:
    return Markup('<text x="{}" y="{}">{}</text>').format(x, y, show_text(words))
