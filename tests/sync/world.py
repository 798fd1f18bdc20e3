"""A Claude directory, an index of it, and what that index says in a form that can be compared.

Row numbers depend on the order in which things were found, so that they are left out; everything
else has to be the same however the index came about.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recollect.locations import Transcript
from recollect.records.token_usage import CLASSES
from recollect.store.catalog import Names, load_files
from recollect.store.database import Connection, open_for_reading
from recollect.store.ledger_rows import CORRECTION_COLUMNS, HOUR_COLUMNS, KEYS, MESSAGE_COLUMNS
from recollect.store.schema import FIGURES
from recollect.sync.index_access import find_transcripts
from recollect.sync.sync_engine import OnProgress, SyncReport, sync
from recollect.sync.workers import Limits

NAMED = ("model", "branch", "version", "entrypoint", "cwd", "tools", "terms")
UNCOMPARED = {"id", "file_id"}
OF_FILES = (
    *("project", "kind", "session_id", "agent_id", "agent_type", "began", "size", "position"),
    "is_gone",
)

Dump = dict[str, list[tuple[Any, ...]]]


@dataclass
class World:
    """A directory with transcripts in it and one with the index."""

    base: Path
    data: Path
    limits: Limits = field(default_factory=Limits)
    clock: int = 1_700_000_000_123_456_789

    @property
    def root(self) -> Path:
        """The Claude directory."""
        return self.base / "claude"

    def path(self, name: str) -> Path:
        """The path of the transcript `name`, such as `project/session`."""
        path = self.root / "projects" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name: str, content: bytes, *, is_old: bool = True) -> Path:
        """Write a transcript; an old one has a time that a later change cannot have."""
        path = self.path(name)
        path.write_bytes(content)
        if is_old:
            self.age(path)
        return path

    def append(self, name: str, content: bytes) -> Path:
        """Append to a transcript."""
        path = self.path(name)
        with path.open("ab") as file:
            file.write(content)
        self.age(path)
        return path

    def age(self, path: Path) -> None:
        """Give a file a time in the past, later than that of any before."""
        self.clock += 1_000_000_007
        os.utime(path, ns=(self.clock, self.clock))

    def find(self) -> list[Transcript]:
        """The transcripts that there are."""
        (self.root / "projects").mkdir(parents=True, exist_ok=True)
        return find_transcripts([self.root])

    def sync(
        self,
        *,
        prices: Path | None = None,
        on_progress: OnProgress | None = None,
        rebuild: bool = False,
    ) -> SyncReport:
        """Update the index."""
        return sync(
            self.data,
            self.find(),
            prices=prices,
            on_progress=on_progress,
            rebuild=rebuild,
            limits=self.limits,
        )

    def open(self) -> Connection:
        """The index, which must be there."""
        connection = open_for_reading(self.data)
        assert connection is not None
        return connection

    def dump(self) -> Dump:
        """All that the index says."""
        connection = self.open()
        try:
            return dump(connection, self.base)
        finally:
            connection.close()

    def dump_fresh(self, vanished: Mapping[Path, bytes] | None = None) -> Dump:
        """Return a dump of a new index that knew the files deleted since."""
        fresh = World(self.base, self.base / "fresh", self.limits)
        shutil.rmtree(fresh.data, ignore_errors=True)
        for path, content in (vanished or {}).items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        fresh.sync()
        for path in vanished or {}:
            path.unlink()
        if vanished:
            fresh.sync()
        return fresh.dump()


def dump(connection: Connection, base: Path) -> Dump:
    """All that an index says of files, messages and hours; paths are relative to `base`."""
    names = Names(connection)
    files = dict(load_files(connection).values())
    paths = {number: os.path.relpath(row.path, base) for number, row in files.items()}
    query = f"SELECT {', '.join(CORRECTION_COLUMNS)} FROM corrections"
    corrections = {row[0]: row[1:] for row in connection.execute(query)}
    query = f"SELECT {', '.join(MESSAGE_COLUMNS)} FROM messages"
    messages = []
    for row in connection.execute(query):
        values = dict(zip(MESSAGE_COLUMNS, row, strict=True))
        correction = corrections.pop(values["id"], None)
        if correction is not None:
            *figures, tools = correction
            correction = (*figures, names.text(tools))
        values |= {name: names.text(values[name]) for name in NAMED}
        kept = tuple(value for name, value in values.items() if name not in UNCOMPARED)
        known_as = (paths[values["file_id"]], values["position"], values["message_id"])
        messages.append((*known_as, *kept, correction))
    assert corrections == {}
    return {
        "files": _sorted(
            (paths[number], *(getattr(row, name) for name in OF_FILES))
            for number, row in files.items()
        ),
        "messages": _sorted(messages),
        "hours": _sorted(
            (
                paths[row["file_id"]],
                row["hour"],
                *(names.text(row[name]) for name in KEYS[1:]),
                *(row[name] for name in FIGURES),
            )
            for row in iter_hours(connection)
        ),
        "sums": _sorted(
            (hour, names.text(model), *figures)
            for hour, model, *figures in connection.execute("SELECT * FROM sums")
        ),
        "problems": _sorted(connection.execute("SELECT path, reason FROM problems")),
    }


def iter_hours(connection: Connection) -> Iterator[dict[str, Any]]:
    """Every row of the hours, by the names of its columns."""
    for row in connection.execute(f"SELECT {', '.join(HOUR_COLUMNS)} FROM hours"):
        yield dict(zip(HOUR_COLUMNS, row, strict=True))


def _sorted(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)


def add_up(connection: Connection) -> tuple[Any, ...]:
    """Return the totals: messages, tokens by class, searches, cost, unpriced messages."""
    sums = ", ".join(f"sum({name})" for name in ("messages", *CLASSES, "cost", "unpriced"))
    return next(connection.execute(f"SELECT {sums} FROM hours"))


def assert_same(one: Dump, other: Dump) -> None:
    """Fail with the rows that only one of two indexes has; comparing them whole takes minutes."""
    for table, rows in one.items():
        # Counted, not as sets: a row that is there twice is a difference.
        mine, theirs = Counter(map(repr, rows)), Counter(map(repr, other[table]))
        assert (table, mine - theirs, theirs - mine) == (table, Counter(), Counter())
