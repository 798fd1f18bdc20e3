"""`recollect files`: what a session or a project changed, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from recollect.cli.colours import colour_option, wants_colour
from recollect.cli.documents import format_document, format_line
from recollect.cli.options import claude_dir_option, json_option, session_argument
from recollect.cli.paging import pager_option, show_lines
from recollect.cli.progress import show_progress
from recollect.cli.tables import count_columns
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.locations import Transcript
from recollect.render.terminal import safe_text
from recollect.render.terminal.look import Look
from recollect.store.place import find_data_directory

if TYPE_CHECKING:
    from recollect.render.views.file_changes import Change
    from recollect.session.session import Session


class _Options(TypedDict):
    project: str | None
    diff: bool
    paged: bool
    claude_dirs: tuple[Path, ...]
    as_json: bool
    json_lines: bool


@click.command("files")
@session_argument(required=False)
@click.option("--project", metavar="TEXT", help="All sessions of projects with this in their path.")
@click.option("--diff", is_flag=True, help="Show what changed in each file.")
@pager_option
@colour_option
@claude_dir_option
@json_option
@click.option("--json-lines", is_flag=True, help="Print one change a line, as JSON.")
def command(session: str | None, **options: Unpack[_Options]) -> int:
    """List what a session or a project changed, in order.

    Counts what the editing tools did, those of subagents too; what a shell command did to files is
    in no transcript. SESSION is named as for `recollect show`.

    \b
      recollect files latest
      recollect files latest --diff
      recollect files --project tidepool
      recollect files --project tidepool --json | jq -r '.changes[].path' | sort -u

    Exits with 3 if nothing was changed, and with 4 if a transcript could not be read.
    """
    from recollect.render.views.file_changes import list_changes  # noqa: PLC0415 - the model of a session

    _check(session, options)
    failures: list[str] = []
    sessions = _iter_sessions(session, options, failures)
    changes = list_changes(sessions, with_diff=options["diff"])
    for failure in failures:
        click.echo(f"recollect: {safe_text(failure)}", err=True)
    _print(changes, options)
    return UnreadableInput.exit_code if failures else 0


def _check(session: str | None, options: _Options) -> None:
    if (session is None) == (options["project"] is None):
        raise UsageError("Give a session, or --project: one of them says whose changes to list.")
    if options["as_json"] and options["json_lines"]:
        raise UsageError("Give --json or --json-lines: each says what to print.")


def _iter_sessions(
    session: str | None, options: _Options, failures: list[str]
) -> Iterator[Session]:
    """Yield the sessions that are meant; of those that cannot be read, say why in `failures`."""
    from recollect.cli.naming import open_named  # noqa: PLC0415 - the index, not for the help
    from recollect.library.opening import open_transcript  # noqa: PLC0415

    if session is not None:
        yield open_named(session, options["claude_dirs"])
        return
    for transcript in show_progress(_find_transcripts(options), "sessions"):
        try:
            yield open_transcript(transcript)
        except UnreadableInput as error:
            failures.append(str(error))


def _find_transcripts(options: _Options) -> list[Transcript]:
    """The transcripts of the project, the oldest first."""
    from recollect.cli.roots import find_roots, require_transcripts  # noqa: PLC0415 - the index
    from recollect.sync.level import find_transcripts  # noqa: PLC0415
    from recollect.sync.listings import list_level  # noqa: PLC0415
    from recollect.sync.selection import Conditions, select  # noqa: PLC0415

    roots = find_roots(options["claude_dirs"])
    found = find_transcripts(roots, include_subagents=False)
    listings = list_level(find_data_directory(), found)
    wanted = select(listings, Conditions(project=options["project"]))
    by_path = {each.file: each for each in found}
    if not wanted:
        require_transcripts(roots)
        raise NothingFound(f"No project has {options['project']!r} in its path.")
    return [by_path[listing.path] for listing in reversed(wanted)]


def _print(changes: Sequence[Change], options: _Options) -> None:
    from recollect.cli.files.document import describe_change, describe_changes  # noqa: PLC0415

    if options["json_lines"]:
        for change in changes:
            click.echo(format_line(describe_change(change)))
    elif options["as_json"]:
        click.echo(format_document(describe_changes(changes)))
    elif not changes:
        raise NothingFound("No file was changed, as far as the transcripts tell.")
    else:
        show_lines(_iter_lines(changes, options), is_paged=options["paged"])


def _iter_lines(changes: Sequence[Change], options: _Options) -> Iterator[str]:
    look = Look(columns=count_columns(), is_coloured=wants_colour())
    with_sessions = options["project"] is not None
    if options["diff"]:
        from recollect.cli.files.diffs import iter_diffs  # noqa: PLC0415 - loads rich

        return iter_diffs(changes, look, with_sessions=with_sessions)
    from recollect.cli.files.text import iter_list  # noqa: PLC0415 - needs the model of a session

    return iter_list(changes, look, with_sessions=with_sessions)
