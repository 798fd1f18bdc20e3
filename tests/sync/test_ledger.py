"""Tests of recollect.sync.usage_counting: which copy of a message counts."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from recollect.pricing import Prices
from recollect.reader.usage_reader import read_usage
from recollect.records.token_usage import Tokens
from recollect.store.ledger_rows import Copy, Counted, MessageRow
from recollect.sync.message_lines import Costs, gather_rows
from recollect.sync.usage_counting import count_group
from tests.sync.lines import LINES, Line

COSTS = Costs(Prices.load())


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of a transcript, rewritten by each example."""
    return tmp_path_factory.mktemp("ledger") / "session.jsonl"


def make_row(file: Path, line: Line) -> MessageRow:
    """Return the row of a file with only this line."""
    file.write_bytes(line.encode())
    (row,) = gather_rows(read_usage(file, with_relayed=True), COSTS)
    return row


def count(file: Path, *lines: Line) -> list[Counted]:
    """Return the counted figures of lines in files `a`, `b`, `c` and so on."""
    rows = [make_row(file, line) for line in lines]
    copies = [Copy(row, f"{chr(97 + place)}.jsonl") for place, row in enumerate(rows)]
    return count_group(copies, COSTS)


def test_a_copy_without_a_request_does_not_count(file: Path) -> None:
    """A resume by an old client: a new time, no request. It counts once, where it was first."""
    copy = Line(request=None, time="2026-03-05T10:00:00.000Z")
    (counted,) = count(file, copy, Line())
    assert (counted.owner, counted.members, counted.time) == (1, (1, 0), 1_772_359_200_000)


def test_what_says_that_it_is_a_copy_does_not_count(file: Path) -> None:
    """A fork of a newer client is alike in everything else, whatever its file is called."""
    (counted,) = count(file, Line(forked_from="s2"), Line())
    assert counted.owner == 1


def test_the_file_that_began_first_has_the_original(file: Path) -> None:
    """A fork starts with a time of its own; between equal times, the order of files decides."""
    row = make_row(file, Line())

    def find_owner(*beginnings: int | None) -> int:
        copies = [Copy(row, str(at), began=began) for at, began in enumerate(beginnings)]
        (counted,) = count_group(copies, COSTS)
        return counted.owner

    assert find_owner(20, 10) == 1
    assert find_owner(None, 10) == 1
    assert find_owner(10, 10) == 0


def test_the_time_of_an_earlier_copy_counts(file: Path) -> None:
    """Even where the copy that owns the message is a later one, and at the price of that day."""
    later = Line(model="claude-sonnet-4-5", time="2026-03-05T10:00:00.000Z")
    earlier = replace(later, request=None, time="2026-03-01T10:00:00.000Z")
    (counted,) = count(file, later, earlier)
    assert (counted.owner, counted.time) == (0, 1_772_359_200_000)


def test_the_largest_usage_counts_wherever_it_is(file: Path) -> None:
    """Tools of all copies are united."""
    small = Line(output=1, tools=("Read",))
    large = replace(small, output=81, time="2026-03-02T10:00:00.000Z", tools=("Bash",))
    (counted,) = count(file, large, small)
    assert (counted.owner, counted.tools) == (1, "Bash\nRead")
    assert counted.tokens == Tokens(input=10, output=81)
    assert counted.cost == 10 * 3 + 81 * 15


def test_a_zeroed_copy_adds_nothing(file: Path) -> None:
    """A fork after a compaction keeps the split of cache writes on a usage of zero."""
    whole = Line(written=1200, split=(1200, 0))
    zeroed = replace(whole, input=0, output=0, written=0, time="2026-03-01T09:00:00.000Z")
    (counted,) = count(file, zeroed, whole)
    assert counted.tokens == Tokens(10, 20, 0, 1200, 0)


def test_a_zeroed_copy_of_the_same_moment_does_not_own_the_message(file: Path) -> None:
    """Newer forks keep time and request of what they copy."""
    whole = Line(written=1200, split=(1200, 0))
    zeroed = replace(whole, input=0, output=0, written=0)
    (counted,) = count(file, zeroed, whole)
    assert counted.owner == 1


def test_late_writes_count_where_nothing_larger_is_known(file: Path) -> None:
    """Some versions wrote the split alone."""
    (counted,) = count(file, Line(input=0, output=0, split=(1200, 30)))
    assert counted.tokens == Tokens(0, 0, 0, 1200, 30)
    assert counted.cost == 1200 * 3.75 + 30 * 6


def test_a_main_line_owns_a_message_before_a_side_line(file: Path) -> None:
    """A side question replays messages of its parent."""
    line = Line()
    (counted,) = count(file, replace(line, is_sidechain=True, request="req_2"), line)
    assert counted.owner == 1


def test_equal_copies_belong_to_the_file_that_is_still_there(file: Path) -> None:
    """And then to the first by name, so that the order of reading does not matter."""
    row = make_row(file, Line())
    gone, kept, last = Copy(row, "a", is_gone=True), Copy(row, "b"), Copy(row, "c")
    assert [
        count_group(copies, COSTS)[0].owner for copies in ([gone, last, kept], [last, kept])
    ] == [
        2,
        1,
    ]


