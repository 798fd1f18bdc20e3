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
from tests.archive.trees import LINE, OTHER, PROJECT, TRANSCRIPT, Pond, read_facts
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
    return verify_archive(archive, deep=deep, watch=lambda _done, _count: None).damaged


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
def test_every_flipped_bit_is_found_and_named(pond: Pond) -> None:
    """In an object and in a manifest, whichever bit it is."""
    pond.write(TRANSCRIPT, LINE)
    pond.sync()
    objects = [path for path in (pond.archive.directory / "objects").rglob("*") if path.is_file()]
    manifests = list((pond.archive.directory / "snapshots").iterdir())
    assert (len(objects), len(manifests)) == (1, 1)
    for path, name in ((objects[0], objects[0].stem), (manifests[0], manifests[0].name)):
        sound = path.read_bytes()
        for bit in range(len(sound) * 8):
            damaged = bytearray(sound)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            assert [each.name for each in list_damage(pond.archive)] == [name]
        path.write_bytes(sound)
    assert list_damage(pond.archive, deep=True) == ()


def test_damage_names_the_files_that_need_the_object(pond: Pond) -> None:
    """So that one knows what is lost, and what is not."""
    pond.write_session()
    pond.write(f"{PROJECT}/{OTHER}.jsonl", LINE)
    pond.sync()
    version = pond.archive.load().newest()[
        next(key for key in pond.archive.load().newest() if OTHER in key[1])
    ]
    name = version.pieces[0].object
    pond.archive.objects.remove(name)
    (damage,) = list_damage(pond.archive)
    assert (damage.name, damage.files) == (name, (f"{PROJECT}/{OTHER}.jsonl",))


def test_what_is_damaged_is_stored_again_when_it_changes(pond: Pond, tmp_path: Path) -> None:
    """The source is still there, so the next version does not depend on the damage."""
    path = pond.write(TRANSCRIPT, LINE)
    pond.sync()
    for stored in (pond.archive.directory / "objects").rglob("*.zst"):
        stored.write_bytes(b"damaged")
    pond.write(TRANSCRIPT, b"other" + LINE)
    pond.sync()
    assert pond.restore_all(tmp_path / "restored") == read_facts(pond.root)
    assert path.read_bytes() == b"other" + LINE


@pytest.mark.skipif(sys.platform == "win32", reason="no limit for the size of files")
@pytest.mark.parametrize("room", [1, 300, 30_000])
def test_a_limit_on_the_size_of_files(pond: Pond, tmp_path: Path, room: int) -> None:
    """The message says what to do; archived data stays, and the next sync continues."""
    pond.write(TRANSCRIPT, LINE)
    pond.sync()
    pond.write(f"{PROJECT}/{OTHER}.jsonl", os.urandom(100_000))
    limited = [str(pond.archive.directory), str(pond.root), str(room)]
    done = run_python("-c", LIMITED, *limited)
    assert done.stdout.startswith("6 No space left to write "), done
    assert "Everything written so far is intact" in done.stdout
    assert list_damage(pond.archive, deep=True) == ()
    pond.sync()
    assert pond.restore_all(tmp_path / "restored") == read_facts(pond.root)


def test_a_full_disk(pond: Pond, small_disk: Path, tmp_path: Path) -> None:
    """Archived data is not lost, and the sync continues when there is space again."""
    pond.archive = Archive(small_disk / "archive")
    pond.enable()
    pond.write(TRANSCRIPT, LINE)
    pond.sync()
    pond.write(f"{PROJECT}/{OTHER}.jsonl", os.urandom(2_000_000))
    with pytest.raises(ArchiveFailure, match="No space left to write"):
        pond.sync()
    assert list_damage(pond.archive, deep=True) == ()
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    pond.sync()
    assert pond.restore_all(tmp_path / "restored") == read_facts(pond.root)


def test_the_sweep_of_the_client(pond: Pond, tmp_path: Path) -> None:
    """A file that is deleted meanwhile is archived or reported."""
    paths = [pond.write(f"{PROJECT}/s{number}.jsonl", LINE * 500) for number in range(60)]
    before = read_facts(pond.root)

    def delete_all() -> None:
        for path in reversed(paths):
            path.unlink()

    sweep = threading.Thread(target=delete_all)

    def start_sweep(done: int, _count: int) -> None:
        if done == 1:
            sweep.start()

    report = sync_archive(pond.archive, [pond.root], start_sweep)
    sweep.join()
    restored = pond.restore_all(tmp_path / "restored")
    assert report.unreadable == {}
    assert {*restored, *report.vanished} == set(before)
    assert restored.items() <= before.items()


def test_two_syncs_at_once(pond: Pond, tmp_path: Path) -> None:
    """Both succeed, and every file is stored once."""
    for number in range(40):
        pond.write(f"{PROJECT}/s{number}.jsonl", os.urandom(50_000))
    code = LIMITED.replace("resource.setrlimit", "(lambda *_: None)")
    command = [sys.executable, "-c", code, str(pond.archive.directory), str(pond.root), "0"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    outputs = [process.communicate()[0] for process in processes]
    assert (outputs, [each.returncode for each in processes]) == ([b""] * 3, [0] * 3)
    assert len(list(pond.archive.load().iter_versions())) == 40
    assert list_damage(pond.archive, deep=True) == ()
    assert pond.restore_all(tmp_path / "restored") == read_facts(pond.root)
