"""`recollect index`: bring the index level with the files, build it anew, or look at it."""

from collections.abc import Sequence
from pathlib import Path

import click

from recollect.cli.documents import format_document
from recollect.cli.index.document import IndexDocument, Problem
from recollect.cli.options import claude_dir_option, json_option, prices_option
from recollect.cli.progress import progress_line, watch_texts
from recollect.cli.roots import find_roots
from recollect.cli.tables import count_columns
from recollect.errors import IndexFailure, UnreadableInput, UsageError
from recollect.locations import Transcript
from recollect.store.place import find_data_directory
from recollect.store.status import IndexStatus, find_status
from recollect.sync.level import find_transcripts, is_level
from recollect.sync.text_status import TextStatus, find_text_status


@click.command("index")
@click.option("--rebuild", is_flag=True, help="Read all transcripts again.")
@click.option("--text", is_flag=True, help="Also what searching needs: every text that was said.")
@click.option("--status", is_flag=True, help="Only look: change nothing, but check all of it.")
@prices_option
@claude_dir_option
@json_option
def command(
    *,
    rebuild: bool,
    text: bool,
    status: bool,
    prices: Path | None,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Bring the index level with the transcripts, or look at it.

    Other commands do that by themselves. The index is a file of Recollect's own, and can be
    deleted: all but what it remembers of transcripts that Claude Code has deleted is read again.

    Exits with 4 if a transcript could not be read and with 5 if the index cannot be used.

    \b
      recollect index
      recollect index --text
      recollect index --status
    """
    if status and (rebuild or text):
        raise UsageError("Give --status alone: it looks at what the others change.")
    directory = find_data_directory()
    transcripts = find_transcripts(find_roots(claude_dirs))
    read = (0, 0) if status else _sync(directory, transcripts, prices, anew=rebuild)
    if text:
        _index_texts(directory, transcripts, anew=rebuild)
    level = is_level(directory, transcripts, prices=prices)
    document = describe(find_status(directory), _look_at_texts(directory, transcripts), level, read)
    if as_json:
        click.echo(format_document(document))
    else:
        from recollect.cli.index.text import iter_text  # noqa: PLC0415 - for people only

        click.echo("\n".join(iter_text(document, count_columns(), is_look=status)))
    return choose_code(document)


def _sync(
    directory: Path, transcripts: Sequence[Transcript], prices: Path | None, *, anew: bool
) -> tuple[int, int]:
    """How many files, and bytes of them, had to be read."""
    from recollect.sync.engine import Progress, sync  # noqa: PLC0415 - a look needs no reader

    with progress_line("files") as line:

        def watch(progress: Progress) -> None:
            line.show(progress.files_done, progress.files)

        report = sync(directory, transcripts, prices=prices, anew=anew, watch=watch)
    return report.files_read, report.bytes_read


def _index_texts(directory: Path, transcripts: Sequence[Transcript], *, anew: bool) -> None:
    from recollect.search.engine import RECIPE  # noqa: PLC0415 - a look needs no reader
    from recollect.store.text_database import delete_texts  # noqa: PLC0415
    from recollect.sync.texts import index_texts  # noqa: PLC0415

    if anew:
        delete_texts(directory)
    with watch_texts() as watch:
        index_texts(directory, RECIPE, transcripts, watch=watch)


def _look_at_texts(directory: Path, transcripts: Sequence[Transcript]) -> TextStatus:
    from recollect.search.engine import RECIPE  # noqa: PLC0415 - as above

    return find_text_status(directory, RECIPE.version, transcripts)


def describe(
    status: IndexStatus, text: TextStatus, is_level: bool, read: tuple[int, int] = (0, 0)
) -> IndexDocument:
    """What is to be told about an index."""
    files_read, bytes_read = read
    return IndexDocument(
        path=status.path,
        bytes=status.bytes,
        is_sound=status.is_sound,
        is_level=is_level,
        files_read=files_read,
        bytes_read=bytes_read,
        files=status.files,
        files_gone=status.files_gone,
        messages=status.messages,
        copies=status.copies,
        text=text,
        problems=[Problem(file, reason) for file, reason in sorted(status.problems.items())],
    )


def choose_code(document: IndexDocument) -> int:
    """The exit code that tells what is wrong."""
    if document.bytes and not document.is_sound:
        return IndexFailure.exit_code
    return UnreadableInput.exit_code if document.problems else 0
