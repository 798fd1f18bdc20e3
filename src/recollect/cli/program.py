"""The program and the table of its commands.

A command's module is imported when the command is called and not before: the help and the version
of a program that reads gigabytes should not cost more than those of `ls`.
"""

from importlib import import_module

import click

from recollect import __version__

COMMANDS = {
    "list": "List sessions, the most recently active first.",
    "show": "Show a session as a person reads it, or any part of it.",
    "follow": "Show a session as it grows, with its subagents.",
    "search": "Find what was said, run and answered in every session.",
    "usage": "Count tokens and their list price, by day or by anything else.",
    "tools": "Count calls of tools, how they ended and how long they took.",
    "files": "List what a session or a project changed, in order.",
    "run": "Ask Claude Code for something and watch it work.",
    "resume": "Take a session up again in Claude Code.",
    "replay": "Play a session or a kept stream as it happened.",
    "open": "Print the link of a session in the web app.",
    "serve": "Read, search and watch sessions in the browser.",
    "doctor": "Check what is on disk: what is new, broken or about to go.",
    "index": "Bring the index level with the transcripts, or look at it.",
    "statusline": "Print one line for Claude Code's status line.",
    "config": "Show the defaults that apply, and where each comes from.",
    "demo": "Try any command on made-up sessions.",
    "completion": "Print a script that completes commands and sessions.",
}
"""Name of each command, that of its module in `commands` too, and its line in the help."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and loads the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"recollect.cli.commands.{cmd_name}").command
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called, and its arguments."""
        from recollect.cli.options import shield_counts  # noqa: PLC0415 - not for the help

        if args[0] not in COMMANDS and not (args[0].startswith("-") or ctx.resilient_parsing):
            ctx.fail(_explain_unknown(args[0]))
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, shield_counts(command, rest)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands from the table, without loading one."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _explain_unknown(name: str) -> str:
    """What somebody may have meant who called for a command that there is not."""
    from difflib import get_close_matches  # noqa: PLC0415 - for mistakes only
    from shlex import quote  # noqa: PLC0415

    close = get_close_matches(name, COMMANDS, n=1)
    if close:
        return f"No such command {name!r}. Did you mean `recollect {close[0]}`?"
    return (
        f"No such command {name!r}. To read a session it is `recollect show {quote(name)}`, "
        f"to look for words `recollect search {quote(name)}`."
    )


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing found, 4 damaged input.",
)
@click.version_option(__version__, "-V", "--version", message="recollect %(version)s")
@click.pass_context
def program(ctx: click.Context) -> int:
    """Find, read, search, count, follow and keep every Claude Code session.

    Everything runs on this machine, on your own files, and changes none of them. Without a
    command it shows your sessions.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    from recollect.cli.start import run  # noqa: PLC0415 - not for the help

    return run(ctx)
