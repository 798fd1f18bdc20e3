"""A flipped bit in the index never changes reports or explanations."""

import random
from datetime import date

import pytest

from recollect.documents.usage_groups import Group
from recollect.store.schema import load_checksums
from recollect.store.usage_queries import UsageQueries
from recollect.usage.explain import Explanation, explain
from recollect.usage.ledger_access import UsageLedger, load_report, query_ledger
from recollect.usage.reports import UsageQuery, UsageReport
from recollect.usage.zones import load_zone
from tests.store.test_damage import Indexed, flip
from tests.sync.lines import Line
from tests.sync.world import World

FLIPS, SLOW_FLIPS = 15, 200
GROUPS = (Group.DAY, Group.SESSION, Group.PROJECT, Group.SUBAGENT, Group.TOOL)
Answers = tuple[list[UsageReport], list[Explanation]]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """An index that tests may damage."""
    base = tmp_path_factory.mktemp("flipped")
    return Indexed(World(base, base / "data"))


def ask(indexed: Indexed) -> Answers:
    """Ask various questions that together read most of the index."""
    zone = load_zone("UTC")

    def question(queries: UsageQueries) -> Answers:
        ledger = UsageLedger(queries, [indexed.world.root])
        questions = [UsageQuery(group=group, zone=zone, breakdown=True) for group in GROUPS]
        reports = [load_report(ledger, each) for each in questions]
        targets = ["2026-03-02", *(str(row.key) for row in reports[1].rows)]
        return reports, [explain(ledger, each, zone, date(2026, 4, 1)) for each in targets]

    answers, failure = query_ledger(indexed.world.data, indexed.world.find(), question)
    assert failure is None
    return answers


def simplify(answers: Answers) -> object:
    """The answers without the zone, which is another object each time."""
    reports, explanations = answers
    return [(each.rows, each.totals) for each in reports], explanations


@pytest.mark.skipif(not load_checksums(), reason="this apsw has no checksum VFS")
@pytest.mark.parametrize(
    "seed",
    [*range(FLIPS), *(pytest.param(n, marks=pytest.mark.slow) for n in range(FLIPS, SLOW_FLIPS))],
)
def test_a_flipped_bit_changes_no_figure(indexed: Indexed, seed: int) -> None:
    """Neither at once nor after the index was updated."""
    dice = random.Random(seed)
    world, content = indexed.world, indexed.content
    indexed.put_back(content)
    before = simplify(ask(indexed))
    indexed.put_back(flip(content, dice.randrange(len(content)), dice.randrange(8)))
    assert simplify(ask(indexed)) == before
    later = world.write("p9/later", Line(id="msg_1_7", output=3).encode())
    added = simplify(ask(indexed))
    indexed.put_back(content)
    assert simplify(ask(indexed)) == added
    later.unlink()
