"""The process that keeps the index level: what it tells, and that it always ends."""

import shutil
from pathlib import Path

import pytest

from recollect.web.levelling.keeper import Keeper
from recollect.web.levelling.rounds import Rounds, Task
from recollect.web.shelf import Shelf, Update
from tests.web.running import copy_demo


def _run_until_level(rounds: Rounds) -> None:
    for _ in range(20):
        if rounds.run() > 0:
            return
    raise AssertionError("it is never level")


def test_rounds_tell_everything_once(tmp_path: Path) -> None:
    """The first rounds bring a shelf level; a round in which nothing happened tells nothing."""
    shelf, told = Shelf(), list[Update]()
    root = copy_demo(tmp_path)

    def tell(update: Update) -> None:
        told.append(update)
        shelf.apply(update)

    rounds = Rounds(Task((root,), tmp_path / "data"), tell)
    _run_until_level(rounds)
    known = shelf.known
    assert (known.is_listed, known.is_searchable, known.failure) == (True, True, None)
    assert len([each for each in known.sessions if not each.is_subagent]) == 8
    assert [each.id for each in known.sessions if each.turn_count is None] == []
    assert len(known.usage) == 8
    told.clear()
    rounds.run()
    assert told == []


def test_rounds_tell_what_has_changed(tmp_path: Path) -> None:
    """A file that grows, one that comes and one that goes are told in the next round."""
    shelf = Shelf()
    root = copy_demo(tmp_path)
    rounds = Rounds(Task((root,), tmp_path / "data"), shelf.apply)
    _run_until_level(rounds)
    before = {each.id for each in shelf.known.sessions}
    first, second, *_ = sorted(root.glob("projects/*tidepool/*.jsonl"))
    shutil.copy(first, first.with_name("11111111-2222-4333-8444-555555555555.jsonl"))
    second.unlink()
    _run_until_level(rounds)
    after = {each.id for each in shelf.known.sessions}
    assert (after - before, before - after) == (
        {"11111111-2222-4333-8444-555555555555"},
        {second.stem},
    )


def test_rounds_need_no_root(tmp_path: Path) -> None:
    """Where there is no Claude directory there is an empty list, and a directory may go."""
    shelf = Shelf()
    Rounds(Task((), tmp_path / "data"), shelf.apply).run()
    assert (shelf.known.is_listed, shelf.known.sessions) == (True, ())
    missing = Rounds(Task((tmp_path / "none",), tmp_path / "other"), shelf.apply)
    assert missing.run() >= 0


def test_rounds_outlive_an_index_that_cannot_be_written(tmp_path: Path) -> None:
    """Sessions are listed all the same, and the reason is told."""
    shelf, told = Shelf(), list[Update]()
    (tmp_path / "data").write_text("a file", encoding="ascii")
    rounds = Rounds(Task((copy_demo(tmp_path),), tmp_path / "data"), told.append)
    rounds.run()
    for update in told:
        shelf.apply(update)
    assert len(shelf.known.sessions) > 8
    assert [update.failure for update in told if update.failure] != []


@pytest.mark.slow
def test_keeper_ends_at_any_moment(tmp_path: Path) -> None:
    """However soon it is stopped, its process ends with it."""
    root = copy_demo(tmp_path)
    for seconds in (0.0, 0.01, 0.3, 1.5):
        shelf = Shelf()
        keeper = Keeper(shelf, Task((root,), tmp_path / "data"))
        keeper.start()
        shelf.wait_for_list(seconds)
        keeper.stop()
        assert not keeper.is_running
