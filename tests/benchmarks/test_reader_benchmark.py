"""The benchmark runs, verifies its results and prints them; these tests check no times."""

import argparse
from pathlib import Path

import msgspec
import pytest

from benchmarks.corpus import Corpus, Truth, make_corpus
from benchmarks.memory import Reading
from benchmarks.reader import Disagreement, Report, check, format_report, main, parse_size
from benchmarks.speed import Result
from benchmarks.totals import Totals
from recollect.reader.line_blocks import MAX_LINE


@pytest.mark.slow
def test_a_small_run_reports_every_reader(capsys: pytest.CaptureFixture[str]) -> None:
    """One run gives the speed of each reader and three peaks of memory."""
    assert main(["--size", "1M", "--own", "--json"]) == 0
    report = msgspec.json.decode(capsys.readouterr().out, type=Report)
    names = [result.reader for result in report.speed]
    assert [name for name in names if name != "orjson.loads"] == [
        "json.loads",
        "read_transcript",
        "read_usage",
    ]
    assert all(result.ratio > 0 and result.best_mb_per_second > 0 for result in report.speed)
    assert [(item.reader, item.oversized) for item in report.memory] == [
        ("read_transcript", 0),
        ("read_usage", 0),
        ("read_transcript", 1),
    ]
    least = [5 * report.size, 5 * report.size, MAX_LINE + 1]
    assert [item.size >= size for item, size in zip(report.memory, least, strict=True)] == [
        True
    ] * 3
    assert all(item.peak_memory > 1_000_000 for item in report.memory)


def test_a_wrong_truth_ends_the_run(tmp_path: Path) -> None:
    """Readers with wrong totals are not measured."""
    corpus = make_corpus(tmp_path, 50_000)
    with pytest.raises(Disagreement, match="The readers count"):
        check(Corpus(corpus.files, corpus.size, Truth(1, Totals())))


def test_a_folder_without_transcripts_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty `--corpus` ends the program with an explanation."""
    assert main(["--corpus", str(tmp_path)]) == 1
    explanation = "No transcripts to read. Pass a Claude directory with --corpus.\n"
    assert capsys.readouterr() == ("", explanation)


@pytest.mark.parametrize(
    ("text", "size"), [("200M", 200_000_000), ("1g", 1_000_000_000), ("5KB", 5_000), ("7", 7)]
)
def test_sizes_are_read_with_their_unit(text: str, size: int) -> None:
    """A size is a number with K, M or G after it, or a plain one."""
    assert parse_size(text) == size


def test_a_size_that_is_none_is_explained() -> None:
    """An invalid size is refused with an example."""
    with pytest.raises(argparse.ArgumentTypeError, match="try 200M"):
        parse_size("much")


def test_tables_are_aligned() -> None:
    """Names are left-aligned and figures right-aligned."""
    report = Report(
        files=2,
        size=3_000_000,
        totals=Totals(),
        speed=[Result("json.loads", 70.4, 69.6, 1.0, 0), Result("read_usage", 600, 590, 8.46, 12)],
        memory=[Reading("read_usage", 1_000_000_000, 5, 0, 21_000_000, 1.25)],
    )
    assert format_report(report).splitlines()[-6:] == [
        "reader      MB/s best  MB/s median  x json.loads  lines refused",
        "json.loads         70           70           1.0              0",
        "read_usage        600          590           8.5             12",
        "",
        "reader      file MB  records  oversized  peak MB  CPU s",
        "read_usage     1000        5          0       21    1.2",
    ]
