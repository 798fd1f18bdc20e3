"""Counts, sizes and durations in words, the same on every surface.

Knows nothing of sessions: a list of them shows sizes, and must not wait for the types of all that
a session may hold.
"""

_SIZE_STEP = 1000
_SIZES = ("KB", "MB", "GB", "TB")
_SECOND_MS = 1000
_MINUTE = 60


def count_of(number: int, one: str, many: str | None = None) -> str:
    """`number` with the noun in its right form."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size_of(count: int) -> str:
    """A size in the unit that a person would choose, such as `1.4 MB`: the same everywhere."""
    if count < _SIZE_STEP:
        return count_of(count, "byte")
    size, unit = count / _SIZE_STEP, 0
    while size >= _SIZE_STEP and unit < len(_SIZES) - 1:
        size, unit = size / _SIZE_STEP, unit + 1
    return f"{size:,.1f} {_SIZES[unit]}"


def time_of(milliseconds: float) -> str:
    """A span of time for a reader."""
    if milliseconds < _SECOND_MS:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / _SECOND_MS
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, left = divmod(round(seconds), _MINUTE)
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {left} s"
