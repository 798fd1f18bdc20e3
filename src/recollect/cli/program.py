"""The click program, the table of its commands, and the defaults from the config file.

The module of a command is imported when the command is called, and the config file is read when a
command is about to run: `--help` and `--version` should be as fast as those of `ls`.
"""

import os
from collections.abc import Container
from importlib import import_module
from typing import Any

import click
from click.core import ParameterSource

from recollect import __version__
from recollect.redact.own_rules import use_own_rules
from recollect.workspace.config_file import SETTINGS, load_config_values, load_own_policy


class Defaults(dict[str, Any]):
    """A click default map that reads the config file on first use."""

    def __init__(self, commands: Container[str]) -> None:
        super().__init__()
        self._commands = commands

    def get(self, key: str, default: Any = None) -> Any:
        """Return the defaults of the command `key`."""
        return load_defaults() if key in self._commands else default


def load_defaults() -> dict[str, object]:
    """Return the defaults from the config file by parameter name."""
    from recollect.locations.claude_directories import CONFIG_VARIABLE  # not needed for --help

    stated = load_config_values()
    # The environment takes precedence over the file.
    if os.environ.get(CONFIG_VARIABLE):
        stated.pop("roots", None)
    return {
        parameter: found.value
        for name, found in stated.items()
        if (parameter := SETTINGS[name].parameter) is not None
    }


def is_given(parameter: str) -> bool:
    """Return whether this parameter was given on the command line."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE


COMMANDS = {
    "list": "List sessions, most recently active first.",
    "show": "Show a session, or any part of it.",
    "follow": "Follow a session as it grows, subagents included.",
    "search": "Search prompts, replies, commands and output in all sessions.",
    "usage": "Report tokens and cost by day, model, project and more.",
    "tools": "Report tool calls, their outcomes and durations.",
    "files": "List the file changes of a session or project.",
    "file": "List the versions of a file across all sessions, or print one.",
    "blame": "Show which prompt wrote each line of a file.",
    "commits": "List the commits that a session made.",
    "why": "Show the prompts behind a commit.",
    "restore": "Restore a file to an earlier version, or files to a checkpoint.",
    "checkpoints": "List the checkpoints of a session.",
    "chat": "Chat with Claude Code in the terminal.",
    "run": "Run a prompt in Claude Code and watch it work.",
    "resume": "Resume a session in Claude Code.",
    "replay": "Replay a session or a saved stream as it happened.",
    "star": "Star sessions to find them again.",
    "note": "Show or set your note on a session.",
    "open": "Print the web app's link to a session.",
    "serve": "Browse, search and follow sessions in the browser.",
    "export": "Export sessions as HTML, Markdown, text, JSON or tables.",
    "archive": "Keep sessions that Claude Code would delete.",
    "bundle": "Pack sessions into one file for another machine or person.",
    "import": "Unpack the sessions of a bundle.",
    "secrets": "Find API keys, passwords and other secrets in your sessions.",
    "doctor": "Check sessions for damage, unknown data and pending deletion.",
    "index": "Update the index, or show its status.",
    "statusline": "Print one line for Claude Code's status line.",
    "config": "Show the effective settings and where they come from.",
    "demo": "Try any command on sample sessions.",
    "completion": "Print a shell completion script.",
    "help": "Show help for a command or a topic.",
}
"""Each command and its help line."""


USAGE_WORDS = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "session": "session",
    "blocks": "block",
}
"""The commands of ccusage, and the matching groups of `recollect usage`."""


_SIBLINGS = {
    "bundle_commands": ("bundle", "import"),
    "commit_commands": ("commits", "why"),
    "follow_commands": ("follow", "replay"),
    "restore_commands": ("checkpoints", "restore"),
    "run_commands": ("chat", "run"),
    "session_commands": ("note", "open", "resume", "star"),
    "setup_commands": ("config", "demo"),
    "version_commands": ("blame", "file"),
}
"""Commands that share a module; every other command has its own."""

_SHARED_MODULES = {name: module for module, names in _SIBLINGS.items() for name in names}


def find_module(command: str) -> str:
    """Return the name of the module of a command."""
    return f"recollect.cli.commands.{_SHARED_MODULES.get(command, f'{command}_command')}"


def load_command(name: str) -> click.Command:
    """Import a command of the table."""
    command: click.Command = getattr(import_module(find_module(name)), f"{name}_command")
    return command


class LazyGroup(click.Group):
    """A group that loads a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name; None if there is none."""
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called and its arguments."""
        from recollect.cli.options import escape_negative_refs  # not needed for --help

        if args[0] in USAGE_WORDS:
            args = ["usage", *args]
        if args[0] not in COMMANDS and not (args[0].startswith("-") or ctx.resilient_parsing):
            ctx.fail(_explain_unknown(args[0]))
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, escape_negative_refs(command, rest)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _explain_unknown(name: str) -> str:
    """Return an error message with a suggestion for an unknown command."""
    from difflib import get_close_matches  # only for errors
    from shlex import quote

    close = get_close_matches(name, COMMANDS, n=1)
    if close:
        return f"No such command {name!r}. Did you mean `recollect {close[0]}`?"
    return (
        f"No such command {name!r}. Use `recollect show {quote(name)}` to read a session, "
        f"or `recollect search {quote(name)}` to search for text."
    )


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success, 1 failure, 2 usage error, 3 nothing found, 4 damaged input, "
    "5 index unusable, 6 archive unusable, 7 claude failed.",
)
@click.version_option(__version__, "-V", "--version", message="recollect %(version)s")
@click.pass_context
def program(ctx: click.Context) -> int:
    """Find, read, search, follow and keep your Claude Code sessions, and see what they cost.

    Everything runs locally. Nothing is written to your Claude directory or your files unless you
    ask for it. Without a command, Recollect shows your sessions.
    """
    use_own_rules(load_own_policy)
    if ctx.invoked_subcommand is not None:
        return 0
    from recollect.cli.start import run  # not needed for --help

    return run(ctx)
