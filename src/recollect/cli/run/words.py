"""What stands behind `--` on our command line: options of the user's own client, left as they are.

They are taken off before click looks at the rest, so that none of them can be mistaken for one of
ours, and without `--` nothing is passed on.
"""

from collections.abc import Sequence
from typing import Final

import click

SEPARATOR: Final = "--"
_KEY: Final = "recollect.passed_on"


class PassingCommand(click.Command):
    """A command that hands on what stands behind `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep those words for `list_passed_on`, and parse what stands before them."""
        place = args.index(SEPARATOR) if SEPARATOR in args else len(args)
        ctx.meta[_KEY] = tuple(args[place + 1 :])
        return super().parse_args(ctx, args[:place])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The words of the line that shows how it is called."""
        return [*super().collect_usage_pieces(ctx), "[-- CLAUDE OPTIONS]"]


def list_passed_on() -> Sequence[str]:
    """The words behind `--`, of the command that is running."""
    words: tuple[str, ...] = click.get_current_context().meta.get(_KEY, ())
    return words
