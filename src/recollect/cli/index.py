"""`recollect index`: bring the index level with the files, build it anew, or look at it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from msgspec import Struct

from recollect.cli.documents import format_document
from recollect.cli.options import claude_dir_option, json_option, prices_option
from recollect.cli.progress import progress_line
from recollect.cli.tables import count_columns, human_bytes, iter_table, plural, wrap
from recollect.errors import IndexFailure, UnreadableInput, UsageError
from recollect.health.sources import describe_place
from recollect.locations import Transcript, resolve_roots
from recollect.render.terminal import safe_text
from recollect.store.place import find_data_directory
from recollect.store.status import IndexStatus, find_status
from recollect.sync.level import find_transcripts, is_level

SCHEMA = "recollect.index/1"


class Problem(Struct, frozen=True):
    """A transcript that could not be read."""

    file: str
    reason: str


class IndexDocument(Struct, frozen=True, kw_only=True):
    """What `--json` prints: what was done, and what the index is afterwards."""

    schema: str = SCHEMA
    path: str
    bytes: int
    is_sound: bool
    is_level: bool
    files_read: int
    bytes_read: int
    files: int
    files_gone: int
    messages: int
    copies: int
    problems: list[Problem]


@click.command("index")
@click.option("--rebuild", is_flag=True, help="Read all transcripts again.")
@click.option("--status", is_flag=True, help="Only look: change nothing, but check all of it.")
@prices_option
@claude_dir_option
@json_option
def command(
    *,
    rebuild: bool,
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
      recollect index --status
    """
    if rebuild and status:
        raise UsageError("Give --rebuild or --status: the one changes what the other looks at.")
    directory = find_data_directory()
    transcripts = find_transcripts(resolve_roots(claude_dirs))
    read = (0, 0) if status else _sync(directory, transcripts, prices, anew=rebuild)
    level = is_level(directory, transcripts, prices=prices)
    document = describe(find_status(directory), level, read)
    if as_json:
        click.echo(format_document(document))
    else:
        columns = count_columns()
        click.echo("\n".join(iter_text(document, columns, is_look=status)))
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


def describe(status: IndexStatus, is_level: bool, read: tuple[int, int] = (0, 0)) -> IndexDocument:
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
        problems=[Problem(file, reason) for file, reason in sorted(status.problems.items())],
    )


def iter_text(document: IndexDocument, columns: int, *, is_look: bool) -> Iterator[str]:
    """Yield the lines that a person reads, none longer than `columns`."""
    if not is_look:
        yield _tell_reading(document)
    rows = [("Index", describe_place(Path(document.path))), ("State", _tell_state(document))]
    if document.is_sound:
        gone = f", and {document.files_gone:,} that are gone" if document.files_gone else ""
        rows += [
            ("Size", human_bytes(document.bytes)),
            ("Transcripts", f"{document.files:,}{gone}"),
            ("Messages", f"{document.messages:,} counted"),
            ("Copies", f"{document.copies:,} not counted"),
        ]
    yield from iter_table(rows, "<<", columns, "")
    for problem in document.problems:
        yield from wrap(safe_text(f"Not read: {problem.file}: {problem.reason}"), columns, "")


def _tell_reading(document: IndexDocument) -> str:
    if not document.files_read:
        return "Nothing had to be read."
    return f"Read {plural(document.files_read, 'file')}, {human_bytes(document.bytes_read)}."


def _tell_state(document: IndexDocument) -> str:
    if not document.bytes:
        return "not made yet; the first command that needs it makes it"
    if not document.is_sound:
        return "damaged or outdated; the next command that needs it builds it anew"
    if not document.is_level:
        return "sound, and behind the transcripts; `recollect index` brings it level"
    return "sound, and level with the transcripts"


def choose_code(document: IndexDocument) -> int:
    """The exit code that tells what is wrong."""
    if document.bytes and not document.is_sound:
        return IndexFailure.exit_code
    return UnreadableInput.exit_code if document.problems else 0
