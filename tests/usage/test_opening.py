"""Tests of recollect.usage.opening and recollect.usage.loading: from files to rows."""

import shutil
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from recollect.store.place import INDEX_NAME
from recollect.sync.level import find_transcripts
from recollect.usage.groups import Group
from recollect.usage.loading import load_rows, open_books
from recollect.usage.opening import Opened, count_in_memory, open_level
from recollect.usage.reports import Question, make_report
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

COST = 10 * 4 + 100 * 20
"""Micro-dollars of a plain reply of Opus 5.5."""


def open_root(data: Path, root: Path) -> Opened:
    """The ledger of one root."""
    return open_level(data, find_transcripts([root]))


def sum_by(opened: Opened, root: Path, group: Group, **changes: object) -> dict[str | None, int]:
    """The messages of each row of a report."""
    zone = load_zone(str(changes.pop("zone", "UTC")))
    question = Question(group=group, zone=zone, **changes)  # type: ignore[arg-type]
    report = make_report(load_rows(open_books(opened.ledger, [root]), question), question)
    return {row.key: row.totals.messages for row in report.rows}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A Claude directory with two projects, a subagent and every circumstance."""
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
    Group.TOOL: {"Bash + Read": 1, "mcp__maps__find": 1, None: 3},
    Group.MCP_SERVER: {"maps": 1, None: 4},
    Group.SUBAGENT: {"main": 3, "subagent": 1, "Explore": 1},
    Group.BLOCK: {"2026-11-15T10:00:00Z": 3, "2026-11-15T18:00:00Z": 1, None: 1},
}


@pytest.mark.parametrize("group", list(Group))
def test_every_group_from_real_files(data: Path, root: Path, group: Group) -> None:
    """Each circumstance of a message is found under its name."""
    assert sum_by(open_root(data, root), root, group) == EXPECTED[group]


@pytest.mark.parametrize("group", list(Group))
def test_counting_in_memory_is_the_same(data: Path, root: Path, group: Group) -> None:
    """Where there is no index the answers are those of the index."""
    counted = Opened(count_in_memory(find_transcripts([root])))
    question = Question(group=group, zone=load_zone("Asia/Kolkata"), breakdown=True)
    reports = [
        make_report(load_rows(open_books(opened.ledger, [root]), question), question)
        for opened in (counted, open_root(data, root))
    ]
    assert reports[0] == reports[1]


def test_half_hours_are_told_from_the_messages(data: Path, root: Path) -> None:
    """In India the message of 18:45 UTC is one of the next day, and that of 18:15 would not be."""
    found = sum_by(open_root(data, root), root, Group.DAY, zone="Asia/Kolkata")
    assert found == {"2026-11-15": 3, "2026-11-16": 1, None: 1}


@pytest.mark.parametrize(("part", "expected"), [("/w/app/src", 1), ("W-LIB", 1), ("/w/", 5)])
def test_projects_by_a_part_of_their_name(data: Path, root: Path, part: str, expected: int) -> None:
    """The work directory of the message counts, and so does the name of the directory."""
    found = sum_by(open_root(data, root), root, Group.ENTRYPOINT, project=part)
    assert sum(found.values()) == expected


def test_figures_are_those_of_the_messages(data: Path, root: Path) -> None:
    """Tokens and costs arrive unchanged, and what has no price is counted as such."""
    opened = open_root(data, root)
    question = Question(group=Group.SESSION, zone=load_zone("UTC"), model="glm")
    rows = load_rows(open_books(opened.ledger, [root]), question)
    assert make_report(rows, question).totals == Totals(1, 10, 100, unpriced=1)
    plain = Question(group=Group.MODEL, zone=load_zone("UTC"), model=OPUS)
    rows = load_rows(open_books(opened.ledger, [root]), plain)
    # One of the three has no time, and so no price.
    assert make_report(rows, plain).totals == Totals(3, 30, 300, cost=2 * COST, unpriced=1)


def test_what_is_gone_still_counts(data: Path, root: Path) -> None:
    """Usage does not shrink because Claude Code cleaned up."""
    open_root(data, root).ledger.close()
    shutil.rmtree(root / "projects" / "-w-lib")
    assert sum_by(open_root(data, root), root, Group.SESSION) == {FIRST: 4, SECOND: 1}


def test_other_roots_are_left_out(data: Path, root: Path, tmp_path: Path) -> None:
    """The index may know more than was asked for."""
    other = tmp_path / "other"
    write_lines(session_path(other, "s9"), reply("z"))
    open_level(data, find_transcripts([root, other])).ledger.close()
    opened = open_level(data, find_transcripts([root, other]))
    assert sum_by(opened, other, Group.SESSION) == {"s9": 1}
    assert sum_by(opened, root, Group.MODEL) == EXPECTED[Group.MODEL]


def test_new_lines_are_counted_at_once(data: Path, root: Path) -> None:
    """An answer is never older than the files."""
    open_root(data, root).ledger.close()
    path = session_path(root, FIRST)
    with path.open("ab") as file:
        write_lines(path.with_suffix(".new"), reply("new"))
        file.write(path.with_suffix(".new").read_bytes())
    assert sum_by(open_root(data, root), root, Group.SESSION) == {FIRST: 5, SECOND: 1}


def test_a_place_that_cannot_be_written_is_no_obstacle(root: Path, tmp_path: Path) -> None:
    """The files are counted all the same, and the reason is told."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    opened = open_root(blocked / "data", root)
    assert sum_by(opened, root, Group.MODEL) == EXPECTED[Group.MODEL]
    assert opened.failure is not None
    assert opened.failure.startswith(f"Cannot make the data directory {blocked / 'data'}: ")


def test_what_cannot_be_read_is_told_each_time(data: Path, root: Path) -> None:
    """All else is counted; the reason is there when the index is made and when it is level."""
    found = find_transcripts([root])
    blocked = root / "projects" / "-w-lib" / "blocked.jsonl"
    blocked.mkdir()
    transcripts = [*found, replace(found[0], path=blocked)]
    for opened in (
        open_level(data, transcripts),
        open_level(data, transcripts),
        Opened(count_in_memory(transcripts)),
    ):
        assert list(open_books(opened.ledger, [root]).problems) == [str(blocked)]
        assert list(open_books(opened.ledger, [root / "elsewhere"]).problems) == []
        assert sum_by(opened, root, Group.MODEL) == EXPECTED[Group.MODEL]


@pytest.mark.parametrize("table", ["names", "files"])
def test_a_damaged_index_is_mended(data: Path, root: Path, table: str) -> None:
    """A text that changed on the disk is found out, and the files are read again."""
    open_root(data, root).ledger.close()
    connection = apsw.Connection(str(data / INDEX_NAME))
    column = {"names": "text", "files": "session_id"}[table]
    connection.execute(f"UPDATE {table} SET {column} = 'other' || id")
    connection.close()
    opened = open_root(data, root)
    assert opened.failure is None
    assert sum_by(opened, root, Group.SESSION) == EXPECTED[Group.SESSION]
    assert sum_by(opened, root, Group.MODEL) == EXPECTED[Group.MODEL]


def test_an_agent_type_may_be_anything(data: Path, root: Path) -> None:
    """Whatever lies where the type should be, the subagent counts."""
    meta = agent_path(root, FIRST, "x1").with_name("agent-x1.meta.json")
    for text in ("", "{", '{"agentType": 5}', '{"agentType": ""}', "[]", "\xff"):
        meta.write_text(text, encoding="latin-1")
        found = sum_by(open_root(data, root), root, Group.SUBAGENT)
        assert found == {"main": 3, "subagent": 2}
