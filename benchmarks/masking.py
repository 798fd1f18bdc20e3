"""What noting and masking secrets costs: `python -m benchmarks.masking`.

`index --text`, `show` and `search` run in turns with and without it, as fresh processes; the
fewest seconds of CPU of each are compared. Without it the text pass examines no line, and no line
that is shown is masked; everything else is the same. Indexed are made-up sessions, the same with
made-up secrets in them, and public transcripts where they lie beside the project.
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

from benchmarks.corpus import make_corpus
from benchmarks.processes import run_program
from tests.redact.made_up_secrets import WITH_RULE

_CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
_SECRET_EVERY = 200
"""Lines of a transcript."""
_QUERY = "error"
_GOALS = {"index --text": 1.25, "show": 1.03, "search": 1.03}
_RUN = "from recollect.cli import main; main()"
_LEAVE_OUT = f"""
from recollect.reader import line_blocks
from recollect.sync import secret_notes
line_blocks.mask_by_default = lambda mask: None
secret_notes.SecretNoter.scan_lines = lambda self, lines: {{}}
secret_notes.find_suspicious_lines = lambda data: []
secret_notes.find_in_record = lambda line: []
{_RUN}
"""
_KEEP = f"""
from recollect.reader import line_blocks
from recollect.sync import secret_notes
{_RUN}
"""
"""Imports the same, so that only the work differs."""


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
    """Yield Claude directories, each with what it has."""
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
    """Yield a line for each command."""
    longest = max(root.glob("projects/*/*.jsonl"), key=lambda path: path.stat().st_size)
    commands = {
        "index --text": ("index", "--text"),
        "show": ("show", str(longest)),
        "search": ("search", _QUERY, "--limit", "50"),
    }
    for name, command in commands.items():
        arguments = (*command, "--claude-dir", str(root))
        best = {_KEEP: float("inf"), _LEAVE_OUT: float("inf")}
        for _ in range(rounds):
            for program, known in best.items():
                if name == "index --text":
                    shutil.rmtree(data, ignore_errors=True)
                best[program] = min(known, _run(program, arguments, data))
        if name == "index --text":
            # What is shown is masked by what a whole index has noted.
            shutil.rmtree(data)
            _run(_KEEP, arguments, data)
        with_masks, without = best.values()
        yield (
            f"{name}: {with_masks:.2f} s of CPU, {without:.2f} without, "
            f"ratio {with_masks / without:.2f} (goal {_GOALS[name]})"
        )


def _run(program: str, arguments: Sequence[str], data: Path) -> float:
    environment = {**os.environ, "RECOLLECT_DATA_DIR": str(data)}
    # As it is installed: otherwise the modules that only masking needs are compiled every time.
    environment |= {"PYTHONPYCACHEPREFIX": str(data.with_name("bytecode"))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return run_program([sys.executable, "-c", program, *arguments], environment).cpu_seconds


if __name__ == "__main__":
    sys.exit(main())
