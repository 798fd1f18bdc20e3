"""The command line: arguments, output and exit codes.

A command parses its arguments, calls one layer below, and prints: data to stdout, everything else
to stderr. `statusline` runs many times a minute, so it bypasses click, which all other commands
use.
"""

import gc
import os
import signal
import sys
from typing import Final, NoReturn

COMPLETION_VARIABLE = "_RECOLLECT_COMPLETE"
"""Set by the scripts of `recollect completion` to the instruction for click."""

_KILLING: Final = ("SIGTERM", "SIGHUP")
"""The other signals that end a program: `kill` and a closed terminal; Windows has only one."""

_GARBAGE_STEP = 50_000
"""Allocations between garbage collections; the default of 700 costs 5% of a warm run."""


def main() -> None:
    """Run `recollect` with the arguments of this process and exit."""
    # While modules are being imported, an interrupt would print a traceback.
    handler = _replace_handler(signal.SIGINT, signal.SIG_DFL)
    name, *arguments = sys.argv[1:] or [""]
    if name == "statusline" and not _needs_click(arguments):
        from recollect.cli.statusline import run_statusline  # without click

        run_statusline(arguments)
        _exit(0)
    # A command keeps most of what it allocates until it ends, so collecting finds nothing.
    gc.set_threshold(_GARBAGE_STEP)
    from recollect.cli.exit_codes import INTERRUPTED, die, interrupt, repeat_lost_interrupt, run
    from recollect.cli.program import COMMANDS, Defaults, program

    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from recollect.cli.commands.completion_command import (
            run_completion,  # only for completion scripts
        )

        sys.exit(run_completion(program, instruction))
    program.context_settings["default_map"] = Defaults(COMMANDS)
    sys.unraisablehook = repeat_lost_interrupt
    for each in _KILLING:
        if number := getattr(signal, each, None):
            _replace_handler(number, die)
    try:
        try:
            is_default = handler == signal.default_int_handler
            signal.signal(signal.SIGINT, interrupt if is_default else handler)
            code = run(program, sys.argv[1:])
        finally:
            # Python's shutdown, which waits for threads, must not print a traceback either.
            _replace_handler(signal.SIGINT, die)
    except KeyboardInterrupt:
        code = INTERRUPTED
    _exit(code)


def _needs_click(arguments: list[str]) -> bool:
    """Return whether `statusline` is asked for help or for JSON filtered by --jq."""
    return any(each in ("-h", "--help") or each.split("=")[0] == "--jq" for each in arguments)


def _exit(code: int) -> NoReturn:
    # Python's shutdown collects garbage among all live objects, 10 ms for a warm list; frozen
    # objects are skipped, and the system frees them anyway.
    gc.freeze()
    sys.exit(code)


def _replace_handler(number: int, handler: "signal._HANDLER") -> "signal._HANDLER":
    """Set what a signal does, unless it is ignored; return what it did."""
    previous = signal.getsignal(number)
    if previous != signal.SIG_IGN:
        signal.signal(number, handler)
    return previous
