"""Kill archive commands: `python -m fuzz.archive_kills --kills 500 [--during encrypt]`.

Sessions grow, shrink and disappear between kills, as in real life. After every kill, no
half-written object or manifest may be visible, and everything stored by an earlier complete sync
must still be there; after the next sync, everything can be restored. `--during encrypt` kills
rewrites of the whole archive instead, to one of two keys or to none, and `--during forget` kills
removals; after running them again, nothing may be left over.
"""

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from fuzz import runs
from recollect.archive.archive import Archive, ArchiveSettings
from recollect.archive.archive_maintenance import encrypt_to, verify_archive
from recollect.archive.archive_sync import sync_archive
from recollect.archive.archive_tasks import allow_again, forget_session, list_sessions, locate
from recollect.archive.encryption import MAGIC, find_recipient, generate_identity
from recollect.archive.manifests import iter_checked

FILES = 25
KILLS_PER_ARCHIVE = 25
FIRST_SECONDS = 0.15
"""Approximate duration of a sync of these files on an idle machine."""

# Signals when everything is loaded, so that a kill hits the work and not the start of Python.
_START = """
import os, sys
from pathlib import Path
from recollect.archive import archive_sync, archive_tasks
from recollect.archive.archive import Archive
directory, root, *words = sys.argv[1:]
"""
_READY = """
os.write(1, b"ready\\n")
"""
CODE: Final = {
    "sync": f"""{_START}
archive_sync.BATCH = int(words[0])
{_READY}
archive_sync.sync_archive(Archive(Path(directory)), [Path(root)])
""",
    "encrypt": f"""{_START}
from recollect.archive.archive_maintenance import encrypt_to
identities, recipients = words[0].split(), words[1].split()
{_READY}
encrypt_to(Archive(Path(directory), identities), recipients, lambda _done, _count: None)
""",
    "forget": f"""{_START}
{_READY}
archive_tasks.forget_session(Archive(Path(directory)), words[0], dry_run=False)
""",
}


class Outcome(NamedTuple):
    """The outcome of some kills."""

    hits: int
    """Kills before the work had finished."""
    failures: list[str]


