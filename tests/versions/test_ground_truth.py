"""Versions and blame of 30 files over 200 steps, against the known truth."""

from typing import NamedTuple

import pytest

from recollect.versions.evidence import Evidence
from recollect.versions.replay import Grade
from tests.versions.ground_truth import Client, play
from tests.versions.judging import judge_blame, judge_versions, read_everything, replay_everything

CLIENTS = [
    ("1.0.128", False),
    ("2.0.77", False),
    ("2.0.77", True),
    ("2.1.112", False),
    ("2.1.112", True),
    ("2.1.325", False),
    ("2.1.325", True),
]
SEEDS = [0, 6, 7, 52]


class Work(NamedTuple):
    """A client's work, and what its transcripts record of it."""

    client: Client
    evidence: list[Evidence]


@pytest.fixture(
    scope="module",
    params=[(*each, seed) for each in CLIENTS for seed in SEEDS],
    ids=lambda each: f"{each[0]}-{'backups' if each[1] else 'headless'}-{each[2]}",
)
def work(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Work:
    """The work of one version of the client, with or without backups."""
    version, with_backups, seed = request.param
    root = tmp_path_factory.mktemp("claude")
    client = Client(root, version, seed, with_backups=with_backups)
    play(client)
    return Work(client, read_everything(root))


def test_no_certain_version_is_wrong(work: Work) -> None:
    """Every exact or replayed version is the content that the file had."""
    verdict = judge_versions(work.client.truth, replay_everything(work.client, work.evidence))
    certain = (Grade.EXACT, Grade.REPLAYED)
    assert [each for each in verdict.wrong_versions if each.known in certain] == []
    assert verdict.right[Grade.EXACT] > 100
    assert verdict.right[Grade.REPLAYED] > 10


def test_blame_finds_the_prompts_with_a_git_base(work: Work) -> None:
    """With a base nearly all lines are right, and no unique line is wrong."""
    bases = work.client.first
    shares = judge_blame(work.client, replay_everything(work.client, work.evidence, bases), bases)
    assert shares.wrong_unique == 0
    assert shares.all >= 0.995
    assert shares.touched >= 0.97


def test_blame_finds_the_prompts_without_git(work: Work) -> None:
    """Without a base nine of ten touched lines are right; the others are not given to prompts."""
    shares = judge_blame(work.client, replay_everything(work.client, work.evidence))
    assert shares.false_unique == 0
    assert shares.false_prompts < 10
    assert shares.touched >= 0.9


def test_the_work_has_everything_that_is_hard(work: Work) -> None:
    """The made-up work has all kinds of steps, odd files and large files."""
    counts = work.client.truth.counts
    assert {"Edit", "Write", "NotebookEdit", "Bash", "rename", "subagent"} <= set(counts)
    assert ("MultiEdit" in counts) == (work.client.version < "2.0")
    assert ("rewind" in counts) == work.client.with_backups
    assert sum(counts.values()) >= 190
    files = work.client.files.values()
    assert len(files) >= 30
    assert any(each.is_crlf for each in files)
    assert any(each.has_bom for each in files)
    assert any(not each.has_final_newline for each in files)
    assert any("\n\t" in each.text for each in files)
    assert any(len(each.text) > 10_000 for each in files)
