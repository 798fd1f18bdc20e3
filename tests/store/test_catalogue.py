"""Tests of recollect.store.catalog: files, names and problems as rows."""

import os
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from recollect.store.catalog import (
    MAX_LENGTH,
    FileRow,
    Names,
    has_files_elsewhere,
    load_files,
    load_origins,
    load_problems,
    load_states,
    mark_gone,
    save_file,
    save_problem,
)
from recollect.store.schema import DamagedIndex
from recollect.store.usage_queries import open_in_memory

ROW = FileRow(
    path="/home/me/.claude/projects/p/é.jsonl",
    project="p",
    kind="session",
    session_id="s",
    agent_id=None,
    agent_type=None,
    began=1_700_000_000_000,
    device=1,
    inode=2**63 - 1,
    size=3,
    mtime_ns=4,
    position=5,
    head_hash=b"\0head",
    tail_hash=b"tail",
    is_racy=True,
)


@pytest.fixture
def connection() -> apsw.Connection:
    """An index in memory."""
    return open_in_memory()


def test_files_come_back_as_they_were(connection: apsw.Connection) -> None:
    """Even if their names are not valid UTF-8."""
    odd = replace(
        ROW, path=os.fsdecode(b"/caf\xe9"), agent_id="x", agent_type="Plan", is_racy=False
    )
    odd = replace(odd, began=None, is_gone=True)
    numbers = [save_file(connection, row) for row in (ROW, odd)]
    assert numbers == [1, 2]
    assert load_files(connection) == {ROW.path: (1, ROW), odd.path: (2, odd)}
    assert load_origins(connection) == {
        1: (ROW.path, False, 1_700_000_000_000),
        2: (odd.path, True, None),
    }


def test_files_at_some_paths_come_with_those_that_are_gone(connection: apsw.Connection) -> None:
    """Whatever characters the paths contain."""
    names = ("/a", "/b", "/'\"\\\u00e9", os.fsdecode(b"/caf\xe9"), "/gone")
    numbers = {name: save_file(connection, replace(ROW, path=name)) for name in names}
    mark_gone(connection, numbers["/gone"], is_gone=True)
    found = load_files(connection, [*names[2:4], "/unknown"])
    assert {path: number for path, (number, _) in found.items()} == {
        name: numbers[name] for name in names[2:]
    }
    assert list(load_files(connection, [])) == ["/gone"]


def test_files_elsewhere_are_noticed(connection: apsw.Connection) -> None:
    """Whatever characters the paths contain; paths that cannot be compared count as elsewhere."""
    home = "/home/me/.claude/"
    assert not has_files_elsewhere(connection, [home])
    save_file(connection, ROW)
    assert not has_files_elsewhere(connection, ["/other/", home])
    assert has_files_elsewhere(connection, ["/home/me/.claud%/"])
    assert has_files_elsewhere(connection, [])
    save_file(connection, replace(ROW, path=os.fsdecode(b"/home/me/.claude/caf\xe9")))
    assert has_files_elsewhere(connection, [home, os.fsdecode(b"/caf\xe9")])


def test_a_file_can_be_saved_in_place_of_another(connection: apsw.Connection) -> None:
    """It keeps its number, whatever else changes."""
    number = save_file(connection, ROW)
    moved = replace(ROW, path="/elsewhere", size=9)
    assert save_file(connection, moved, number) == number
    assert load_files(connection) == {"/elsewhere": (number, moved)}


def test_states_are_those_of_files_that_are_there(connection: apsw.Connection) -> None:
    """An untrusted time is not used."""
    save_file(connection, ROW)
    gone = save_file(connection, replace(ROW, path="/gone"))
    save_file(connection, replace(ROW, path="/sure", is_racy=False))
    mark_gone(connection, gone, is_gone=True)
    assert load_states(connection) == {ROW.path: (ROW.inode, 3, -1), "/sure": (ROW.inode, 3, 4)}


@pytest.mark.parametrize(
    "change",
    ["path = 'x'", "size = 4", "session_id = 't'", "id = 7", "head_hash = 1", "kind = x''"],
)
def test_a_file_that_was_not_written_so_is_damage(connection: apsw.Connection, change: str) -> None:
    """The checksum of the row detects it."""
    save_file(connection, ROW)
    connection.execute(f"UPDATE files SET {change}")
    with pytest.raises(DamagedIndex):
        load_files(connection)


def test_names_have_numbers_that_stay(connection: apsw.Connection) -> None:
    """New ones get the next."""
    names = Names(connection)
    assert [names.number(text) for text in ("a", "b", "a", None, "")] == [1, 2, 1, None, 3]
    again = Names(connection)
    assert [again.text(number) for number in (1, 2, 3, None, 99)] == ["a", "b", "", None, None]
    assert again.number("c") == 4


def test_names_without_end_are_cut(connection: apsw.Connection) -> None:
    """Names are held in memory, and a transcript may contain anything."""
    names = Names(connection)
    number = names.number("x" * (MAX_LENGTH + 5))
    assert names.number("x" * MAX_LENGTH) == number
    assert Names(connection).text(number) == "x" * MAX_LENGTH


@pytest.mark.parametrize("change", ["text = 'b'", "id = 2", "text = x'00'", "crc = 1"])
def test_a_name_that_was_not_written_so_is_damage(connection: apsw.Connection, change: str) -> None:
    """A model that was never used must not get the cost of another."""
    Names(connection).number("a")
    connection.execute(f"UPDATE names SET {change}")
    with pytest.raises(DamagedIndex):
        Names(connection)


def test_problems_are_kept_until_they_are_none(connection: apsw.Connection) -> None:
    """They are listed by path, and the last one counts."""
    odd = os.fsdecode(b"/caf\xe9")
    for path, reason in ((odd, "first"), (odd, f"cannot read {odd}"), ("/b", "gone"), ("/b", None)):
        save_problem(connection, path, reason)
    assert load_problems(connection) == {odd: "cannot read /caf?"}
    assert Path(odd).name == odd[1:]
