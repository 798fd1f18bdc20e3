"""Kill `archive sync` at random moments: `python -m fuzz.archive_kills --kills 500`.

Sessions grow, shrink and vanish between the kills, as they do in real life. After every kill, no
half-written object or manifest may be visible, and everything that an earlier complete sync has
stored must still be there; after the sync that follows, everything can be restored.
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
from collections.abc import Iterator, Sequence
from pathlib import Path

from recollect.archive.archive import Archive, ArchiveSettings
from recollect.archive.archive_sync import sync_archive
from recollect.archive.reading import iter_checked
from recollect.archive.session_copies import locate
from recollect.archive.verifying import verify_archive

FILES = 25
KILLS_PER_ARCHIVE = 25
MAX_SECONDS = 0.15
"""About what a sync of these files takes."""

# Says when everything is loaded, so that a kill hits the sync and not the start of Python.
CODE = """
import os, sys
from pathlib import Path
from recollect.archive import archive_sync
from recollect.archive.archive import Archive
archive_sync.BATCH = int(sys.argv[3])
os.write(1, b"ready\\n")
archive_sync.sync_archive(Archive(Path(sys.argv[1])), [Path(sys.argv[2])])
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 if anything was lost."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.archive_kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="(%(default)s)")
    parser.add_argument("--seed", type=int, help="repeats a run; otherwise each run is new")
    options = parser.parse_args(arguments)
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        failures = list(iter_failures(Path(folder), options.kills, seed))
    seconds = time.perf_counter() - start
    print(f"{options.kills} kills in {seconds:.0f} s, seed {seed}, {len(failures)} failures")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def iter_failures(base: Path, kills: int, seed: int) -> Iterator[str]:
    """Yield what was lost or damaged by any of the kills."""
    dice = random.Random(seed)
    # Every check reads all of an archive, so hundreds of syncs into one would take forever.
    for start in range(0, kills, KILLS_PER_ARCHIVE):
        numbers = range(start, min(start + KILLS_PER_ARCHIVE, kills))
        yield from _iter_lost(base / str(start), numbers, dice)


def _iter_lost(base: Path, numbers: range, dice: random.Random) -> Iterator[str]:
    root, archive = base / "claude", Archive(base / "archive")
    archive.save_settings(ArchiveSettings(created="2026-11-01T00:00:00Z"))
    kept: set[str] = set()
    for number in numbers:
        _change_files(root, dice)
        _kill_sync(archive.directory, root, dice)
        yield from (f"kill {number}: {problem}" for problem in _find_damage(archive, kept))
        if dice.random() < 0.5:
            sync_archive(archive, [root])
            kept |= {version.sha256 for version in archive.load().iter_versions()}
            yield from (f"sync {number}: {problem}" for problem in _find_missing(archive, root))


def _change_files(root: Path, dice: random.Random) -> None:
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


def _kill_sync(directory: Path, root: Path, dice: random.Random) -> None:
    batch = dice.choice(["1", "500000", "1000000000"])
    command = [sys.executable, "-c", CODE, str(directory), str(root), batch]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        if process.stdout is not None:
            process.stdout.readline()
        time.sleep(dice.random() * MAX_SECONDS)
        process.send_signal(signal.SIGKILL)


def _find_damage(archive: Archive, kept: set[str]) -> Iterator[str]:
    checked = verify_archive(archive, deep=True, watch=lambda _done, _count: None)
    yield from (f"{each.name} is damaged: {each.reason}" for each in checked.damaged)
    lost = kept - {version.sha256 for version in archive.load().iter_versions()}
    yield from (f"the content {sha256} was archived and is lost" for sha256 in lost)


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


if __name__ == "__main__":
    sys.exit(main())
