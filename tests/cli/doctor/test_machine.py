"""Tests of recollect.cli.commands.doctor_command."""

from msgspec.structs import replace

from recollect.cli.commands.doctor_command import (
    iter_index,
    iter_orphans,
    iter_retention,
    iter_roots,
)
from recollect.documents.health_report import Expiring, IndexReport, Orphan, RootReport

ROOT = RootReport(
    path="~/.claude",
    sessions=2,
    permissions="0700",
    is_private=True,
    retention_days=30,
    retention_is_set=False,
    retention_problem=None,
    expiring=(),
    overdue=0,
    next_expiry="2026-12-01T12:00:00Z",
    orphans=(),
)
INDEX = IndexReport(
    path="~/data/index.db",
    byte_count=1_500,
    is_sound=True,
    is_current=False,
    is_locked=True,
    schema_version=2,
    files=3,
    files_gone=1,
    messages=7,
    problems=1,
)


def test_a_private_directory_is_reported() -> None:
    """Its permissions are shown next to it."""
    assert list(iter_roots([ROOT], 80)) == ["  ~/.claude  2 sessions  0700, private"]


def test_an_open_directory_comes_with_a_remedy() -> None:
    """The report says who can read it, and how to restrict that."""
    root = replace(ROOT, permissions="0755", is_private=False)
    assert list(iter_roots([root], 80)) == [
        "  ~/.claude  2 sessions  0755, readable by others",
        "  Other users can read ~/.claude. To fix: chmod 700 ~/.claude",
    ]


def test_a_system_without_permissions_shows_none() -> None:
    """There is nothing to warn about."""
    assert list(iter_roots([replace(ROOT, permissions=None)], 80)) == ["  ~/.claude  2 sessions"]


def test_retention_shows_its_reason_and_what_comes_next() -> None:
    """By default, by the settings, or because those could not be followed."""
    roots = [
        ROOT,
        replace(ROOT, retention_days=90.5, retention_is_set=True, next_expiry=None),
        replace(ROOT, retention_problem="settings.json is not valid JSON"),
    ]
    words = "Claude Code deletes sessions"
    assert [" ".join("".join(iter_retention([root], 400)).split()) for root in roots] == [
        (
            f"~/.claude: {words} 30 days after their last change (the default; "
            "cleanupPeriodDays is not set). The next is due after 2026-12-01."
        ),
        f"~/.claude: {words} 90.5 days after their last change (set by cleanupPeriodDays).",
        (
            f"~/.claude: {words} 30 days after their last change (the default, since "
            "settings.json is not valid JSON). The next is due after 2026-12-01."
        ),
    ]


def test_sessions_that_go_are_listed_up_to_a_limit() -> None:
    """The first ones by name, the rest by number."""
    expiring = tuple(
        Expiring(file=f"projects/p/{number}.jsonl", after="2026-11-20T00:00:00Z")
        for number in range(14)
    )
    lines = list(iter_retention([replace(ROOT, expiring=expiring, overdue=3)], 200))[1:]
    assert (lines[0], lines[1], lines[-1]) == (
        "  To be deleted within 7 days: 14 sessions, 3 of them the next time it starts.",
        "    2026-11-20  projects/p/0.jsonl",
        "    … and 2 more sessions",
    )


def test_leftovers_are_listed_with_their_size() -> None:
    """Each kind has the number of its files and their location."""
    orphans = (
        Orphan(file="tasks/x", kind="tasks", files=2, byte_count=10),
        Orphan(file="todos/y.json", kind="todo", files=1, byte_count=5),
    )
    assert list(iter_orphans([replace(ROOT, orphans=orphans)], 80)) == [
        "  2 leftovers of deleted sessions, 15 bytes:",
        "    its tasks       2 files  tasks/x",
        "    its to-do list   1 file  todos/y.json",
    ]
    assert list(iter_orphans([ROOT], 80)) == []


def test_an_index_is_shown_with_its_state() -> None:
    """The report has its size, its contents, and whether it is intact."""
    assert list(iter_index(INDEX, "3.54.1", 80)) == [
        "  Path    ~/data/index.db",
        "  State   out of date, being written now",
        "  Size    1.5 KB, schema 2",
        "  Holds   7 messages of 3 transcripts, and 1 deleted; 1 could not be read",
        "  SQLite  3.54.1",
    ]


def test_an_index_that_is_none_or_broken_says_what_happens_next() -> None:
    """A missing or damaged index is created or rebuilt automatically."""
    missing = replace(INDEX, byte_count=0, is_sound=False)
    broken = replace(INDEX, is_sound=False)
    assert [list(iter_index(index, "3.50.0", 90))[1] for index in (missing, broken)] == [
        "  State   not created yet; created on first use",
        "  State   unusable; run `recollect index` to rebuild it or see why",
    ]
    assert list(iter_index(missing, "3.50.0", 90))[-1] == (
        "  SQLite  3.50.0; 3.51.3 or newer is needed for safe concurrent use"
    )
