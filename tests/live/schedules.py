"""Random changes that programs make to a file while it is read, and a reader that follows."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

from recollect.live.tail import Tail
from recollect.records.envelope import Record


def line(number: int, text: str = "") -> bytes:
    """A line of a transcript, of a length that does not depend on small numbers."""
    record = {"type": "user", "uuid": f"u{number:04}", "message": {"content": text or "é中\u2028"}}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


class Schedule:
    """Appends, torn or not, truncations, rewrites and replacements, chosen by the seed."""

    def __init__(self, path: Path, rng: random.Random) -> None:
        self._path = path
        self._rng = rng
        self._number = 0
        path.write_bytes(b"")

    def play(self, steps: int) -> Iterator[None]:
        """Run one step after the other."""
        operations = (
            self._append,
            self._append,
            self._append,
            self._append_half,
            self._cut_last_line,
            self._rewrite,
            self._replace,
            self._copy_and_truncate,
            self._exchange,
            self._set_time_back,
        )
        for _ in range(steps):
            self._rng.choice(operations)()
            yield

    def _lines(self) -> bytes:
        made = []
        for _ in range(self._rng.randrange(1, 5)):
            self._number += 1
            made.append(line(self._number, "x" * self._rng.choice((0, 0, 30, 700))))
        return b"".join(made)

    def _append(self) -> None:
        with self._path.open("ab") as file:
            file.write(self._lines())

    def _append_half(self) -> None:
        data = self._lines()
        with self._path.open("ab") as file:
            file.write(data[: self._rng.randrange(len(data))])

    def _cut_last_line(self) -> None:
        data = self._path.read_bytes()
        os.truncate(self._path, data.rstrip(b"\n").rfind(b"\n") + 1)

    def _rewrite(self) -> None:
        lines = self._path.read_bytes().splitlines(keepends=True)
        kept = [each for each in lines if self._rng.random() < 0.8]
        self._path.write_bytes(b"".join(kept))

    def _replace(self) -> None:
        other = self._path.with_suffix(".other")
        kept = self._path.read_bytes() if self._rng.random() < 0.5 else b""
        other.write_bytes(kept + self._lines())
        other.replace(self._path)

    def _copy_and_truncate(self) -> None:
        self._path.with_suffix(".copy").write_bytes(self._path.read_bytes())
        os.truncate(self._path, 0)

    def _exchange(self) -> None:
        """Write other content of the same size in place."""
        data = self._path.read_bytes()
        changed = data.replace(b'"u0', b'"v0', self._rng.choice((1, -1)))
        with self._path.open("r+b") as file:
            file.write(changed)
        self._set_time_back()

    def _set_time_back(self) -> None:
        state = self._path.stat()
        moment = state.st_mtime_ns - self._rng.randrange(1, 10**9)
        os.utime(self._path, ns=(moment, moment))


class Reader:
    """Keeps the records that a tail reports, like any consumer."""

    def __init__(self, path: Path) -> None:
        path.touch()
        self.tail = Tail(path)
        self.records: list[Record] = []

    def look(self) -> None:
        """Read everything that is available."""
        while True:
            step = self.tail.read()
            if step.reset:
                self.records.clear()
            self.records += [piece.record for piece in step.pieces]
            if step.is_caught_up:
                return

    def compare(self) -> None:
        """Verify everything against the file, and read what that yields."""
        self.look()
        for _ in self.tail.check():
            continue
        self.look()

    def settle(self) -> None:
        """Verify everything, and read what that yields and a complete last line."""
        self.compare()
        self.records += [piece.record for piece in self.tail.read_rest()]
