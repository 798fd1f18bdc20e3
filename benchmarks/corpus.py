"""Made-up transcripts of any size, reproducible by seed, with totals known from generating them.

They contain what slows readers down in real histories: several lines for one response, each with
usage; tool results of log-normal size that are written twice; whole files inside edits; copies of a
subagent's messages in the main transcript; records outside the conversation; escaped lone
surrogates; a session that begins with a copy of another. The expected totals never come from
parsing.
"""

import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.session import Session
from benchmarks.text import Text, draw_size
from benchmarks.totals import Totals

_ROOT = Path(__file__).resolve().parent.parent
_SHARED = Path(os.environ.get("RECOLLECT_SHARED") or _ROOT.parent / "shared")
_BYTES_PER_SESSION = 2_500_000
_COPY_EVERY = 8
_COPIED_LINES = 40


@dataclass(frozen=True, slots=True)
class Truth:
    """The content of a made-up corpus: the number of lines, all of them records, and totals."""

    lines: int
    totals: Totals


@dataclass(frozen=True, slots=True)
class Corpus:
    """Transcripts in a Claude directory; `truth` is known only for those made here."""

    files: tuple[Path, ...]
    size: int
    truth: Truth | None = None


def open_corpus(root: Path) -> Corpus:
    """Return the transcripts of an existing Claude directory."""
    files = tuple(sorted(root.rglob("*.jsonl")))
    return Corpus(files, sum(path.stat().st_size for path in files))


def make_reference(root: Path, size: int) -> Corpus | None:
    """Generate a corpus with the generator beside the project; None if there is none.

    Goals are defined on it, so that figures can be compared between projects.
    """
    generator = _SHARED / "bench" / "gen_corpus.py"
    if not generator.is_file():
        return None
    sessions = max(size // _BYTES_PER_SESSION, 1)
    command = [sys.executable, str(generator), "--out", str(root), "--size", f"{size / 1000}K"]
    subprocess.run([*command, "--sessions", str(sessions)], capture_output=True, check=True)
    return open_corpus(root)


def copy_public(root: Path) -> Corpus | None:
    """Copy the public transcripts beside the project, a project per repository; None without."""
    source = _SHARED / "corpus"
    if not source.is_dir():
        return None
    for path in sorted(source.rglob("*.jsonl")):
        project, *rest = path.relative_to(source).parts
        target = root / "projects" / project / "--".join(rest)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return open_corpus(root)


def make_corpus(root: Path, size: int, seed: int = 1) -> Corpus:
    """Generate a Claude directory in `root` with about `size` bytes of transcripts."""
    rng = random.Random(seed)
    text = Text(rng)
    written = lines = number = 0
    totals = Totals()
    copied: list[bytes] = []
    while written < size:
        quota = min(size - written, draw_size(rng, 500_000, 1.0, 20_000, 20_000_000))
        session = Session(rng, text, number, copied)
        session.grow(quota)
        session.save(root)
        written += session.size
        lines += sum(len(found) for found in session.lines.values())
        totals += session.totals
        number += 1
        copied = session.lines[""][:_COPIED_LINES] if number % _COPY_EVERY == 0 else []
    return Corpus(open_corpus(root).files, written, Truth(lines, totals))
