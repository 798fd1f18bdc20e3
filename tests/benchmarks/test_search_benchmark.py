"""Tests of what the benchmark of the search measures with."""

from contextlib import closing
from pathlib import Path

import apsw

from benchmarks.corpus import make_corpus
from benchmarks.plain_index import iter_texts, time_plain_index
from benchmarks.search import Build, compare_with_plain, find


def test_the_plain_index_holds_every_text(tmp_path: Path) -> None:
    """The baseline does the same work: one row per text, found by its words."""
    make_corpus(tmp_path / "corpus", 200_000)
    transcripts = find([tmp_path / "corpus"])
    texts = [text for transcript in transcripts for text in iter_texts(transcript)]
    assert time_plain_index(tmp_path / "plain.db", transcripts) > 0
    with closing(apsw.Connection(str(tmp_path / "plain.db"))) as connection:
        assert connection.execute("SELECT count(*) FROM words").get == len(texts) > 10
        word = next(word for word in texts[0].split() if word.isalpha())
        assert connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (word,)).fetchall()


def test_what_was_measured_is_compared_with_the_plain_index() -> None:
    """A machine that is slow for one is slow for the other."""
    made = Build(wall_seconds=21.0, cpu_seconds=40.0, conversation_seconds=4.2, peak_memory=1)
    assert compare_with_plain(made, 14.0) == (
        "of plain FTS5 (14.0 s)         1.50 x  (goal 1.57), conversation 0.30 x  (goal 0.39)"
    )
