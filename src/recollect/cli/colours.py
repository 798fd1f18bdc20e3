"""Whether output is coloured, and the few ways in which it is.

Off when it goes anywhere but to a terminal. NO_COLOR wins over everything; FORCE_COLOR and
CLICOLOR_FORCE switch colours on where there is no terminal. What `--color` says is put into the
environment, so that a pager and whatever else is started follow it too.
"""

import os
import sys
from collections.abc import Mapping

import click


def wants_colour(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether standard output takes colours."""
    if environment.get("NO_COLOR"):
        return False
    forced = (environment.get("FORCE_COLOR"), environment.get("CLICOLOR_FORCE"))
    if any(value not in (None, "", "0") for value in forced):
        return True
    if environment.get("CLICOLOR") == "0" or environment.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def _follow(ctx: click.Context, param: click.Parameter, value: str) -> None:  # noqa: ARG001
    """Make `--color` count from here on."""
    if value == "auto":
        return
    for name in ("NO_COLOR", "FORCE_COLOR"):
        os.environ.pop(name, None)
    os.environ["FORCE_COLOR" if value == "always" else "NO_COLOR"] = "1"


colour_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    expose_value=False,
    callback=_follow,
    help="Whether to colour; auto goes by the terminal and the environment.",
)


def strong(text: str) -> str:
    """A heading, or a line that matters most."""
    return click.style(text, bold=True)


def faint(text: str) -> str:
    """What may be passed over."""
    return click.style(text, dim=True)
