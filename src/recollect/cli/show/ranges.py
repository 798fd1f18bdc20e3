"""What of a session is asked for, as it is typed: numbers and ranges of turns.

Imported with the command, so that it knows nothing of sessions, which take longer to load.
"""

import re

import click
from msgspec import Struct

_RANGE = re.compile(r"(-?\d{1,9})?(?:-|\.\.)(-?\d{1,9})?")
_NUMBER = re.compile(r"-?\d{1,9}")


class Range(Struct, frozen=True):
    """The first and the last of some turns; negative numbers count from the end."""

    first: int = 1
    last: int = -1


class Selection(Struct, frozen=True, kw_only=True):
    """What of a session is asked for."""

    turns: Range | None = None
    branch: str | None = None
    """The number of a branch, or `all`; None for the one that was followed."""
    segment: int | None = None
    """Counted from 1, or from the end if it is negative."""


class Number(click.ParamType[int]):
    """`3`, or `-1` for the last."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """The number that was typed."""
        text = str(value)
        if not _NUMBER.fullmatch(text) or not int(text):
            self.fail(f"{text!r} is no number: write 3, or -1 for the last.", param, ctx)
        return int(text)


class TurnRange(click.ParamType[Range]):
    """`2-5`, `4-`, `-3..-1`, or a single number."""

    name = "range"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Range:
        """The range that was typed."""
        text = str(value)
        if _NUMBER.fullmatch(text) and int(text):
            return Range(int(text), int(text))
        found = _RANGE.fullmatch(text)
        if found is None or not all(int(each or 1) for each in found.groups()):
            self.fail(f"{text!r} is no range: write 2-5, 4- or -3..-1.", param, ctx)
        return Range(int(found[1] or 1), int(found[2] or -1))
