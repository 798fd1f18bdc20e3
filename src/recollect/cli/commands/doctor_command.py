"""`recollect doctor`: check transcripts, Claude directories and the index, and print the findings.

Contains only wording and layout; `recollect.health` does the counting. Lists are truncated,
because a damaged history may have thousands of entries; `--json` has them all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import click
from msgspec import Struct

from recollect.cli import effective_settings, json_output, options, program, terminal_output
from recollect.cli.command_workspace import command_workspace
from recollect.demo import CLAUDE_DIRECTORY
from recollect.documents.health_report import ArchiveReport, HealthReport, IndexReport, RootReport
from recollect.errors import UnreadableInput, UsageError
from recollect.health.retention import SETTING, SOON
from recollect.quantities import format_bytes, format_count
from recollect.render.terminal import display_path, safe_line
from recollect.store import MIN_SQLITE_VERSION, is_sqlite_safe

MAX_ROWS = 12
"""Maximum number of rows of a list."""


def iter_remainder(
    number: int, noun: str, indent: str = terminal_output.INDENT * 2
) -> Iterator[str]:
    """Yield the number of omitted rows, if any."""
    if number > MAX_ROWS:
        yield f"{indent}… and {format_count(number - MAX_ROWS, f'more {noun}')}"


_ORPHAN_WORDS = {
    "session": "its directory",
    "tasks": "its tasks",
    "file-history": "its files before edits",
    "todo": "its to-do list",
}
_DAY = 10


def iter_roots(roots: Sequence[RootReport], columns: int) -> Iterator[str]:
    """Yield each Claude directory and who can read it."""
    rows = [
        (root.path, format_count(root.sessions, "session"), _describe_permissions(root))
        for root in roots
    ]
    if rows:
        yield from terminal_output.iter_table(rows, "<><", columns)
    for root in roots:
        if not root.is_private:
            words = f"Other users can read {root.path}. To fix: chmod 700 {root.path}"
            yield from terminal_output.wrap(words, columns)


def _describe_permissions(root: RootReport) -> str:
    if root.permissions is None:
        return ""
    return f"{root.permissions}, {'private' if root.is_private else 'readable by others'}"


def iter_retention(roots: Sequence[RootReport], columns: int) -> Iterator[str]:
    """Yield the retention period, and the next sessions to be deleted."""
    for root in roots:
        yield from terminal_output.wrap(_describe_retention(root), columns)
        if not root.expiring:
            continue
        yield from terminal_output.wrap(_count_expiring(root), columns)
        rows = [(each.after[:_DAY], each.file) for each in root.expiring[:MAX_ROWS]]
        yield from terminal_output.iter_table(rows, "<<", columns, terminal_output.INDENT * 2)
        yield from iter_remainder(len(root.expiring), "session")


def _count_expiring(root: RootReport) -> str:
    count = format_count(len(root.expiring), "session")
    overdue = f", {root.overdue:,} of them the next time it starts" if root.overdue else ""
    return f"To be deleted within {SOON.days} days: {count}{overdue}."


def _describe_retention(root: RootReport) -> str:
    if root.retention_problem:
        why = f"the default, since {root.retention_problem}"
    else:
        why = f"set by {SETTING}" if root.retention_is_set else f"the default; {SETTING} is not set"
    following = ""
    if root.next_expiry and not root.expiring:
        following = f" The next is due after {root.next_expiry[:_DAY]}."
    return (
        f"{root.path}: Claude Code deletes sessions {root.retention_days:g} days after their "
        f"last change ({why}).{following}"
    )


def iter_orphans(roots: Sequence[RootReport], columns: int) -> Iterator[str]:
    """Yield files of sessions whose transcript no longer exists."""
    orphans = [orphan for root in roots for orphan in root.orphans]
    if not orphans:
        return
    size = format_bytes(sum(orphan.byte_count for orphan in orphans))
    words = f"{format_count(len(orphans), 'leftover')} of deleted sessions, {size}:"
    yield from terminal_output.wrap(words, columns)
    rows = [
        (_ORPHAN_WORDS[each.kind], format_count(each.files, "file"), each.file)
        for each in orphans[:MAX_ROWS]
    ]
    yield from terminal_output.iter_table(rows, "<><", columns, terminal_output.INDENT * 2)
    yield from iter_remainder(len(orphans), "leftover")


def iter_timelines(roots: Sequence[RootReport], columns: int) -> Iterator[str]:
    """Yield the timelines that another program keeps in the Claude directories."""
    timelines = [timeline for root in roots for timeline in root.timelines]
    if not timelines:
        return
    size = format_bytes(sum(each.byte_count for each in timelines))
    words = (
        f"{format_count(len(timelines), 'timeline')} by opcode, {size}. Claude Code neither uses "
        "nor deletes them; `recollect checkpoints` lists those of a session."
    )
    yield from terminal_output.wrap(words, columns)
    rows = [
        ("" if each.has_session else "session deleted", format_count(each.files, "file"), each.file)
        for each in timelines[:MAX_ROWS]
    ]
    yield from terminal_output.iter_table(rows, "<><", columns, terminal_output.INDENT * 2)
    yield from iter_remainder(len(timelines), "timeline")


def iter_index(index: IndexReport, sqlite: str, columns: int) -> Iterator[str]:
    """Yield the state of the index and the version of SQLite."""
    schema = "" if index.schema_version is None else f", schema {index.schema_version}"
    rows = [
        ("Path", index.path),
        ("State", _describe_state(index)),
        ("Size", f"{format_bytes(index.byte_count)}{schema}"),
        ("Holds", _describe_content(index)),
        ("SQLite", _describe_sqlite(sqlite)),
    ]
    yield from terminal_output.iter_table(
        rows if index.byte_count else [rows[0], rows[1], rows[-1]], "<<", columns
    )


def iter_archive(archive: ArchiveReport | None, columns: int) -> Iterator[str]:
    """Yield the state of the archive."""
    if archive is None:
        return
    if not archive.is_enabled:
        yield from terminal_output.wrap(
            "Not enabled. To keep sessions: recollect archive enable", columns
        )
        return
    if archive.problem:
        yield from terminal_output.wrap(safe_line(archive.problem), columns)
        return
    gone = f", {archive.sessions_gone:,} of them deleted by Claude Code"
    behind = f"{format_count(archive.files_behind, 'file')} to copy: recollect archive sync"
    rows = [
        ("Path", archive.path),
        ("State", behind if archive.files_behind else "up to date"),
        ("Holds", format_count(archive.sessions, "session") + gone * bool(archive.sessions_gone)),
        ("Last sync", archive.last_sync or "never"),
    ]
    yield from terminal_output.iter_table(rows, "<<", columns)


def _describe_state(index: IndexReport) -> str:
    if not index.byte_count:
        return "not created yet; created on first use"
    if not index.is_sound:
        return "unusable; run `recollect index` to rebuild it or see why"
    state = "up to date" if index.is_current else "out of date"
    return f"{state}{', being written now' if index.is_locked else ''}"


def _describe_content(index: IndexReport) -> str:
    gone = f", and {index.files_gone:,} deleted" if index.files_gone else ""
    unread = f"; {index.problems:,} could not be read" if index.problems else ""
    messages = format_count(index.messages, "message")
    return f"{messages} of {format_count(index.files, 'transcript')}{gone}{unread}"


def _describe_sqlite(version: str) -> str:
    if is_sqlite_safe(version):
        return version
    return f"{version}; {MIN_SQLITE_VERSION} or newer is needed for safe concurrent use"


KIND_REMARKS = {"stream": "output of headless runs"}

Counts = Mapping[str, int]


class _Listing(Struct, frozen=True):
    """A list with a heading; omitted if it is empty."""

    words: str
    noun: str
    alignment: str
    rows: list[terminal_output.Row]


def iter_report(report: HealthReport, title: str, columns: int) -> Iterator[str]:
    """Yield the lines of the report, none longer than `columns`."""
    yield from terminal_output.wrap(f"Recollect doctor: {title}", columns, indent="")
    sections = {
        "Contents": _iter_contents(report, columns),
        "Record types": _iter_counts(report.types, "type", columns),
        "Claude Code versions": _iter_counts(report.versions, "version", columns),
        "Drift": _iter_drift(report, columns),
        "Damage": _iter_damage(report, columns),
        **_describe_machine(report, columns),
    }
    for heading, section in sections.items():
        yield from ("", heading)
        yield from list(section) or [f"{terminal_output.INDENT}None."]
    yield ""
    yield from terminal_output.wrap(describe_verdict(report), columns, indent="")


def _describe_machine(report: HealthReport, columns: int) -> dict[str, Iterable[str]]:
    """Return the sections about this machine, which are missing if paths are given."""
    if report.index is None:
        return {}
    timelines = list(iter_timelines(report.roots, columns))
    return {
        "Claude directories": iter_roots(report.roots, columns),
        "Retention": iter_retention(report.roots, columns),
        "Leftovers": iter_orphans(report.roots, columns),
        # Rarely present.
        **({"Other programs": timelines} if timelines else {}),
        "Index": iter_index(report.index, report.sqlite or "", columns),
        "Archive": iter_archive(report.archive, columns),
    }


def describe_verdict(report: HealthReport) -> str:
    """Summarise in one sentence whether everything could be read and is known."""
    problems = (
        (report.damaged_count, "damaged region"),
        (len(report.oversized), "oversized line"),
        (sum(refused.failed for refused in report.refused), "unreadable file"),
    )
    if any(count for count, _ in problems):
        found = ", ".join(format_count(count, noun) for count, noun in problems if count)
        return f"Not everything could be read: {found}. The rest is fine."
    if report.has_drift:
        return "Everything could be read, but some of it is new to this version. Nothing is lost."
    torn = format_count(len(report.torn), "incomplete last line")
    exception = f" except {torn}" if report.torn else ""
    files = format_count(report.files, "file")
    return f"No problems: {files}, every byte read and understood{exception}."


def _iter_contents(report: HealthReport, columns: int) -> Iterator[str]:
    kinds = [
        (f"  {kind.replace('-', ' ')}s", f"{count:,}", KIND_REMARKS.get(kind, ""))
        for kind, count in report.kinds.items()
    ]
    extras = [
        ("Empty files", report.empty_files, "no bytes, or only titles of other sessions"),
        ("Blank lines", report.blank, "harmless"),
    ]
    rows = [
        ("Files", f"{report.files:,}", ""),
        *kinds,
        ("Size", format_bytes(report.byte_count), _describe_accounting(report)),
        ("Records", f"{report.records:,}", _describe_times(report)),
        *((label, f"{count:,}", remark) for label, count, remark in extras if count),
    ]
    yield from terminal_output.iter_table(rows, "<><", columns)


def _describe_accounting(report: HealthReport) -> str:
    missing = report.byte_count - report.accounted_bytes
    return (
        f"{format_count(missing, 'byte')} not accounted for"
        if missing
        else "every byte accounted for"
    )


def _describe_times(report: HealthReport) -> str:
    if report.oldest is None or report.newest is None:
        return "no dates"
    return f"from {report.oldest[:10]} to {report.newest[:10]}"


def _iter_counts(counts: Counts, noun: str, columns: int) -> Iterator[str]:
    yield from _iter_listing(_Listing("", noun, "><", _rows_of(counts)), columns)


def _iter_drift(report: HealthReport, columns: int) -> Iterator[str]:
    if not report.has_drift:
        yield from terminal_output.wrap("None: all types and fields are known.", columns)
    types, fields, misfits = report.unknown_types, report.unknown_fields, report.misfits
    for listing in (
        _Listing("Types unknown to this version:", "type", "><", _rows_of(types)),
        _Listing("Unknown fields:", "field", "><<", _rows_by_type(fields)),
        _Listing("Fields with an unexpected value:", "field", "><<", _rows_by_type(misfits)),
    ):
        yield from _iter_listing(listing, columns)


def _iter_damage(report: HealthReport, columns: int) -> Iterator[str]:
    damaged = [
        (place.file, (f"at {place.offset:,}", format_count(place.length, "byte"), place.reason))
        for place in report.damaged
    ]
    oversized, torn = (
        [(place.file, (f"at {place.offset:,}", format_bytes(place.length))) for place in places]
        for places in (report.oversized, report.torn)
    )
    refused = [(found.file, (found.reason,)) for found in report.refused]
    words = f"{format_count(report.damaged_count, 'damaged region')}:"
    yield from _iter_by_file(words, "region", damaged, columns)
    if report.salvaged:
        yield from terminal_output.wrap(
            f"Records salvaged from damaged lines: {report.salvaged:,}", columns
        )
    yield from _iter_by_file("Lines too long to read:", "line", oversized, columns)
    yield from _iter_by_file("Incomplete last lines:", "line", torn, columns)
    yield from _iter_by_file("Found but not read:", "file", refused, columns)


def _iter_by_file(
    words: str, noun: str, places: Sequence[tuple[str, terminal_output.Row]], columns: int
) -> Iterator[str]:
    """Yield each file once, followed by its findings."""
    if places:
        yield from terminal_output.wrap(words, columns)
    for file, group in groupby(places[:MAX_ROWS], key=itemgetter(0)):
        yield from terminal_output.iter_table([(file,)], "<", columns, terminal_output.INDENT * 2)
        rows = [row for _, row in group]
        yield from terminal_output.iter_table(
            rows, ">><"[-len(rows[0]) :], columns, terminal_output.INDENT * 3
        )
    yield from iter_remainder(len(places), noun)


def _iter_listing(listing: _Listing, columns: int) -> Iterator[str]:
    """Yield the first rows as a table, and the number of omitted ones."""
    if listing.rows:
        indent = terminal_output.INDENT * 2 if listing.words else terminal_output.INDENT
        yield from terminal_output.wrap(listing.words, columns)
        yield from terminal_output.iter_table(
            listing.rows[:MAX_ROWS], listing.alignment, columns, indent
        )
        yield from iter_remainder(len(listing.rows), listing.noun, indent)


def _rows_of(counts: Counts) -> list[terminal_output.Row]:
    return [(f"{count:,}", name) for name, count in counts.items()]


def _rows_by_type(tables: Mapping[str, Counts]) -> list[terminal_output.Row]:
    rows = [(-count, kind, name) for kind, names in tables.items() for name, count in names.items()]
    return [(f"{-count:,}", kind, name) for count, kind, name in sorted(rows)]


TIP = "To see a sample report: recollect doctor --demo"


@click.command("doctor")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--demo", is_flag=True, help="Use the sample sessions that come with Recollect.")
@terminal_output.pager_option
@options.claude_dir_option
@options.json_option
def doctor_command(
    paths: tuple[Path, ...],
    *,
    demo: bool,
    paged: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Check sessions for damage, unknown data and pending deletion.

    PATH is a transcript, a directory of transcripts, or a Claude directory; the default is your
    Claude directories. Nothing is changed. The report contains names and counts but no conversation
    text, so it is safe to share.

    For your Claude directories it also reports who can read them, which sessions Claude Code will
    delete soon, leftovers of deleted sessions, and the state of the index.

    \b
      recollect doctor
      recollect doctor --json ~/.claude/projects/-home-mina-tidepool

    Exits with 4 if something is damaged and with 3 if there is nothing to check.
    """
    if sum(map(bool, (paths, program.is_given("claude_dirs"), demo))) > 1:
        raise UsageError("Use only one of PATH, --claude-dir and --demo.")
    checked = (CLAUDE_DIRECTORY,) if demo else paths
    with command_workspace(
        claude_dirs, prices=effective_settings.find_prices(), tip=TIP
    ) as workspace:
        report = workspace.health(checked)
        shown = checked or workspace.roots
    if as_json:
        click.echo(json_output.format_document(report))
    else:
        title = "the demo data" if demo else ", ".join(map(display_path, shown))
        terminal_output.show_lines(
            iter_report(report, title, terminal_output.count_columns()), is_paged=paged
        )
    return 0 if report.is_complete else UnreadableInput.exit_code
