"""`recollect chat`: chat with Claude Code in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from recollect.cli.commands.run_command import PassthroughCommand, get_client_arguments
from recollect.cli.options import (
    check_reveal,
    claude_dir_option,
    detail_options,
    reveal_option,
    session_argument,
)
from recollect.cli.terminal_output import colour_option, count_columns, wants_colour
from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.launch.conversation_options import ConversationOptions
    from recollect.render.terminal.canvas import Canvas


class _Options(TypedDict):
    session: str | None
    fork: bool
    model: str | None
    permission_mode: str | None
    allow_bypass: bool
    thinking: bool
    tools: str
    reveal: bool
    claude_dirs: tuple[Path, ...]


@click.command("chat", cls=PassthroughCommand)
@session_argument(required=False)
@click.option("--fork", is_flag=True, help="Continue in a copy and leave the session unchanged.")
@click.option("--model", metavar="NAME", help="Use this model.")
@click.option("--permission-mode", metavar="MODE", help="Use this permission mode.")
@click.option("--allow-bypass", is_flag=True, help="Allow the permission mode bypassPermissions.")
@detail_options("brief", "full")
@reveal_option
@colour_option
@claude_dir_option
def chat_command(**options: Unpack[_Options]) -> int:
    """Chat with Claude Code in the terminal.

    Starts your own `claude` in this directory, or continues SESSION in its own, and shows its work
    as `recollect show` does. Permission prompts show the command or the change and wait for your
    answer. Secrets are masked; permission prompts let you reveal them. Everything after `--` is
    passed to claude unchanged.

    Enter sends, Alt+Enter or Ctrl+J starts a new line, `@` completes files, `/` completes commands.
    Ctrl+C interrupts claude, Ctrl+D ends the conversation; the session can be continued later.

    \b
      recollect chat
      recollect chat latest
      recollect chat "flaky tide" --fork --permission-mode plan

    Exits with 3 if the session, its directory or `claude` is not found.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("recollect chat needs a terminal. Use `recollect run` in scripts.")
    check_reveal(reveal=options["reveal"])
    # Not needed for --help.
    import asyncio

    from recollect.cli.command_workspace import mask_stream

    plan = plan_conversation(options)
    canvas = _make_canvas(options, plan.directory)
    if options["session"] is not None:
        _show_last_turn(options["session"], options["claude_dirs"], canvas)
    mask_stream(reveal=options["reveal"])
    asyncio.run(_converse(plan, canvas))
    return 0


def plan_conversation(options: _Options) -> ConversationOptions:
    """Return the options of the conversation to start."""
    from recollect.launch.conversation_options import ConversationOptions  # not needed for --help

    session, directory, environment = None, str(Path.cwd()), {}
    if options["session"] is not None:
        from recollect.cli.commands.session_commands import plan_named  # the index

        plan = plan_named(options["session"], options["claude_dirs"])
        session, directory, environment = plan.session_id, plan.directory, plan.environment
    return ConversationOptions(
        directory=directory,
        session=session,
        fork=options["fork"],
        model=options["model"],
        permission_mode=options["permission_mode"],
        allow_bypass=options["allow_bypass"],
        environment=environment,
        extra_arguments=tuple(get_client_arguments()),
    )


def _make_canvas(options: _Options, directory: str) -> Canvas:
    from recollect.render.terminal.canvas import Canvas, RenderOptions, ToolDetail  # imports rich

    return Canvas(
        RenderOptions(
            columns=count_columns(),
            is_coloured=wants_colour(),
            tools=ToolDetail(options["tools"]),
            thinking=options["thinking"],
            directory=directory,
        )
    )


def _show_last_turn(name: str, claude_dirs: tuple[Path, ...], canvas: Canvas) -> None:
    """Print the last turn of the conversation."""
    # These import the session model.
    from recollect.cli.command_workspace import command_workspace
    from recollect.render.terminal.terminal_turns import render_turn
    from recollect.render.views.turn_views import build_turn_views

    with command_workspace(claude_dirs) as workspace:
        session = workspace.open(name, with_prices=False)
    for view in build_turn_views(session, start=-1):
        click.echo(
            "\n".join(render_turn(view, session, canvas, canvas.options.columns)), color=True
        )


async def _converse(plan: ConversationOptions, canvas: Canvas) -> None:
    # These import prompt_toolkit and the session model.
    from recollect.cli.chat_screen import ChatScreen, open_keyboard
    from recollect.launch.conversation import converse

    async with converse(plan) as conversation:
        await ChatScreen(conversation, canvas, open_keyboard(sys.stdin)).run()
