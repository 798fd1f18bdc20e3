"""Tests of recollect.sync.message_lines: the lines of a file become one row a message."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.pricing import Prices
from recollect.reader.usage_reader import read_usage
from recollect.records.conversation_records import AssistantUsage
from recollect.store.ledger_rows import MessageRow
from recollect.sync.message_lines import MAX_VALUE, Costs, gather_rows, to_milliseconds
from recollect.sync.usage_counting import merge_pair
from tests.sync.lines import LINES, Line

COSTS = Costs(Prices.load())
Key = tuple[str, str | None, str | None, bool]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of a transcript that each example rewrites."""
    return tmp_path_factory.mktemp("rows") / "session.jsonl"


def read(file: Path, lines: Iterable[Line]) -> list[AssistantUsage]:
    """The records of these lines, at their positions in one file."""
    file.write_bytes(b"".join(line.encode() for line in lines))
    return list(read_usage(file, with_relayed=True))


def gather(file: Path, *lines: Line) -> list[MessageRow]:
    """The rows of these lines."""
    return gather_rows(read(file, lines), COSTS)


def unite(rows: Sequence[Sequence[MessageRow]]) -> dict[Key, MessageRow]:
    """The rows of several readings of a file, as the index unites them."""
    united: dict[Key, MessageRow] = {}
    for row in (row for reading in rows for row in reading):
        known = united.get(row.key)
        united[row.key] = row if known is None else merge_pair(known, row, COSTS)
    return united


def test_a_message_over_several_lines_is_one_row(file: Path) -> None:
    """The largest usage counts, at the earliest time, with the tools of all lines."""
    first = Line(output=1, time="2026-03-01T10:00:02.000Z", tools=("Read",), branch="old")
    last = replace(first, output=81, time="2026-03-01T10:00:03.000Z", tools=("Bash",), branch="new")
    (row,) = gather(file, first, replace(first, time="2026-03-01T10:00:01.250Z", tools=()), last)
    assert (row.position, row.output, row.tools, row.branch) == (0, 81, "Bash\nRead", "new")
    assert row.time == 1_772_359_201_250


def test_between_equal_outputs_the_larger_total_wins(file: Path) -> None:
    """Then a line of the main session, then the first."""
    line = Line(output=5, branch="first")
    larger = replace(line, input=11, branch="larger", is_sidechain=True)
    (row,) = gather(file, line, larger)
    assert row.branch == "larger"
    (row,) = gather(file, larger, replace(larger, is_sidechain=False, branch="main line"))
    assert row.branch == "main line"
    (row,) = gather(file, line, replace(line, branch="second"))
    assert row.branch == "first"


def test_what_progress_records_repeat_makes_rows_of_its_own(file: Path) -> None:
    """Even beside a line of the same message, request and model."""
    line = Line(output=81)
    relayed = replace(line, output=2, is_relayed=True)
    rows = gather(file, relayed, line, replace(relayed, output=3))
    assert [(row.is_relayed, row.output, row.is_sidechain) for row in rows] == [
        (True, 3, True),
        (False, 81, False),
    ]


def test_the_cost_that_the_client_noted_counts_without_tokens_only(file: Path) -> None:
    """The largest among the lines of a message; an impossible price is ignored."""
    bare = Line(id="a", has_usage=False, cost=0.25)
    both = Line(id="b", cost=0.5)
    rows = gather(file, bare, replace(bare, cost=0.75), both, replace(both, id="c", cost=-1))
    assert [(row.output, row.cost, row.client_cost) for row in rows] == [
        (0, 750_000, 750_000),
        (20, 330, 500_000),
        (20, 330, None),
    ]


def test_messages_of_the_client_itself_are_no_rows(file: Path) -> None:
    """No model was asked, so nothing was used."""
    assert gather(file, Line(model="<synthetic>")) == []


def test_a_message_without_an_id_goes_by_the_uuid_of_its_line(file: Path) -> None:
    """Without a uuid, file name and position identify it, so that each line counts once."""
    lines = (Line(id=None), Line(id=""), Line(id=None, uuid=None), Line(id=None, uuid=None))
    names = [row.message_id for row in gather(file, *lines)]
    places = [sum(len(line.encode()) for line in lines[:count]) for count in (2, 3)]
    assert names == ["u1", *(f"session:{place}" for place in places)]


