"""Option types for turns, ranges of turns and segments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.workspace.turn_selection import TurnBounds

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
        from recollect.workspace.turn_selection import parse_segment  # loads the views

        try:
            return parse_segment(str(value))
        except UsageError as error:
            self.fail(str(error), param, ctx)


class TurnBoundsOption(click.ParamType["TurnBounds"]):
    """`2-5`, `4-`, `-3..-1`, or a single number."""

    name = "range"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> TurnBounds:
        """Parse the range."""
        from recollect.workspace.turn_selection import parse_turns  # loads the views

        try:
            return parse_turns(str(value))
        except UsageError as error:
            self.fail(str(error), param, ctx)
