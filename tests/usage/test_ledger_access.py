"""Tests of recollect.usage.ledger_access."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Protocol, TypeVar

import apsw
import pytest

from recollect.documents.usage_groups import Group
from recollect.store.data_directory import INDEX_NAME, SCHEMA_VERSION
from recollect.store.database import DAMAGED_NAME, open_for_reading
from recollect.store.schema import NewerIndex, write_meta
from recollect.store.usage_queries import UsageQueries
from recollect.sync.index_access import find_transcripts
from recollect.usage.ledger_access import (
    DirectoryUse,
    LedgerCache,
    UsageLedger,
    count_in_memory,
    find_project_paths,
    load_report,
    load_rows,
    open_ledger,
    query_ledger,
)
from recollect.usage.reports import UsageQuery, UsageReport, make_report
from recollect.usage.totals import Totals
from recollect.usage.zones import load_zone
from tests.usage.transcripts import (
    FIRST,
    HAIKU,
    OPUS,
    SECOND,
    agent_path,
    reply,
    session_path,
    write_lines,
)


def list_files(queries: UsageQueries) -> list[str]:
    """Return the paths in the ledger."""
    return sorted(queries.files)


COST = 10 * 4 + 100 * 20
"""Micro-dollars of a plain reply of Opus 5.5."""

T = TypeVar("T")


class Ask(Protocol):
    """Queries the ledger."""

    def __call__(self, question: Callable[[UsageQueries], T]) -> T:
        """The answer."""


def open_root(data: Path, *roots: Path) -> Ask:
    """Return a function that asks the index of some roots; the index must be usable."""

    def ask(question: Callable[[UsageQueries], T]) -> T:
        answer, failure = query_ledger(data, find_transcripts(roots), question)
        assert failure is None
        return answer

    return ask


def report_by(ask: Ask, root: Path, question: UsageQuery) -> UsageReport:
    """Return the report of one root."""
    return ask(lambda queries: load_report(open_ledger(queries, [root]), question))


def sum_by(ask: Ask, root: Path, group: Group, **changes: object) -> dict[str | None, int]:
    """Return the messages of each row of a report."""
    zone = load_zone(str(changes.pop("zone", "UTC")))
    question = UsageQuery(group=group, zone=zone, **changes)  # type: ignore[arg-type]
    return {row.key: row.totals.messages for row in report_by(ask, root, question).rows}


def ask_memory(root: Path) -> Ask:
    """Return a function that asks without an index."""

    def ask(question: Callable[[UsageQueries], T]) -> T:
        return question(count_in_memory(find_transcripts([root])))

    return ask


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A Claude directory with two projects, a subagent and all dimensions."""
    root = tmp_path / "claude"
    write_lines(
        session_path(root, FIRST),
        reply("a", tools=("Read", "Bash")),
        reply("b", model=HAIKU, timestamp="2026-11-15T18:45:00Z", gitBranch="topic"),
        reply("c", tools=("mcp__maps__find",), timestamp=None, isSidechain=True),
    )
    write_lines(
        session_path(root, SECOND, "-w-lib"),
        reply("d", cwd="/w/lib", version="2.0.1", entrypoint="sdk-py", model="glm-9"),
    )
    agent = agent_path(root, FIRST, "x1")
    write_lines(agent, reply("e", isSidechain=True, agentId="x1", cwd="/w/app/src"))
    agent.with_name("agent-x1.meta.json").write_text('{"agentType": "Explore"}')
    return root


EXPECTED: dict[Group, dict[str | None, int]] = {
    Group.DAY: {"2026-11-15": 4, None: 1},
    Group.WEEK: {"2026-W46": 4, None: 1},
    Group.MONTH: {"2026-11": 4, None: 1},
    Group.SESSION: {FIRST: 4, SECOND: 1},
    Group.PROJECT: {"/w/app": 4, "/w/lib": 1},
    Group.MODEL: {OPUS: 3, HAIKU: 1, "glm-9": 1},
    Group.BRANCH: {"main": 4, "topic": 1},
    Group.VERSION: {"2.1.200": 4, "2.0.1": 1},
    Group.ENTRYPOINT: {"cli": 4, "sdk-py": 1},
    Group.TOOL: {"Bash": 1, "Read": 0, "mcp__maps__find": 1, None: 3},
    Group.MCP_SERVER: {"maps": 1, None: 4},
    Group.SUBAGENT: {"main": 3, "subagent": 1, "Explore": 1},
    Group.BLOCK: {"2026-11-15T10:00:00Z": 3, "2026-11-15T18:00:00Z": 1, None: 1},
}


