"""`recollect run`: ask Claude Code for something and watch it work."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import click

from recollect.cli.clock import read_clock
from recollect.cli.colours import colour_option, wants_colour
from recollect.cli.options import SessionName, claude_dir_option
from recollect.cli.run.words import PassingCommand, list_passed_on
from recollect.cli.tables import count_columns

if TYPE_CHECKING:
    from recollect.cli.run.printing import Printer
    from recollect.launch.client_process import ClientProcess
    from recollect.launch.resume import Resumption
    from recollect.launch.run import Run

DRAW_SECONDS: Final = 0.1
"""How long the client may be silent before what it said is drawn."""

_ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP")
_SIGNALLED: Final = 128
"""Shells tell an end by a signal as this and the signal's number."""


class _Options(TypedDict):
    continue_: bool
    resume: str | None
    fork: bool
    model: str | None
    permission_mode: str | None
    keep: Path | None
    thinking: bool
    tools: str
    json_lines: bool
    claude_dirs: tuple[Path, ...]


@click.command("run", cls=PassingCommand)
@click.argument("prompt", metavar="PROMPT")
@click.option("--continue", "continue_", is_flag=True, help="Go on with the last session here.")
@click.option(
    "--resume", type=SessionName(), metavar="SESSION", help="Go on with this session, where it was."
)
@click.option("--fork", is_flag=True, help="Go on in a copy, and leave the session as it is.")
@click.option("--model", metavar="NAME", help="Use this model.")
@click.option("--permission-mode", metavar="MODE", help="Start in this permission mode.")
@click.option(
    "--keep", type=click.Path(path_type=Path), metavar="FILE",
    help="Keep the stream in this new file, which only you can read.",
)  # fmt: skip
@click.option("--thinking", is_flag=True, help="Show thoughts whole.")
@click.option(
    "--tools", type=click.Choice(["brief", "full"]), default="brief", show_default=True,
    help="How much of tool calls; full leaves nothing out.",
)  # fmt: skip
@click.option(
    "--json-lines", is_flag=True, help="Print what the client says as JSON, line by line."
)
@colour_option
@claude_dir_option
def command(prompt: str, **options: Unpack[_Options]) -> int:
    """Ask Claude Code for something and watch it work.

    Starts your own `claude` with PROMPT, not interactively, and shows what it says and does as it
    happens; at the end comes what it took. What stands behind `--` is passed on to it as it is.
    Ctrl-C interrupts it; a second one ends it at once.

    \b
      recollect run "why does the tide test fail?"
      recollect run "go on" --resume latest --fork
      recollect run "tidy up" --permission-mode acceptEdits --keep tidy.jsonl
      recollect run "list the todos" --json-lines | jq -c 'select(.event == "message")'
      git diff | recollect run "review this" -- --allowedTools Read,Grep

    Exits with the code of `claude`, and with 3 if there is none.
    """
    from recollect.launch.run import check_run  # noqa: PLC0415 - not for the help

    run = _plan(prompt, options)
    client = check_run(run)
    printer = _make_printer(run, options)
    with _open_kept(options["keep"]) as kept:
        return _watch(client, run, kept, printer)


def _plan(prompt: str, options: _Options) -> Run:
    from recollect.launch.run import RunRequest, plan_run  # noqa: PLC0415 - not for the help

    return plan_run(
        RunRequest(
            prompt=prompt,
            resumption=_find_resumption(options),
            goes_on=options["continue_"],
            fork=options["fork"],
            model=options["model"],
            permission_mode=options["permission_mode"],
            passed_on=tuple(list_passed_on()),
        )
    )


def _find_resumption(options: _Options) -> Resumption | None:
    if options["resume"] is None:
        return None
    from recollect.cli.commands.resume import plan_named  # noqa: PLC0415 - the index

    return plan_named(options["resume"], options["claude_dirs"])


@contextmanager
def _open_kept(path: Path | None) -> Iterator[int | None]:
    if path is None:
        yield None
        return
    from recollect.launch.run import open_kept  # noqa: PLC0415 - hardly ever

    descriptor = open_kept(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _watch(client: str, run: Run, kept: int | None, printer: Printer) -> int:
    from recollect.launch.client_process import start_client  # noqa: PLC0415 - not for the help

    with start_client(client, run, kept) as process, _passing_signals(process) as ended_by:
        printer.start(process.pid)
        for told in process.iter_items(DRAW_SECONDS):
            printer.hear(told)
        code = _SIGNALLED + ended_by[0] if ended_by else process.code or 0
        printer.finish(code)
    return code


@contextmanager
def _passing_signals(process: ClientProcess) -> Iterator[list[int]]:
    """Let a signal that would end us end the client first; a second one ends both at once."""
    heard: list[int] = []

    def tell(number: int, frame: object) -> None:  # noqa: ARG001 - the signature of a handler
        heard.append(number)
        if len(heard) > 1:
            raise KeyboardInterrupt
        process.interrupt()

    numbers = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
    before = {number: signal.signal(number, tell) for number in numbers}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _make_printer(run: Run, options: _Options) -> Printer:
    # Drawing loads rich, and all of it the whole model of a session.
    from recollect.cli.run.printing import JsonPrinter, TextPrinter  # noqa: PLC0415
    from recollect.launch.stream_session import StreamSession  # noqa: PLC0415
    from recollect.render.terminal.look import Look, ToolDetail  # noqa: PLC0415

    session = StreamSession(lambda: read_clock().isoformat())
    if options["json_lines"]:
        return JsonPrinter(session, run.arguments)
    look = Look(
        columns=count_columns(),
        is_coloured=wants_colour(),
        tools=ToolDetail(options["tools"]),
        thinking=options["thinking"],
        directory=run.directory or str(Path.cwd()),
    )
    return TextPrinter(session, run.arguments[-1], look)
