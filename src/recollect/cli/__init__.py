"""The command line: arguments, output and exit codes, and which parts are put together.

A command parses, calls one layer below, and prints. stdout is data, stderr is talk. A status line
is asked for many times a minute, so it goes past the parser that all other commands share.
"""

import gc
import os
import signal
import sys

COMPLETION_VARIABLE = "_RECOLLECT_COMPLETE"
"""Set by the scripts of `recollect completion` to what they want to know."""

_GARBAGE_STEP = 50_000
"""Objects between two looks for garbage, 700 by default, which is 5% of a warm answer."""


def main() -> None:
    """Run `recollect` with the arguments of this process and end the process."""
    name, *arguments = sys.argv[1:] or [""]
    if name == "statusline" and not {"-h", "--help"}.intersection(arguments):
        from recollect.cli.statusline.run import run_statusline  # noqa: PLC0415 - without click

        run_statusline(arguments)
        sys.exit(0)
    # What a command makes, it mostly keeps until it ends: looking for garbage finds none.
    gc.set_threshold(_GARBAGE_STEP)
    # Until the program is loaded, an interrupt would end in a traceback about an import.
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from recollect.cli.config.defaults import Defaults  # noqa: PLC0415 - not for a status line
    from recollect.cli.outcome import run  # noqa: PLC0415
    from recollect.cli.program import COMMANDS, program  # noqa: PLC0415

    signal.signal(signal.SIGINT, handler)
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from recollect.cli.commands.completion import answer  # noqa: PLC0415 - only for a shell

        sys.exit(answer(program, instruction))
    program.context_settings["default_map"] = Defaults(COMMANDS)
    sys.exit(run(program, sys.argv[1:]))
