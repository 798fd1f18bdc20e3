"""The baseline for `benchmarks.search`: a plain FTS5 table, without any code of ours.

The same texts are inserted on one core, in one transaction. The time shows how fast the machine is
at that moment, which may be a third slower a minute later; so results are given relative to it.
Reading the transcripts is not counted.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path

import apsw

from recollect.locations import Transcript
from recollect.reader.transcript_reader import read_transcript
from recollect.session.searchable_texts import list_searchable_texts

_HASH_BYTES = 512 << 20


def time_plain_index(path: Path, transcripts: Sequence[Transcript]) -> float:
    """Create such a table in a new file and return the seconds it took."""
    numbers = count(1)
    seconds = 0.0
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1)"
        )
        for name, value in (("hashsize", _HASH_BYTES), ("automerge", 0)):
            connection.execute("INSERT INTO words(words, rank) VALUES (?, ?)", (name, value))
        connection.execute("BEGIN")
        for transcript in transcripts:
            rows = [(next(numbers), text) for text in iter_texts(transcript)]
            start = time.perf_counter()
            connection.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", rows)
            seconds += time.perf_counter() - start
        start = time.perf_counter()
        connection.execute("COMMIT")
        connection.execute("INSERT INTO words(words) VALUES ('optimize')")
        return seconds + time.perf_counter() - start


def iter_texts(transcript: Transcript) -> Iterator[str]:
    """Yield the texts of a transcript, unmodified."""
    for record in read_transcript(transcript.path):
        for document in list_searchable_texts(record):
            yield document.text
