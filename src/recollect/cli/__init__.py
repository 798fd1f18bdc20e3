"""The command line: arguments, output and exit codes, and which parts are put together.

A command parses, calls one layer below, and prints. stdout is data, stderr is talk.
"""

import sys

from recollect.cli.outcome import run
from recollect.cli.program import program


def main() -> None:
    """Run `recollect` with the arguments of this process and end the process."""
    sys.exit(run(program, sys.argv[1:]))