def test_one_id_with_other_requests_or_models_makes_other_rows(file: Path) -> None:
    """Whether they are one message is decided among all files, not here."""
    line = Line()
    lines = (line, replace(line, request="req_2"), replace(line, model="other"), line)
    rows = gather(file, *lines)
    assert [(row.request_id, row.model) for row in rows] == [
        ("req_1", line.model),
        ("req_2", line.model),
        ("req_1", "other"),
    ]


@pytest.mark.parametrize("count", [-1, MAX_VALUE + 1, 2**64, 2**70])
def test_impossible_counts_are_none(file: Path, count: int) -> None:
    """They are damage: they do not win over a copy that is sound, and fit into no table."""
    broken = Line(output=count, input=count, cache_read=count, searches=count, split=(count, 7))
    (row,) = gather(file, broken)
    assert (row.input, row.output, row.cache_read, row.web_searches) == (0, 0, 0, 0)
    assert (row.late_5m, row.late_1h) == (0, 7)
    (row,) = gather(file, broken, Line(output=3))
    assert row.output == 3


def test_cache_writes_that_the_total_denies_are_kept_apart(file: Path) -> None:
    """A fork leaves them on copies whose usage it has set to zero."""
    (row,) = gather(file, Line(input=0, output=0, split=(1200, 30)))
    assert (row.cache_write_5m, row.cache_write_1h) == (0, 0)
    assert (row.late_5m, row.late_1h) == (1200, 30)


def test_line_ends_in_the_name_of_a_tool_do_not_make_two_tools(file: Path) -> None:
    """Names are kept one a line."""
    (row,) = gather(file, Line(tools=("a\nb", "c")))
    assert row.tools == "a b\nc"


def test_advisors_are_priced_with_the_message(file: Path) -> None:
    """Their usage is only in the steps, which are kept for price changes."""
    line = Line(output=100, input=0)
    plain, advised = (gather(file, replace(line, advisor=steps))[0] for steps in (0, 1000))
    assert (plain.usage, plain.cost, advised.cost) == (None, 1500, 1500 + 25_000)
    assert advised.usage is not None


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1970-01-01T00:00:00.000Z", 0),
        ("1970-01-01T00:00:00.0019Z", 1),
        ("1969-12-31T23:59:59.9999Z", -1),
        ("1970-01-01T01:00:00+02:00", -3_600_000),
        ("1970-01-01T00:00:01", 1000),
        ("2026-02-30T00:00:00Z", None),
        ("0001-01-01T00:00:00+14:00", -62_135_647_200_000),
        ("", None),
        (None, None),
    ],
)
def test_times_are_whole_milliseconds(text: str | None, milliseconds: int | None) -> None:
    """Rounded down, so that none is moved into the next day."""
    assert to_milliseconds(text) == milliseconds


@given(st.lists(LINES, max_size=12), st.lists(st.integers(0, 12), max_size=3))
def test_reading_in_parts_gives_the_rows_of_reading_at_once(
    file: Path, lines: list[Line], cuts: list[int]
) -> None:
    """Position, time, tools, figures and cost do not depend on the number of reads."""
    records = read(file, lines)
    edges = sorted({0, *(min(cut, len(records)) for cut in cuts), len(records)})
    parts = [records[start:end] for start, end in pairwise(edges)]
    at_once = {row.key: row for row in gather_rows(records, COSTS)}
    assert unite([gather_rows(part, COSTS) for part in parts]) == at_once


@given(st.lists(LINES, max_size=8))
def test_every_row_fits_the_index(file: Path, lines: list[Line]) -> None:
    """Whatever the lines, figures are within bounds and texts are valid."""
    for row in gather(file, *lines):
        figures = [row.input, row.output, row.cache_read, row.cache_write_5m, row.cache_write_1h]
        figures += [row.web_searches, row.late_5m, row.late_1h, row.cost or 0]
        assert all(0 <= figure < 2**51 for figure in figures)
        assert row.tools.split("\n") == sorted(set(row.tools.split("\n")))
