"""Draw the versions of a file on a time axis: one mark each, by how well it is known."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from recollect.quantities import format_date
from recollect.session.times import parse_time
from recollect.versions.replay import Version, VersionKind

_STEP: Final = 64
_MARGIN: Final = 40
_LINE: Final = 56
_MAX_SHOWN: Final = 60
_MARKS: Final = {
    "exact": '<circle class="exact" cx="{x}" cy="{y}" r="6"/>',
    "replayed": '<circle class="replayed" cx="{x}" cy="{y}" r="6"/>'
    '<circle class="exact" cx="{x}" cy="{y}" r="2.5"/>',
    "inferred": '<path class="inferred" d="M{x} {y}m0-7l7 7l-7 7l-7-7z"/>',
    "partial": '<circle class="partial" cx="{x}" cy="{y}" r="6"/>',
    "outside": '<path class="outside" d="M{x} {y}m-6-6h12v12h-12z"/>',
}


def draw_axis(versions: Sequence[Version], chosen: Sequence[int]) -> Markup:
    """Return the axis with the last versions; days are written where they begin.

    Marks are at equal distances: a dozen changes within a minute could not be told apart otherwise.
    """
    shown = versions[-_MAX_SHOWN:]
    width = 2 * _MARGIN + _STEP * max(len(shown) - 1, 1)
    places = {each.number: _MARGIN + _STEP * at for at, each in enumerate(shown)}
    parts = [Markup('<path class="axis" d="M{} {}H{}"/>').format(8, _LINE, width - 8)]
    day = ""
    for each in shown:
        moment = parse_time(each.origin.time)
        today = format_date(moment) if moment else ""
        if today != day:
            parts.append(_write("day", places[each.number], 14, today))
        day = today
        parts.append(_write("number", places[each.number], 36, f"v{each.number}"))
        parts.append(draw_mark(name_mark(each), places[each.number], _LINE))
    ends = [places[number] for number in chosen if number in places]
    if ends:
        low, high = min(ends) - 11, max(ends) + 11
        path = Markup('<path class="chosen" d="M{} {}v6H{}v-6"/>')
        parts.append(path.format(low, _LINE + 12, high))
    return Markup(
        '<svg class="versions" width="{}" height="82" aria-hidden="true">{}</svg>'
    ).format(width, Markup().join(parts))


def name_mark(version: Version) -> str:
    """Return which mark a version has."""
    is_outside = version.kind in (VersionKind.OUTSIDE, VersionKind.DELETED)
    return "outside" if is_outside else version.known.value


def draw_mark(name: str, across: int, down: int) -> Markup:
    """Return the mark of that name at a place."""
    return Markup(_MARKS[name]).format(x=across, y=down)  # noqa: S704 - one of the texts above


def draw_single_mark(name: str) -> Markup:
    """Return a mark in a picture of its own."""
    mark = draw_mark(name, 8, 8)
    return Markup(
        '<svg class="version-mark" width="16" height="16" aria-hidden="true">{}</svg>'
    ).format(mark)


def _write(css_class: str, across: int, down: int, words: str) -> Markup:
    text = Markup('<text class="{}" x="{}" y="{}">{}</text>')
    return text.format(css_class, across, down, words)