def test_each_directory_is_counted_by_itself(tmp_path: Path, data: Path, root: Path) -> None:
    """A message with a copy in another directory counts in both, with the figures of each."""
    other = tmp_path / "backup"
    shutil.copytree(root, other)
    longer = {"output_tokens": 500}
    write_lines(session_path(other, SECOND, "-w-lib"), reply("d", usage=longer, cwd="/w/lib"))
    question = UsageQuery(group=Group.SESSION, zone=load_zone("UTC"))
    shared = open_root(data, root, other)
    for each in (root, other):
        alone = report_by(open_root(tmp_path / f"data-{each.name}", each), each, question)
        assert alone.totals.messages == 5
        assert report_by(shared, each, question) == alone
    assert report_by(shared, tmp_path / "nowhere", question).totals.messages == 0


def count_with(cache: LedgerCache, data: Path) -> tuple[int, apsw.Connection | None]:
    """The messages that a cache counts, and the index in memory that it asked, if it did."""
    state, connection = cache.find_state(), open_for_reading(data)
    assert connection is not None
    question = UsageQuery(group=Group.MODEL, zone=load_zone("UTC"))

    def ask(ledger: UsageLedger) -> tuple[int, apsw.Connection | None]:
        asked = ledger.queries.connection
        messages = load_report(ledger, question).totals.messages
        return messages, None if asked is connection else asked

    with closing(connection):
        return cache.query(UsageQueries(connection), state, ask)


def test_a_ledger_that_was_counted_apart_is_kept(tmp_path: Path, data: Path, root: Path) -> None:
    """Until the index changes, queries of a directory with copies use the same one."""
    other = tmp_path / "backup"
    shutil.copytree(root, other)
    open_root(data, root, other)(list_files)
    cache = LedgerCache(data, [other])
    first = count_with(cache, data)
    assert first[0] == 5
    assert first[1] is not None
    assert count_with(cache, data) == first
    write_lines(session_path(other, SECOND, "-w-new"), reply("z"))
    open_root(data, root, other)(list_files)
    messages, asked = count_with(cache, data)
    assert (messages, asked in (None, first[1])) == (6, False)


def test_a_directory_without_copies_is_asked_in_the_index(
    tmp_path: Path, data: Path, root: Path
) -> None:
    """A directory that shares no messages with others is counted from the common index."""
    other = tmp_path / "other"
    write_lines(session_path(other, SECOND), reply("unique"))
    open_root(data, root)(list_files)
    assert count_with(LedgerCache(data, [root]), data) == (5, None)
    open_root(data, root, other)(list_files)
    assert count_with(LedgerCache(data, [other]), data) == (1, None)


@pytest.mark.parametrize("group", list(Group))
def test_every_group_from_real_files(data: Path, root: Path, group: Group) -> None:
    """Each dimension of a message is found under its name."""
    assert sum_by(open_root(data, root), root, group) == EXPECTED[group]


@pytest.mark.parametrize("group", list(Group))
def test_counting_in_memory_is_the_same(data: Path, root: Path, group: Group) -> None:
    """Without an index the answers are the same."""
    question = UsageQuery(group=group, zone=load_zone("Asia/Kolkata"), breakdown=True)
    reports = [report_by(ask, root, question) for ask in (ask_memory(root), open_root(data, root))]
    assert reports[0] == reports[1]


def test_half_hour_zones_use_the_messages(data: Path, root: Path) -> None:
    """In India, a message at 18:45 UTC is on the next day, and one at 18:15 is not."""
    found = sum_by(open_root(data, root), root, Group.DAY, zone="Asia/Kolkata")
    assert found == {"2026-11-15": 3, "2026-11-16": 1, None: 1}


@pytest.mark.parametrize(("part", "expected"), [("/w/app/src", 1), ("W-LIB", 1), ("/w/", 5)])
def test_projects_by_a_part_of_their_name(data: Path, root: Path, part: str, expected: int) -> None:
    """The working directory of the message and the directory name both count."""
    found = sum_by(open_root(data, root), root, Group.ENTRYPOINT, project=part)
    assert sum(found.values()) == expected


