"""Options, arguments and their types that several commands share."""

import re
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from recollect.errors import UsageError
from recollect.locations.references import counts_back

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from recollect.workspace.turn_selection import TurnBounds

F = TypeVar("F", bound=Callable[..., Any])

_ESCAPE: Final = "\x00"
"""Prefix that keeps `-1` from being parsed as an option; arguments can never contain it."""

_END_OF_OPTIONS: Final = "--"

JSON_FILTER: Final = "recollect.jq"
"""The key of the filter of --jq in the context of a command."""

reveal_option = click.option(
    "--reveal", is_flag=True, help="Show secrets instead of tags. Needs a terminal."
)


def check_reveal(*, reveal: bool, is_for_programs: bool = False) -> None:
    """Raise UsageError if secrets would be shown to anything but a terminal."""
    if reveal and (is_for_programs or not sys.stdout.isatty()):
        raise UsageError("--reveal needs a terminal: it shows secrets to you, not to programs.")


claude_dir_option = click.option(
    "--claude-dir",
    "claude_dirs",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Read this Claude directory instead of the default. Can be repeated.",
)


def _keep_filter(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        from recollect.cli.json_output import compile_filter  # only with --jq

        ctx.meta[JSON_FILTER] = compile_filter(value)


def _decide_json(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
    """Return whether to output JSON: --jq implies it."""
    return value or JSON_FILTER in ctx.meta


def json_option(function: F) -> F:
    """Add the options --json, as `as_json`, and --jq, which is applied when JSON is printed."""
    as_json = click.option(
        "--json",
        "as_json",
        is_flag=True,
        callback=_decide_json,
        help="Output JSON with a versioned schema.",
    )
    jq = click.option(
        "--jq",
        metavar="EXPR",
        is_eager=True,
        expose_value=False,
        callback=_keep_filter,
        help="Output JSON filtered by a jq expression.",
    )
    return as_json(jq(function))


def detail_options(*details: str) -> Callable[[F], F]:
    """Add the options --thinking and --tools, which takes these details."""
    thinking = click.option("--thinking", is_flag=True, help="Show thinking in full.")
    tools = click.option(
        "--tools",
        type=click.Choice(details),
        default="brief",
        show_default=True,
        help="How much of each tool call to show; full omits nothing.",
    )
    return lambda function: thinking(tools(function))


since_option = click.option(
    "--since",
    metavar="DATE",
    help="Only sessions active since DATE: 2026-11-15, 2026-11, yesterday, 7d, 2w, 12h.",
)

until_option = click.option(
    "--until", metavar="DATE", help="Only sessions started on or before DATE."
)

prices_option = click.option(
    "--prices",
    envvar="RECOLLECT_PRICES",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Override built-in prices with those in FILE.",
)


class SessionName(click.ParamType[str]):
    """A reference to a session, resolved by `Workspace.find`."""

    name = "session"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Return the name as typed."""
        return str(value).removeprefix(_ESCAPE)

    def get_missing_message(
        self,
        param: click.Parameter,
        ctx: click.Context | None,
    ) -> str:
        """Return a hint for when the argument is missing."""
        return "Use `latest` for the newest; `recollect list` shows all sessions."

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,
        incomplete: str,
    ) -> "list[CompletionItem]":
        """Return the ids that start with `incomplete`, with their titles."""
        from recollect.cli.commands.completion_command import (
            complete_session,  # only for completion
        )

        return complete_session(ctx, incomplete)


def session_argument(*, required: bool = True) -> Callable[[F], F]:
    """Return a decorator that adds the argument SESSION as `session`."""
    metavar = "SESSION" if required else "[SESSION]"
    return click.argument("session", type=SessionName(), required=required, metavar=metavar)


class Number(click.ParamType[int]):
    """`3`, or `-1` for the last."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Parse the number."""
        text = str(value)
        if not re.fullmatch(r"-?\d{1,9}", text) or not int(text):
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
    ) -> "TurnBounds":
        """Parse the range."""
        from recollect.workspace.turn_selection import parse_turns  # loads the views

        try:
            return parse_turns(str(value))
        except UsageError as error:
            self.fail(str(error), param, ctx)


def escape_negative_refs(command: click.Command | None, arguments: Sequence[str]) -> list[str]:
    """Escape `-1`, `-2` … in `arguments` if `command`, or its subcommand, takes a SESSION.

    click itself accepts them as values of options and after `--`.
    """
    if isinstance(command, click.Group) and arguments and arguments[0] in command.commands:
        subcommand = command.commands[arguments[0]]
        return [arguments[0], *escape_negative_refs(subcommand, arguments[1:])]
    kinds = command.params if command else ()
    if not any(isinstance(each, click.Argument) and _is_session(each) for each in kinds):
        return list(arguments)
    end = arguments.index(_END_OF_OPTIONS) if _END_OF_OPTIONS in arguments else len(arguments)
    value_options = {name for each in kinds if _takes_value(each) for name in each.opts}
    escaped = [
        _ESCAPE + each if counts_back(each) and before not in value_options else each
        for before, each in pairwise(["", *arguments[:end]])
    ]
    return [*escaped, *arguments[end:]]


def _is_session(parameter: click.Parameter) -> bool:
    return isinstance(parameter.type, SessionName)


def _takes_value(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and not (parameter.is_flag or parameter.count)
