"""Draw the trace of a session as a small picture: a tick for each step, failures below the line."""

from typing import Final

from markupsafe import Markup

from recollect.session.trace import COMPACTED, FAILED, MAX_STEPS, STEP_NAMES, TEXT, YOU

PITCH: Final = 3
_BASE: Final = 15
"""Where the line lies; ticks grow up from it, failures hang below it."""
_TOP: Final = 1
_HEIGHT: Final = 22
_PICTURE: Final = Markup(
    '<svg class="trace" width="{width}" height="{height}" aria-hidden="true">'
    '<path class="base" d="M0 {base}.5H{end}"/>{ticks}</svg>'
)
_PATH: Final = Markup('<path class="{}" d="{}"/>')


def draw_trace(trace: str | None) -> Markup:
    """Return the picture of a trace; nothing for a session that was not read whole yet."""
    if not trace:
        return Markup()
    steps = [trace[start : start + 2] for start in range(0, len(trace), 2)]
    ticks: dict[str, list[str]] = {}
    for place, step in enumerate(steps):
        if (kind := step[0]) != COMPACTED:
            ticks.setdefault(STEP_NAMES[kind], []).append(_draw_tick(place, kind, int(step[1])))
    paths = Markup().join(_PATH.format(name, "".join(found)) for name, found in ticks.items())
    return _PICTURE.format(
        width=PITCH * MAX_STEPS,
        height=_HEIGHT,
        base=_BASE,
        end=PITCH * len(steps),
        ticks=paths,
    )


def _draw_tick(place: int, kind: str, digit: int) -> str:
    across = place * PITCH + 1
    if kind == FAILED:
        return f"M{across} {_BASE}v{2 + min(digit, 5)}"
    height = {YOU: _BASE - _TOP, TEXT: 3}.get(kind, 3 + digit)
    return f"M{across} {_BASE}v-{height}"
