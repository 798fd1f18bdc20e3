"""An encrypted archive: the same results with its key, none without it, and readable by age."""

import pickle
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.archive_kills import kill_often
from recollect.archive.archive import Archive
from recollect.archive.archive_maintenance import (
    encrypt_to,
    make_identity_file,
    protect_with_passphrase,
    require_matching_identity,
    verify_archive,
)
from recollect.archive.archive_source import mount_archive
from recollect.archive.archive_sync import count_changed, sync_archive
from recollect.archive.archive_tasks import export_sessions, run_restore
from recollect.archive.bundle_tasks import import_bundle, make_bundle
from recollect.archive.bundles import FileLock
from recollect.archive.encryption import (
    KeyFinder,
    KeyMissing,
    check_recipient,
    decrypt,
    encrypt,
    generate_identity,
    get_key_finder,
    is_encrypted,
    set_key_finder,
    unlock_with_passphrase,
)
from recollect.errors import OutputFailure, UnreadableInput, UsageError
from recollect.locations import discover_root
from recollect.sources.source import list_mounts, unmount
from tests.archive.trees import LINE, OTHER, PROJECT, SESSION, TRANSCRIPT, ArchivedRoot, read_facts

pytest.importorskip("pyrage", reason="needs the extra `encryption`")

PASSPHRASE = "four words or more"


def ignore(_done: int, _count: int) -> None:
    """Show no progress."""


@pytest.fixture(autouse=True)
def finder() -> Iterator[None]:
    """Keep the keys of a test from the others."""
    before = get_key_finder()
    yield
    set_key_finder(before)
    for point in list_mounts():
        unmount(point)


def use_environment(**values: str) -> None:
    """Find keys as if these variables were set."""
    set_key_finder(KeyFinder(environment=values))


def make_key(base: Path) -> str:
    """Create an identity file, register it, and return its recipient."""
    recipient = make_identity_file(base / "key.txt")
    use_environment(RECOLLECT_ARCHIVE_IDENTITY=str(base / "key.txt"))
    return recipient


def read_stored(archive: Archive) -> dict[str, bytes]:
    """Return every object, manifest and cache as stored on disk."""
    files = [*archive.directory.glob("objects/*/*"), *archive.directory.glob("snapshots/*")]
    files += archive.directory.glob("known.msgpack")
    return {path.name: path.read_bytes() for path in files}


