"""Cost of recording and masking secrets: `python -m benchmarks.masking`.

The text pass runs alternately with and without recording secrets, `show` and `search` with and
without masks; the best CPU times are compared, and everything needed only for recording or masking
counts, including loading the rules. The best elapsed times are printed too: files are read in
several processes, so a user notices less or more than CPU time says. On a busy machine they mean
little. The text pass is measured alone, without the start of Python and the quick pass. `show` and
`search` are run as commands, with an index that is up to date.

Inputs are generated sessions, the same with made-up secrets (one in 200 lines and at least one in
every file), and public transcripts, if available beside the project. The number of secrets in a
history varies, so the number in the index is printed with the figures.
"""

import argparse
import json
import os
import random
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from benchmarks.corpus import make_corpus, open_corpus
from benchmarks.processes import Run, run_program
from recollect.store.secret_rows import SecretReader
from tests.redact.made_up_secrets import WITH_RULE

_CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
_SECRET_EVERY = 200
"""Number of lines in a transcript."""
_QUERY = "error"
_TEXT_PASS = """
import resource, sys, time
from pathlib import Path
from recollect.workspace.maintenance import SyncOptions
from recollect.workspace.workspace import Workspace
def measure():
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)
with Workspace([Path(sys.argv[1])]) as workspace:
    workspace.index(SyncOptions())
    before, started = measure(), time.perf_counter()
    workspace.index(SyncOptions(texts=True))
    print(measure() - before, time.perf_counter() - started)
"""
"""Prints the CPU time of the pass and its worker processes, and the elapsed time."""
_NO_SCANNING = """
import sys
from types import ModuleType, SimpleNamespace
scanning = sys.modules["recollect.sync.secret_scanning"] = ModuleType("secret_scanning")
scanning.SecretScanner = lambda: SimpleNamespace(scan_lines=lambda lines: {})
scanning.load_rules = lambda: None
"""
_COMMAND = """
from recollect.cli import main
main()
"""
_NOTHING_MASKED = """
from recollect.reader import line_blocks
line_blocks.mask_by_default = lambda *masks: None
"""


class _Measured(NamedTuple):
    """A program with and without masking or recording."""

    name: str
    program: str
    leave_out: str
    goal: float


class _Cost(NamedTuple):
    """The time that a program takes."""

    cpu: float
    seconds: float


_PASS: Final = _Measured("text pass", _TEXT_PASS, _NO_SCANNING, 1.25)
_SHOW: Final = _Measured("show", _COMMAND, _NOTHING_MASKED, 1.03)
_SEARCH: Final = _Measured("search", _COMMAND, _NOTHING_MASKED, 1.03)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.masking", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bytes", type=int, default=40_000_000, help="of made-up sessions")
    parser.add_argument("--corpus", type=Path, default=_CORPUS, help="public transcripts")
    options = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="recollect-masking-") as folder:
        for name, root in _iter_roots(Path(folder), options.bytes, options.corpus):
            for line in _measure(Path(folder) / "data", root, options.rounds):
                print(f"{name}, {line}", flush=True)
    return 0


def _iter_roots(folder: Path, size: int, corpus: Path) -> Iterator[tuple[str, Path]]:
    """Yield Claude directories, each with a description."""
    plain = folder / "plain"
    make_corpus(plain, size)
    yield "made up", plain
    planted = folder / "planted"
    shutil.copytree(plain, planted)
    rng = random.Random(1)
    for path in sorted(planted.rglob("*.jsonl")):
        path.write_bytes(b"".join(_plant(path.read_bytes().splitlines(keepends=True), rng)))
    yield "made up with secrets", planted
    files = sorted(corpus.rglob("*.jsonl"))
    for number, file in enumerate(files):
        project = folder / "public" / "projects" / f"-project-{number}"
        project.mkdir(parents=True)
        shutil.copy(file, project / file.name)
    if files:
        yield "public", folder / "public"


def _plant(lines: Sequence[bytes], rng: random.Random) -> Iterator[bytes]:
    for number, line in enumerate(lines):
        yield line
        if number % _SECRET_EVERY == 0:
            text = f"The key is {rng.choice(WITH_RULE).make(rng).text}"
            record = {"type": "user", "uuid": f"secret-{number}"}
            yield json.dumps(record | {"message": {"role": "user", "content": text}}).encode()
            yield b"\n"


def _measure(data: Path, root: Path, rounds: int) -> Iterator[str]:
    """Yield a line for each measurement, and the number of secrets in the index."""
    yield _compare(_PASS, (str(root),), data, rounds)
    _run_without_index(_TEXT_PASS, (str(root),), data)
    secrets = SecretReader(data).load_all().secrets
    definite = sum(each.is_definite for each in secrets)
    megabytes = open_corpus(root).size / 1e6
    yield (
        f"found: {len(secrets)} secrets in {megabytes:.1f} MB, {definite} of them definite, "
        f"{definite / megabytes:.2f} per MB"
    )
    longest = max(root.glob("projects/*/*.jsonl"), key=lambda path: path.stat().st_size)
    directory = ("--claude-dir", str(root))
    yield _compare(_SHOW, ("show", str(longest), *directory), data, rounds)
    yield _compare(_SEARCH, ("search", _QUERY, "--limit", "50", *directory), data, rounds)


def _compare(measured: _Measured, arguments: Sequence[str], data: Path, rounds: int) -> str:
    programs = measured.program, measured.leave_out + measured.program
    run = _run_without_index if measured is _PASS else _run
    costs = [[run(program, arguments, data) for program in programs] for _ in range(rounds)]
    with_masks, without = map(_find_best, zip(*costs, strict=True))
    return (
        f"{measured.name}: {with_masks.cpu:.3f} s of CPU, {without.cpu:.3f} without, "
        f"ratio {with_masks.cpu / without.cpu:.2f} (goal {measured.goal}); "
        f"{with_masks.seconds:.3f} s elapsed, {without.seconds:.3f} without, "
        f"ratio {with_masks.seconds / without.seconds:.2f}"
    )


def _find_best(costs: Sequence[_Cost]) -> _Cost:
    """Return the least of each time: other programs can only add to it."""
    return _Cost(min(each.cpu for each in costs), min(each.seconds for each in costs))


def _run_without_index(program: str, arguments: Sequence[str], data: Path) -> _Cost:
    """Run a program that prints its times, starting without an index."""
    shutil.rmtree(data, ignore_errors=True)
    return _Cost(*map(float, _start(program, arguments, data).output.split()))


def _run(program: str, arguments: Sequence[str], data: Path) -> _Cost:
    run = _start(program, arguments, data)
    return _Cost(run.cpu_seconds, run.seconds)


def _start(program: str, arguments: Sequence[str], data: Path) -> Run:
    environment = {**os.environ, "RECOLLECT_DATA_DIR": str(data)}
    # Compiled as when installed: otherwise the modules for masking are compiled every time.
    environment |= {"PYTHONPYCACHEPREFIX": str(data.with_name("bytecode"))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return run_program([sys.executable, "-c", program, *arguments], environment)


if __name__ == "__main__":
    sys.exit(main())
