"""The user's defaults as click takes them: a value for every command that has the option.

Loaded when a command is about to run, and only then: help and version need no file.
"""

import os
from collections.abc import Container
from typing import Any

import click
from click.core import ParameterSource

from recollect.cli.config.file import SETTINGS, load_stated


class Defaults(dict[str, Any]):
    """A click default map that reads the file when the first command asks for its defaults."""

    def __init__(self, commands: Container[str]) -> None:
        super().__init__()
        self._commands = commands

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - dict's signature
        """The defaults of the command called `key`."""
        return load_defaults() if key in self._commands else default


def load_defaults() -> dict[str, object]:
    """Values by the names of the parameters that they are defaults of."""
    from recollect.locations.roots import CONFIG_VARIABLE  # noqa: PLC0415 - not for the help

    stated = load_stated()
    # What the environment says about this one session comes before what is written down for all.
    if os.environ.get(CONFIG_VARIABLE):
        stated.pop("roots", None)
    return {SETTINGS[name].parameter: found.value for name, found in stated.items()}


def is_given(parameter: str) -> bool:
    """Whether the running command got this parameter from its user and not from a default."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE
