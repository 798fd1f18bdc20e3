"""Damage both index files and query them: `python -m fuzz.damage --flips 2000 --pages 200`.

Flips one bit in a file, or overwrites one page with zeros or noise, then runs real commands.
Whatever is damaged, their output must equal that with an undamaged index. Each damage is applied to
a copy; the made-up sessions are large enough for pages of every kind.
"""

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from fuzz import runs
from recollect.cli.exit_codes import run as run_command
from recollect.cli.program import program
from recollect.store.data_directory import INDEX_NAME, VARIABLE, find_text_path
from recollect.workspace.config_file import VARIABLE as CONFIG_VARIABLE

PAGE_BYTES = 8192
SESSIONS = 20
TURNS = 40
WORDS_PER_TEXT = 25

COMMANDS = (
    # First, because a search counts turns, and a list includes the counts in the index.
    ("list", "--json", "-n", "100"),
    ("search", "database", "--json"),
    ("search", "word1*", "--json", "--limit", "1000"),
    ("search", "ord77", "--json"),
    ("search", "tool:Bash", "is:error", "--json"),
    ("search", "until:2026-03-05", '"word2 word3" OR lonely', "--json"),
    ("usage", "session", "--json"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 if an output changed."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.damage", description=__doc__)
    parser.add_argument("--flips", type=int, default=200, help="bits to flip (%(default)s)")
    parser.add_argument("--pages", type=int, default=20, help="pages to overwrite (%(default)s)")
    runs.add_seed(parser)
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        files = DamagedFiles(Path(folder))
        failures = list(iter_failures(files, options.flips, options.pages, options.seed))
    seconds = time.perf_counter() - start
    done = f"{options.flips} flips and {options.pages} pages in {seconds:.0f} s"
    print(f"{done}, seed {options.seed}, {len(failures)} failures")
    return runs.report(failures)


def iter_failures(files: "DamagedFiles", flips: int, pages: int, seed: int) -> Iterator[str]:
    """Yield a description of each damage that changed an output."""
    for number in range(flips + pages):
        rng = random.Random(f"{seed}:{number}")
        path = rng.choice(files.paths)
        content = files.contents[path]
        change = flip_bit if number < flips else overwrite_page
        files.restore({path: change(content, rng)})
        for command, expected in zip(COMMANDS, files.expected, strict=True):
            if (output := files.run(command)) != expected:
                yield f"{seed}:{number} {change.__name__} {path.name} {command}: {output[0]}"


def flip_bit(content: bytes, rng: random.Random) -> bytes:
    """Return `content` with one bit flipped."""
    position = rng.randrange(len(content))
    return (
        content[:position]
        + bytes([content[position] ^ 1 << rng.randrange(8)])
        + content[position + 1 :]
    )


def overwrite_page(content: bytes, rng: random.Random) -> bytes:
    """Return `content` with one page of zeros or noise."""
    start = rng.randrange(len(content) // PAGE_BYTES) * PAGE_BYTES
    page = bytes(PAGE_BYTES) if rng.random() < 0.5 else rng.randbytes(PAGE_BYTES)
    return content[:start] + page + content[start + PAGE_BYTES :]


Output = tuple[str, str]
"""The exit code with stderr, and stdout."""


class DamagedFiles:
    """Both files of an undamaged index, its sessions, and the expected outputs."""

    def __init__(self, folder: Path) -> None:
        self._root = folder / "claude"
        self._data = folder / "data"
        self._config = folder / "config.toml"
        self._config.touch()
        self.paths = (self._data / INDEX_NAME, find_text_path(self._data))
        write_sessions(self._root / "projects")
        self.run(("index", "--text"))
        self.contents = {path: path.read_bytes() for path in self.paths}
        self.expected = [self.run(command) for command in COMMANDS]

    def restore(self, changed: dict[Path, bytes]) -> None:
        """Restore both files, except for the changed ones."""
        shutil.rmtree(self._data)
        for path in self.paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(changed.get(path, self.contents[path]))

    def run(self, command: Sequence[str]) -> Output:
        """Run a command and return its output."""
        out, err = io.StringIO(), io.StringIO()
        # The user's settings must not change the output.
        ours = {VARIABLE: str(self._data), CONFIG_VARIABLE: str(self._config)}
        before = {name: os.environ.get(name) for name in ours}
        os.environ.update(ours)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run_command(program, [*command, "--claude-dir", str(self._root)])
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
        return f"exit {code} {err.getvalue()}", out.getvalue()


def write_sessions(projects: Path) -> None:
    """Write sessions with prompts, replies and tool results of many different words."""
    rng = random.Random(7)
    for session in range(SESSIONS):
        path = projects / f"-home-mina-p{session % 3}" / f"{session:08}-1111-4111-8111-111111111111"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            line
            for turn in range(TURNS)
            for line in iter_turn(rng, path.name, f"2026-03-{session % 9 + 1:02}", turn)
        ]
        path.with_suffix(".jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")


def iter_turn(rng: random.Random, session: str, day: str, turn: int) -> Iterator[str]:
    """Yield the lines of one turn: a prompt, a tool call, its result and a reply."""

    def make_text() -> str:
        words = [f"word{int(rng.paretovariate(0.6)) % 20_000}" for _ in range(WORDS_PER_TEXT)]
        return " ".join([*words, *(["database"] if rng.random() < 0.1 else [])])

    call = f"toolu_{session}_{turn}"
    contents: list[tuple[str, object]] = [
        ("user", make_text()),
        (
            "assistant",
            {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": make_text()}},
        ),
        (
            "user",
            {
                "type": "tool_result",
                "tool_use_id": call,
                "content": make_text(),
                "is_error": turn % 5 == 0,
            },
        ),
        ("assistant", {"type": "text", "text": make_text()}),
    ]
    for step, (role, content) in enumerate(contents):
        message: dict[str, object] = {
            "role": role,
            "content": content if isinstance(content, str) else [content],
        }
        if role == "assistant":
            message |= {
                "id": f"msg_{session}_{turn}_{step}",
                "model": "claude-sonnet-4-20250514",
                "usage": {"input_tokens": rng.randrange(900), "output_tokens": rng.randrange(90)},
            }
        record: dict[str, object] = {
            "type": role,
            "uuid": f"{session}-{turn}-{step}",
            "parentUuid": f"{session}-{turn}-{step - 1}" if step else None,
            "sessionId": session,
            "cwd": "/home/mina/pond",
            "version": "2.0.50",
            "timestamp": f"{day}T{turn % 24:02}:{turn % 60:02}:{step:02}.000Z",
            "message": message,
        }
        yield json.dumps(record)


if __name__ == "__main__":
    sys.exit(main())
