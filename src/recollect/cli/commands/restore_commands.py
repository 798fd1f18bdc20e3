"""`recollect checkpoints` and `recollect restore`: the state of a session's files at each of its
prompts, and restoring a version of a file or all files of a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click
from msgspec.structs import replace

from recollect.cli import file_text, terminal_output
from recollect.cli.json_output import format_document
from recollect.cli.options import (
    check_reveal,
    claude_dir_option,
    json_option,
    reveal_option,
    session_argument,
)
from recollect.cli.write_targets import confirm, yes_option
from recollect.errors import NothingFound, UsageError
from recollect.quantities import format_count, format_time
from recollect.reader.line_blocks import masked_by
from recollect.redact.quick_masks import mask_path
from recollect.render.terminal import clip, measure, safe_line
from recollect.session.times import parse_time
from recollect.versions.file_paths import relative_to

if TYPE_CHECKING:
    from recollect.versions.file_restore import RestorePlan
    from recollect.versions.recorded_evidence import BackupDirectory
    from recollect.versions.session_checkpoints import Checkpoint, FileState, SessionCheckpoints


_MIN_PROMPT_WIDTH = 10


@click.command("checkpoints")
@session_argument()
@click.option("--diff", metavar="A..B", help="Show how the files differ between two checkpoints.")
@reveal_option
@terminal_output.pager_option
@terminal_output.colour_option
@claude_dir_option
@json_option
def checkpoints_command(
    session: str,
    diff: str | None,
    reveal: bool,
    paged: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """List the checkpoints of a session.

    There is one checkpoint per prompt: the files that the session changed, as they were when the
    prompt was sent. They come from Claude Code's backups, or from the transcript if there are
    none. `recollect restore SESSION --checkpoint N` restores one. Secrets are masked in diffs.

    \b
      recollect checkpoints latest
      recollect checkpoints latest --diff 2..5
      recollect checkpoints latest --json | jq '.checkpoints[-1].files'

    Exits with 3 if the session changed no files.
    """
    check_reveal(reveal=reveal, is_for_programs=as_json)
    found, _ = load_checkpoints(session, claude_dirs)
    if diff is not None:
        if as_json:
            raise UsageError("--diff and --json cannot be used together.")
        terminal_output.show_lines(_iter_differences(found, diff, reveal=reveal), is_paged=paged)
    elif as_json:
        from recollect.workspace.file_queries import describe_checkpoints

        click.echo(format_document(describe_checkpoints(found)))
    elif not found.opcode and not any(each.files for each in found.checkpoints):
        raise NothingFound("The session changed no files.")
    else:
        terminal_output.show_lines(
            _iter_tables(found, terminal_output.count_table_columns()), is_paged=paged
        )


def load_checkpoints(
    name: str, claude_dirs: tuple[Path, ...]
) -> tuple[SessionCheckpoints, BackupDirectory]:
    """Return the checkpoints and the backups of a session."""
    from recollect.cli.command_workspace import command_workspace  # opens the index
    from recollect.library.opening import open_transcript
    from recollect.versions.recorded_evidence import BackupDirectory
    from recollect.versions.session_checkpoints import build_checkpoints, list_opcode_checkpoints

    with command_workspace(claude_dirs) as workspace:
        transcript = workspace.find(name)
    backups = BackupDirectory(transcript.root)
    # Files are compared and restored unmasked.
    with masked_by(None):
        session = open_transcript(transcript)
    checkpoints = build_checkpoints(session, backups)
    return replace(checkpoints, opcode=list_opcode_checkpoints(transcript)), backups


def _iter_differences(found: SessionCheckpoints, names: str, *, reveal: bool) -> Iterator[str]:
    """Yield the diffs of the files that differ between two checkpoints, if they are known."""
    first, separator, second = names.partition("..")
    if not (separator and first.isdecimal() and second.isdecimal()):
        raise UsageError("Use --diff A..B with the numbers of two checkpoints.")
    older, newer = found.find(int(first)), found.find(int(second))
    for before in older.files:
        after = next((each for each in newer.files if each.path == before.path), before)
        path = mask_path(relative_to(before.path, found.directory) or before.path)
        texts = _read_state(before), _read_state(after)
        if texts[0] is None or texts[1] is None:
            yield terminal_output.faint(f"{safe_line(path)}: content unknown")
        elif texts[0] != texts[1]:
            old = f"{path} (checkpoint {older.number})"
            new = f"{path} (checkpoint {newer.number})"
            yield from file_text.iter_diff((old, texts[0]), (new, texts[1]), reveal=reveal)


def _read_state(state: FileState) -> str | None:
    if not state.exists:
        return ""
    return state.version.text if state.version else None


def _iter_tables(found: SessionCheckpoints, columns: int) -> Iterator[str]:
    if any(each.files for each in found.checkpoints):
        prompts = [each.prompt for each in found.checkpoints]
        yield from _iter_lines(list(map(_make_cells, found.checkpoints)), prompts, columns)
        yield from [""] if found.opcode else []
    if found.opcode:
        rows = [
            ("", format_time(parse_time(each.time)), format_count(each.files, "file"))
            for each in found.opcode
        ]
        yield terminal_output.faint("Saved by opcode, which can restore them:")
        yield from _iter_lines(rows, [each.words for each in found.opcode], columns)


def _iter_lines(
    entries: Sequence[tuple[str, str, str]], texts: Sequence[str], columns: int
) -> Iterator[str]:
    rows = [("", "when", "files"), *entries]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(terminal_output.GAP) * len(widths), _MIN_PROMPT_WIDTH)
    prompts = ["prompt", *map(terminal_output.join_lines, texts)]
    for number, (row, prompt) in enumerate(zip(rows, prompts, strict=True)):
        cells = [terminal_output.pad(*cell) for cell in zip(row, widths, "><<", strict=True)]
        line = terminal_output.GAP.join([*cells, clip(prompt, room)]).rstrip()
        yield line if number else terminal_output.faint(line)


def _make_cells(checkpoint: Checkpoint) -> tuple[str, str, str]:
    certain = [each for each in checkpoint.files if each.known in ("exact", "replayed")]
    known = [each for each in checkpoint.files if each.known or not each.exists]
    text = format_count(len(checkpoint.files), "file")
    missing = len(checkpoint.files) - len(known)
    uncertain = len([each for each in known if each.exists]) - len(certain)
    notes = [f"{uncertain} inferred"] if uncertain > 0 else []
    notes += [f"{missing} unknown"] if missing else []
    shown = f"{text} ({', '.join(notes)})" if notes else text
    return f"{checkpoint.number}", format_time(parse_time(checkpoint.time)), shown


class _Options(file_text.SearchOptions):
    at: str | None
    output: Path | None
    checkpoint: int | None
    to: Path | None
    dry_run: bool
    yes: bool
    reveal: bool


@click.command("restore")
@click.argument("target", metavar="PATH|SESSION")
@click.option("--at", metavar="VERSION", help="The version to restore, as for `recollect file`.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to FILE instead of PATH.",
)
@click.option(
    "--checkpoint",
    type=int,
    metavar="N",
    help="Restore the files of a session to the state at its prompt N.",
)
@click.option(
    "--to",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="With --checkpoint, write below DIR instead of the session's directory.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be written, without writing it.")
@yes_option
@reveal_option
@file_text.moved_from_option
@file_text.all_projects_option
@terminal_output.colour_option
@claude_dir_option
def restore_command(target: str, **options: Unpack[_Options]) -> None:
    """Restore a file to an earlier version, or files to a checkpoint.

    Shows a diff against the current file first, with secrets masked, then asks for confirmation.
    A replaced file is saved as NAME.before-restore. Exact and replayed versions are
    restored, inferred ones with a warning, partial ones never. Line endings, byte order mark and
    encoding are taken from Claude Code's backup, the current file, or the last commit.

    With --checkpoint, files outside the session's directory and files that did not exist at the
    prompt are skipped.

    \b
      recollect restore src/app.py --at 3
      recollect restore src/app.py --at 2h -o old.py
      recollect restore latest --checkpoint 4 --dry-run
      recollect restore latest --checkpoint 4 --to /tmp/before

    Exits with 1 if you decline, or if a file cannot be written; that file is left unchanged.
    """
    check_reveal(reveal=options["reveal"])
    if options["at"] is None and options["checkpoint"] is None:
        raise UsageError(
            "Specify --at with a version that `recollect file PATH` lists, or --checkpoint with"
            " the number of a prompt."
        )
    if options["at"] is not None and options["checkpoint"] is not None:
        raise UsageError("Specify either --at or --checkpoint.")
    if options["checkpoint"] is None:
        if options["to"]:
            raise UsageError("--to needs --checkpoint; use -o for a single file.")
        _restore_file(target, options)
    else:
        if options["output"]:
            raise UsageError("-o needs --at; use --to for a checkpoint.")
        _restore_checkpoint(target, options["checkpoint"], options)


def _restore_file(target: str, options: _Options) -> None:
    from recollect.versions.file_restore import plan_restore

    path = Path(target)
    found = file_text.load_history(path, options)
    if found.path != path and not options["output"]:
        # A transcript can name any path, so only one that was typed is written to.
        known = _show(str(found.path))
        raise UsageError(f"{_show(path)} was recorded as {known}. Specify that path, or use -o.")
    version = file_text.find_version(options["at"] or "", found.history, options)
    backup = found.history.read_backup(version)
    committed = found.git.read_newest() if found.git else None
    plan = plan_restore(version, options["output"] or path, backup, committed)
    if plan.changes_nothing:
        click.echo(f"{_show(plan.target)} already has the content of version {version.number}.")
        return
    if _show_plan(plan, file_text.name_version(version), reveal=options["reveal"]):
        click.echo(
            f"recollect: {file_text.name_version(version)} may differ from the original.",
            err=True,
        )
    _write([plan], options)


def _restore_checkpoint(session: str, number: int, options: _Options) -> None:
    from recollect.versions.file_restore import find_target, plan_restore

    found, backups = load_checkpoints(session, options["claude_dirs"])
    directory = options["to"] or _find_here(found.directory)
    plans: list[RestorePlan] = []
    for state in found.find(number).files:
        place = find_target(state.path, found.directory, directory)
        reason = _find_problem(state, place)
        if reason is not None or place is None or state.version is None:
            click.echo(f"recollect: Skipped {_show(state.path)}: {reason}.", err=True)
            continue
        name = state.version.backup
        backup = backups.read(*name) if name else None
        plan = plan_restore(state.version, place, backup)
        if not plan.changes_nothing:
            _show_plan(plan, file_text.name_version(state.version), reveal=options["reveal"])
            plans.append(plan)
    if plans:
        _write(plans, options)
    else:
        click.echo("Nothing to restore: all known files are already in that state.")


def _find_here(directory: str) -> Path:
    """Return the session's directory, if it is the current one or below it.

    A transcript can name any directory, so it is not trusted.
    """
    here = Path.cwd()
    if directory and Path(directory).is_relative_to(here):
        return Path(directory)
    raise UsageError(
        f"The session ran in {_show(directory) or 'an unknown directory'}. Run the command "
        "there, or specify a directory with --to."
    )


def _find_problem(state: FileState, place: Path | None) -> str | None:
    if place is None:
        return "it is outside the session's directory, or not a plain file"
    if not state.exists:
        return "it did not exist at that prompt"
    if state.version is None or state.version.text is None:
        return "its content at that prompt is not known"
    return None


def _show_plan(plan: RestorePlan, name: str, *, reveal: bool) -> bool:
    """Print a diff against the current file; return whether the content is uncertain."""
    from recollect.versions.file_texts import decode_file

    present, wanted = decode_file(plan.present or b""), decode_file(plan.data)
    if present is None or wanted is None:
        click.echo(f"{_show(plan.target)} is not a text file now and would be replaced.")
    else:
        old, new = (mask_path(str(plan.target)), present.text), (name, wanted.text)
        for line in file_text.iter_diff(old, new, reveal=reveal):
            click.echo(line)
        if present.text == wanted.text:
            click.echo(f"{_show(plan.target)}: only line endings or encoding differ.")
    return plan.grade == "inferred"


def _write(plans: list[RestorePlan], options: _Options) -> None:
    from recollect.versions.file_restore import write_restored

    uncertain = sum(plan.grade == "inferred" for plan in plans)
    if uncertain:
        click.echo(
            f"recollect: {format_count(uncertain, 'file')} with uncertain content.", err=True
        )
    if options["dry_run"]:
        click.echo(f"Would write {format_count(len(plans), 'file')}.")
        return
    confirm(f"Write {format_count(len(plans), 'file')}?", yes=options["yes"])
    for plan in plans:
        copy = write_restored(plan)
        kept = f"; the previous content is in {_show(copy)}" if copy else ""
        click.echo(f"Restored {_show(plan.target)}{kept}.")


def _show(path: Path | str) -> str:
    return safe_line(mask_path(str(path)))