def test_figures_are_those_of_the_messages(data: Path, root: Path) -> None:
    """Tokens and costs arrive unchanged, and what has no price is counted as such."""
    ask = open_root(data, root)
    question = UsageQuery(group=Group.SESSION, zone=load_zone("UTC"), model="glm")
    expected = Totals(messages=1, input=10, output=100, unpriced=1)
    assert report_by(ask, root, question).totals == expected
    plain = UsageQuery(group=Group.MODEL, zone=load_zone("UTC"), model=OPUS)
    # One of the three has no time, and so no price.
    expected = Totals(messages=3, input=30, output=300, cost=2 * COST, unpriced=1)
    assert report_by(ask, root, plain).totals == expected


def test_what_is_gone_still_counts(data: Path, root: Path) -> None:
    """Usage does not shrink when Claude Code deletes transcripts."""
    open_root(data, root)(list_files)
    shutil.rmtree(root / "projects" / "-w-lib")
    assert sum_by(open_root(data, root), root, Group.SESSION) == {FIRST: 4, SECOND: 1}


def test_other_roots_are_left_out(data: Path, root: Path, tmp_path: Path) -> None:
    """The index may contain other roots."""
    other = tmp_path / "other"
    write_lines(session_path(other, "s9"), reply("z"))
    ask = open_root(data, root, other)
    assert sum_by(ask, other, Group.SESSION) == {"s9": 1}
    assert sum_by(ask, root, Group.MODEL) == EXPECTED[Group.MODEL]
    # It holds Claude directories, and is none.
    assert sum_by(ask, tmp_path, Group.SESSION) == {}


def test_new_lines_are_counted_at_once(data: Path, root: Path) -> None:
    """A result is never older than the files."""
    open_root(data, root)(list_files)
    path = session_path(root, FIRST)
    with path.open("ab") as file:
        write_lines(path.with_suffix(".new"), reply("new"))
        file.write(path.with_suffix(".new").read_bytes())
    assert sum_by(open_root(data, root), root, Group.SESSION) == {FIRST: 5, SECOND: 1}


