"""The text output of the archive commands: results, the consent text before anything is archived,
and snippets that run `recollect archive sync` automatically.

A timer does not see the environment of the user's shell, so variables with directories become part
of the command. A passphrase never does.
"""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from xml.sax.saxutils import escape

import click

from recollect import archive
from recollect.archive.archive import Archive
from recollect.archive.archived_files import list_claude_files
from recollect.archive.encryption import IDENTITY_VARIABLE
from recollect.archive.manifests import FileKind
from recollect.cli import clock, terminal_output, write_targets
from recollect.documents import archive_reports
from recollect.health import retention
from recollect.locations.claude_directories import CONFIG_VARIABLE
from recollect.quantities import format_age, format_bytes, format_count
from recollect.render.terminal import display_path, safe_line, safe_text
from recollect.store import data_directory
from recollect.workspace import config_file
from recollect.workspace.config_file import find_path


def iter_key_warning(columns: int, *, has_passphrase: bool) -> Iterator[str]:
    """Yield a warning about losing the key, before it is used."""
    key = "passphrase" if has_passphrase else "key"
    yield from terminal_output.wrap(
        f"No one can read an encrypted archive without its {key}, not even you or Recollect. If "
        f"the {key} is lost, every session that Claude Code has deleted is lost. Keep a copy of it "
        "where you can still find it years from now, for example in a password manager.",
        columns,
        "",
    )


def iter_key_advice(path: Path, columns: int) -> Iterator[str]:
    """Yield instructions for a new key."""
    yield from terminal_output.wrap(
        f"The key is in {show_path(path)}. Copy it to a safe place.", columns, ""
    )
    yield from terminal_output.wrap(
        f"To let Recollect find it, put this at the top of {show_path(find_path())}:", columns, ""
    )
    yield f'  archive_identity = "{show_path(path)}"'


def iter_export(report: archive_reports.ArchiveExport) -> Iterator[str]:
    """Yield a summary of an export."""
    sessions, files = (
        format_count(len(report.sessions), "session"),
        format_count(report.files, "file"),
    )
    size = format_bytes(report.stored_bytes)
    yield f"Exported {sessions}, {files}, to {show_path(Path(report.path))} ({size})."


def iter_status(status: archive_reports.ArchiveStatus, columns: int) -> Iterator[str]:
    """Yield the state of the archive."""
    yield from terminal_output.iter_table([*_list_status(status)], "<<", columns, "")
    for name in status.damaged_manifests:
        yield from terminal_output.wrap(
            f"Damaged: {name}. Run `recollect archive verify`.", columns, ""
        )
    if status.is_rewriting:
        word = "encrypt" if status.recipients else "decrypt"
        yield from terminal_output.wrap(
            f"`recollect archive {word}` is running or was interrupted. If it was interrupted, run "
            "it again with the same options.",
            columns,
            "",
        )
    if not status.is_enabled:
        yield from terminal_output.wrap(
            "To keep your sessions: recollect archive enable", columns, ""
        )
    elif status.files_behind:
        yield from terminal_output.wrap(
            "To archive new sessions: recollect archive sync", columns, ""
        )


def _list_status(status: archive_reports.ArchiveStatus) -> Iterator[tuple[str, str]]:
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


def iter_sync(report: archive_reports.ArchiveSync, columns: int) -> Iterator[str]:
    """Yield a summary of a sync."""
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


def iter_sync_problems(report: archive_reports.ArchiveSync, columns: int) -> Iterator[str]:
    """Yield the files that were not copied, with the reasons."""
    for path in report.skipped:
        yield from terminal_output.wrap(safe_line(f"Skipped {path}"), columns, "")
    for path in report.vanished:
        message = f"Deleted before it could be copied: {path}"
        yield from terminal_output.wrap(safe_line(message), columns, "")
    for path, reason in report.unreadable.items():
        message = f"Could not read {path}: {reason}"
        yield from terminal_output.wrap(safe_line(message), columns, "")


def iter_sessions(
    document: archive_reports.ArchiveList, now: datetime, columns: int
) -> Iterator[str]:
    """Yield one line per session."""
    rows = [
        (
            terminal_output.label_id(each.id),
            format_age(each.activity, now),
            format_bytes(each.bytes),
            format_bytes(each.stored_bytes),
            "archived only" if each.is_gone else "",
            terminal_output.join_lines(each.cwd or each.project or ""),
        )
        for each in document.sessions
    ]
    header = ("Session", "Active", "Size", "Stored", "", "Project")
    yield from terminal_output.iter_table([header, *rows], "<>>><<", columns, "")


