"""Draw a session over time: prompts, calls, a lane for each subagent, and what it cost per minute.

Time is to scale while something happens. Longer pauses take the same room each, with their length
written in them: a night between two prompts would leave nothing to see otherwise.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from recollect.render.html.html_code import show_text

PAUSE_SECONDS: Final = 120.0
"""A longer time without anything is drawn as a pause."""
MAX_LANES: Final = 12
_WIDTH: Final = 1200
"""Pixels for the time in which something happened; pauses come on top."""
_LEFT: Final = 12
_PAUSE_ROOM: Final = 46
_LANE: Final = 20
_TOP: Final = 22
_COST_HEIGHT: Final = 40
_LINK: Final = Markup('<a href="{href}"><title>{title}</title>{shape}</a>')
_RECT: Final = Markup('<rect class="{name}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{h}"/>')
_TEXT: Final = Markup('<text class="{name}" x="{x:.1f}" y="{y}">{words}</text>')


class TimelineBar(Struct, frozen=True, kw_only=True):
    """Something that took time, in seconds since 1970, and the page that shows it."""

    kind: str
    """`turn`, `call`, `change`, `failed`, `agent` or `compaction`."""
    start: float
    end: float
    title: str
    address: str
    lane: int
    rate: float = 0.0
    """Dollars per minute, for a turn."""


def draw_timeline(bars: Sequence[TimelineBar], format_pause: Callable[[float], str]) -> Markup:
    """Return the drawing of all bars; each is a link to its place."""
    scale = _Scale(bars)
    lanes = 1 + max((bar.lane for bar in bars), default=0)
    bottom = _TOP + lanes * _LANE
    parts = [_draw_bar(bar, scale) for bar in bars]
    for start, pause in scale.pauses:
        words = format_pause(pause * 1000)
        parts.append(_TEXT.format(name="pause", x=start + _PAUSE_ROOM / 2, y=14, words=words))
        parts.append(
            Markup('<path class="pause" d="M{:.1f} {}V{}"/>').format(
                start + _PAUSE_ROOM / 2, _TOP, bottom + _COST_HEIGHT
            )
        )
    parts += _draw_rates(bars, scale, bottom + _COST_HEIGHT)
    return Markup('<svg class="timeline" width="{}" height="{}">{}</svg>').format(
        scale.width, bottom + _COST_HEIGHT + 8, Markup().join(parts)
    )


def _draw_bar(bar: TimelineBar, scale: "_Scale") -> Markup:
    left, right = scale.place(bar.start), scale.place(bar.end)
    shape = _RECT.format(
        name=bar.kind,
        x=left,
        y=_TOP + bar.lane * _LANE + 2,
        width=max(right - left, 2),
        h=_LANE - 4,
    )
    return _LINK.format(href=bar.address, title=show_text(bar.title), shape=shape)


def _draw_rates(bars: Sequence[TimelineBar], scale: "_Scale", base: int) -> list[Markup]:
    turns = [bar for bar in bars if bar.kind == "turn" and bar.rate]
    most = max((bar.rate for bar in turns), default=0.0)
    drawn = []
    for bar in turns:
        height = max(round((_COST_HEIGHT - 6) * bar.rate / most), 1)
        left, right = scale.place(bar.start), scale.place(bar.end)
        drawn.append(
            _RECT.format(name="cost", x=left, y=base - height, width=max(right - left, 2), h=height)
        )
    return drawn


class _Scale:
    """Where a moment is drawn."""

    def __init__(self, bars: Sequence[TimelineBar]) -> None:
        spans = _unite([(bar.start, bar.end) for bar in bars])
        busy = sum(end - start for start, end in spans) or 1.0
        gaps = [later[0] - earlier[1] for earlier, later in pairwise(spans)]
        self._pixels = _WIDTH / busy
        self._spans: list[tuple[float, float, float]] = []
        self.pauses: list[tuple[float, float]] = []
        """Where each pause begins, and how long it is."""
        across = float(_LEFT)
        for number, (start, end) in enumerate(spans):
            self._spans.append((start, end, across))
            across += (end - start) * self._pixels
            if number < len(gaps):
                self.pauses.append((across, gaps[number]))
                across += _PAUSE_ROOM
        self.width = round(across) + _LEFT

    def place(self, moment: float) -> float:
        """Return how far to the right a moment is."""
        for start, end, across in self._spans:
            if moment <= end:
                return across + max(moment - start, 0) * self._pixels
        return float(self.width - _LEFT)


def _unite(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the times in which something happened, without those of pauses."""
    united: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if united and start - united[-1][1] <= PAUSE_SECONDS:
            united[-1] = (united[-1][0], max(united[-1][1], end))
        else:
            united.append((start, end))
    return united