class Timer:
    """Chooses when to kill, so that most kills, but not all, come before the end of the work."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._seconds = FIRST_SECONDS

    def wait(self) -> None:
        """Sleep until the next kill."""
        time.sleep(self._dice.random() * self._seconds)

    def adjust(self, *, is_hit: bool) -> None:
        """Wait longer after a kill in time, and less after one that came too late."""
        self._seconds *= 1.1 if is_hit else 0.7


class TestArchive(NamedTuple):
    """A Claude directory and its archive."""

    root: Path
    archive: Archive
    identities: tuple[str, ...]
    """All keys that it may be encrypted to."""
    dice: random.Random
    timer: Timer


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 if anything was lost."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.archive_kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="(%(default)s)")
    parser.add_argument("--during", choices=[*CODE], default="sync", help="(%(default)s)")
    runs.add_seed(parser)
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        outcome = kill_often(Path(folder), options.kills, options.seed, options.during)
    seconds = time.perf_counter() - start
    print(
        f"{options.kills} kills during {options.during}, {outcome.hits} before its end, in "
        f"{seconds:.0f} s, seed {options.seed}: {len(outcome.failures)} failures"
    )
    return runs.report(outcome.failures)


def kill_often(base: Path, kills: int, seed: int, during: str = "sync") -> Outcome:
    """Return how many kills hit, and what was lost or damaged by any of them."""
    dice = random.Random(seed)
    timer = Timer(dice)
    results: list[tuple[bool, list[str]]] = []
    # Every check reads a whole archive, so hundreds of syncs into one would take forever.
    for start in range(0, kills, KILLS_PER_ARCHIVE):
        target = _make_test_archive(base / str(start), dice, timer, during)
        kept: set[str] = set()
        for number in range(start, min(start + KILLS_PER_ARCHIVE, kills)):
            is_hit, problems = _ROUNDS[during](target, kept)
            results.append((is_hit, [f"kill {number}: {problem}" for problem in problems]))
    return Outcome(sum(hit for hit, _ in results), [each for _, found in results for each in found])


def _make_test_archive(base: Path, dice: random.Random, timer: Timer, during: str) -> TestArchive:
    identities: tuple[str, ...] = ()
    if during == "encrypt":
        identities = tuple(generate_identity()[0] for _ in range(2))
    archive = Archive(base / "archive", identities)
    archive.save_settings(ArchiveSettings(created="2026-11-01T00:00:00Z"))
    return TestArchive(base / "claude", archive, identities, dice, timer)


def _kill_sync(target: TestArchive, kept: set[str]) -> tuple[bool, list[str]]:
    _change_files(target)
    batch = target.dice.choice(["1", "500000", "1000000000"])
    is_hit = _kill("sync", target, batch)
    problems = [*_find_damage(target.archive, kept)]
    if target.dice.random() < 0.5:
        problems += _sync(target, kept)
    return is_hit, problems


def _kill_encryption(target: TestArchive, kept: set[str]) -> tuple[bool, list[str]]:
    if not kept or target.dice.random() < 0.3:
        _change_files(target)
        problems = _sync(target, kept)
    else:
        problems = []
    before = _list_newest(target.archive)
    chosen = target.dice.choice(
        [(), target.identities[:1], target.identities[1:], target.identities]
    )
    recipients = [find_recipient(each) for each in chosen]
    is_hit = _kill("encrypt", target, " ".join(target.identities), " ".join(recipients))
    problems += _find_damage(target.archive.reopen(), kept)
    if target.dice.random() < 0.5:
        encrypt_to(target.archive, recipients, lambda _done, _count: None)
        problems += _find_leftovers(target.archive, is_encrypted=bool(recipients))
    if _list_newest(target.archive.reopen()) != before:
        problems.append("the archive has other files than before")
    return is_hit, problems


def _kill_removal(target: TestArchive, kept: set[str]) -> tuple[bool, list[str]]:
    _change_files(target)
    problems = _sync(target, kept)
    sessions = list_sessions(target.archive.load())
    if not sessions:
        return False, problems
    chosen = target.dice.choice(sessions)
    gone = {version.sha256 for version in target.archive.load().iter_versions()}
    is_hit = _kill("forget", target, chosen.id)
    forget_session(target.archive, chosen.id, dry_run=False)
    problems += _find_leftovers(target.archive, is_encrypted=False)
    left = list(target.archive.load().iter_versions())
    problems += [f"{each.path} is still there" for each in left if each.session == chosen.id]
    gone -= {version.sha256 for version in left}
    kept -= gone
    problems += _find_damage(target.archive, kept)
    allow_again(target.archive, chosen.id)
    return is_hit, problems


def _sync(target: TestArchive, kept: set[str]) -> list[str]:
    sync_archive(target.archive, [target.root])
    kept |= {version.sha256 for version in target.archive.load().iter_versions()}
    return [*_find_missing(target.archive, target.root)]


def _change_files(target: TestArchive) -> None:
    root, dice = target.root, target.dice
    for number in range(FILES):
        path = root / "projects" / f"p{number % 3}" / f"session-{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        change = dice.choice(["append", "append", "nothing", "shrink", "rewrite", "delete"])
        if change == "delete":
            path.unlink(missing_ok=True)
        elif change == "rewrite" or not path.exists():
            path.write_bytes(_make_lines(dice))
        elif change == "append":
            path.write_bytes(path.read_bytes() + _make_lines(dice))
        elif change == "shrink":
            os.truncate(path, dice.randrange(path.stat().st_size + 1))


def _make_lines(dice: random.Random) -> bytes:
    return b'{"type":"user","text":"%s"}\n' % dice.randbytes(dice.randrange(60_000)).hex().encode()


def _kill(during: str, target: TestArchive, *words: str) -> bool:
    """Start some work and kill it; return whether it was still running."""
    command = [sys.executable, "-c", CODE[during], str(target.archive.directory), str(target.root)]
    with subprocess.Popen([*command, *words], stdout=subprocess.PIPE) as process:
        if process.stdout is None or process.stdout.readline() != b"ready\n":
            raise RuntimeError(f"the process that should be killed did not start: {command}")
        target.timer.wait()
        process.send_signal(signal.SIGKILL)
    if process.returncode not in (0, -signal.SIGKILL):
        raise RuntimeError(f"the work failed by itself: {process.returncode}")
    is_hit = process.returncode != 0
    target.timer.adjust(is_hit=is_hit)
    return is_hit


def _find_damage(archive: Archive, kept: set[str]) -> Iterator[str]:
    checked = verify_archive(archive, deep=True, on_progress=lambda _done, _count: None)
    yield from (f"{each.name} is damaged: {each.reason}" for each in checked.damaged)
    lost = kept - {version.sha256 for version in archive.load().iter_versions()}
    yield from (f"the content {sha256} was archived and is lost" for sha256 in lost)


def _list_newest(archive: Archive) -> set[tuple[str, str, str]]:
    return {(*version.key, version.sha256) for version in archive.load().newest().values()}


def _find_leftovers(archive: Archive, *, is_encrypted: bool) -> Iterator[str]:
    found = verify_archive(archive.reopen(), deep=True, on_progress=lambda _done, _count: None)
    if found.unused:
        yield f"{found.unused} objects are left that nothing needs"
    if repeated := archive.load().find_repeated():
        yield f"{len(repeated)} manifests are there twice"
    files = [*archive.directory.glob("snapshots/*"), *archive.directory.glob("objects/*/*")]
    wrong = [each for each in files if each.read_bytes().startswith(MAGIC) != is_encrypted]
    if wrong:
        yield f"{len(wrong)} files are not {'encrypted' if is_encrypted else 'plain'}"


def _find_missing(archive: Archive, root: Path) -> Iterator[str]:
    newest = {locate(version): version for version in archive.load().newest().values()}
    for path in sorted(root.rglob("*.jsonl")):
        version = newest.get(str(path.resolve()))
        if version is None:
            yield f"{path.name} is not archived"
            continue
        digest = hashlib.sha256(b"".join(iter_checked(archive.objects, version))).hexdigest()
        if digest != hashlib.sha256(path.read_bytes()).hexdigest():
            yield f"{path.name} is archived with another content"


_ROUNDS: Final[dict[str, Callable[[TestArchive, set[str]], tuple[bool, list[str]]]]] = {
    "sync": _kill_sync,
    "encrypt": _kill_encryption,
    "forget": _kill_removal,
}


if __name__ == "__main__":
    sys.exit(main())
