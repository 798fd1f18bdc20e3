"""The filters of the templates: `recollect.quantities` in the reader's language, and few more.

A missing figure is a dash. Text from a transcript is escaped by the templates, not here.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Final, TypeVar

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from recollect.quantities import (
    format_bytes,
    format_dollars,
    format_duration,
    format_number,
    format_rate,
    format_short_number,
    format_time,
)
from recollect.session.times import parse_time
from recollect.web.trace_drawing import draw_trace
from recollect.web.version_drawing import draw_single_mark

Value = TypeVar("Value")
DASH: Final = "—"
_MODEL: Final = re.compile(r"claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?")


def or_dash(format_value: Callable[[Value], str]) -> Callable[[Value | None], str]:
    """Return `format_value` with a dash for None and for what has no text."""

    @wraps(format_value)
    def format_any(value: Value | None) -> str:
        return DASH if value is None else format_value(value) or DASH

    return format_any


def get_base_name(path: str) -> str:
    """Return the last part of a path of any system; the path itself if it has no parts."""
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path


def shorten_model(model: str) -> str:
    """Return a model as people call it: `claude-opus-5-5-20261101` is `opus 5.5`."""
    found = _MODEL.fullmatch(model)
    if found is None:
        return model
    family, major, minor = found.groups()
    return f"{family} {major}.{minor}" if minor else f"{family} {major}"


def count_days_left(moment: str, now: float) -> int:
    """Return the whole days from a Unix timestamp to a moment; 0 if that has passed."""
    left = datetime.fromisoformat(moment) - datetime.fromtimestamp(now, UTC)
    return max(left.days, 0)


def _format_exact(dollars: float) -> str:
    """Format dollars to the hundredth of a cent, for figures that are to be added up."""
    return format_dollars(dollars, 4)


def _format_timestamp(text: str | None) -> str:
    return format_time(parse_time(text))


def _format_iso(seconds: float) -> str:
    """Return a Unix timestamp as the `datetime` of a `time` element."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (OverflowError, OSError, ValueError):
        return ""


@pass_context
def _duration(context: Context, milliseconds: float | None) -> str:
    language = context["t"].language
    return DASH if milliseconds is None else format_duration(milliseconds, language)


@pass_context
def _bytes(context: Context, count: int | None) -> str:
    return DASH if count is None else format_bytes(count, context["t"].language)


def _keep_exact(text: str) -> Markup:
    """Escape a text that is edited and sent back, with every character as it is."""
    return escape(text)


FILTERS: Final[dict[str, Callable[..., object]]] = {
    "number": or_dash(format_number),
    "short": or_dash(format_short_number),
    "bytes": _bytes,
    "money": or_dash(format_dollars),
    "exact_money": or_dash(_format_exact),
    "rate": format_rate,
    "duration": _duration,
    "moment": or_dash(format_time),
    "time": _format_timestamp,
    "iso": or_dash(_format_iso),
    "days_left": count_days_left,
    "base_name": get_base_name,
    "model_name": shorten_model,
    "trace": draw_trace,
    "exact": _keep_exact,
    "version_mark": draw_single_mark,
}
