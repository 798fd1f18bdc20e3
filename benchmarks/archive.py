"""Size and speed of the archive: `python -m benchmarks.archive [--size 200m] [--files 2000]`.

Archives generated sessions, and the public ones beside the project if there are any, together with
`zstd -19` of a tar of the same files and with restic, all in one run; without those programs their
figures are missing. Then measures a sync of many unchanged files, as a hook would run it, and the
cost of a day's growth of one transcript.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.corpus import Corpus, copy_public, make_corpus, make_reference
from benchmarks.index import Figure
from recollect.archive.archive import Archive, ArchiveSettings
from recollect.archive.archive_maintenance import verify_archive
from recollect.archive.archive_sync import sync_archive
from recollect.archive.archive_tasks import restore_files

MEGABYTE = 1_000_000
RATIO_GOAL = 1.4
SECONDS_PER_MB_GOAL = 1 / 80
IDLE_GOAL_MS = 300
FILE_BYTES = 5_000
GROWTH_BYTES = 100_000
RUNS = 5
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print all figures; return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.archive", description=__doc__)
    parser.add_argument("--size", type=_parse_size, default="200m", help="(%(default)s)")
    parser.add_argument("--files", type=int, default=2000, help="(%(default)s)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        figures = [
            *iter_generated_figures(base / "generated", options.size),
            *iter_public_figures(base / "public"),
            *iter_idle_figures(base / "idle", options.files),
        ]
    for figure in figures:
        goal = "" if figure.goal is None else f"  goal {figure.goal:g}"
        mark = "" if figure.is_met else "  MISSED"
        print(f"{figure.name:44} {figure.value:10.3f} {figure.unit:8}{goal}{mark}")
    return 0 if all(figure.is_met for figure in figures) else 1


def iter_generated_figures(base: Path, size: int) -> Iterator[Figure]:
    """Yield sizes and speeds for generated sessions, and the cost of a day's growth."""
    root = base / "claude"
    root.mkdir(parents=True)
    corpus = make_reference(root, size) or make_corpus(root, size)
    (root / "truth.json").unlink(missing_ok=True)
    archive = _make_archive(base / "archive")
    yield from _iter_corpus_figures("generated", archive, base, corpus)
    yield from _iter_growth_figures(archive, root, corpus.files[0])


def iter_public_figures(base: Path) -> Iterator[Figure]:
    """Yield sizes and speeds for public sessions, if available beside the project."""
    corpus = copy_public(base / "claude")
    if corpus:
        archive = _make_archive(base / "archive")
        yield from _iter_corpus_figures("public", archive, base, corpus)


def _iter_corpus_figures(
    name: str, archive: Archive, base: Path, corpus: Corpus
) -> Iterator[Figure]:
    root, size = base / "claude", corpus.size / MEGABYTE
    cpu = time.process_time()
    seconds = _time(lambda: sync_archive(archive, [root]))
    cpu = time.process_time() - cpu
    stored = _measure(archive.directory)
    yield Figure(f"{name} sessions", size, "MB")
    yield Figure("first sync", seconds, "s", size * SECONDS_PER_MB_GOAL)
    yield Figure("first sync, speed", size / seconds, "MB/s")
    yield Figure("first sync, CPU", cpu, "s", 2 * size * SECONDS_PER_MB_GOAL)
    yield Figure("archive", stored / MEGABYTE, "MB")
    check = _time(
        lambda: verify_archive(archive, deep=False, on_progress=lambda _done, _count: None)
    )
    yield Figure("verify", check, "s")
    yield Figure("restore of everything", _time(lambda: _restore(archive, base / "back")), "s")
    yield from _iter_tar_figures(base, root, stored)
    yield from _iter_restic_figures(base, root, seconds, stored)


def iter_idle_figures(base: Path, files: int) -> Iterator[Figure]:
    """Yield how long a sync of unchanged files takes, including program start."""
    projects = base / ".claude" / "projects"
    for number in range(files):
        path = projects / f"p{number % 20}" / f"session-{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(FILE_BYTES // 2).hex().encode() + b"\n")
    environment = {**os.environ, "HOME": str(base), "RECOLLECT_ARCHIVE_DIR": str(base / "archive")}
    environment["CLAUDE_CONFIG_DIR"] = str(base / ".claude")
    program = [sys.executable, "-m", "recollect", "archive"]

    def run(*words: str) -> None:
        subprocess.run([*program, *words], env=environment, capture_output=True, check=True)

    run("enable", "--yes")
    yield Figure(f"first sync of {files} small files", _time(lambda: run("sync")), "s")
    idle = min(_time(lambda: run("sync", "--quiet")) for _ in range(RUNS))
    yield Figure(f"sync with nothing new, {files} files", idle * 1000, "ms", IDLE_GOAL_MS)


def _iter_tar_figures(base: Path, root: Path, stored: int) -> Iterator[Figure]:
    programs = shutil.which("tar"), shutil.which("zstd")
    if programs[0] is None or programs[1] is None:
        return
    tar, packed = base / "all.tar", base / "all.tar.zst"
    subprocess.run([programs[0], "-C", str(root), "-cf", str(tar), "."], check=True)
    command = [programs[1], "-q", "-19", "-T0", str(tar), "-o", str(packed)]
    seconds = _time(lambda: subprocess.run(command, check=True))
    size = packed.stat().st_size
    yield Figure("zstd -19 of a tar", size / MEGABYTE, "MB")
    yield Figure("zstd -19 of a tar, time", seconds, "s")
    yield Figure("archive relative to that", stored / size, "", RATIO_GOAL)


def _iter_restic_figures(base: Path, root: Path, seconds: float, stored: int) -> Iterator[Figure]:
    restic = shutil.which("restic")
    if restic is None:
        return
    environment = {**os.environ, "RESTIC_PASSWORD": "benchmark", "HOME": str(base)}
    environment["RESTIC_REPOSITORY"] = str(base / "restic")

    def run(*words: str) -> None:
        command = [restic, "--no-cache", *words]
        subprocess.run(command, env=environment, check=True, capture_output=True)

    run("init")
    first = _time(lambda: run("backup", str(root)))
    size = _measure(base / "restic")
    yield Figure("restic, first backup", first, "s")
    yield Figure("restic, repository", size / MEGABYTE, "MB")
    yield Figure("first sync relative to restic", seconds / first)
    yield Figure("archive relative to restic", stored / size)
    yield Figure("restic, nothing new", _time(lambda: run("backup", str(root))), "s")


def _iter_growth_figures(archive: Archive, root: Path, path: Path) -> Iterator[Figure]:
    with path.open("ab") as file:
        file.write(os.urandom(GROWTH_BYTES // 2).hex().encode())
    report = sync_archive(archive, [root])
    yield Figure("a transcript grows by", GROWTH_BYTES / 1000, "KB")
    yield Figure("that stores", report.bytes_stored / 1000, "KB", GROWTH_BYTES / 1000)


def _restore(archive: Archive, target: Path) -> None:
    restore_files(archive, list(archive.load().newest().values()), target)


def _make_archive(directory: Path) -> Archive:
    archive = Archive(directory)
    archive.save_settings(ArchiveSettings(created="2026-11-01T00:00:00Z"))
    return archive


def _measure(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def _time(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _parse_size(text: str) -> int:
    unit = _UNITS.get(text[-1:].lower(), 1)
    return int(float(text.rstrip("kmgKMG")) * unit)


if __name__ == "__main__":
    sys.exit(main())
