"""`recollect statusline`: one line for Claude Code's own status line.

This is what the parser knows of it, for help and documentation. A client's call does not come this
way: `recollect.cli.main` hands it to `statusline.run` before click is imported.
"""

import click

from recollect.cli.options import json_option
from recollect.cli.statusline.run import JSON, NO_SYNC, SETUP, run_statusline


@click.command("statusline")
@click.option("--setup", is_flag=True, help="Print what belongs into settings.json, and stop.")
@click.option("--no-sync", is_flag=True, help="Do not bring the index level in the background.")
@json_option
def command(*, setup: bool, no_sync: bool, as_json: bool) -> int:
    """Print one line for Claude Code's status line.

    Reads the JSON that Claude Code gives to a status line on standard input, and prints the model,
    how full the context is, what the session and the day have cost, and the 5-hour block with the
    time that is left of it. Costs are an estimate at list prices. It never waits, never fails and
    never prints nothing: what is not known is left out.

    \b
      recollect statusline --setup
      echo '{}' | recollect statusline
    """
    chosen = {SETUP: setup, NO_SYNC: no_sync, JSON: as_json}
    run_statusline([name for name, is_given in chosen.items() if is_given])
    return 0
