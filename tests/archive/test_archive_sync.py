"""A sync stores everything of a session once, and later only what is new."""

import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.archive import find_archive_directory
from recollect.archive.archive import ArchiveSettings
from recollect.archive.archive_maintenance import remove_sessions, verify_archive
from recollect.archive.archive_sync import count_changed, find_unarchived
from recollect.archive.archive_tasks import list_sessions
from recollect.archive.manifests import FileKind, iter_checked, make_time
from recollect.archive.object_store import MAX_CONTENT
from recollect.errors import UnreadableInput, UsageError
from tests.archive.trees import LINE, OTHER, PROJECT, SESSION, SIDECARS, TRANSCRIPT, ArchivedRoot


def list_contents(archived: ArchivedRoot, path: str) -> list[bytes]:
    """Return the content of each version of a file, oldest first."""
    return [
        b"".join(iter_checked(archived.archive.objects, version))
        for version in archived.archive.load().iter_versions()
        if version.path == path
    ]


def test_every_file_has_its_session_and_kind(archived: ArchivedRoot) -> None:
    """By its path, by its content, or by the name of the plan."""
    archived.write_session()
    archived.sync()
    versions = archived.archive.load().newest().values()
    assert {each.path: each.session for each in versions} == {
        TRANSCRIPT: SESSION,
        "history.jsonl": None,
        **dict.fromkeys(SIDECARS, SESSION),
    }
    assert {each.kind for each in versions} == set(FileKind)


def test_other_files_are_left_alone(archived: ArchivedRoot) -> None:
    """Settings, credentials and the secrets of running processes are not copied."""
    for path in ("settings.json", ".credentials.json", "sessions/1.json", f"{PROJECT}/a/x.key"):
        archived.write(path, b"secret")
    assert archived.sync().files == 0


