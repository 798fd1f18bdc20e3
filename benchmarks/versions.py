"""Speed of `file` and `blame`: `python -m benchmarks.versions [--size 1g] [--folder DIR]`.

One project has all generated sessions, and others in which one file was edited hundreds of times
and another a few times. The commands are fresh processes: the first query about the project, which
reads its sessions, and later ones, with `recollect --version` in the same run. Goals are for CPU
time, because on a busy machine the wall time measures other programs. Also measures how much they
add to the index.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import apsw

from benchmarks.corpus import make_corpus, make_reference
from benchmarks.index import Figure, Sandbox, describe
from benchmarks.processes import Run
from recollect.locations import encode_project_path

WARM_GOAL_MS = 300
GROWTH_GOAL = 3.0
ROUNDS = 9
SESSIONS = 40
EDITS = 15
"""Edits of the busy file in each session; 600 in total, and as many versions."""
LINES = 400
BUSY, QUIET = "busy.py", "quiet.py"
_MILLISECONDS = 1000
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9}
_TABLES = ("edit_outlines", "edited_names")


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 if a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions", description=__doc__)
    parser.add_argument("--size", type=_parse_size, default="1g", help="of the project (1g)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each command")
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="that edit the busy file")
    parser.add_argument("--folder", type=Path, help="where the project is kept for another run")
    options = parser.parse_args(arguments)
    is_met = True
    with _open_folder(options.folder) as folder:
        sandbox, project = make_project(folder, options.size, options.sessions)
        for figure in measure(sandbox, project, options.rounds):
            is_met &= figure.is_met
            print(describe(figure), flush=True)
    return 0 if is_met else 1


@contextmanager
def _open_folder(given: Path | None) -> Iterator[Path]:
    context = nullcontext(given) if given else tempfile.TemporaryDirectory(prefix="recollect-")
    with context as folder:
        yield Path(folder)


def _parse_size(text: str) -> int:
    return int(float(text.rstrip("kmgKMG")) * _UNITS.get(text[-1:].lower(), 1))


def make_project(folder: Path, size: int, sessions: int) -> tuple[Sandbox, Path]:
    """Create the project unless it exists; return it with its Claude directory."""
    root, project = folder / "claude", folder / "project"
    if not project.exists():
        root.mkdir(parents=True)
        if make_reference(root, size) is None:
            make_corpus(root, size)
        target = root / "projects" / encode_project_path(str(project))
        _merge(root / "projects", target, project)
        project.mkdir()
        for name in (BUSY, QUIET):
            lines = (f"value_{at} = compute({at})\n" for at in range(LINES))
            (project / name).write_text("".join(lines), "utf-8")
        _commit(project)
        for number in range(sessions):
            work = EditedFiles(project, number)
            (target / f"{work.session}.jsonl").write_text("".join(work.iter_lines()), "utf-8")
    return Sandbox(folder, root), project


def _commit(project: Path) -> None:
    """Make the project a repository with a commit from before the sessions."""
    identity = ("-c", "user.name=Mina", "-c", "user.email=mina@example.com")
    times = {
        "GIT_AUTHOR_DATE": "2026-10-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2026-10-01T00:00:00Z",
    }
    git = shutil.which("git")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "Begin")):
        if git:
            subprocess.run([git, *words], cwd=project, env=os.environ | times, check=True)


def _merge(projects: Path, target: Path, project: Path) -> None:
    """Merge all into one project: sessions in one directory, about files in one place."""
    names = [each for each in projects.iterdir() if each.is_dir()]
    target.mkdir()
    for directory in names:
        for path in directory.rglob("*.jsonl"):
            moved = target / path.relative_to(directory)
            moved.parent.mkdir(parents=True, exist_ok=True)
            path.rename(moved)
        shutil.rmtree(directory)
    for path in target.rglob("*.jsonl"):
        data = path.read_bytes()
        start = data.find(b'"cwd":"') + len(b'"cwd":"')
        cwd = data[start : data.index(b'"', start)]
        if cwd.startswith(b"/"):
            path.write_bytes(data.replace(cwd, str(project).encode()))


class EditedFiles:
    """A session that edits a file often and another one once; the next session continues it."""

    def __init__(self, project: Path, number: int) -> None:
        self.session = f"{number:08x}-5e55-4e55-8e55-5e5510110000"
        self._project = project
        self._number = number
        self._count = 0

    def iter_lines(self) -> Iterator[str]:
        """Yield the records, and leave the files in their final state."""
        for number in range(EDITS):
            if number % 5 == 0:
                words = f"Please change part {number} of {self._number}"
                yield self._record("user", {"role": "user", "content": words})
            yield from self._edit(BUSY, (self._number * EDITS + number) % LINES)
        yield from self._edit(QUIET, self._number)

    def _edit(self, name: str, line: int) -> Iterator[str]:
        path = self._project / name
        before = path.read_text("utf-8")
        old = before.split("\n")[line]
        new = f"value_{line} = changed({self._number}, {self._count})"
        hunk = {"oldStart": line + 1, "oldLines": 1, "newStart": line + 1, "newLines": 1}
        result = {
            "filePath": str(path),
            "oldString": old,
            "newString": new,
            # Like newer clients, omit files of more than 10,000 characters.
            "originalFile": before if len(before) <= 10_000 or not self._count else None,
            "structuredPatch": [{**hunk, "lines": [f"-{old}", f"+{new}"]}],
            "userModified": False,
            "replaceAll": False,
        }
        given = {"file_path": str(path), "old_string": old, "new_string": new}
        call = f"toolu_{self._number:04d}_{self._count:04d}"
        use = {"type": "tool_use", "id": call, "name": "Edit", "input": given}
        answer = {"type": "tool_result", "tool_use_id": call, "content": "updated successfully"}
        reply = {"id": f"msg_{call}", "role": "assistant", "model": "claude-sonnet-4-5"}
        yield self._record("assistant", {**reply, "content": [use]})
        yield self._record("user", {"role": "user", "content": [answer]}, toolUseResult=result)
        path.write_text(before.replace(old, new, 1), "utf-8")

    def _record(self, kind: str, message: dict[str, Any], **fields: Any) -> str:
        self._count += 1
        uuid = f"{self._number:04x}{self._count:04x}"
        record = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": f"{self._number:04x}{self._count - 1:04x}" if self._count > 1 else None,
            "sessionId": self.session,
            "cwd": str(self._project),
            "version": "2.1.325",
            "timestamp": f"2026-11-{1 + self._number // 24:02d}T{self._number % 24:02d}:"
            f"{self._count // 60:02d}:{self._count % 60:02d}.000Z",
            "isSidechain": False,
            "userType": "external",
            "message": message,
            **fields,
        }
        return json.dumps(record) + "\n"


def measure(sandbox: Sandbox, project: Path, rounds: int) -> Iterator[Figure]:
    """Yield all figures as they are measured."""
    commands = {
        "--version": ("--version",),
        "file, few versions": ("file", str(project / QUIET)),
        "blame, few versions": ("blame", str(project / QUIET)),
        "file, many versions": ("file", str(project / BUSY)),
        "blame, many versions": ("blame", str(project / BUSY)),
    }
    sandbox.delete_index()
    first = sandbox.recollect(*commands["file, few versions"])
    yield Figure("first question", first.cpu_seconds, "s of CPU")
    yield Figure("first question, wall", first.seconds, "s")
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, words in commands.items():
            runs[name].append(sandbox.recollect(*words))
    for name, found in runs.items():
        goal = None if name == "--version" else WARM_GOAL_MS
        used = _MILLISECONDS * min(each.cpu_seconds for each in found)
        yield Figure(name, used, "ms of CPU", goal)
        yield Figure(f"{name}, wall", _MILLISECONDS * min(each.seconds for each in found), "ms")
    yield measure_growth(sandbox)


def measure_growth(sandbox: Sandbox) -> Figure:
    """Return how much the data on files of sessions adds to the index."""
    sandbox.recollect("index", "--text")
    size = sum(each.stat().st_size for each in sandbox.data.rglob("*") if each.is_file())
    ours = 0
    for path in sandbox.data.rglob("*.db"):
        with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) as connection:
            rows = connection.execute(
                "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name IN (?, ?)", _TABLES
            )
            ours += sum(pages for (pages,) in rows)
    return Figure("growth of the index", 100 * ours / (size - ours), "%", GROWTH_GOAL)


if __name__ == "__main__":
    sys.exit(main())
