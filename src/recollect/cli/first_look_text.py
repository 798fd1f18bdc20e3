"""A first look at what there is → the few lines that welcome somebody."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from recollect.cli.session_labels import label_id, label_title
from recollect.cli.tables import human_bytes, plural, wrap
from recollect.cli.times import show_ahead, show_day
from recollect.health.first_look import Expiring, FirstLook
from recollect.health.retention import SOON
from recollect.render.terminal import clip

_INDENT: Final = "  "
_MINUTE: Final = 60


def iter_first_look(look: FirstLook, columns: int, now: datetime) -> Iterator[str]:
    """Yield what was found, what goes next, and what searching will cost."""
    since = f"; the oldest is of {show_day(look.oldest)}" if look.oldest else ""
    yield from wrap(
        f"Found {plural(look.sessions, 'session')} in {plural(look.projects, 'project')}, "
        f"{human_bytes(look.bytes)}{since}.",
        columns,
        "",
    )
    if look.expiring:
        yield from wrap(
            f"Claude Code deletes sessions {look.retention_days:g} days after their last change: "
            f"{look.expiring:,} of them within {SOON.days} days. The next to go:",
            columns,
            "",
        )
        for each in look.next_to_go:
            yield _tell_expiring(each, columns, now)
    yield from wrap(
        f"The first search reads all of it, which takes {_show_seconds(look.index_seconds)}; "
        "after that only what is new.",
        columns,
        "",
    )


def _tell_expiring(each: Expiring, columns: int, now: datetime) -> str:
    title = label_title(each.title, None)
    return clip(f"{_INDENT}{label_id(each.id)}  {show_ahead(each.at, now)}  {title}", columns)


def _show_seconds(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 2 * _MINUTE:
        return f"about {plural(round(seconds), 'second')}"
    return f"about {plural(round(seconds / _MINUTE), 'minute')}"
