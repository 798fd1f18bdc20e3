"""Options and arguments that several commands share, so that they mean the same everywhere."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from recollect.locations.references import counts_back

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])

_SHIELD: Final = "\x00"
"""Before `-1`, so that it is not taken for an option; no argument of a process can hold it."""

_END_OF_OPTIONS: Final = "--"

claude_dir_option = click.option(
    "--claude-dir",
    "claude_dirs",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Read this Claude directory instead of the default ones. May be repeated.",
)

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON of a documented, versioned shape."
)

since_option = click.option(
    "--since", metavar="DATE", help="Active on this day or later: 2026-11-15, 2026-11, 7d."
)

until_option = click.option("--until", metavar="DATE", help="Begun on this day or earlier.")

prices_option = click.option(
    "--prices",
    envvar="RECOLLECT_PRICES",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Use the prices in this file before those that come with Recollect.",
)


class SessionName(click.ParamType[str]):
    """Whatever a session goes by; `recollect.cli.naming` finds the one that is meant."""

    name = "session"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's signature
        param: click.Parameter | None,  # noqa: ARG002
        ctx: click.Context | None,  # noqa: ARG002
    ) -> str:
        """The name as it was typed."""
        return str(value).removeprefix(_SHIELD)

    def get_missing_message(
        self,
        param: click.Parameter,  # noqa: ARG002 - click's signature
        ctx: click.Context | None,  # noqa: ARG002
    ) -> str:
        """What to give when none is given."""
        return "`latest` is the newest, and `recollect list` shows what there is."

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> "list[CompletionItem]":
        """Ids that begin with what was typed, with their titles."""
        from recollect.cli.commands.completion import complete_session  # noqa: PLC0415 - hardly ever

        return complete_session(ctx, incomplete)


def session_argument(*, required: bool = True) -> Callable[[F], F]:
    """The argument SESSION, given to the command as `session`."""
    metavar = "SESSION" if required else "[SESSION]"
    return click.argument("session", type=SessionName(), required=required, metavar=metavar)


def shield_counts(command: click.Command | None, arguments: Sequence[str]) -> list[str]:
    """`arguments` in which `-1`, `-2` … name a session, if that is what `command` is about.

    Where an option wants a value, and behind `--`, click takes them for no option by itself.
    """
    kinds = command.params if command else ()
    if not any(isinstance(each, click.Argument) and _names_session(each) for each in kinds):
        return list(arguments)
    end = arguments.index(_END_OF_OPTIONS) if _END_OF_OPTIONS in arguments else len(arguments)
    hungry = {name for each in kinds if _wants_value(each) for name in each.opts}
    shielded = [
        _SHIELD + each if counts_back(each) and before not in hungry else each
        for before, each in pairwise(["", *arguments[:end]])
    ]
    return [*shielded, *arguments[end:]]


def _names_session(parameter: click.Parameter) -> bool:
    return isinstance(parameter.type, SessionName)


def _wants_value(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and not (parameter.is_flag or parameter.count)