def iter_verification(document: archive_reports.ArchiveVerification, columns: int) -> Iterator[str]:
    """Yield a summary of a check, and the files affected by each damaged part."""
    for damage in document.damaged:
        yield from terminal_output.wrap(safe_text(f"{damage.name} is {damage.reason}"), columns, "")
        for path in damage.files:
            yield terminal_output.faint(safe_line(f"  needed by {path}"))
    objects = format_count(document.objects, "object")
    manifests, size = format_count(document.manifests, "manifest"), format_bytes(document.bytes)
    verdict = f"{len(document.damaged):,} damaged" if document.damaged else "all intact"
    yield f"Checked {objects} and {manifests}, {size}: {verdict}."
    if document.is_deep:
        yield f"Rebuilt {format_count(document.versions, 'version')} of files."
    if document.unused:
        unused, size = format_count(document.unused, "object"), format_bytes(document.unused_bytes)
        text = f"{unused} ({size}) left by an interrupted sync; `recollect archive prune` removes"
        yield from terminal_output.wrap(f"{text} unused objects.", columns, "")


def iter_written(
    files: list[archive_reports.WrittenFile], directory: str, *, dry_run: bool
) -> Iterator[str]:
    """Yield the number of files that were written, or would be."""
    new = sum(each.outcome == "restored" for each in files)
    present = len(files) - new
    verb = "Would write" if dry_run else "Wrote"
    also = f"; {format_count(present, 'file')} already there" if present else ""
    yield f"{verb} {format_count(new, 'file')} to {show_path(Path(directory))}{also}."


def iter_removal(document: archive_reports.ArchiveRemoval, columns: int) -> Iterator[str]:
    """Yield a summary of what was removed, or would be."""
    verb = "Would remove" if document.is_dry_run else "Removed"
    for each in document.sessions:
        yield f"{verb} session {safe_line(each)}."
    if document.kept:
        are = "is" if len(document.kept) == 1 else "are"
        kept = format_count(len(document.kept), "session")
        yield from terminal_output.wrap(
            f"Kept {kept} that {are} still in a Claude directory.", columns, ""
        )
    objects = format_count(document.objects, "object")
    yield f"{verb} {objects}, {format_bytes(document.bytes)}."


def show_path(path: Path) -> str:
    """Return a path for the terminal, with the home directory shortened."""
    return safe_line(display_path(path))


ESTIMATED_RATIO = 4
"""Approximate compression ratio; it was 4.6 for generated sessions."""


def ask_for_consent(archive: Archive, roots: Iterable[Path], *, yes: bool) -> None:
    """Explain what would be kept, and what Claude Code would delete otherwise, and ask."""
    listed = {root: list_claude_files(root).found for root in roots}
    retentions = {root: retention.read_retention(root) for root in listed}
    deletions = [
        retention.find_deletion_time(file.stamp[2] / 1e9, retentions[root])
        for root, files in listed.items()
        for file in files
        if file.kind is FileKind.TRANSCRIPT
    ]
    days = min((each.days for each in retentions.values()), default=0)
    sizes = [file.stamp[1] for files in listed.values() for file in files]
    columns = terminal_output.count_columns()
    for line in (
        *iter_deletions(days, deletions, clock.read_clock(), columns),
        *iter_consent(archive.directory, len(sizes), sum(sizes), columns),
    ):
        click.echo(line, err=True)
    write_targets.confirm("Keep copies of your sessions?", yes=yes)


def iter_deletions(
    days: float, deletions: Sequence[datetime], now: datetime, columns: int
) -> Iterator[str]:
    """Yield the sessions that Claude Code will delete soon, and the setting that prevents it."""
    soon = [each for each in deletions if each <= now + retention.SOON]
    overdue = sum(each <= now for each in soon)
    count = (
        f" {format_count(len(soon), 'session')} will be deleted within {retention.SOON.days} days"
        if soon
        else ""
    )
    due = f", {overdue:,} of them the next time it starts" if overdue else ""
    yield from terminal_output.wrap(
        f"Claude Code deletes sessions {days:g} days after their last change "
        f"({retention.SETTING} in its {retention.SETTINGS_NAME}).{count}{due}{'.' if soon else ''}",
        columns,
        "",
    )