def test_a_read_only_data_directory_is_no_obstacle(root: Path, tmp_path: Path) -> None:
    """The files are still counted, and the reason is reported."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    found = find_transcripts([root])
    files, failure = query_ledger(blocked / "data", found, list_files)
    assert files == sorted(str(each.path) for each in found)
    assert failure is not None
    assert failure.startswith(f"Cannot create the data directory {blocked / 'data'}: ")


def test_unreadable_files_are_reported_each_time(data: Path, root: Path) -> None:
    """Everything else is counted; the reason is reported for a new and for a current index."""
    found = find_transcripts([root])
    blocked = root / "projects" / "-w-lib" / "blocked.jsonl"
    blocked.mkdir()
    transcripts = [*found, found[0]._replace(file=str(blocked))]

    def list_problems(queries: UsageQueries) -> list[list[str]]:
        return [
            list(UsageLedger(queries, [place]).problems) for place in (root, root / "elsewhere")
        ]

    expected = [[str(blocked)], []]
    assert query_ledger(data, transcripts, list_problems) == (expected, None)
    assert query_ledger(data, transcripts, list_problems) == (expected, None)
    assert list_problems(count_in_memory(transcripts)) == expected
    assert sum_by(open_root(data, root), root, Group.MODEL) == EXPECTED[Group.MODEL]


def test_a_damaged_index_is_rebuilt(data: Path, root: Path) -> None:
    """A changed text in the index is detected, and the files are read again."""
    open_root(data, root)(list_files)
    connection = apsw.Connection(str(data / INDEX_NAME))
    connection.execute("UPDATE names SET text = 'other' || id")
    connection.close()
    ask = open_root(data, root)
    assert sum_by(ask, root, Group.SESSION) == EXPECTED[Group.SESSION]
    assert sum_by(ask, root, Group.MODEL) == EXPECTED[Group.MODEL]


def test_damage_found_by_a_later_question_is_repaired(data: Path, root: Path) -> None:
    """Few queries read messages, and opening the index never does."""
    open_root(data, root)(list_files)
    connection = apsw.Connection(str(data / INDEX_NAME))
    page, size = (
        int(connection.execute(query).get)
        for query in (
            "SELECT rootpage FROM sqlite_schema WHERE name = 'messages_by_key'",
            "PRAGMA page_size",
        )
    )
    connection.close()
    with (data / INDEX_NAME).open("r+b") as file:
        file.seek((page - 1) * size + 200)
        file.write(b"\xff" * 50)
    explained = open_root(data, root)(lambda queries: queries.select_of_message("a"))
    assert [entry.is_counted for entry in explained] == [True]
    assert (data / DAMAGED_NAME).exists()


def test_an_index_of_a_newer_version_is_an_error(data: Path, root: Path) -> None:
    """Counting only the files would omit deleted transcripts."""
    open_root(data, root)(list_files)
    connection = apsw.Connection(str(data / INDEX_NAME))
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    write_meta(connection, "schema", str(SCHEMA_VERSION + 1))
    connection.close()
    with pytest.raises(NewerIndex, match=r"`recollect index --rebuild`"):
        query_ledger(data, find_transcripts([root]), list_files)


def test_prices_of_the_user_apply_to_what_is_known(data: Path, root: Path, tmp_path: Path) -> None:
    """With the file, without it and with it again; in memory too."""
    prices = tmp_path / "prices.toml"
    prices.write_text('[[prices]]\nmodel = "glm-9"\ninput = 1\noutput = 2\n')
    question = UsageQuery(group=Group.MODEL, zone=load_zone("UTC"), model="glm")
    found = find_transcripts([root])

    def find_cost(queries: UsageQueries) -> int | None:
        rows = load_rows(open_ledger(queries, [root]), question)
        return make_report(rows, question).totals.known_cost

    assert query_ledger(data, found, find_cost) == (None, None)
    assert query_ledger(data, found, find_cost, prices=prices) == (210, None)
    assert query_ledger(data, found, find_cost, prices=prices) == (210, None)
    assert query_ledger(data, found, find_cost) == (None, None)
    assert find_cost(count_in_memory(found, prices=prices)) == 210


def test_an_agent_type_may_be_anything(data: Path, root: Path) -> None:
    """The subagent is counted, whatever its type."""
    meta = agent_path(root, FIRST, "x1").with_name("agent-x1.meta.json")
    for text in ("", "{", '{"agentType": 5}', '{"agentType": ""}', "[]", "\xff"):
        meta.write_text(text, encoding="latin-1")
        found = sum_by(open_root(data, root), root, Group.SUBAGENT)
        assert found == {"main": 3, "subagent": 2}


def test_the_project_path_is_the_one_that_encodes_to_the_name() -> None:
    """Work in other directories, however much, does not change the project of a session."""
    uses = [
        DirectoryUse(1, "/w/app", 2),
        DirectoryUse(1, "/w/app/src", 90),
        DirectoryUse(1, "/tmp", 7),
    ]
    assert find_project_paths({1: "-w-app"}, uses) == {1: "/w/app"}


def test_directories_with_the_same_encoded_name_are_distinguished() -> None:
    """They are two projects if the files record different paths."""
    uses = [DirectoryUse(1, "/w/my-app", 2), DirectoryUse(2, "/w/my/app", 5)]
    projects = dict.fromkeys((1, 2), "-w-my-app")
    assert find_project_paths(projects, uses) == {1: "/w/my-app", 2: "/w/my/app"}


def test_a_file_without_a_match_follows_its_project() -> None:
    """A subagent that worked elsewhere still belongs to the project."""
    uses = [DirectoryUse(1, "/w/app", 2), DirectoryUse(2, "/w/tree", 9)]
    projects = dict.fromkeys((1, 2, 3), "-w-app")
    assert find_project_paths(projects, uses) == dict.fromkeys((1, 2, 3), "/w/app")


def test_a_renamed_directory_has_the_most_used_path() -> None:
    """If no working directory encodes to the name, the most used one is taken."""
    uses = [DirectoryUse(1, "/a", 2), DirectoryUse(2, "/b", 1), DirectoryUse(3, "/b", 2)]
    assert find_project_paths({1: "x", 2: "x", 3: "x", 4: "y"}, uses) == {
        1: "/b",
        2: "/b",
        3: "/b",
        4: "y",
    }


def test_long_names_of_either_era_are_known() -> None:
    """Old clients did not shorten the names of long directories."""
    long = "/" + "d" * 300
    assert find_project_paths({1: "-" + "d" * 300}, [DirectoryUse(1, long, 1)]) == {1: long}
