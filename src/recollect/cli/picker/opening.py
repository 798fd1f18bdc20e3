"""The picker put together: which sessions it shows, and what follows when one is picked."""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import click

from recollect.cli.clock import read_clock
from recollect.cli.colours import wants_colour
from recollect.cli.picker.clipboard import copy_text
from recollect.cli.picker.screen import Picker
from recollect.cli.picker.sources import Sources
from recollect.cli.picker.state import Pick, open_state
from recollect.errors import RecollectError
from recollect.launch.resume import check_shown, plan_resume
from recollect.locations import Transcript, TranscriptKind
from recollect.store.listings import Listing
from recollect.store.place import find_data_directory
from recollect.sync.listings import list_level


def pick_session(transcripts: Sequence[Transcript]) -> Pick | None:
    """What the person at the terminal picks; None when they leave without."""
    directory = find_data_directory()
    sessions = [each for each in transcripts if each.kind is TranscriptKind.SESSION]
    listings = [each for each in list_level(directory, sessions) if not each.is_subagent]
    by_path = {each.file: each for each in transcripts}
    picker = Picker(
        open_state(listings, str(Path.cwd())),
        Sources(directory, transcripts),
        lambda listing: _copy_command(by_path[listing.path], listing),
        read_clock,
        has_colour=wants_colour(),
    )
    return picker.run()


def do_pick(ctx: click.Context, pick: Pick) -> int:
    """Show or resume the session that was picked, as the command of that name does."""
    command = import_module(f"recollect.cli.commands.{pick.deed.value}").command
    with command.make_context(pick.deed.value, [pick.listing.path], parent=ctx) as inner:
        code = command.invoke(inner)
    return code if isinstance(code, int) else 0


def _copy_command(transcript: Transcript, listing: Listing) -> str:
    try:
        plan = plan_resume(transcript, listing.cwd)
        check_shown(plan)
    except RecollectError as error:
        return str(error)
    copy_text(plan.shell_command, _write_to_terminal)
    return f"Copied: {plan.shell_command}"


def _write_to_terminal(sequence: str) -> None:
    sys.stdout.write(sequence)
    sys.stdout.flush()
