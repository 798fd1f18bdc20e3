"""`recollect run`: run a prompt in Claude Code and watch it work; and `recollect chat`: talk to
Claude Code in the terminal.

Arguments after `--` are passed to the client. They are removed before click parses the rest, so
that none is mistaken for one of our options.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import click

from recollect.cli.clock import read_clock
from recollect.cli.options import (
    SessionName,
    check_reveal,
    claude_dir_option,
    detail_options,
    reveal_option,
    session_argument,
)
from recollect.cli.terminal_output import colour_option, count_columns, wants_colour
from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.cli.run_text import Printer
    from recollect.launch.client_commands import Resumption, Run
    from recollect.launch.client_process import ClientProcess
    from recollect.render.terminal.canvas import RenderOptions


SEPARATOR: Final = "--"
_KEY: Final = "recollect.client_arguments"


class PassthroughCommand(click.Command):
    """A command that passes everything after `--` to the client."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments after `--` for `get_client_arguments`, and parse the others."""
        end = args.index(SEPARATOR) if SEPARATOR in args else len(args)
        ctx.meta[_KEY] = tuple(args[end + 1 :])
        return super().parse_args(ctx, args[:end])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the pieces of the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- CLAUDE OPTIONS]"]


def get_client_arguments() -> Sequence[str]:
    """Return the arguments after `--` of the running command."""
    arguments: tuple[str, ...] = click.get_current_context().meta.get(_KEY, ())
    return arguments


DRAW_SECONDS: Final = 0.1
"""Output is rendered once the client has been silent for this long."""

_ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP")
_SIGNALLED: Final = 128
"""Added to the signal number in exit codes, as shells do."""


class _Options(TypedDict):
    continue_: bool
    resume: str | None
    fork: bool
    model: str | None
    permission_mode: str | None
    ask: bool
    keep: Path | None
    thinking: bool
    tools: str
    json_lines: bool
    reveal: bool
    claude_dirs: tuple[Path, ...]


@click.command("run", cls=PassthroughCommand)
@click.argument("prompt", metavar="PROMPT")
@click.option(
    "--continue", "continue_", is_flag=True, help="Continue the latest session of this directory."
)
@click.option(
    "--resume",
    type=SessionName(),
    metavar="SESSION",
    help="Resume this session in its own directory.",
)
@click.option("--fork", is_flag=True, help="Continue in a copy and leave the session unchanged.")
@click.option("--model", metavar="NAME", help="Use this model.")
@click.option("--permission-mode", metavar="MODE", help="Use this permission mode.")
@click.option("--ask", is_flag=True, help="Answer permission prompts in the terminal.")
@click.option(
    "--keep", type=click.Path(path_type=Path), metavar="FILE",
    help="Save the stream to this new file, readable only by you.",
)  # fmt: skip
@detail_options("brief", "full")
@click.option(
    "--json-lines", is_flag=True, help="Output JSON Lines: the messages of claude as they arrive."
)
@reveal_option
@colour_option
@claude_dir_option
def run_command(prompt: str, **options: Unpack[_Options]) -> int:
    """Run a prompt in Claude Code and watch it work.

    Starts your `claude` non-interactively with PROMPT and shows its output as it arrives, then a
    summary. Everything after `--` is passed to claude unchanged. Ctrl+C interrupts claude; a second
    Ctrl+C stops it immediately.

    Secrets are masked, as in `recollect show`; --keep saves the stream unmasked.

    Without --ask, anything that needs your permission is denied. With --ask, you see the command or
    change and decide; it needs a terminal and cannot be used with --json-lines, --keep or
    --continue.

    \b
      recollect run "why does the tide test fail?"
      recollect run "go on" --resume latest --fork
      recollect run "tidy up" --ask
      recollect run "tidy up" --permission-mode acceptEdits --keep tidy.jsonl
      recollect run "list the todos" --json-lines | jq -c 'select(.event == "message")'
      git diff | recollect run "review this" -- --allowedTools Read,Grep

    Exits with the exit code of `claude`, or with 3 if it is not found.
    """
    check_reveal(reveal=options["reveal"], is_for_programs=options["json_lines"])
    from recollect.launch.client_commands import check_run  # not needed for --help

    if options["ask"]:
        return _run_interactively(prompt, options)
    run = _plan(prompt, options)
    client = check_run(run)
    _mask(options)
    printer = _make_printer(run, options)
    with _open_kept(options["keep"]) as kept:
        return _watch(client, run, kept, printer)


