"""What the commands about the archive print for people."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from recollect.cli.config_file import find_path
from recollect.cli.session_labels import label_id
from recollect.cli.tables import faint, iter_table, wrap
from recollect.documents.archive_reports import (
    ArchiveExport,
    ArchiveList,
    ArchiveRemoval,
    ArchiveStatus,
    ArchiveSync,
    ArchiveVerification,
    WrittenFile,
)
from recollect.quantities import format_age, format_bytes, format_count
from recollect.render.terminal import safe_text


def iter_key_warning(columns: int, *, has_passphrase: bool) -> Iterator[str]:
    """Yield what a lost key means, before it is used."""
    key = "passphrase" if has_passphrase else "key"
    yield from wrap(
        f"Without its {key} nobody can read an encrypted archive: not you, and not Recollect. If "
        f"the {key} is lost, every session that Claude Code has deleted is lost. Keep a copy of it "
        "where you will find it in years, for example in a password manager.",
        columns,
        "",
    )


def iter_key_advice(path: Path, columns: int) -> Iterator[str]:
    """Yield what to do with a new key."""
    yield from wrap(f"The key is in {show_path(path)}. Copy it to a safe place.", columns, "")
    yield from wrap(
        f"So that Recollect finds it, put this at the top of {show_path(find_path())}:", columns, ""
    )
    yield f'  archive_identity = "{show_path(path)}"'


def iter_export(report: ArchiveExport) -> Iterator[str]:
    """Yield what was exported."""
    sessions, files = (
        format_count(len(report.sessions), "session"),
        format_count(report.files, "file"),
    )
    size = format_bytes(report.stored_bytes)
    yield f"Exported {sessions}, {files}, to {show_path(Path(report.path))} ({size})."


def iter_status(status: ArchiveStatus, columns: int) -> Iterator[str]:
    """Yield the state of the archive."""
    yield from iter_table([*_list_status(status)], "<<", columns, "")
    for name in status.damaged_manifests:
        yield from wrap(f"Damaged: {name}. Run `recollect archive verify`.", columns, "")
    if status.is_rewriting:
        word = "encrypt" if status.recipients else "decrypt"
        yield from wrap(
            f"`recollect archive {word}` is running or was interrupted. If it was, run it again "
            "with the same options to finish it.",
            columns,
            "",
        )
    if not status.is_enabled:
        yield from wrap("To keep your sessions: recollect archive enable", columns, "")
    elif status.files_behind:
        yield from wrap("To archive what is new: recollect archive sync", columns, "")


def _list_status(status: ArchiveStatus) -> Iterator[tuple[str, str]]:
    yield "Archive", show_path(Path(status.path))
    yield "State", "enabled" if status.is_enabled else "not enabled"
    if status.recipients:
        keys = "1 key" if len(status.recipients) == 1 else f"{len(status.recipients):,} keys"
        yield "Encrypted", "with a passphrase" if status.has_passphrase else f"for {keys}"
    if status.last_sync or status.sessions:
        gone = f", {status.sessions_gone:,} of them deleted by Claude Code"
        yield "Sessions", f"{status.sessions:,}{gone if status.sessions_gone else ''}"
        yield "Files", f"{status.files:,}, {format_bytes(status.bytes)}"
        yield "Space", format_bytes(status.stored_bytes)
        yield "Last change", status.last_sync or "never"
    if status.is_enabled:
        behind = f"{format_count(status.files_behind, 'file')} new or changed"
        yield "Up to date", f"no, {behind}" if status.files_behind else "yes"
    if status.forgotten:
        yield "Forgotten", format_count(status.forgotten, "session")


def iter_sync(report: ArchiveSync, columns: int) -> Iterator[str]:
    """Yield what a sync did."""
    counts = [
        (report.added, "new"),
        (report.grown, "grown"),
        (report.rewritten, "rewritten"),
    ]
    changes = ", ".join(f"{number:,} {word}" for number, word in counts if number)
    if changes:
        stored = format_bytes(report.bytes_stored)
        yield f"Archived {changes} of {format_count(report.files, 'file')}; {stored} stored."
    else:
        yield f"Already up to date: {format_count(report.files, 'file')}."
    yield from iter_sync_problems(report, columns)


def iter_sync_problems(report: ArchiveSync, columns: int) -> Iterator[str]:
    """Yield what was not copied, and why."""
    for path in report.skipped:
        yield from wrap(safe_text(f"Skipped {path}", single_line=True), columns, "")
    for path in report.vanished:
        message = f"Deleted before it could be copied: {path}"
        yield from wrap(safe_text(message, single_line=True), columns, "")
    for path, reason in report.unreadable.items():
        message = f"Could not read {path}: {reason}"
        yield from wrap(safe_text(message, single_line=True), columns, "")


def iter_sessions(document: ArchiveList, now: datetime, columns: int) -> Iterator[str]:
    """Yield one line per session."""
    rows = [
        (
            label_id(each.id),
            format_age(each.activity, now),
            format_bytes(each.bytes),
            format_bytes(each.stored_bytes),
            "archived only" if each.is_gone else "",
            safe_text(each.project or "", single_line=True),
        )
        for each in document.sessions
    ]
    header = ("Session", "Active", "Size", "Stored", "", "Project")
    yield from iter_table([header, *rows], "<>>><<", columns, "")


def iter_verification(document: ArchiveVerification, columns: int) -> Iterator[str]:
    """Yield what was checked, and every damage with the files that it affects."""
    for damage in document.damaged:
        yield from wrap(safe_text(f"{damage.name} is {damage.reason}"), columns, "")
        for path in damage.files:
            yield faint(safe_text(f"  needed by {path}", single_line=True))
    objects = format_count(document.objects, "object")
    manifests, size = format_count(document.manifests, "manifest"), format_bytes(document.bytes)
    verdict = f"{len(document.damaged):,} damaged" if document.damaged else "all intact"
    yield f"Checked {objects} and {manifests}, {size}: {verdict}."
    if document.is_deep:
        yield f"Rebuilt {format_count(document.versions, 'version')} of files."
    if document.unused:
        unused, size = format_count(document.unused, "object"), format_bytes(document.unused_bytes)
        text = f"{unused} ({size}) left by an interrupted sync; `recollect archive prune` removes"
        yield from wrap(f"{text} what nothing needs.", columns, "")


def iter_written(files: list[WrittenFile], directory: str, *, dry_run: bool) -> Iterator[str]:
    """Yield how many files were written, or would be."""
    new = sum(each.outcome == "restored" for each in files)
    present = len(files) - new
    verb = "Would write" if dry_run else "Wrote"
    also = f"; {format_count(present, 'file')} already there" if present else ""
    yield f"{verb} {format_count(new, 'file')} to {show_path(Path(directory))}{also}."


def iter_removal(document: ArchiveRemoval, columns: int) -> Iterator[str]:
    """Yield what was removed, or would be."""
    verb = "Would remove" if document.is_dry_run else "Removed"
    for each in document.sessions:
        yield f"{verb} session {safe_text(each, single_line=True)}."
    if document.kept:
        are = "is" if len(document.kept) == 1 else "are"
        kept = format_count(len(document.kept), "session")
        yield from wrap(f"Kept {kept} that {are} still in a Claude directory.", columns, "")
    objects = format_count(document.objects, "object")
    yield f"{verb} {objects}, {format_bytes(document.bytes)}."


def show_path(path: Path) -> str:
    """Return a path for the terminal, with the home directory shortened."""
    from recollect.health.survey import display_path  # all of health; `sync` names no path

    return safe_text(display_path(path), single_line=True)
