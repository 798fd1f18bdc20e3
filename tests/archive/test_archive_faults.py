"""Kills, full disks, flipped bits, and a client that deletes files while they are copied."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fuzz.archive_kills import kill_often
from recollect.archive.archive import Archive
from recollect.archive.archive_maintenance import Damage, verify_archive
from recollect.archive.archive_sync import sync_archive
from recollect.errors import ArchiveFailure
from tests.archive.trees import LINE, OTHER, PROJECT, TRANSCRIPT, ArchivedRoot, read_facts
from tests.process import run_python

KILLS = int(os.environ.get("RECOLLECT_KILLS", "20"))

LIMITED = """
import resource, sys
from pathlib import Path
from recollect.archive.archive import Archive
from recollect.archive.archive_sync import sync_archive
from recollect.errors import RecollectError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    sync_archive(Archive(Path(sys.argv[1])), [Path(sys.argv[2])])
except RecollectError as error:
    print(error.exit_code, error)
"""


def list_damage(archive: Archive, *, deep: bool = False) -> tuple[Damage, ...]:
    """Return what a check finds."""
    return verify_archive(archive, deep=deep, on_progress=lambda _done, _count: None).damaged


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_a_killed_sync_loses_nothing(tmp_path: Path) -> None:
    """At random points; nothing half-written is visible and the next sync completes."""
    assert kill_often(tmp_path, KILLS, seed=KILLS).failures == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_a_killed_removal_is_finished_by_the_next(tmp_path: Path) -> None:
    """Nothing of the session and nothing that only it needed is left, and nothing else is lost."""
    assert kill_often(tmp_path, KILLS // 4, seed=KILLS, during="forget").failures == []


@pytest.mark.slow
def test_every_flipped_bit_is_found_and_named(archived: ArchivedRoot) -> None:
    """In an object and in a manifest, whichever bit it is."""
    archived.write(TRANSCRIPT, LINE)
    archived.sync()
    objects = [
        path for path in (archived.archive.directory / "objects").rglob("*") if path.is_file()
    ]
    manifests = list((archived.archive.directory / "snapshots").iterdir())
    assert (len(objects), len(manifests)) == (1, 1)
    for path, name in ((objects[0], objects[0].stem), (manifests[0], manifests[0].name)):
        sound = path.read_bytes()
        for bit in range(len(sound) * 8):
            damaged = bytearray(sound)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            assert [each.name for each in list_damage(archived.archive)] == [name]
        path.write_bytes(sound)
    assert list_damage(archived.archive, deep=True) == ()


def test_damage_names_the_files_that_need_the_object(archived: ArchivedRoot) -> None:
    """So that users know what is lost."""
    archived.write_session()
    archived.write(f"{PROJECT}/{OTHER}.jsonl", LINE)
    archived.sync()
    version = archived.archive.load().newest()[
        next(key for key in archived.archive.load().newest() if OTHER in key[1])
    ]
    name = version.pieces[0].object
    archived.archive.objects.remove(name)
    (damage,) = list_damage(archived.archive)
    assert (damage.name, damage.files) == (name, (f"{PROJECT}/{OTHER}.jsonl",))


def test_what_is_damaged_is_stored_again_when_it_changes(
    archived: ArchivedRoot, tmp_path: Path
) -> None:
    """The source is still there, so the next version does not depend on the damage."""
    path = archived.write(TRANSCRIPT, LINE)
    archived.sync()
    for stored in (archived.archive.directory / "objects").rglob("*.zst"):
        stored.write_bytes(b"damaged")
    archived.write(TRANSCRIPT, b"other" + LINE)
    archived.sync()
    assert archived.restore_all(tmp_path / "restored") == read_facts(archived.root)
    assert path.read_bytes() == b"other" + LINE


@pytest.mark.skipif(sys.platform == "win32", reason="no limit for the size of files")
@pytest.mark.parametrize("room", [1, 300, 30_000])
def test_a_limit_on_the_size_of_files(archived: ArchivedRoot, tmp_path: Path, room: int) -> None:
    """The message says what to do; archived data stays, and the next sync continues."""
    archived.write(TRANSCRIPT, LINE)
    archived.sync()
    archived.write(f"{PROJECT}/{OTHER}.jsonl", os.urandom(100_000))
    limited = [str(archived.archive.directory), str(archived.root), str(room)]
    done = run_python("-c", LIMITED, *limited)
    assert done.stdout.startswith("6 No space left to write "), done
    assert "Everything written so far is intact" in done.stdout
    assert list_damage(archived.archive, deep=True) == ()
    archived.sync()
    assert archived.restore_all(tmp_path / "restored") == read_facts(archived.root)


def test_a_full_disk(archived: ArchivedRoot, small_disk: Path, tmp_path: Path) -> None:
    """Archived data is not lost, and the sync continues when there is space again."""
    archived.archive = Archive(small_disk / "archive")
    archived.enable()
    archived.write(TRANSCRIPT, LINE)
    archived.sync()
    archived.write(f"{PROJECT}/{OTHER}.jsonl", os.urandom(2_000_000))
    with pytest.raises(ArchiveFailure, match="No space left to write"):
        archived.sync()
    assert list_damage(archived.archive, deep=True) == ()
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    archived.sync()
    assert archived.restore_all(tmp_path / "restored") == read_facts(archived.root)


def test_the_sweep_of_the_client(archived: ArchivedRoot, tmp_path: Path) -> None:
    """A file deleted during the sync is archived or reported."""
    paths = [archived.write(f"{PROJECT}/s{number}.jsonl", LINE * 500) for number in range(60)]
    before = read_facts(archived.root)

    def delete_all() -> None:
        for path in reversed(paths):
            path.unlink()

    sweep = threading.Thread(target=delete_all)

    def start_sweep(done: int, _count: int) -> None:
        if done == 1:
            sweep.start()

    report = sync_archive(archived.archive, [archived.root], start_sweep)
    sweep.join()
    restored = archived.restore_all(tmp_path / "restored")
    assert report.unreadable == {}
    assert {*restored, *report.vanished} == set(before)
    assert restored.items() <= before.items()


def test_two_syncs_at_once(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Both succeed, and every file is stored once."""
    for number in range(40):
        archived.write(f"{PROJECT}/s{number}.jsonl", os.urandom(50_000))
    code = LIMITED.replace("resource.setrlimit", "(lambda *_: None)")
    command = [sys.executable, "-c", code, str(archived.archive.directory), str(archived.root), "0"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    outputs = [process.communicate()[0] for process in processes]
    assert (outputs, [each.returncode for each in processes]) == ([b""] * 3, [0] * 3)
    assert len(list(archived.archive.load().iter_versions())) == 40
    assert list_damage(archived.archive, deep=True) == ()
    assert archived.restore_all(tmp_path / "restored") == read_facts(archived.root)