def _run_interactively(prompt: str, options: _Options) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "--ask needs a terminal, to show permission prompts and read your answers."
        )
    for name, is_given in (
        ("--json-lines", options["json_lines"]),
        ("--keep", options["keep"]),
        ("--continue", options["continue_"]),
    ):
        if is_given:
            raise UsageError(f"{name} cannot be used with --ask.")
    # These import prompt_toolkit and the session model.
    import asyncio

    from recollect.cli.interactive_run import run_interactively
    from recollect.launch.conversation_options import ConversationOptions
    from recollect.render.terminal.canvas import Canvas

    plan = _find_resumption(options)
    directory = plan.directory if plan else str(Path.cwd())
    conversation = ConversationOptions(
        directory=directory,
        session=plan.session_id if plan else None,
        fork=options["fork"],
        model=options["model"],
        permission_mode=options["permission_mode"],
        environment=plan.environment if plan else {},
        extra_arguments=tuple(get_client_arguments()),
    )
    canvas = Canvas(_make_render_options(options, directory))
    _mask(options)
    return asyncio.run(run_interactively(conversation, prompt, canvas))


def _mask(options: _Options) -> None:
    from recollect.cli.command_workspace import mask_stream  # imports the workspace

    mask_stream(reveal=options["reveal"])


def _plan(prompt: str, options: _Options) -> Run:
    from recollect.launch.client_commands import RunRequest, plan_run  # not needed for --help

    return plan_run(
        RunRequest(
            prompt=prompt,
            resumption=_find_resumption(options),
            continue_last=options["continue_"],
            fork=options["fork"],
            model=options["model"],
            permission_mode=options["permission_mode"],
            extra_arguments=tuple(get_client_arguments()),
        )
    )


def _find_resumption(options: _Options) -> Resumption | None:
    if options["resume"] is None:
        return None
    from recollect.cli.commands.session_commands import plan_named  # the index

    return plan_named(options["resume"], options["claude_dirs"])


@contextmanager
def _open_kept(path: Path | None) -> Iterator[int | None]:
    if path is None:
        yield None
        return
    from recollect.launch.client_commands import create_private_file  # rarely needed

    descriptor = create_private_file(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _watch(client: str, run: Run, kept: int | None, printer: Printer) -> int:
    from recollect.launch.client_process import start_client  # not needed for --help

    with start_client(client, run, kept) as process, _passing_signals(process) as ended_by:
        printer.start(process.pid)
        for message in process.iter_items(DRAW_SECONDS):
            printer.on_message(message)
        code = _SIGNALLED + ended_by[0] if ended_by else process.code or 0
        printer.finish(code)
    return code


@contextmanager
def _passing_signals(process: ClientProcess) -> Iterator[list[int]]:
    """Forward the first signal to the client; a second one interrupts both immediately."""
    received: list[int] = []

    def forward(number: int, frame: object) -> None:  # noqa: ARG001 - signal handler
        received.append(number)
        if len(received) > 1:
            raise KeyboardInterrupt
        process.interrupt()

    numbers = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _make_printer(run: Run, options: _Options) -> Printer:
    # These import rich and the session model.
    from recollect.cli.run_text import JsonPrinter, TextPrinter
    from recollect.launch.stream_session import StreamSession

    session = StreamSession(lambda: read_clock().isoformat())
    if options["json_lines"]:
        return JsonPrinter(session, run.arguments)
    render_options = _make_render_options(options, run.directory or str(Path.cwd()))
    return TextPrinter(session, run.arguments[-1], render_options)


def _make_render_options(options: _Options, directory: str) -> RenderOptions:
    from recollect.render.terminal.canvas import RenderOptions, ToolDetail  # imports rich

    return RenderOptions(
        columns=count_columns(),
        is_coloured=wants_colour(),
        tools=ToolDetail(options["tools"]),
        thinking=options["thinking"],
        directory=directory,
    )


if TYPE_CHECKING:
    from recollect.launch.conversation_options import ConversationOptions
    from recollect.render.terminal.canvas import Canvas


class _ChatOptions(TypedDict):
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
def chat_command(**options: Unpack[_ChatOptions]) -> int:
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


def plan_conversation(options: _ChatOptions) -> ConversationOptions:
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


def _make_canvas(options: _ChatOptions, directory: str) -> Canvas:
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