def test_a_proxy_that_uses_ids_again_is_counted_in_full(file: Path) -> None:
    """Rows that agree in neither request, model nor input are different messages."""
    line = Line()
    other = replace(line, request="req_2", model="proxy", input=99)
    assert [counted.members for counted in count(file, line, other)] == [(0,), (1,)]


@pytest.mark.parametrize("alike", [{"request": "req_1"}, {"model": Line().model}, {"input": 10}])
def test_rows_that_agree_in_anything_are_one_message(
    file: Path, alike: dict[str, str | int]
) -> None:
    """A copy may differ in two of the three."""
    other = replace(Line(request="req_2", model="proxy", input=99), **alike)  # type: ignore[arg-type]
    assert [len(counted.members) for counted in count(file, Line(), other)] == [2]


def test_rows_are_one_message_by_way_of_a_third(file: Path) -> None:
    """One without a request may be a copy of any."""
    first, second = Line(), Line(request="req_2", model="proxy", input=99)
    link = Line(request="req_2", model="third", input=10)
    assert [len(counted.members) for counted in count(file, first, second, link)] == [3]
    bare = Line(request=None, model="fourth", input=7)
    assert [len(counted.members) for counted in count(file, first, second, bare)] == [3]


def test_a_message_of_a_subagent_counts_from_its_own_transcript(file: Path) -> None:
    """Even if the parent's progress record has larger figures, or an earlier time."""
    relayed = Line(output=999, is_relayed=True, time="2026-02-01T10:00:00.000Z", tools=("Bash",))
    own = Line(is_sidechain=True, tools=("Read",))
    (counted,) = count(file, relayed, own)
    assert (counted.owner, counted.members, counted.time) == (1, (1, 0), 1_772_359_200_000)
    assert (counted.tokens.output, counted.tools) == (20, "Read")


def test_a_message_that_is_in_no_transcript_counts_once(file: Path) -> None:
    """Progress records are copied into forks like all others."""
    relayed = Line(is_relayed=True)
    (counted,) = count(file, replace(relayed, forked_from="s2"), relayed)
    assert (counted.owner, counted.tokens.output) == (1, 20)


UNRELATED = Line(id="msg_2", request="req_1", time="2026-03-01T10:00:00.000Z")
"""A message of a session that has nothing to do with the other one."""


@pytest.mark.parametrize(
    "other",
    [
        {"request": "req_2"},
        {"request": "req_2", "model": "proxy"},
        {"request": "req_2", "input": 99},
        {"request": None, "input": 99},
        {"request": None, "model": "proxy"},
    ],
)
def test_numbered_ids_of_two_sessions_are_two_messages(file: Path, other: dict[str, Any]) -> None:
    """`msg_2` of another request and another time is another message, by whatever model."""
    later = replace(UNRELATED, time="2026-03-04T09:30:00.000Z", **other)
    assert [counted.members for counted in count(file, UNRELATED, later)] == [(0,), (1,)]


def test_numbered_ids_without_requests_are_two_messages(file: Path) -> None:
    """Without requests from a proxy, only the time distinguishes them."""
    one = replace(UNRELATED, request=None)
    later = replace(one, time="2026-03-04T09:30:00.000Z")
    assert [counted.members for counted in count(file, one, later)] == [(0,), (1,)]
    assert [counted.members for counted in count(file, one, one)] == [(0, 1)]


def test_unique_ids_are_joined_without_a_common_time_or_request(file: Path) -> None:
    """Two copies by an old client, whose original was deleted, are one message."""
    one = replace(UNRELATED, id="msg_01FPKrXHfvmDAMvsNLe83qaK", request=None)
    later = replace(one, time="2026-03-04T09:30:00.000Z")
    assert [counted.members for counted in count(file, one, later)] == [(0, 1)]


def test_ten_thousand_copies_are_counted_in_no_time(file: Path) -> None:
    """A proxy may use one id for everything: that must not take quadratic time."""
    row = make_row(file, Line())
    copies = [Copy(row, str(place)) for place in range(10_000)]
    assert [len(counted.members) for counted in count_group(copies, COSTS)] == [10_000]


@given(st.lists(LINES, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_copies_does_not_matter(file: Path, lines: list[Line], random: Random) -> None:
    """In any reading order, owner, time, tools, tokens and cost are the same."""
    rows = [
        make_row(file, line)
        for line in lines
        if line.model != "<synthetic>" and (line.has_usage or (line.cost and not line.is_relayed))
    ]
    # No two rows of a file are at the same place.
    copies = [
        Copy(structs.replace(row, position=place), f"{place % 3}", is_gone=place % 2 > 0)
        for place, row in enumerate(rows)
    ]
    assert describe(random.sample(copies, len(copies))) == describe(copies)


def describe(copies: list[Copy]) -> list[tuple[object, ...]]:
    """Return what is counted, independent of the numbers of copies."""
    found = [
        (
            copies[counted.owner],
            sorted(map(repr, (copies[member] for member in counted.members))),
            counted.time,
            counted.tools,
            counted.tokens,
            counted.cost,
        )
        for counted in (count_group(copies, COSTS) if copies else [])
    ]
    return sorted(found, key=repr)
