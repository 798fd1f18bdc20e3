"""However files change, the index equals one that is built afterwards."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sync.lines import PRICED, Line, user_line
from tests.sync.world import World, assert_same

NORMAL, SLOW = 30, 300
NAMES = ("p/a", "p/b", "q/a", "q/c", "q/agent-x")

Identity = tuple[int, int, int]


class Schedule:
    """Random operations on files, and what the index must keep of deleted ones."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.synced: dict[Path, tuple[Identity, bytes]] = {}
        self.vanished: dict[Path, bytes] = {}
        self.operations = [self.append] * 3 + [self.tear, self.cut, self.rewrite, self.replace_file]
        self.operations += [self.delete, self.move, self.touch, self.copy]

    def run(self, steps: int) -> None:
        """Do something to some file, again and again."""
        for _ in range(steps):
            deed = self.random.choice(self.operations)
            deed(self.random.choice(NAMES))
            if self.random.random() < 0.6:
                self.sync()
        self.sync()

    def line(self) -> bytes:
        """A line of one of few messages."""
        pick = self.random.choice
        line = Line(
            id=pick(["msg_1", "msg_2", "msg_3", "msg_4", None]),
            request=pick(["req_1", "req_2", None]),
            model=pick([*PRICED, "proxy"]),
            uuid=pick(["u1", "u2", "u3", None]),
            time=pick([None, *(f"2026-03-0{day}T10:00:0{day}.000Z" for day in range(1, 9))]),
            input=pick([0, 3, 7]),
            output=pick([0, 1, 81]),
            written=pick([0, 0, 40]),
            split=pick([None, (30, 10), (1200, 0)]),
            tools=pick([(), ("Bash",), ("Read",)]),
            is_sidechain=pick([False, False, True]),
            branch=pick(["main", "topic"]),
        )
        return pick([line.encode(), line.encode(), user_line("x" * self.random.randrange(9000))])

    def lines(self) -> bytes:
        """A few of them."""
        return b"".join(self.line() for _ in range(self.random.randrange(1, 5)))

    def write(self, path: Path, content: bytes) -> None:
        """Make this the whole content of a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.settle_time(path)

    def settle_time(self, path: Path) -> None:
        """Most files have a distinct time, some that of this very moment."""
        if self.random.random() < 0.8:
            self.world.age(path)

    def append(self, name: str) -> None:
        """Append whole lines, as a session that continues."""
        path = self.world.path(name)
        with path.open("ab") as file:
            file.write(self.lines())
        self.settle_time(path)

    def tear(self, name: str) -> None:
        """Write a part of a line, which may be all of it but its end."""
        path = self.world.path(name)
        line = self.line()
        cut = self.random.choice([1, len(line) // 2, len(line) - 1])
        with path.open("ab") as file:
            file.write(line[:cut])
        self.settle_time(path)

    def cut(self, name: str) -> None:
        """Take the last line away, or a part of it."""
        path = self.world.path(name)
        if path.exists():
            content = path.read_bytes()
            keep = self.random.choice([content.rfind(b"\n", 0, -1) + 1, len(content) * 2 // 3])
            self.write(path, content[:keep])

    def rewrite(self, name: str) -> None:
        """Other content in the same file, sometimes of the same size."""
        path = self.world.path(name)
        content = self.lines()
        if path.exists() and self.random.random() < 0.5:
            content = path.read_bytes().replace(b'"output_tokens":81', b'"output_tokens":18')
        self.write(path, content)

    def replace_file(self, name: str) -> None:
        """Put another file in its place."""
        path = self.world.path(name)
        other = path.with_suffix(".tmp")
        self.write(other, self.lines())
        other.replace(path)

    def delete(self, name: str) -> None:
        """As Claude Code does after thirty days."""
        self.world.path(name).unlink(missing_ok=True)

    def move(self, name: str) -> None:
        """Put it elsewhere, under the name of its session."""
        path = self.world.path(name)
        target = self.world.root / "projects" / self.random.choice("pqrs") / path.name
        if path.exists() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)

    def copy(self, name: str) -> None:
        """A fork: another session that begins with the same lines."""
        path = self.world.path(name)
        if path.exists():
            self.write(self.world.path(f"f/{self.random.randrange(3)}"), path.read_bytes())

    def touch(self, name: str) -> None:
        """Another time, earlier ones too, and nothing else."""
        path = self.world.path(name)
        if path.exists():
            time = self.world.clock - self.random.randrange(10**12)
            os.utime(path, ns=(time, time))

    def sync(self) -> None:
        """Update the index, and compare it with a fresh one."""
        present = dict(self.iter_present())
        moved = {identity for path, (identity, _) in present.items() if path not in self.synced}
        for path, (identity, content) in self.synced.items():
            if path not in present and identity not in moved:
                self.vanished[path] = content
        for path in present:
            self.vanished.pop(path, None)
        self.synced = present
        assert self.world.sync().problems == ()
        assert_same(self.world.dump(), self.world.dump_fresh(self.vanished))

    def iter_present(self) -> Iterator[tuple[Path, tuple[Identity, bytes]]]:
        """Yield every file that is not empty, with its identity in the index."""
        for path in sorted((self.world.root / "projects").rglob("*.jsonl")):
            state = path.stat()
            if state.st_size:
                yield path, ((state.st_ino, state.st_size, state.st_mtime_ns), path.read_bytes())


@pytest.mark.parametrize(
    "seed",
    [*range(NORMAL), *(pytest.param(n, marks=pytest.mark.slow) for n in range(NORMAL, SLOW))],
)
def test_any_schedule_ends_like_a_fresh_index(world: World, seed: int) -> None:
    """Appends, torn lines, cuts, rewrites, replacements, moves and deletions leave no trace."""
    Schedule(world, seed).run(12)
