"""`recollect index`: update or rebuild the index, or show its status."""

from collections.abc import Iterator
from pathlib import Path

import click

from recollect.cli.command_workspace import command_workspace
from recollect.cli.json_output import format_document
from recollect.cli.options import claude_dir_option, json_option, prices_option
from recollect.cli.terminal_output import count_table_columns, iter_table, wrap
from recollect.documents.command_reports import IndexDocument, IndexProblem, TextStatus
from recollect.errors import IndexFailure, UnreadableInput, UsageError
from recollect.quantities import format_bytes, format_count
from recollect.render.terminal import display_path, safe_line, safe_text
from recollect.workspace.maintenance import IndexUpdate, SyncOptions


def iter_text(document: IndexDocument, columns: int, *, status_only: bool) -> Iterator[str]:
    """Yield the lines, none longer than `columns`."""
    if not status_only:
        yield _describe_reading(document)
    path = safe_line(display_path(Path(document.path)))
    rows = [("Index", path), ("State", _describe_state(document))]
    if document.is_sound:
        gone = f", and {document.files_gone:,} deleted" if document.files_gone else ""
        rows += [
            ("Size", format_bytes(document.bytes)),
            ("Transcripts", f"{document.files:,}{gone}"),
            ("Messages", f"{document.messages:,} counted"),
            ("Copies", f"{document.copies:,} not counted"),
            ("Texts", _describe_texts(document.text)),
        ]
    yield from iter_table(rows, "<<", columns, "")
    for problem in document.problems:
        yield from wrap(safe_text(f"Could not read {problem.file}: {problem.reason}"), columns, "")


def _describe_reading(document: IndexDocument) -> str:
    if not document.files_read:
        return "Already up to date."
    return f"Read {format_count(document.files_read, 'file')}, {format_bytes(document.bytes_read)}."


def _describe_state(document: IndexDocument) -> str:
    if not document.bytes:
        return "not created yet; created on first use"
    if not document.is_sound:
        return "damaged or outdated; rebuilt on next use"
    if not document.is_current:
        return "out of date; run `recollect index` to update it"
    return "up to date"


def _describe_texts(text: TextStatus) -> str:
    size = format_bytes(text.bytes)
    if text.is_current:
        return f"{size}, up to date"
    if not text.bytes:
        return "not indexed yet; indexed by the first search or `recollect index --text`"
    return f"{size}, {format_count(text.files_behind, 'file')} to index; updated by the next search"


@click.command("index")
@click.option("--rebuild", is_flag=True, help="Read all transcripts again.")
@click.option("--text", is_flag=True, help="Also update the full-text index that search uses.")
@click.option("--status", is_flag=True, help="Show and verify the index without changing it.")
@prices_option
@claude_dir_option
@json_option
def index_command(
    *,
    rebuild: bool,
    text: bool,
    status: bool,
    prices: Path | None,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Update the index, or show its status.

    Other commands update it automatically. The index can be deleted at any time: it is rebuilt from
    the transcripts, except for the usage of transcripts that Claude Code has deleted.

    Exits with 4 if a transcript could not be read and with 5 if the index cannot be used.

    \b
      recollect index
      recollect index --text
      recollect index --status
    """
    if status and (rebuild or text):
        raise UsageError("--status cannot be used with --rebuild or --text.")
    options = None if status else SyncOptions(rebuild=rebuild, texts=text)
    with command_workspace(claude_dirs, prices=prices) as workspace:
        document = describe(workspace.index(options))
    if as_json:
        click.echo(format_document(document))
    else:
        click.echo("\n".join(iter_text(document, count_table_columns(), status_only=status)))
    return choose_code(document)


def describe(update: IndexUpdate) -> IndexDocument:
    """Return the document for the status of an index."""
    status = update.status
    return IndexDocument(
        path=status.path,
        bytes=status.bytes,
        is_sound=status.is_sound,
        is_current=update.is_current,
        files_read=update.files_read,
        bytes_read=update.bytes_read,
        files=status.files,
        files_gone=status.files_gone,
        messages=status.messages,
        copies=status.copies,
        text=update.texts,
        problems=tuple(IndexProblem(*each) for each in sorted(status.problems.items())),
    )


def choose_code(document: IndexDocument) -> int:
    """Return the exit code for the status of an index."""
    if document.bytes and not document.is_sound:
        return IndexFailure.exit_code
    return UnreadableInput.exit_code if document.problems else 0
