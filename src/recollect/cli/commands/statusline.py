"""`recollect statusline`, as click sees it, for help and documentation.

Calls by Claude Code bypass this module: `recollect.cli.main` runs `recollect.cli.statusline` before
click is imported.
"""

import click

from recollect.cli.options import json_flag
from recollect.cli.statusline import JSON, NO_SYNC, SETUP, run_statusline


@click.command("statusline")
@click.option("--setup", is_flag=True, help="Print the settings.json snippet and exit.")
@click.option("--no-sync", is_flag=True, help="Don't update the index in the background.")
@json_flag
def command(*, setup: bool, no_sync: bool, as_json: bool) -> int:
    """Print one line for Claude Code's status line.

    Reads the JSON that Claude Code passes to status lines on standard input and prints the model,
    context usage, the cost of the session and the day, the current 5-hour block with the time left,
    and how much of the 7-day limit is used. Costs are estimates at list prices. It never blocks,
    never fails and always prints a line; unknown values are left out.

    \b
      recollect statusline --setup
      echo '{}' | recollect statusline
    """
    chosen = {SETUP: setup, NO_SYNC: no_sync, JSON: as_json}
    run_statusline([name for name, is_given in chosen.items() if is_given])
    return 0