def iter_consent(path: Path, files: int, size: int, columns: int) -> Iterator[str]:
    """Yield the text that the user agrees to."""
    rows = [
        ("Where", show_path(path)),
        ("Now", f"{format_count(files, 'file')}, {format_bytes(size)}"),
        ("Space", f"about {format_bytes(size // ESTIMATED_RATIO)}, growing as you work"),
    ]
    yield "The archive keeps a copy of every session, with everything that belongs to it."
    yield from terminal_output.iter_table(rows, "<<", columns)
    yield from terminal_output.wrap(
        "When Claude Code deletes a session, the copy stays until you remove it with `recollect "
        "archive forget` or `prune`. Sessions contain whatever Claude has read, including "
        "passwords: only your user can read the copies, but they are not encrypted. `recollect "
        "archive encrypt` changes that.",
        columns,
        "",
    )
    yield from terminal_output.wrap("Nothing in the Claude directory is changed.", columns, "")


_LABEL = "recollect-archive"
_PLACES = (
    CONFIG_VARIABLE,
    archive.VARIABLE,
    IDENTITY_VARIABLE,
    config_file.VARIABLE,
    data_directory.VARIABLE,
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)


def find_program() -> list[str]:
    """Return the full path of this program: timers have a short PATH."""
    script = shutil.which("recollect")
    return [str(Path(script).absolute())] if script else [sys.executable, "-m", "recollect"]


def make_command(
    claude_dirs: Sequence[Path] = (),
    system: str = sys.platform,
    environment: Mapping[str, str] = os.environ,
) -> list[str]:
    """Return the command that syncs the archive, from any directory."""
    places = [f"{name}={value}" for name in _PLACES if (value := environment.get(name))]
    # Windows has no `env`, and its tasks see the user's variables.
    prefix = ["/usr/bin/env", *places] if places and system != "win32" else []
    roots = [word for each in claude_dirs for word in ("--claude-dir", str(each.absolute()))]
    return [*prefix, *find_program(), "archive", "sync", "--quiet", *roots]


def iter_snippets(command: list[str], system: str = sys.platform) -> Iterator[tuple[str, str]]:
    """Yield a heading and a snippet for each way to run the command on this system."""
    yield "After every session: add this to Claude Code's settings.json", _make_hook(command)
    if system == "win32":
        yield "Every hour with Task Scheduler: run this once", _make_task(command)
        return
    if system == "darwin":
        place = f"~/Library/LaunchAgents/{_LABEL}.plist"
        yield f"Every hour with launchd: save as {place}", _make_plist(command)
    else:
        place = f"~/.config/systemd/user/{_LABEL}"
        yield f"Every hour with systemd: save as {place}.service", _make_service(command)
        yield f"and this as {place}.timer", _make_timer()
        enable = f"systemctl --user enable --now {_LABEL}.timer"
        yield "then run", enable
    # In a crontab, an unescaped % ends the command.
    line = "0 * * * * " + _quote(command).replace("%", "\\%")
    yield "Every hour with cron: add this line with `crontab -e`", line


def _make_hook(command: list[str]) -> str:
    hook = {"type": "command", "command": _quote(command)}
    return json.dumps({"hooks": {"SessionEnd": [{"hooks": [hook]}]}}, indent=2)


def _make_service(command: list[str]) -> str:
    # systemd expands % and $ itself; everything else is quoted as in C.
    words = [json.dumps(word).replace("%", "%%").replace("$", "$$") for word in command]
    return (
        "[Unit]\nDescription=Archive Claude Code sessions\n\n"
        f"[Service]\nType=oneshot\nExecStart={' '.join(words)}"
    )


def _make_timer() -> str:
    return (
        "[Unit]\nDescription=Archive Claude Code sessions every hour\n\n"
        "[Timer]\nOnCalendar=hourly\nPersistent=true\n\n[Install]\nWantedBy=timers.target"
    )


def _make_plist(command: list[str]) -> str:
    words = "".join(f"\n    <string>{escape(word)}</string>" for word in command)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<plist version="1.0"><dict>\n'
        f"  <key>Label</key><string>{_LABEL}</string>\n"
        f"  <key>ProgramArguments</key><array>{words}\n  </array>\n"
        "  <key>StartInterval</key><integer>3600</integer>\n"
        "</dict></plist>"
    )


def _make_task(command: list[str]) -> str:
    program = " ".join(f'\\"{word}\\"' if " " in word else word for word in command)
    return f'schtasks /Create /TN {_LABEL} /SC HOURLY /TR "{program}"'


def _quote(command: list[str]) -> str:
    return " ".join(map(shlex.quote, command))
