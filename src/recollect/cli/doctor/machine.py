"""What `recollect doctor` says about this machine: its Claude directories and the index."""

from collections.abc import Iterator, Sequence

from recollect.cli.doctor.parts import MOST_ROWS, iter_remainder
from recollect.cli.tables import INDENT, human_bytes, iter_table, plural, wrap
from recollect.health.report import IndexReport, RootReport
from recollect.health.retention import SETTING, SOON
from recollect.store.versions import LEAST_SQLITE, is_sqlite_safe

_ORPHAN_WORDS = {
    "session": "its directory",
    "tasks": "its tasks",
    "file-history": "its files before edits",
    "todo": "its to-do list",
}
_DAY = 10


def iter_roots(roots: Sequence[RootReport], columns: int) -> Iterator[str]:
    """Yield each directory, and who may look into it."""
    rows = [
        (root.path, plural(root.sessions, "session"), _describe_permissions(root)) for root in roots
    ]
    if rows:
        yield from iter_table(rows, "<><", columns)
    for root in roots:
        if not root.is_private:
            words = f"Others on this machine may look into {root.path}: chmod 700 {root.path}"
            yield from wrap(words, columns)


def _describe_permissions(root: RootReport) -> str:
    if root.permissions is None:
        return ""
    return f"{root.permissions}, {'yours alone' if root.is_private else 'open to others'}"


def iter_retention(roots: Sequence[RootReport], columns: int) -> Iterator[str]:
    """Yield for how long transcripts are kept, and which ones go next."""
    for root in roots:
        yield from wrap(_describe_retention(root), columns)
        if not root.expiring:
            continue
        yield from wrap(_count_expiring(root), columns)
        rows = [(each.after[:_DAY], each.file) for each in root.expiring[:MOST_ROWS]]
        yield from iter_table(rows, "<<", columns, INDENT * 2)
        yield from iter_remainder(len(root.expiring), "session")


def _count_expiring(root: RootReport) -> str:
    count = plural(len(root.expiring), "session")
    overdue = f", {root.overdue:,} of them when it next starts" if root.overdue else ""
    return f"Deleted within {SOON.days} days: {count}{overdue}."


def _describe_retention(root: RootReport) -> str:
    if root.retention_problem:
        why = f"its default, since {root.retention_problem}"
    else:
        why = (
            f"as {SETTING} says" if root.retention_is_set else f"its default; {SETTING} is not set"
        )
    following = ""
    if root.next_expiry and not root.expiring:
        following = f" The next one goes after {root.next_expiry[:_DAY]}."
    return (
        f"{root.path}: Claude Code deletes a session {root.retention_days:g} days after it was "
        f"last written to ({why}).{following}"
    )


def iter_orphans(roots: Sequence[RootReport], columns: int) -> Iterator[str]:
    """Yield what belongs to sessions that have no transcript any more."""
    orphans = [orphan for root in roots for orphan in root.orphans]
    if not orphans:
        return
    size = human_bytes(sum(orphan.byte_count for orphan in orphans))
    words = f"{plural(len(orphans), 'leftover')} of sessions without a transcript, {size}:"
    yield from wrap(words, columns)
    rows = [
        (_ORPHAN_WORDS[each.kind], plural(each.files, "file"), each.file)
        for each in orphans[:MOST_ROWS]
    ]
    yield from iter_table(rows, "<><", columns, INDENT * 2)
    yield from iter_remainder(len(orphans), "leftover")


def iter_index(index: IndexReport, sqlite: str, columns: int) -> Iterator[str]:
    """Yield what the index is, and which SQLite keeps it."""
    schema = "" if index.schema_version is None else f", schema {index.schema_version}"
    rows = [
        ("Path", index.path),
        ("State", _describe_state(index)),
        ("Size", f"{human_bytes(index.byte_count)}{schema}"),
        ("Holds", _describe_content(index)),
        ("SQLite", _describe_sqlite(sqlite)),
    ]
    yield from iter_table(rows if index.byte_count else [rows[0], rows[1], rows[-1]], "<<", columns)


def _describe_state(index: IndexReport) -> str:
    if not index.byte_count:
        return "not made yet; the first command that needs it makes it"
    if not index.is_sound:
        return "cannot be used; `recollect index` tells why or builds it anew"
    level = "level with the transcripts" if index.is_level else "behind the transcripts"
    return f"sound, {level}{', being written now' if index.is_locked else ''}"


def _describe_content(index: IndexReport) -> str:
    gone = f", and {index.files_gone:,} that are gone" if index.files_gone else ""
    unread = f"; {index.problems:,} could not be read" if index.problems else ""
    return (
        f"{plural(index.messages, 'message')} of {plural(index.files, 'transcript')}{gone}{unread}"
    )


def _describe_sqlite(version: str) -> str:
    if is_sqlite_safe(version):
        return version
    return f"{version}; older than {LEAST_SQLITE}, which two programs at once may need"
