"""Tests of recollect.lineage, and threads of real clients."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.lineage import PartTurns, Relation, find_thread, find_unrepeated_turns
from recollect.workspace.thread_parts import open_thread
from recollect.workspace.workspace import open_workspace
from tests.library.claude_root import FIRST, SECOND, ClaudeRoot
from tests.library.test_listings import BOUNDARY, compaction, write_fork, write_parent
from tests.lineage.test_trees import listing

MORNING, NOON, EVENING = (f"2026-11-15T{hour}:00:00Z" for hour in ("08", "12", "20"))


def part(*turns: str, is_copy: bool = False) -> PartTurns:
    """Return the turns of a session, each with one letter per id."""
    return PartTurns([frozenset(turn) for turn in turns], is_copy)


def test_a_thread_goes_back_and_forth() -> None:
    """From any of its sessions the whole thread is found, each with its relation."""
    first = listing("first", created=MORNING, continued_in="second")
    second = listing("second", created=NOON, last_active=NOON)
    copy = listing("copy", created=NOON, last_active=EVENING, forked_from="second")
    other = listing("other", created=EVENING)
    every = [other, copy, second, first]
    thread = [(first, None), (second, Relation.CONTINUATION), (copy, Relation.FORK)]
    for each in (first, second, copy):
        assert list(find_thread(each, every)) == thread
    assert list(find_thread(other, every)) == [(other, None)]


def test_a_copy_that_ended_before_its_original_is_no_continuation() -> None:
    """Its own thread includes the original, but not the other way round."""
    origin = listing("origin", created=MORNING, last_active=EVENING)
    fork = listing("fork", created=MORNING, last_active=NOON, forked_from="origin")
    every = [origin, fork]
    assert [each.listing.id for each in find_thread(origin, every)] == ["origin"]
    assert [each.listing.id for each in find_thread(fork, every)] == ["origin", "fork"]


def test_what_a_copy_repeats_is_read_once() -> None:
    """The copy is read from its first own turn, the original up to the copied ones."""
    original, copy = part("a", "b", "c"), part("a", "b", "x", is_copy=True)
    assert find_unrepeated_turns([original, copy], wanted=1) == [range(2), range(2, 3)]


def test_an_alternative_is_not_read_after_its_original() -> None:
    """The thread of a session that continued by itself ends with it."""
    original, copy = part("a", "b", "c"), part("a", "b", "x", is_copy=True)
    assert find_unrepeated_turns([original, copy], wanted=0) == [range(3)]


def test_a_full_copy_follows_its_original() -> None:
    """Like the copies that old clients made at a resume."""
    original, copy = part("a", "b"), part("a", "b", "x", "y", is_copy=True)
    assert find_unrepeated_turns([original, copy], wanted=0) == [range(2), range(2, 4)]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=5), min_size=1, max_size=4))
def test_nothing_of_sessions_that_are_no_copies_is_cut(turns: list[list[str]]) -> None:
    """Whatever they have in common."""
    parts = [part(*each) for each in turns]
    assert find_unrepeated_turns(parts, wanted=0) == [range(len(each)) for each in turns]


def test_a_fork_after_a_compaction_is_read_after_its_parent(tmp_path: Path) -> None:
    """It names no parent; the compaction that it starts with is read once, in its parent."""
    root = ClaudeRoot(tmp_path / "claude")
    write_parent(root)
    write_fork(root, SECOND, compaction(BOUNDARY))
    with open_workspace(root.path, tmp_path / "data") as workspace:
        parts = open_thread(workspace, workspace.find(SECOND))
    assert [(each.session.metadata.id, each.relation) for each in parts] == [
        (FIRST, None),
        (SECOND, Relation.FORK),
    ]
    read = [each.session.turns[at] for each in parts for at in each.turns]
    texts = [said.text for turn in read for said in turn.messages if said.text]
    assert texts == ["drain", "Done.", "On.", "fill it", "Full."]


@pytest.mark.parametrize(
    ("version", "name", "relation", "turns"),
    [
        ("2.1.325", "903e7819", Relation.CLEAR, [4, 2]),
        ("2.0.77", "5f59b1e4", Relation.CLEAR, [7, 3]),
        ("1.0.35", "2d072169", Relation.FORK, [2, 3]),
    ],
)
def test_threads_that_real_clients_left(
    shared: Path | None,
    tmp_path: Path,
    version: str,
    name: str,
    relation: Relation,
    turns: list[int],
) -> None:
    """`/clear` continues in a new file, and 1.0.35 resumed in a copy."""
    if shared is None:
        pytest.skip("needs the recordings of real clients")
    root = shared / "real_cli" / version / "config_tui"
    with open_workspace(root, tmp_path) as workspace:
        parts = open_thread(workspace, workspace.find(name))
    assert [each.relation for each in parts] == [None, relation]
    assert [len(each.turns) for each in parts] == turns