def test_everything_is_encrypted_and_comes_back(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Objects, manifests and the cache, whether stored before or after; restored byte for byte."""
    archived.write_session()
    archived.sync()
    encrypt_to(archived.archive, [make_key(tmp_path)], ignore)
    assert all(map(is_encrypted, read_stored(archived.archive).values()))
    assert count_changed(archived.archive, [archived.root]) == 0
    archived.write(TRANSCRIPT, LINE * 40)
    assert archived.sync().grown == 1
    stored = read_stored(archived.archive)
    assert all(map(is_encrypted, stored.values()))
    assert not any(b"projects" in each or SESSION.encode() in each for each in stored.values())
    assert archived.sync().bytes_read == 0
    found = verify_archive(archived.archive, deep=True, on_progress=ignore)
    assert (found.damaged, found.unused) == ((), 0)
    before = read_facts(archived.root)
    shutil.rmtree(archived.root)
    assert archived.restore_all(tmp_path / "restored") == before


@pytest.mark.slow
def test_versions_survive_a_change_of_keys(archived: ArchivedRoot, tmp_path: Path) -> None:
    """From plain to a key, to a passphrase, to another passphrase and back to plain."""
    archived.write(TRANSCRIPT, LINE)
    archived.sync()
    archived.write(TRANSCRIPT, LINE * 2, mtime=1_700_000_100)
    archived.sync()

    def list_versions() -> list[tuple[str, str]]:
        versions = archived.archive.reopen().load().iter_versions()
        return [(each.path, each.sha256) for each in versions]

    plain = list_versions()
    encrypt_to(archived.archive, [make_key(tmp_path)], ignore)
    assert list_versions() == plain
    protect_with_passphrase(archived.archive, PASSPHRASE, ignore)
    use_environment(RECOLLECT_ARCHIVE_PASSPHRASE=PASSPHRASE)
    assert list_versions() == plain
    objects = dict(archived.archive.objects.iter_names())
    protect_with_passphrase(archived.archive.reopen(), "another one", ignore)
    assert dict(archived.archive.objects.iter_names()) == objects
    with pytest.raises(KeyMissing, match="wrong"):
        list_versions()
    use_environment(RECOLLECT_ARCHIVE_PASSPHRASE="another one")
    assert list_versions() == plain
    encrypt_to(archived.archive.reopen(), [], ignore)
    use_environment()
    assert list_versions() == plain
    assert not any(map(is_encrypted, read_stored(archived.archive).values()))
    assert not (archived.archive.directory / "identity.age").exists()


def test_without_the_key_nothing_is_read(archived: ArchivedRoot, tmp_path: Path) -> None:
    """The message says what to set; a wrong key and a missing one have different messages."""
    archived.write(TRANSCRIPT, LINE)
    archived.sync()
    encrypt_to(archived.archive, [make_key(tmp_path)], ignore)
    use_environment()
    for act in (Archive.load, Archive.load_known, Archive.require_keys):
        with pytest.raises(KeyMissing, match="Set RECOLLECT_ARCHIVE_IDENTITY, or"):
            act(archived.archive.reopen())
    make_identity_file(tmp_path / "other.txt")
    use_environment(RECOLLECT_ARCHIVE_IDENTITY=str(tmp_path / "other.txt"))
    with pytest.raises(KeyMissing, match="for a different key"):
        archived.archive.reopen().load()
    use_environment(RECOLLECT_ARCHIVE_IDENTITY=str(tmp_path / "none.txt"))
    with pytest.raises(KeyMissing, match=r"none\.txt"):
        archived.archive.reopen().load()


def test_a_key_that_is_not_here_is_noticed_before_it_is_used(tmp_path: Path) -> None:
    """Users cannot lock themselves out of their own archive."""
    identity, recipient = generate_identity()
    require_matching_identity([recipient], [identity])
    with pytest.raises(KeyMissing):
        require_matching_identity([recipient], [generate_identity()[0]])
    with pytest.raises(UsageError, match="not a recipient"):
        check_recipient("age1nonsense")
    make_identity_file(tmp_path / "key.txt")
    with pytest.raises((OutputFailure, UsageError)):
        make_identity_file(tmp_path / "key.txt")


def test_an_interrupted_encryption_can_be_finished(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Every file can be read in between, and nothing plain is left in the end."""
    archived.write_session()
    archived.sync()
    before = archived.archive.load().newest().keys()

    class Interrupted(Exception):
        """Stands for the end of the process."""

    def interrupt(done: int, _count: int) -> None:
        if done == 2:
            raise Interrupted

    recipient = make_key(tmp_path)
    with pytest.raises(Interrupted):
        encrypt_to(archived.archive, [recipient], interrupt)
    again = archived.archive.reopen()
    assert verify_archive(again, deep=True, on_progress=ignore).damaged == ()
    assert again.load().newest().keys() == before
    encrypt_to(again, [recipient], ignore)
    assert all(map(is_encrypted, read_stored(again).values()))
    found = verify_archive(again, deep=True, on_progress=ignore)
    assert (found.damaged, found.unused) == ((), 0)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_a_killed_encryption_loses_nothing(tmp_path: Path) -> None:
    """Everything can be read with either key, and the next run leaves nothing unfinished."""
    assert kill_often(tmp_path, 5, seed=5, during="encrypt").failures == []


def test_a_passphrase_that_was_interrupted_is_finished(archived: ArchivedRoot) -> None:
    """The key that it made is used again, and everything is encrypted in the end."""
    archived.write_session()
    archived.sync()

    class Interrupted(Exception):
        """Stands for the end of the process."""

    def interrupt(_done: int, _count: int) -> None:
        raise Interrupted

    use_environment(RECOLLECT_ARCHIVE_PASSPHRASE=PASSPHRASE)
    with pytest.raises(Interrupted):
        protect_with_passphrase(archived.archive, PASSPHRASE, interrupt)
    assert archived.archive.reopen().require_settings().is_rewriting
    protect_with_passphrase(archived.archive.reopen(), PASSPHRASE, ignore)
    again = archived.archive.reopen()
    assert not again.require_settings().is_rewriting
    assert all(map(is_encrypted, read_stored(again).values()))
    assert verify_archive(again, deep=True, on_progress=ignore).damaged == ()


def test_decrypting_what_is_not_encrypted_keeps_everything(
    archived: ArchivedRoot, tmp_path: Path
) -> None:
    """Objects and manifests get the names that they have."""
    archived.write_session()
    archived.sync()
    before = read_stored(archived.archive)
    encrypt_to(archived.archive, (), ignore)
    assert read_stored(archived.archive) == before
    assert archived.restore_all(tmp_path / "restored") == read_facts(archived.root)


def test_a_sync_that_waits_for_an_encryption_encrypts(
    archived: ArchivedRoot, tmp_path: Path
) -> None:
    """It reads the recipients only after it has the lock."""
    archived.write_session()
    archived.sync()
    waiting = archived.archive.reopen()
    assert waiting.cipher.recipients == ()
    encrypt_to(archived.archive, [make_key(tmp_path)], ignore)
    archived.write(f"{PROJECT}/{OTHER}.jsonl", LINE)
    sync_archive(waiting, [archived.root])
    assert all(map(is_encrypted, read_stored(waiting).values()))


def test_deleted_sessions_are_read_from_an_encrypted_archive(
    archived: ArchivedRoot, tmp_path: Path
) -> None:
    """As from any other, in this process; the key reaches those that it starts."""
    archived.write_session()
    archived.sync()
    encrypt_to(archived.archive, [make_key(tmp_path)], ignore)
    before = [each.file for each in discover_root(archived.root).transcripts]
    mount_archive(archived.archive, [archived.root])
    shutil.rmtree(archived.root)
    assert [each.file for each in discover_root(archived.root).transcripts] == before
    (source,) = set(list_mounts().values())
    sent = pickle.dumps(source)
    use_environment()
    with pickle.loads(sent).open(str(archived.root / TRANSCRIPT)) as file:
        assert file.read() == LINE * 20


@pytest.mark.slow
def test_age_itself_reads_what_a_passphrase_protects(archived: ArchivedRoot) -> None:
    """The identity is valid for age, and objects are plain age files of zstd frames."""
    archived.write(TRANSCRIPT, LINE)
    archived.sync()
    protect_with_passphrase(archived.archive, PASSPHRASE, ignore)
    locked = (archived.archive.directory / "identity.age").read_bytes()
    identity = unlock_with_passphrase(locked, PASSPHRASE).decode().strip()
    (stored,) = (path.read_bytes() for path in archived.archive.directory.glob("objects/*/*"))
    frame = decrypt(stored, [identity])
    done = subprocess.run(["zstd", "-dcq"], input=frame, capture_output=True, check=True)
    assert done.stdout == LINE


@pytest.mark.parametrize("with_passphrase", [pytest.param(True, marks=pytest.mark.slow), False])
def test_encrypted_bundles(archived: ArchivedRoot, tmp_path: Path, with_passphrase: bool) -> None:
    """Unpacked with the key, refused without it and when a bit has changed."""
    archived.write_session()
    (transcript,) = (
        each for each in discover_root(archived.root).transcripts if each.path.stem == SESSION
    )
    identity, recipient = generate_identity()
    (tmp_path / "key.txt").write_text(identity)
    path = tmp_path / "pond.recollect"
    lock = FileLock(passphrase=PASSPHRASE) if with_passphrase else FileLock((recipient,))
    assert make_bundle([transcript], path, lock).is_encrypted
    assert is_encrypted(path.read_bytes())
    use_environment()

    def unpack(file: Path, key: Path | None) -> int:
        base = tmp_path / "there"
        done = import_bundle(file, base, {}, dry_run=False, keep_times=True, identity=key)
        return len(done.files)

    with pytest.raises(KeyMissing):
        unpack(path, None)
    use_environment(RECOLLECT_ARCHIVE_PASSPHRASE=PASSPHRASE)
    changed = bytearray(path.read_bytes())
    changed[-1] ^= 1
    (tmp_path / "changed.recollect").write_bytes(changed)
    with pytest.raises((UnreadableInput, KeyMissing)):
        unpack(tmp_path / "changed.recollect", tmp_path / "key.txt")
    assert not (tmp_path / "there").exists()
    assert unpack(path, tmp_path / "key.txt") == len(read_facts(tmp_path / "there"))


def test_an_export_is_a_tar_for_everybody(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Standard tools restore bytes, modes and times from the tar, zstd and age files."""
    archived.write_session()
    archived.write(f"{TRANSCRIPT.rpartition('/')[0]}/{'n' * 150}.jsonl", LINE)
    archived.sync()
    expected = read_facts(archived.root)
    assert export_sessions(archived.archive, [], tmp_path / "all.tar").files == len(expected)
    with tarfile.open(tmp_path / "all.tar") as tar:
        tar.extractall(tmp_path / "by-python", filter="data")
    found = read_facts(tmp_path / "by-python")
    assert {path: facts.sha256 for path, facts in found.items()} == {
        path: facts.sha256 for path, facts in expected.items()
    }
    export_sessions(archived.archive, [], tmp_path / "all.tar.zst")
    (tmp_path / "by-tar").mkdir()
    command = ["tar", "--zstd", "-xpf", "all.tar.zst", "-C", "by-tar"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert read_facts(tmp_path / "by-tar") == expected
    identity, recipient = generate_identity()
    only = export_sessions(
        archived.archive, [SESSION], tmp_path / "one.age", FileLock((recipient,))
    )
    assert (only.sessions, only.is_encrypted) == ([SESSION], True)
    assert decrypt((tmp_path / "one.age").read_bytes(), [identity])[:4] == b"\x28\xb5\x2f\xfd"


def test_a_restore_needs_the_key(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Nothing is written without it."""
    archived.write_session()
    archived.sync()
    encrypt_to(archived.archive, [make_key(tmp_path)], ignore)
    use_environment()
    with pytest.raises(KeyMissing):
        run_restore(archived.archive.reopen(), [SESSION], tmp_path / "there", keep_times=True)
    assert not (tmp_path / "there").exists()
    assert encrypt(b"", [generate_identity()[1]]) != encrypt(b"", [generate_identity()[1]])
