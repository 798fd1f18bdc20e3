"""Small phrases that views are made of: one line of many, counts, sizes, spans of time.

The words are plain English and few, because every way out shows them as they are.
"""

LINE_LIMIT = 300
"""Characters of a title or summary; what is longer is shown in full behind it."""

_ELLIPSIS = "…"
_SIZE_STEP = 1024
_SIZES = ("kB", "MB", "GB")
_SECOND_MS = 1000
_MINUTE = 60


def take_line(text: str) -> str:
    """The first line of `text` that says something, with a mark when there is more."""
    start = text.strip()
    line, _, rest = start.partition("\n")
    line = line.rstrip()
    if len(line) > LINE_LIMIT:
        return line[:LINE_LIMIT] + _ELLIPSIS
    return f"{line} {_ELLIPSIS}" if rest else line


def count_of(number: int, one: str, many: str | None = None) -> str:
    """`number` with the noun in its right form."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size_of(count: int) -> str:
    """A number of bytes for a reader."""
    if count < _SIZE_STEP:
        return count_of(count, "byte")
    size, unit = count / _SIZE_STEP, 0
    while size >= _SIZE_STEP and unit < len(_SIZES) - 1:
        size, unit = size / _SIZE_STEP, unit + 1
    return f"{size:.1f} {_SIZES[unit]}"


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


def join_facts(*facts: str | None) -> str:
    """Those of `facts` that say something, in one line."""
    return " · ".join(fact for fact in facts if fact)
