"""The filters of the templates: `recollect.quantities` in the reader's language, and small
pictures: the trace of a session, with a tick for each step and failures below the line, and the
versions of a file on a time axis.

A missing figure is a dash. Text from a transcript is escaped by the templates, not here.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import wraps
from typing import Final, TypeVar

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from recollect import quantities
from recollect.documents.session_listing import SessionListing
from recollect.locations.claude_directories import split_directory
from recollect.records.tools import split_mcp_name
from recollect.redact.quick_masks import cut_text
from recollect.render.html.html_turns import shorten_model
from recollect.render.views.part_builders import shorten_path
from recollect.session.figures import COMPACTED, FAILED, MAX_STEPS, STEP_NAMES, TEXT, YOU
from recollect.session.times import parse_time
from recollect.versions.replay import Version, VersionKind
from recollect.web.charts import render_months, render_share

PITCH: Final = 3
_BASE: Final = 15
"""Position of the base line; failures are drawn below it, other steps above."""
_TOP: Final = 1
_HEIGHT: Final = 22
_PICTURE: Final = Markup(
    '<svg class="trace" width="{width}" height="{height}" aria-hidden="true">'
    '<path class="base" d="M0 {base}.5H{end}"/>{ticks}</svg>'
)
_PATH: Final = Markup('<path class="{}" d="{}"/>')


def render_trace(trace: str | None, hits: Iterable[float] = ()) -> Markup:
    """Return the picture of a trace; empty for a session that has not been read completely yet.

    Below it, triangles mark `hits`: 0 is the start of the session, 1 its end.
    """
    if not trace:
        return Markup()
    steps = [trace[start : start + 2] for start in range(0, len(trace), 2)]
    ticks: dict[str, list[str]] = {}
    for place, step in enumerate(steps):
        if (kind := step[0]) != COMPACTED:
            ticks.setdefault(STEP_NAMES[kind], []).append(_render_tick(place, kind, int(step[1])))
    paths = Markup().join(_PATH.format(name, "".join(found)) for name, found in ticks.items())
    pins = {round(hit * (len(steps) - 1)) * PITCH + 1 for hit in hits}
    if pins:
        drawn = "".join(f"M{at} {_HEIGHT - 4}l3 4h-6z" for at in sorted(pins))
        paths += _PATH.format("pin", drawn)
    return _PICTURE.format(
        width=PITCH * MAX_STEPS,
        height=_HEIGHT,
        base=_BASE,
        end=PITCH * len(steps),
        ticks=paths,
    )


def _render_tick(place: int, kind: str, digit: int) -> str:
    across = place * PITCH + 1
    if kind == FAILED:
        return f"M{across} {_BASE}v{2 + min(digit, 5)}"
    height = {YOU: _BASE - _TOP, TEXT: 3}.get(kind, 3 + digit)
    return f"M{across} {_BASE}v-{height}"


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


def render_axis(versions: Sequence[Version], chosen: Sequence[int]) -> Markup:
    """Draw the axis with the last versions; each day is labelled where it begins.

    Marks have equal distances: otherwise a dozen changes within a minute would overlap.
    """
    shown = versions[-_MAX_SHOWN:]
    width = 2 * _MARGIN + _STEP * max(len(shown) - 1, 1)
    places = {each.number: _MARGIN + _STEP * at for at, each in enumerate(shown)}
    parts = [Markup('<path class="axis" d="M{} {}H{}"/>').format(8, _LINE, width - 8)]
    day = ""
    for each in shown:
        moment = parse_time(each.origin.time)
        today = quantities.format_date(moment) if moment else ""
        if today != day:
            parts.append(_write("day", places[each.number], 14, today))
        day = today
        parts.append(_write("number", places[each.number], 36, f"v{each.number}"))
        parts.append(render_mark(name_mark(each), places[each.number], _LINE))
    ends = [places[number] for number in chosen if number in places]
    if ends:
        low, high = min(ends) - 11, max(ends) + 11
        path = Markup('<path class="chosen" d="M{} {}v6H{}v-6"/>')
        parts.append(path.format(low, _LINE + 12, high))
    return Markup(
        '<svg class="versions" width="{}" height="82" aria-hidden="true">{}</svg>'
    ).format(width, Markup().join(parts))


def name_mark(version: Version) -> str:
    """Return the name of a version's mark."""
    is_outside = version.kind in (VersionKind.OUTSIDE, VersionKind.DELETED)
    return "outside" if is_outside else version.known.value


def render_mark(name: str, across: int, down: int) -> Markup:
    """Draw the mark of that name at a position."""
    return Markup(_MARKS[name]).format(x=across, y=down)  # noqa: S704 - one of the texts above


def render_single_mark(name: str) -> Markup:
    """Draw a mark as a separate picture."""
    mark = render_mark(name, 8, 8)
    return Markup(
        '<svg class="version-mark" width="16" height="16" aria-hidden="true">{}</svg>'
    ).format(mark)


