"""Option types for turns, ranges of turns and segments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from recollect.workspace.turn_selection import TurnBounds

_RANGE: Final = re.compile(r"(-?\d{1,9})?(?:-|\.\.)(-?\d{1,9})?")
_NUMBER: Final = re.compile(r"-?\d{1,9}")


class Number(click.ParamType[int]):
    """`3`, or `-1` for the last."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Parse the number."""
        text = str(value)
        if not _NUMBER.fullmatch(text) or not int(text):
            self.fail(f"{text!r} is not a valid turn (try 3, or -1 for the last).", param, ctx)
        return int(text)


class SegmentNumber(click.ParamType[int]):
    """`0` for the segment before the first compaction, or `-1` for the last one."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Parse the number."""
        text = str(value)
        if not _NUMBER.fullmatch(text):
            message = f"{text!r} is not a valid segment (try 0 for the first, or -1 for the last)."
            self.fail(message, param, ctx)
        return int(text)


class TurnBoundsOption(click.ParamType["TurnBounds"]):
    """`2-5`, `4-`, `-3..-1`, or a single number."""

    name = "range"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> TurnBounds:
        """Parse the range."""
        from recollect.workspace.turn_selection import TurnBounds  # loads the views

        text = str(value)
        if _NUMBER.fullmatch(text) and int(text):
            return TurnBounds(int(text), int(text))
        found = _RANGE.fullmatch(text)
        if found is None or not all(int(each or 1) for each in found.groups()):
            self.fail(f"{text!r} is not a valid range (try 2-5, 4- or -3..-1).", param, ctx)
        return TurnBounds(int(found[1] or 1), int(found[2] or -1))
