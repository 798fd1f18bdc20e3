"""`recollect checkpoints`: the state of a session's files at each of its prompts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from recollect.cli.file_text import iter_diff
from recollect.cli.json_output import format_document
from recollect.cli.options import (
    check_reveal,
    claude_dir_option,
    json_option,
    reveal_option,
    session_argument,
)
from recollect.cli.paging import pager_option, show_lines
from recollect.cli.session_labels import join_lines
from recollect.cli.tables import GAP, colour_option, count_table_columns, faint, pad
from recollect.errors import NothingFound, UsageError
from recollect.quantities import format_count, format_time
from recollect.reader.line_masking import masked_by
from recollect.render.terminal import measure, safe_text
from recollect.render.terminal.safe_text import clip
from recollect.session.times import parse_time
from recollect.versions.recorded_paths import relative_to

if TYPE_CHECKING:
    from recollect.versions.backups import BackupDirectory
    from recollect.versions.session_checkpoints import Checkpoint, FileState, SessionCheckpoints

_MIN_PROMPT_WIDTH = 10


@click.command("checkpoints")
@session_argument()
@click.option("--diff", metavar="A..B", help="Show how the files differ between two checkpoints.")
@reveal_option
@pager_option
@colour_option
@claude_dir_option
@json_option
def command(
    session: str,
    diff: str | None,
    reveal: bool,
    paged: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """List the states of a session's files that can be restored.

    There is one checkpoint per prompt, with the files that the session changed as they were when
    the prompt was sent: from the backups that Claude Code made, and from the transcript where
    there are none. `recollect restore SESSION --checkpoint N` brings one back. Secrets are masked
    in diffs.

    \b
      recollect checkpoints latest
      recollect checkpoints latest --diff 2..5
      recollect checkpoints latest --json | jq '.checkpoints[-1].files'

    Exits with 3 if the session changed no file.
    """
    check_reveal(reveal=reveal, is_for_programs=as_json)
    found, _ = load_checkpoints(session, claude_dirs)
    if diff is not None:
        if as_json:
            raise UsageError("--diff and --json cannot be used together.")
        show_lines(_iter_differences(found, diff, reveal=reveal), is_paged=paged)
    elif as_json:
        from recollect.workspace.file_questions import describe_checkpoints

        click.echo(format_document(describe_checkpoints(found)))
    elif not found.opcode and not any(each.files for each in found.checkpoints):
        raise NothingFound("The session changed no file.")
    else:
        show_lines(_iter_tables(found, count_table_columns()), is_paged=paged)


def load_checkpoints(
    name: str, claude_dirs: tuple[Path, ...]
) -> tuple[SessionCheckpoints, BackupDirectory]:
    """Return the checkpoints of the session that `name` means, and where its backups are."""
    from recollect.cli.command_workspace import command_workspace  # opens the index
    from recollect.library.opening import open_transcript
    from recollect.locations.sidecars import find_root_of
    from recollect.versions.backups import BackupDirectory
    from recollect.versions.opcode_timelines import list_opcode_checkpoints
    from recollect.versions.session_checkpoints import build_checkpoints

    with command_workspace(claude_dirs) as workspace:
        transcript = workspace.find(name)
    backups = BackupDirectory(find_root_of(transcript))
    # Files are compared and restored as they were, whatever they hold.
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
        path = relative_to(before.path, found.directory) or before.path
        texts = _read_state(before), _read_state(after)
        if texts[0] is None or texts[1] is None:
            yield faint(f"{safe_text(path, single_line=True)}: its content is not known")
        elif texts[0] != texts[1]:
            old = f"{path} (checkpoint {older.number})"
            new = f"{path} (checkpoint {newer.number})"
            yield from iter_diff((old, texts[0]), (new, texts[1]), reveal=reveal)


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
        yield faint("Saved by opcode, which can restore them:")
        yield from _iter_lines(rows, [each.words for each in found.opcode], columns)


def _iter_lines(
    entries: Sequence[tuple[str, str, str]], texts: Sequence[str], columns: int
) -> Iterator[str]:
    rows = [("", "when", "files"), *entries]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(GAP) * len(widths), _MIN_PROMPT_WIDTH)
    prompts = ["prompt", *map(join_lines, texts)]
    for number, (row, prompt) in enumerate(zip(rows, prompts, strict=True)):
        cells = [pad(*cell) for cell in zip(row, widths, "><<", strict=True)]
        line = GAP.join([*cells, clip(prompt, room)]).rstrip()
        yield line if number else faint(line)


def _make_cells(checkpoint: Checkpoint) -> tuple[str, str, str]:
    certain = [each for each in checkpoint.files if each.known in ("exact", "replayed")]
    known = [each for each in checkpoint.files if each.known or not each.exists]
    text = format_count(len(checkpoint.files), "file")
    missing = len(checkpoint.files) - len(known)
    doubtful = len([each for each in known if each.exists]) - len(certain)
    notes = [f"{doubtful} inferred"] if doubtful > 0 else []
    notes += [f"{missing} unknown"] if missing else []
    shown = f"{text} ({', '.join(notes)})" if notes else text
    return f"{checkpoint.number}", format_time(parse_time(checkpoint.time)), shown
