"""The generated corpus has the documented content."""

from itertools import chain
from pathlib import Path

from benchmarks.corpus import Truth, make_corpus, open_corpus
from benchmarks.totals import Totals, count
from recollect.reader.transcript_reader import read_transcript
from recollect.reader.usage_reader import read_usage
from recollect.records.envelope import Damaged, Torn, Unknown

SIZE = 1_000_000


def test_truth_is_what_both_readers_find(tmp_path: Path) -> None:
    """The recorded lines and totals equal those found by reading."""
    corpus = make_corpus(tmp_path, SIZE)
    records = list(chain.from_iterable(map(read_transcript, corpus.files)))
    usages = chain.from_iterable(map(read_usage, corpus.files))
    assert corpus.truth == Truth(len(records), count(records))
    assert corpus.truth.totals == count(usages)


def test_corpus_holds_only_known_records(tmp_path: Path) -> None:
    """Every line is whole and of a known type."""
    corpus = make_corpus(tmp_path, SIZE)
    records = chain.from_iterable(map(read_transcript, corpus.files))
    assert [r for r in records if isinstance(r, Unknown | Damaged | Torn)] == []


def test_corpus_has_the_asked_size_and_several_files(tmp_path: Path) -> None:
    """The size is exceeded by less than one turn, and subagents have separate files."""
    corpus = make_corpus(tmp_path, SIZE)
    assert SIZE <= corpus.size == open_corpus(tmp_path).size < 2 * SIZE
    assert {path.parent.name == "subagents" for path in corpus.files} == {True, False}


def test_same_seed_makes_the_same_bytes(tmp_path: Path) -> None:
    """Every byte depends on the seed only."""
    first, second, other = (
        [path.read_bytes() for path in make_corpus(tmp_path / name, SIZE // 10, seed).files]
        for name, seed in (("first", 1), ("second", 1), ("other", 2))
    )
    assert first == second
    assert first != other


def test_an_existing_corpus_has_no_truth(tmp_path: Path) -> None:
    """Only files and sizes of existing transcripts are known."""
    (tmp_path / "projects").mkdir()
    (tmp_path / "projects" / "a.jsonl").write_bytes(b"{}\n")
    corpus = open_corpus(tmp_path)
    assert (corpus.files, corpus.size) == ((tmp_path / "projects" / "a.jsonl",), 3)
    assert corpus.truth is None


def test_totals_add_up() -> None:
    """Adding totals adds each class."""
    assert Totals(1, 2, 3, 4, 5, 6) + Totals(1, 1, 1, 1, 1, 1) == Totals(2, 3, 4, 5, 6, 7)
