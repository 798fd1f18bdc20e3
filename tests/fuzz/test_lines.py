"""The reader keeps its laws on broken lines, and the fuzzer notices when it does not."""

import random
from pathlib import Path

import pytest

from fuzz import laws
from fuzz.laws import LawBroken
from fuzz.lines import format_tallies, fuzz, main
from recollect.records.envelope import Span
from recollect.records.state import Tag


@pytest.mark.slow
def test_three_thousand_broken_lines_break_no_law() -> None:
    """No broken line makes the reader raise, lose a byte, hang or contradict itself."""
    tally = fuzz(3000, "7")
    assert tally.failure == ""
    assert tally.lines == 3000
    assert set(tally.outcomes) >= {"known", "unknown", "damaged", "salvaged", "blank"}


def test_the_same_seed_gives_the_same_run() -> None:
    """A seed repeats a run to the last record."""
    first, second = fuzz(300, "3"), fuzz(300, "3")
    assert first.outcomes == second.outcomes


def test_the_program_reports_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    """A run without a failure prints its figures and ends with 0."""
    assert main(["--lines", "200", "--seed", "5", "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    assert [line.split(":")[0].split()[0] for line in out.splitlines()] == [
        "200",
        "reading",
        "memory",
        "records",
    ]
    assert err == ""


def test_figures_of_several_processes_are_summed() -> None:
    """Lines and records are those of all processes together."""
    tallies = [fuzz(100, "1"), fuzz(50, "2")]
    assert format_tallies(tallies, 1, 2.0).splitlines()[0] == (
        "150 lines in 2 s, 75 lines/s, seed 1"
    )


def test_a_gap_between_spans_is_noticed() -> None:
    """A byte that belongs to no record breaks a law."""
    records = [Tag(span=Span("", 0, 4)), Tag(span=Span("", 5, 4))]
    with pytest.raises(LawBroken, match="does not continue at 4"):
        laws.check_tiling([*records], 9)


def test_bytes_behind_the_last_span_are_noticed() -> None:
    """The spans must reach the end."""
    with pytest.raises(LawBroken, match="end at 4 of 9"):
        laws.check_tiling([Tag(span=Span("", 0, 4))], 9)


def test_a_lone_surrogate_in_a_record_is_noticed() -> None:
    """A string that cannot be written as UTF-8 breaks a law."""
    with pytest.raises(LawBroken, match="cannot be encoded"):
        laws.check_encodable([Tag(tag="\ud800")])


def test_other_records_than_those_of_one_read_are_noticed() -> None:
    """Records that chunking changed break a law."""
    with pytest.raises(LawBroken, match="chunks give"):
        laws.check_same([Tag(span=Span("", 0, 5))], b"null\n", 100)


def test_usage_that_the_narrow_reader_leaves_out_is_noticed(tmp_path: Path) -> None:
    """A usage that only the full reader finds breaks a law."""
    line = b'{"type":"assistant","message":{"id":"m","usage":{"input_tokens":1}}}\n'
    (tmp_path / "empty.jsonl").write_bytes(b"")
    with pytest.raises(LawBroken, match="misses"):
        laws.check_usage(laws.read_chunks([line], 1000), tmp_path / "empty.jsonl")


@pytest.mark.parametrize(
    "fields",
    [
        '"message":{"id":"m","usage":{"input_tokens":1}}',
        '"costUSD":0.5,"message":{"id":"m"}',
        '"costUSD":0,"message":{"id":"m"}',
        '"costUSD":0.5',
        '"message":{"id":"m"}',
    ],
)
def test_usage_and_costs_of_old_clients_follow_the_law(tmp_path: Path, fields: str) -> None:
    """Records with usage, with only a cost and with neither break no law."""
    line = f'{{"type":"assistant",{fields}}}\n'.encode()
    path = tmp_path / "one.jsonl"
    path.write_bytes(line)
    laws.check_usage(laws.read_chunks([line], 1000), path)


def test_a_slow_read_is_noticed() -> None:
    """Ten seconds for a kilobyte break a law."""
    with pytest.raises(LawBroken, match=r"1000 bytes took 10\.0 s"):
        laws.check_speed(10, 1000)


@pytest.mark.parametrize("seed", range(20))
def test_chunks_are_the_whole_input(seed: int) -> None:
    """However the bytes are cut, nothing is lost and no chunk is empty."""
    data = random.Random(seed).randbytes(50)
    chunks = laws.cut(random.Random(seed), data)
    assert b"".join(chunks) == data
    assert all(chunks)
