"""Damage to the index never changes an answer, and the fuzzer notices when it does."""

import random
from pathlib import Path

import pytest

from fuzz.damage import (
    COMMANDS,
    PAGE_BYTES,
    DamagedFiles,
    flip_bit,
    iter_failures,
    main,
    overwrite_page,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> DamagedFiles:
    """An index that tests may damage."""
    return DamagedFiles(tmp_path_factory.mktemp("damage"))


@pytest.mark.slow
def test_forty_damages_change_no_answer(files: DamagedFiles) -> None:
    """Flipped bits and overwritten pages, in the catalogue and in the full-text index."""
    assert list(iter_failures(files, flips=25, pages=15, seed=7)) == []


def test_the_answers_are_real_ones(files: DamagedFiles) -> None:
    """Every command succeeds and finds something, so that damage would show."""
    assert [answer[0] for answer in files.expected] == ["exit 0 "] * len(COMMANDS)
    assert min(len(answer[1]) for answer in files.expected) > 1_000


def test_a_changed_answer_is_reported(tmp_path: Path) -> None:
    """The report names the seed, the damage and the command."""
    files = DamagedFiles(tmp_path)
    next(tmp_path.rglob("*.jsonl")).unlink()
    failures = list(iter_failures(files, flips=1, pages=0, seed=3))
    assert failures[0].startswith("3:0 flip_bit ")
    assert "('list', '--json', '-n', '100')" in failures[0]


def test_the_program_reports_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    """A run without a failure prints its figures and ends with 0."""
    assert main(["--flips", "0", "--pages", "1", "--seed", "3"]) == 0
    out, err = capsys.readouterr()
    assert (out.split(" in ")[0], out.split(", ")[1:], err) == (
        "0 flips and 1 pages",
        ["seed 3", "0 failures\n"],
        "",
    )


def test_damage_is_what_it_says() -> None:
    """One bit, or one page."""
    content = bytes(range(256)) * 128
    flipped = flip_bit(content, random.Random(1))
    assert (int.from_bytes(content) ^ int.from_bytes(flipped)).bit_count() == 1
    changed = overwrite_page(content, random.Random(1))
    starts = range(0, len(content), PAGE_BYTES)
    same = [content[at : at + PAGE_BYTES] == changed[at : at + PAGE_BYTES] for at in starts]
    assert (same.count(False), len(changed)) == (1, len(content))
