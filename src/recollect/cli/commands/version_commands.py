"""`recollect file`: the versions of a file across all sessions, one of them, or a diff of two; and
`recollect blame`: which prompt wrote each line of a file.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click
from msgspec.structs import replace

from recollect.cli import file_text, terminal_output
from recollect.cli.command_workspace import command_workspace
from recollect.cli.commands.commit_commands import iter_other_counts, iter_prompts
from recollect.cli.json_output import format_document
from recollect.cli.options import check_reveal, claude_dir_option, json_option, reveal_option
from recollect.documents.file_versions import BlamedLine, BlameDocument, TreeDocument
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.quantities import format_count, format_date
from recollect.redact.quick_masks import mask_in_lines, mask_lines
from recollect.render.terminal import clip, measure, safe_line, safe_text
from recollect.session.times import parse_time
from recollect.versions.file_paths import is_directory

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


_NAMES = {"claude": "Claude Code", "other": "not by Claude Code", "unknown": "unknown"}
_MIN_PROMPT_WIDTH = 12
_MAX_PROMPT_WIDTH = 40
_TEXT_SHARE = 2


class _BlameOptions(file_text.SearchOptions):
    lines: str | None
    revision: str | None
    ignore_space: bool
    stat: bool
    porcelain: bool
    reveal: bool
    paged: bool
    as_json: bool


@click.command("blame")
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("-L", "lines", metavar="A,B", help="Only lines A to B; `A,` and `A,+N` work too.")
@click.option("--rev", "revision", metavar="REV", help="Blame the file in this git revision.")
@click.option("-w", "ignore_space", is_flag=True, help="Ignore whitespace changes.")
@click.option(
    "--stat",
    is_flag=True,
    help="Count lines by session, prompt and model. PATH may also be a directory (default: "
    "the current one); all of its tracked files are counted.",
)
@click.option("--porcelain", is_flag=True, help="Output for scripts, like `git blame --porcelain`.")
@reveal_option
@file_text.moved_from_option
@file_text.all_projects_option
@terminal_output.pager_option
@terminal_output.colour_option
@claude_dir_option
@json_option
def blame_command(path: Path | None, **options: Unpack[_BlameOptions]) -> int:
    """Show which prompt wrote each line of a file.

    A line is attributed to a prompt if a change recorded for that prompt added it. Other lines
    are "not by Claude Code", or "unknown" if a command that Claude Code ran may have written them
    or the records are inconclusive. Secrets are masked.

    \b
      recollect blame src/app.py
      recollect blame src/app.py -L 10,20
      recollect blame src/app.py --rev HEAD~3
      recollect blame src/app.py --stat
      recollect blame --stat src
      recollect blame --stat
      recollect blame src/app.py --json | jq '.lines[] | select(.by == "claude") | .session'

    Exits with 3 if no session mentions the file and with 4 if a transcript could not be read.
    """
    if path is None and not options["stat"]:
        raise UsageError("Specify a file, or use --stat to count the lines of this directory.")
    path = path or Path()
    is_tree = is_directory(path)
    if is_tree and not options["stat"]:
        raise UsageError(f"{path} is a directory. Use --stat to count the lines of its files.")
    if not is_tree and sum((options["as_json"], options["porcelain"], options["stat"])) > 1:
        raise UsageError("Use only one of --json, --porcelain and --stat.")
    if is_tree:
        return _count_directory(path, options)
    is_for_programs = options["as_json"] or options["porcelain"]
    check_reveal(reveal=options["reveal"], is_for_programs=is_for_programs)
    document, unreadable = _load(path, options)
    wanted = _select(document.lines, options["lines"])
    document = replace(document, lines=tuple(wanted))
    if options["as_json"]:
        click.echo(format_document(document))
        return unreadable
    if options["porcelain"]:
        lines = _iter_porcelain(document)
    else:
        lines = (_iter_counts if options["stat"] else _iter_table)(
            wanted, terminal_output.count_columns()
        )
    terminal_output.show_lines(lines, is_paged=options["paged"])
    return unreadable


def _count_directory(path: Path, options: _BlameOptions) -> int:
    from recollect.workspace.commit_queries import count_tree

    with command_workspace(options["claude_dirs"]) as workspace:
        found = count_tree(workspace, path)
    if options["as_json"]:
        click.echo(format_document(found))
    else:
        terminal_output.show_lines(
            _iter_tree(found, terminal_output.count_columns()), is_paged=options["paged"]
        )
    return 0


def _iter_tree(found: TreeDocument, columns: int) -> Iterator[str]:
    yield terminal_output.strong(
        f"{format_count(found.files, 'file')}, {format_count(found.lines, 'line')}"
    )
    yield from iter_prompts(found.prompts, columns)
    rest = {"not by Claude Code": found.other, "unknown": found.unknown}
    yield from iter_other_counts(rest, found.lines)
    if found.written:
        share = 100 * found.survived / found.written
        kept = f"{found.survived:,} of {found.written:,}"
        yield f"{kept} lines by Claude Code survived ({share:.0f}%)"


def _load(path: Path, options: _BlameOptions) -> tuple[BlameDocument, int]:
    from recollect.versions.file_blame import blame_current, blame_revision
    from recollect.versions.file_paths import find_modified, read_present
    from recollect.workspace.file_queries import describe_blame

    found = file_text.load_history(path, options)
    file_text.report_unreadable(found.history)
    code = UnreadableInput.exit_code if found.history.unreadable else 0
    space = options["ignore_space"]
    revision = options["revision"]
    if revision is not None:
        lines = blame_revision(found.history, found.git, revision, ignore_space=space)
    else:
        data, modified = read_present(found.path), find_modified(found.path)
        lines = blame_current(found.history, found.git, data, modified, ignore_space=space)
    document = describe_blame(str(found.path.absolute()), lines)
    return document if options["reveal"] else _mask(document), code


def _mask(document: BlameDocument) -> BlameDocument:
    """Return the same lines without definite secrets; some take several lines."""
    texts = mask_lines("\n".join(each.text for each in document.lines))
    lines = (replace(each, text=text) for each, text in zip(document.lines, texts, strict=False))
    return replace(document, lines=tuple(lines))


def _select(lines: Sequence[BlamedLine], wanted: str | None) -> Sequence[BlamedLine]:
    """Return the lines of a range such as `3`, `3,7`, `3,` or `3,+5`."""
    if wanted is None:
        return lines
    first, separator, last = wanted.partition(",")
    numbers = first, last.removeprefix("+")
    if not first.isdecimal() or not all(each.isdecimal() for each in numbers if each):
        raise UsageError(f"{wanted!r} is not a range of lines (try 3,7 or 3,+5).")
    start = int(first)
    stop = int(numbers[1]) if numbers[1] else (len(lines) if separator else start)
    if last.startswith("+"):
        stop += start - 1
    if not 1 <= start <= len(lines):
        raise UsageError(f"The file has {format_count(len(lines), 'line')}.")
    return lines[start - 1 : stop]


def _iter_table(entries: Sequence[BlamedLine], columns: int) -> Iterator[str]:
    width = max(min(columns // _TEXT_SHARE - 30, _MAX_PROMPT_WIDTH), _MIN_PROMPT_WIDTH)
    labels = [_make_label(entry, width) for entry in entries]
    room = max(map(measure, labels), default=0)
    number_width = len(str(entries[-1].line)) if entries else 1
    for entry, label in zip(entries, labels, strict=True):
        padded = terminal_output.pad(label, room, "<")
        margin = f"{padded}{terminal_output.GAP}{entry.line:>{number_width}}"
        text = safe_line(entry.text.expandtabs(4))
        if entry.by != "claude":
            margin = terminal_output.faint(margin)
        yield f"{margin}{terminal_output.GAP}{text}".rstrip()


def _make_label(entry: BlamedLine, width: int) -> str:
    if entry.by != "claude":
        return _NAMES[entry.by]
    turn = f"{terminal_output.label_id(entry.session or '')}:{entry.turn or '?'}"
    day = format_date(moment) if (moment := parse_time(entry.time)) else ""
    return f"{turn}  {day}  {clip(terminal_output.join_lines(entry.prompt), width)}".rstrip()


def _iter_counts(entries: Sequence[BlamedLine], columns: int) -> Iterator[str]:
    """Yield the number of lines by prompt, largest first, and then the others."""
    counts: dict[tuple[str, ...], int] = {}
    for entry in entries:
        label = _make_label(entry, columns)
        key = (label, safe_line(entry.model or ""))
        counts[key] = counts.get(key, 0) + 1
    width = len(f"{max(counts.values(), default=0):,}")
    for (label, model), count in sorted(counts.items(), key=lambda pair: -pair[1]):
        share = f"{100 * count / len(entries):.0f}%"
        yield terminal_output.GAP.join(
            filter(None, [f"{count:>{width},}", f"{share:>4}", model, label])
        )


def _iter_porcelain(document: BlameDocument) -> Iterator[str]:
    """Yield the format of git, with a hash of the tool call in place of a commit's."""
    headers: dict[str, list[str]] = {}
    for (key, _), group in groupby(document.lines, lambda each: (_hash_call(each), each.by)):
        entries = list(group)
        header = [
            *_iter_header(entries[0]),
            f"filename {safe_line(document.path)}",
        ]
        for number, entry in enumerate(entries):
            yield f"{key} {entry.line} {entry.line}" + ("" if number else f" {len(entries)}")
            if headers.get(key) != header:
                headers[key] = header
                yield from header
            yield f"\t{safe_line(entry.text)}"


def _hash_call(entry: BlamedLine) -> str:
    if entry.by != "claude":
        return "0" * 40
    call = f"{entry.session}{entry.uuid}".encode()
    return hashlib.sha1(call, usedforsecurity=False).hexdigest()


def _iter_header(entry: BlamedLine) -> Iterator[str]:
    moment = parse_time(entry.time)
    yield f"author {_NAMES[entry.by]}"
    yield f"author-mail <{safe_line(entry.model or '')}>"
    yield f"author-time {int(moment.timestamp()) if moment else 0}"
    yield "author-tz +0000"
    yield f"summary {terminal_output.join_lines(entry.prompt or _NAMES[entry.by])}"
    if entry.by == "claude":
        yield f"recollect-session {safe_line(entry.session or '')}"
        yield f"recollect-turn {entry.turn or 0}"
