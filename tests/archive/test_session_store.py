"""`ArchiveSessionStore`: what is mirrored is an archived session, whatever happens on the way."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from recollect.archive.archive_maintenance import verify_archive
from recollect.archive.archive_source import mount_archive
from recollect.archive.archive_tasks import run_restore
from recollect.errors import UsageError
from recollect.locations import discover_root
from recollect.session_store import MAX_TAIL, ArchiveSessionStore, SessionKey
from recollect.sources.source import list_mounts, unmount
from tests.archive.trees import SESSION, ArchivedRoot

T = TypeVar("T")
KEY: SessionKey = {"project_key": "-home-mina-pond", "session_id": SESSION}


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns."""
    return asyncio.run(work)


def entry(number: int, size: int = 10) -> dict[str, Any]:
    """Return an entry with an id and some text."""
    return {"type": "user", "uuid": f"u{number}", "message": {"content": "frog " * size}}


@pytest.fixture
def store(archived: ArchivedRoot) -> ArchiveSessionStore:
    """Return a store in the archive of a Claude directory."""
    return ArchiveSessionStore(archived.archive.directory, archived.root)


def find_damage(archived: ArchivedRoot) -> tuple[object, int]:
    """Return what a check of the archive finds, and how many objects nothing needs."""
    found = verify_archive(archived.archive, deep=True, on_progress=lambda _done, _count: None)
    return found.damaged, found.unused


def test_mirrored_sessions_are_archived_sessions(
    archived: ArchivedRoot, store: ArchiveSessionStore, tmp_path: Path
) -> None:
    """They are found below the Claude directory, and restored like others."""
    run(store.append(KEY, [entry(1), entry(2)]))
    run(store.append({**KEY, "subpath": "subagents/agent-a1"}, [entry(3)]))
    mount_archive(archived.archive, [archived.root])
    try:
        found = discover_root(archived.root).transcripts
    finally:
        for point in list_mounts():
            unmount(point)
    names = [each.path.relative_to(archived.root).as_posix() for each in found]
    place = f"projects/-home-mina-pond/{SESSION}"
    assert names == [f"{place}.jsonl", f"{place}/subagents/agent-a1.jsonl"]
    run_restore(archived.archive, [SESSION], tmp_path / "there", keep_times=True)
    assert (tmp_path / "there" / f"{place}.jsonl").read_bytes().count(b"\n") == 2


def test_many_batches_stay_few_objects(archived: ArchivedRoot, store: ArchiveSessionStore) -> None:
    """Two hundred appends leave one manifest and one object per `MAX_TAIL` bytes."""
    entries = [entry(number, 1000) for number in range(200)]
    for each in entries:
        run(store.append(KEY, [each]))
    assert run(store.load(KEY)) == entries
    assert len(archived.archive.list_manifests()) == 1
    (version,) = archived.archive.load().iter_versions()
    assert len(version.pieces) == len(list(archived.archive.objects.iter_names()))
    assert len(version.pieces) <= version.size // MAX_TAIL + 1
    assert find_damage(archived) == ((), 0)


def test_what_is_there_already_is_not_stored_again(
    archived: ArchivedRoot, store: ArchiveSessionStore
) -> None:
    """By its uuid, also in another process; entries without one are always added."""
    run(store.append(KEY, [entry(1), {"type": "mode"}]))
    another = ArchiveSessionStore(archived.archive.directory, archived.root)
    run(another.append(KEY, [entry(1), entry(2), {"type": "mode"}]))
    run(store.append(KEY, [entry(2), entry(3)]))
    expected = [entry(1), {"type": "mode"}, entry(2), {"type": "mode"}, entry(3)]
    assert run(store.load(KEY)) == expected == run(another.load(KEY))
    assert find_damage(archived) == ((), 0)


def test_it_gets_along_with_sync_and_removal(
    archived: ArchivedRoot, store: ArchiveSessionStore
) -> None:
    """Concurrent changes of the archive lose or damage nothing."""
    run(store.append(KEY, [entry(1)]))
    archived.write("projects/-home-mina-other/abc.jsonl", b"{}\n")
    archived.sync()
    run(store.append(KEY, [entry(2)]))
    run(store.delete({"project_key": "-home-mina-other", "session_id": "abc"}))
    run(store.append(KEY, [entry(3)]))
    assert run(store.load(KEY)) == [entry(1), entry(2), entry(3)]
    assert find_damage(archived)[0] == ()


@pytest.mark.parametrize(
    "key",
    [
        {"project_key": "..", "session_id": SESSION},
        {"project_key": "a/b", "session_id": SESSION},
        {"project_key": "a", "session_id": "../x"},
        {"project_key": "a", "session_id": SESSION, "subpath": "../../x"},
        {"project_key": "a", "session_id": SESSION, "subpath": "/x"},
    ],
)
def test_odd_names_are_refused(
    archived: ArchivedRoot, store: ArchiveSessionStore, key: SessionKey
) -> None:
    """A key never becomes a path outside the directory of its session."""
    for work in (store.append(key, [entry(1)]), store.load(key), store.delete(key)):
        with pytest.raises(UsageError, match="not a plain name"):
            run(work)
    assert archived.archive.list_manifests() == []


def test_an_archive_is_created_but_not_enabled(tmp_path: Path) -> None:
    """Mirroring one agent does not imply consent to copy everything else."""
    store = ArchiveSessionStore(tmp_path / "archive", tmp_path / "claude")
    assert run(store.load(KEY)) is None
    assert not (tmp_path / "archive").exists()
    run(store.append(KEY, [entry(1)]))
    settings = (tmp_path / "archive" / "archive.json").read_text()
    assert '"is_enabled": false' in settings