@pytest.mark.skipif(os.name == "nt", reason="needs links and pipes")
def test_links_and_special_files_are_reported(archived: ArchivedRoot, tmp_path: Path) -> None:
    """None is followed or opened: a pipe would block for ever."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.jsonl").write_text("secret")
    directory = archived.write(TRANSCRIPT, LINE).parent
    (directory / "linked.jsonl").symlink_to(outside / "secret.jsonl")
    (archived.root / "projects" / "linked").symlink_to(outside)
    os.mkfifo(directory / "pipe.jsonl")
    report = archived.sync()
    assert (report.files, report.added) == (1, 1)
    assert sorted(each.path.name for each in report.refused) == [
        "linked",
        "linked.jsonl",
        "pipe.jsonl",
    ]


def test_a_growing_transcript_is_stored_once(archived: ArchivedRoot) -> None:
    """Each sync stores the appended bytes only, and every version can be read."""
    data = os.urandom(100_000)
    sizes = []
    for day in range(1, 6):
        archived.write(TRANSCRIPT, data[: day * 20_000], mtime=1_700_000_000 + day)
        report = archived.sync()
        sizes.append(report.bytes_stored)
        assert (report.added, report.grown) == ((1, 0) if day == 1 else (0, 1))
    assert all(20_000 < size < 20_100 for size in sizes)
    assert list_contents(archived, TRANSCRIPT) == [data[: day * 20_000] for day in range(1, 6)]


def test_a_shorter_file_takes_nothing_away(archived: ArchivedRoot) -> None:
    """The client drops the last line; both versions stay, and the common part is stored once."""
    data = os.urandom(50_000)
    for number, version in enumerate([data, data[:40_000], data[:40_000] + b"new"]):
        archived.write(TRANSCRIPT, version, mtime=1_700_000_000 + number)
        archived.sync()
    assert list_contents(archived, TRANSCRIPT) == [data, data[:40_000], data[:40_000] + b"new"]
    assert archived.stored_bytes() < 50_200


def test_a_rewritten_file_is_another_version(archived: ArchivedRoot) -> None:
    """Also if its size, its first and its last bytes are the same."""
    one = bytes(20_000)
    other = bytes(10_000) + b"x" + bytes(9_999)
    archived.write(TRANSCRIPT, one, mtime=1_700_000_000)
    archived.sync()
    archived.write(TRANSCRIPT, other, mtime=1_700_000_001)
    assert archived.sync().rewritten == 1
    assert list_contents(archived, TRANSCRIPT) == [one, other]


def test_a_new_time_costs_no_bytes(archived: ArchivedRoot) -> None:
    """The time is restored too, so it is listed."""
    archived.write(TRANSCRIPT, LINE, mtime=1_700_000_000)
    archived.sync()
    archived.write(TRANSCRIPT, LINE, mtime=1_700_000_001)
    report = archived.sync()
    assert (report.bytes_stored, report.grown, report.rewritten) == (0, 0, 0)
    assert len(list_contents(archived, TRANSCRIPT)) == 2


def test_large_files_are_spread_over_objects(archived: ArchivedRoot) -> None:
    """None is larger than the limit, which bounds the memory of every reader."""
    data = LINE * (2 * MAX_CONTENT // len(LINE) + 1000)
    archived.write(TRANSCRIPT, data)
    archived.sync()
    (version,) = archived.archive.load().iter_versions()
    assert [piece.length for piece in version.pieces] == [
        MAX_CONTENT,
        MAX_CONTENT,
        len(data) - 2 * MAX_CONTENT,
    ]
    assert list_contents(archived, TRANSCRIPT) == [data]


def test_the_cache_may_be_deleted(archived: ArchivedRoot) -> None:
    """Everything is read again, and nothing is stored again."""
    archived.write_session()
    archived.sync()
    manifests = archived.archive.list_manifests()
    archived.archive.drop_cache()
    report = archived.sync()
    assert (report.added, report.grown, report.bytes_stored) == (0, 0, 0)
    assert report.bytes_read > 0
    assert archived.archive.list_manifests() == manifests


@pytest.mark.skipif(os.name == "nt", reason="no permissions of this kind")
def test_only_the_owner_can_read_it(archived: ArchivedRoot) -> None:
    """Every directory is 0700 and every file 0600, whatever the umask."""
    previous = os.umask(0)
    try:
        archived.enable()
        archived.write_session()
        archived.sync()
    finally:
        os.umask(previous)
    found = {
        (path.is_dir(), stat.S_IMODE(path.stat().st_mode))
        for path in [archived.archive.directory, *archived.archive.directory.rglob("*")]
    }
    assert found == {(True, 0o700), (False, 0o600)}


def test_nothing_is_copied_without_consent(archived: ArchivedRoot) -> None:
    """Neither before it was given nor after it was withdrawn."""
    archived.write_session()
    archived.archive.save_settings(ArchiveSettings(created="", is_enabled=False))
    with pytest.raises(UsageError, match="recollect archive enable"):
        archived.sync()


def test_the_claude_directory_is_never_the_place(tmp_path: Path) -> None:
    """Claude Code would delete the archive."""
    environment = {"RECOLLECT_ARCHIVE_DIR": str(tmp_path / "claude" / "archive")}
    with pytest.raises(UsageError, match="belongs to Claude Code"):
        find_archive_directory([tmp_path / "claude"], environment)


def test_a_forgotten_session_is_gone_and_stays_away(archived: ArchivedRoot) -> None:
    """Its objects are deleted, others stay, and the next sync leaves it out."""
    archived.write_session()
    archived.write(f"{PROJECT}/{OTHER}.jsonl", b"{}\n")
    archived.sync()
    (ours,) = [each for each in list_sessions(archived.archive.load()) if each.id == SESSION]
    plans = tuple(each.path for each in ours.files if each.kind is FileKind.PLAN)
    archived.archive.save_settings(
        ArchiveSettings(created="", forgotten=(SESSION,), forgotten_plans=plans)
    )
    removal = remove_sessions(archived.archive, {(ours.root, SESSION)})
    # The plan is in an object of its own.
    assert (removal.versions, removal.objects) == (len(SIDECARS) + 1, 2)
    assert count_changed(archived.archive, [archived.root]) == 0
    archived.sync()
    assert [each.id for each in list_sessions(archived.archive.load())] == [OTHER]
    checked = verify_archive(archived.archive, deep=True, on_progress=lambda _done, _count: None)
    assert (checked.damaged, checked.unused, checked.versions) == ((), 0, 2)


def test_nothing_is_removed_while_a_manifest_is_damaged(archived: ArchivedRoot) -> None:
    """It is not known which objects a damaged manifest needs."""
    archived.write(TRANSCRIPT, LINE)
    archived.sync()
    (manifest,) = (archived.archive.directory / "snapshots").iterdir()
    manifest.write_bytes(b"damaged")
    with pytest.raises(UnreadableInput, match="nothing was removed"):
        remove_sessions(archived.archive, set())
    assert archived.stored_bytes() > 0


def test_manifests_sort_by_time_even_if_the_clock_goes_back() -> None:
    """The newest version of a file is the last one."""
    now = datetime(2026, 11, 17, 5, tzinfo=UTC)
    assert make_time(now, None) == "20261117T050000.000000Z"
    assert make_time(now, "20301231T235959.999999Z") == "20310101T000000.000000Z"


def test_what_is_not_archived_as_it_is_now(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Files that are new, have changed, or are in no Claude directory."""
    kept = str(archived.write(TRANSCRIPT, LINE, mtime=1_700_000_000))
    grown = str(archived.write(f"{PROJECT}/{OTHER}.jsonl", LINE, mtime=1_700_000_000))
    archived.sync()
    assert find_unarchived(archived.archive, [archived.root], [kept, grown]) == set()
    archived.write(f"{PROJECT}/{OTHER}.jsonl", LINE * 2, mtime=1_700_000_001)
    fresh = str(archived.write(f"{PROJECT}/fresh.jsonl", LINE, mtime=1_700_000_000))
    outside = str(tmp_path / "outside.jsonl")
    paths = [kept, grown, fresh, outside]
    assert find_unarchived(archived.archive, [archived.root], paths) == {grown, fresh, outside}
