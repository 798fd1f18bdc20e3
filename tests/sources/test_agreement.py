"""All readers of a file that changes agree with each other and with a fresh read of it.

The usage ledger, the full-text index, cached listings and figures, an opened session and a follower
look at the same file after each step of a random schedule. Looks are not left out: only a reader
that compares everything notices that a file was changed in its middle and appended to in between.
"""

import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.library.opening import IncrementalSession
from recollect.reader.transcript_reader import read_transcript
from recollect.records.envelope import Record
from recollect.search.engine import ANALYZER
from recollect.session.session import Session
from recollect.sources.growth import EDGE
from recollect.store.text_database import read_texts
from recollect.store.text_rows import TextState
from recollect.sync.cached_values import load_figures
from recollect.sync.figure_reading import read_figures
from recollect.sync.session_lists import list_current, list_unsaved
from recollect.sync.text_indexer import index_texts
from recollect.sync.text_plan import FileRange, Stage
from recollect.sync.text_reading import read_range
from recollect.sync.usage_counting import Job, extract
from tests.live.schedules import Reader
from tests.sync.lines import Line, user_line
from tests.sync.world import World

NAME = "p/session"
_LETTERS = bytes.maketrans(b"abcdef", b"bcdefa")


class Writer:
    """Does to one transcript what programs and people do, as the seed has it."""

    def __init__(self, path: Path, rng: random.Random) -> None:
        self._path = path
        self._rng = rng
        self._number = 0
        self._path.write_bytes(self._make_lines())

    def step(self) -> None:
        """Make one random change."""
        if not self._path.exists():
            self._path.write_bytes(self._make_lines())
            return
        steps: tuple[Callable[[], None], ...] = (
            self._append,
            self._append,
            self._append_torn,
            self._truncate,
            self._rewrite,
            self._exchange,
            self._replace,
            self._touch,
            self._path.unlink,
        )
        self._rng.choice(steps)()

    def _make_lines(self) -> bytes:
        made = []
        for _ in range(self._rng.randrange(1, 4)):
            self._number += 1
            letter = self._rng.choice("abcdef")
            made.append(user_line("x" * self._rng.choice((9, 99, 2 * EDGE))))
            made.append(Line(id=f"msg-{letter}{self._number:03}", uuid=letter).encode())
            made.append(b'{"type":"custom-title","customTitle":"Title %c"}\n' % letter.encode())
        return b"".join(made)

    def _append(self) -> None:
        with self._path.open("ab") as file:
            file.write(self._make_lines())

    def _append_torn(self) -> None:
        data = self._make_lines()
        with self._path.open("ab") as file:
            file.write(data[: self._rng.randrange(1, len(data))])

    def _truncate(self) -> None:
        os.truncate(self._path, self._rng.randrange(1, self._path.stat().st_size + 1))

    def _rewrite(self) -> None:
        self._path.write_bytes(self._make_lines() + self._make_lines())

    def _change_letters(self) -> bytes:
        """Other content of the same size: other message ids and another title."""
        return re.sub(
            rb"(msg-|Title )([a-f])",
            lambda found: found[1] + found[2].translate(_LETTERS),
            self._path.read_bytes(),
        )

    def _exchange(self) -> None:
        with self._path.open("r+b") as file:
            file.write(self._change_letters())

    def _replace(self) -> None:
        """Replace the file with another of the same size and time."""
        status = self._path.stat()
        other = self._path.with_suffix(".other")
        other.write_bytes(self._change_letters())
        os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
        other.replace(self._path)

    def _touch(self) -> None:
        moment = self._path.stat().st_mtime_ns + self._rng.choice((-1, 1)) * 10**9
        os.utime(self._path, ns=(moment, moment))


class Readers:
    """Everything that keeps what it has read of a transcript."""

    def __init__(self, world: World, path: Path) -> None:
        self._world = world
        self._path = path
        self._session = IncrementalSession()
        self._follower = Reader(path)

    def look(self) -> None:
        """Let all readers check the file, and compare them with a fresh read."""
        found = self._world.find()
        self._world.sync()
        index_texts(self._world.data, ANALYZER, found)
        listings = list_current(self._world.data, found)
        figures = load_figures(self._world.data, found)
        self._follower.look()
        assert listings == list_unsaved(found)
        if not found:
            return
        (transcript,) = found
        assert self._list_counted() == [
            (row.position, row.message_id) for row in extract(Job(str(self._path))).rows
        ]
        assert self._list_texts() == list_fresh_texts(self._path)
        counted = read_figures(transcript, transcript.stamp)
        assert counted is not None
        assert figures == {transcript.file: counted[0].figures}
        opened = self._session.catch_up(transcript, ())
        assert summarize(opened) == summarize(Session(read_transcript(self._path)))
        self._follower.compare()
        assert self._follower.records == list_ended_records(self._path)

    def _list_counted(self) -> list[tuple[int, str]]:
        rows = self._world.dump()["messages"]
        return sorted((position, message_id) for _, position, message_id, *_ in rows)

    def _list_texts(self) -> list[tuple[Any, ...]]:
        with read_texts(self._world.data, ANALYZER.version) as connection:
            assert connection is not None
            rows = connection.execute("SELECT stage, position, number, key FROM texts").fetchall()
        return sorted(rows)


def list_fresh_texts(path: Path) -> list[tuple[int, int, int, int]]:
    """The texts that both stages find in a file of which nothing is known."""
    found = []
    for stage in Stage:
        wanted = FileRange(str(path), False, (stage,), (TextState(),))
        (batch,) = read_range(wanted, ANALYZER.prepare).batches
        found += [(int(stage), row.position, row.number, row.key) for row in batch.rows]
    return sorted(found)


def list_ended_records(path: Path) -> list[Record]:
    """The records of all lines that have ended."""
    end = path.read_bytes().rfind(b"\n") + 1
    return [each for each in read_transcript(path) if each.span and each.span.offset < end]


def summarize(session: Session) -> tuple[object, ...]:
    """Return the parts of a session to compare."""
    kinds = [type(each) for each in session.irregular]
    return session.turns, session.metrics, session.main_path, session.metadata.title, kinds


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty Claude directory and no index yet."""
    return World(tmp_path, tmp_path / "data")


@pytest.mark.parametrize("seed", range(12))
def test_all_readers_agree_with_a_fresh_read(seed: int, world: World) -> None:
    """Appended, torn, cut, rewritten, exchanged, replaced, touched, deleted and made again."""
    path = world.path(NAME)
    rng = random.Random(seed)
    writer, readers = Writer(path, rng), Readers(world, path)
    for _ in range(12):
        readers.look()
        writer.step()
    readers.look()
