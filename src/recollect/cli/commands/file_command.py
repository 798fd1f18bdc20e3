"""`recollect file`: the versions of a file across all sessions, one of them, or a diff of two."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from recollect.cli import file_text, terminal_output
from recollect.cli.json_output import format_document
from recollect.cli.options import check_reveal, claude_dir_option, json_option, reveal_option
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.redact.quick_masks import mask_in_lines
from recollect.render.terminal import safe_text

if TYPE_CHECKING:
    from recollect.versions.file_history import FileHistory
    from recollect.versions.replay import Version


class _Options(file_text.SearchOptions):
    at: str | None
    diff: str | None
    reveal: bool
    paged: bool
    as_json: bool


@click.command("file")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--at", metavar="VERSION", help="Print the file as it was at VERSION.")
@click.option(
    "--diff",
    metavar="A..B",
    help="Show the diff between two versions; `A..` compares A with the current file.",
)
@reveal_option
@file_text.moved_from_option
@file_text.all_projects_option
@terminal_output.pager_option
@terminal_output.colour_option
@claude_dir_option
@json_option
def file_command(path: Path, **options: Unpack[_Options]) -> int:
    """List the versions of a file across all sessions, or print one.

    PATH may be a deleted file, or the end of a path if only one known file has it. Each version is
    marked with how well it is known: `exact` (its complete content is recorded), `replayed` (an
    unbroken chain of edits leads to it), `inferred` (consistent with all records, but an unrecorded
    change is possible) or `partial` (only the changed lines are known). Changes made in other ways,
    such as by shell commands or an editor, are listed as versions too.

    VERSION is a number from the list, a time (2026-11-15T10:30, 2026-11-15, 2h), or SESSION:TURN
    for the file after that turn.

    Secrets are masked in diffs, and by --at in a terminal; to a file or pipe, --at writes the file
    as it was.

    \b
      recollect file src/app.py
      recollect file src/app.py --at 3 > old.py
      recollect file src/app.py --diff 3..
      recollect file src/app.py --json | jq '.versions[-1]'

    Exits with 3 if no session mentions the file and with 4 if a transcript could not be read.
    """
    if sum(bool(each) for each in (options["at"], options["diff"], options["as_json"])) > 1:
        raise UsageError("Use only one of --at, --diff and --json.")
    check_reveal(reveal=options["reveal"], is_for_programs=options["as_json"])
    found = file_text.load_history(path, options)
    history = found.history
    file_text.report_unreadable(history)
    if options["at"]:
        version = file_text.find_version(options["at"], history, options)
        _print_text(version, reveal=options["reveal"])
    elif options["as_json"]:
        from recollect.workspace.file_queries import describe_history

        click.echo(format_document(describe_history(history)))
    elif options["diff"]:
        lines = _iter_diff(options["diff"], history, found.path, options)
        terminal_output.show_lines(lines, is_paged=options["paged"])
    else:
        terminal_output.show_lines(
            file_text.iter_versions(history, terminal_output.count_table_columns()),
            is_paged=options["paged"],
        )
    return UnreadableInput.exit_code if history.unreadable else 0


def _require_text(version: Version) -> str:
    if version.text is None:
        reason = "the file did not exist" if not version.exists else "only changed lines are known"
        raise NothingFound(f"Version {version.number} has no content: {reason}.")
    return version.text


def _print_text(version: Version, *, reveal: bool) -> None:
    """Print a version: to a file or pipe as it is, to a terminal masked and printable."""
    text = _require_text(version)
    if version.known not in ("exact", "replayed"):
        click.echo(
            f"recollect: {file_text.name_version(version)} may differ from the original.",
            err=True,
        )
    if sys.stdout.isatty():
        shown = text if reveal else mask_in_lines(text)
        click.echo(safe_text(shown), nl=not shown.endswith("\n"))
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()


def _iter_diff(names: str, history: FileHistory, path: Path, options: _Options) -> Iterator[str]:
    first, separator, second = names.partition("..")
    if not separator or not first:
        raise UsageError("Use --diff A..B with two versions, or A.. for the current file.")
    old = file_text.find_version(first, history, options)
    before = (file_text.name_version(old), _require_text(old))
    if second:
        new = file_text.find_version(second, history, options)
        after = (file_text.name_version(new), _require_text(new))
    else:
        after = (str(path), _read_present(path))
    return file_text.iter_diff(before, after, reveal=options["reveal"])


def _read_present(path: Path) -> str:
    from recollect.versions.file_paths import read_present
    from recollect.versions.file_texts import decode_file

    data = read_present(path)
    content = decode_file(data or b"")
    if content is None:
        raise UnreadableInput(f"{path} is not a text file.")
    return content.text