def _write(css_class: str, across: int, down: int, words: str) -> Markup:
    text = Markup('<text class="{}" x="{}" y="{}">{}</text>')
    return text.format(css_class, across, down, words)


Value = TypeVar("Value")
DASH: Final = "—"


def or_dash(format_value: Callable[[Value], str]) -> Callable[[Value | None], str]:
    """Wrap `format_value`: the result is a dash for None and for empty text."""

    @wraps(format_value)
    def format_any(value: Value | None) -> str:
        return DASH if value is None else format_value(value) or DASH

    return format_any


def get_base_name(path: str) -> str:
    """Return the last part of a path of any system; the path itself if it has no separator."""
    return split_directory(path)[-1] or path


def split_name(path: str, directory: str | None = None) -> tuple[str, str]:
    """Return the folder of a file, relative to `directory` if inside, and its name."""
    shown = shorten_path(path, directory)
    at = max(shown.rfind("/"), shown.rfind("\\")) + 1
    return shown[:at], shown[at:]


def make_unique_names(paths: Iterable[str]) -> dict[str, str]:
    """Return a name for each path: its last part, with enough parents to make it unique."""
    parts = {path: split_directory(path) for path in paths}
    return {
        path: _shorten(own, [each for other, each in parts.items() if other != path]) or path
        for path, own in parts.items()
    }


def name_places(listings: Iterable[SessionListing]) -> dict[str, str]:
    """Return a unique name for the directory of each session."""
    return make_unique_names({each.cwd or each.project for each in listings})


def make_unique_models(models: Iterable[str]) -> dict[str, str]:
    """Return the common name of each model; its full one if another has the same common name."""
    names = {model: shorten_model(model) for model in models}
    common = Counter(names.values())
    return {model: name if common[name] == 1 else model for model, name in names.items()}


def _shorten(own: list[str], others: list[list[str]]) -> str:
    lengths = range(1, len(own))
    enough = (n for n in lengths if all(own[-n:] != each[-n:] for each in others))
    return "/".join(own[-next(enough, len(own)) :])


def shorten_tool(name: str) -> str:
    """Return the short name of a tool: `mcp__ide__getDiagnostics` is `getDiagnostics`."""
    found = split_mcp_name(name)
    return found[1] if found else name


def count_days_left(moment: str, now: float) -> int:
    """Return the whole days from `now`, a Unix timestamp, to a time; 0 if that has passed."""
    left = datetime.fromisoformat(moment) - datetime.fromtimestamp(now, UTC)
    return max(left.days, 0)


def _format_exact(dollars: float) -> str:
    """Format dollars to the hundredth of a cent, for figures that users may add up."""
    return quantities.format_dollars(dollars, 4)


def _format_timestamp(text: str | None) -> str:
    return quantities.format_time(parse_time(text))


def _format_iso(seconds: float) -> str:
    """Return a Unix timestamp as the `datetime` of a `time` element."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (OverflowError, OSError, ValueError):
        return ""


@pass_context
def _duration(context: Context, milliseconds: float | None) -> str:
    language = context["t"].language
    return DASH if milliseconds is None else quantities.format_duration(milliseconds, language)


@pass_context
def _bytes(context: Context, count: int | None) -> str:
    return DASH if count is None else quantities.format_bytes(count, context["t"].language)


def _keep_exact(text: str) -> Markup:
    """Escape a text that is edited and sent back, without changing any character."""
    return escape(text)


_LEEWAY: Final = 5
_DOTS: Final = "..."


def truncate(text: str, length: int) -> str:
    """Return the first words of a masked text, like Jinja's filter, without cutting a tag."""
    if len(text) <= length + _LEEWAY:
        return text
    return cut_text(text, length - len(_DOTS)).rsplit(" ", 1)[0] + _DOTS


FILTERS: Final[dict[str, Callable[..., object]]] = {
    "number": or_dash(quantities.format_number),
    "short": or_dash(quantities.format_short_number),
    "bytes": _bytes,
    "money": or_dash(quantities.format_dollars),
    "exact_money": or_dash(_format_exact),
    "percent": or_dash(quantities.format_share),
    "rate": quantities.format_rate,
    "duration": _duration,
    "moment": or_dash(quantities.format_time),
    "time": _format_timestamp,
    "iso": or_dash(_format_iso),
    "days_left": count_days_left,
    "base_name": get_base_name,
    "models_apart": make_unique_models,
    "names_apart": make_unique_names,
    "place_names": name_places,
    "split_name": split_name,
    "model_name": shorten_model,
    "tool_name": shorten_tool,
    "trace": render_trace,
    "share": render_share,
    "months": render_months,
    "exact": _keep_exact,
    "truncate": truncate,
    "version_mark": render_single_mark,
}
