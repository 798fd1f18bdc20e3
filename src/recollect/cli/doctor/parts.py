"""How `recollect doctor` cuts a list that is too long to be read."""

from collections.abc import Iterator

from recollect.cli.tables import INDENT, plural

MOST_ROWS = 12
"""Rows of a list that are shown."""


def iter_remainder(number: int, noun: str, indent: str = INDENT * 2) -> Iterator[str]:
    """Yield how many of `number` rows are not shown, if any."""
    if number > MOST_ROWS:
        yield f"{indent}… and {plural(number - MOST_ROWS, f'more {noun}')}"
