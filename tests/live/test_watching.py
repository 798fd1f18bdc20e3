"""Being told of changes: by the system, by looking, and by the one when the other gives up."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from recollect.live.lookout import ASKED_FOR, FORBIDDEN, NOT_TOLD, Lookout
from recollect.live.watching import (
    POLL_VARIABLE,
    Paths,
    PollingWatcher,
    SystemWatcher,
    Watcher,
    WatchUnavailable,
    find_watch_limit,
    must_poll,
)

PATIENCE = 20.0

watchers = pytest.mark.parametrize(
    "watcher", [SystemWatcher(), PollingWatcher(0.02)], ids=["system", "polling"]
)


class TiredWatcher:
    """Begins, tells of one change, and then has reached the limit of the system."""

    async def watch(self, directories: Sequence[Path]) -> AsyncGenerator[Paths, None]:
        """Watch for a little while."""
        yield frozenset()
        yield frozenset({str(directories[0] / "told.jsonl")})
        raise WatchUnavailable("OS file watch limit reached.")


async def collect(
    watcher: Watcher, directory: Path, change: Callable[[], object], wanted: set[str]
) -> set[str]:
    """All that is told after `change`, until everything wanted has been."""
    seen: set[str] = set()
    async with asyncio.timeout(PATIENCE), aclosing(watcher.watch([directory])) as told:
        assert await anext(told) == frozenset()
        change()
        async for paths in told:
            seen |= paths
            if wanted <= seen:
                break
    return seen


@watchers
def test_files_and_directories_are_told(watcher: Watcher, tmp_path: Path) -> None:
    """New, changed and deleted files are told, and directories that appear."""
    old, gone = tmp_path / "old.jsonl", tmp_path / "gone.jsonl"
    old.write_text("1")
    gone.write_text("1")

    def change() -> None:
        (tmp_path / "new.jsonl").write_text("1")
        old.write_text("12")
        gone.unlink()
        (tmp_path / "session").mkdir()

    names = {str(tmp_path / name) for name in ("new.jsonl", "old.jsonl", "gone.jsonl", "session")}
    assert names <= asyncio.run(collect(watcher, tmp_path, change, names))


def test_same_size_is_a_change_to_a_poller(tmp_path: Path) -> None:
    """A file of the same size with another time, earlier or later, is told."""
    path = tmp_path / "x.jsonl"
    path.write_text("1")

    def change() -> None:
        os.utime(path, ns=(1, 1))

    told = asyncio.run(collect(PollingWatcher(0.02), tmp_path, change, {str(path)}))
    assert told == {str(path)}


def test_a_link_to_a_directory_keeps_its_name(tmp_path: Path) -> None:
    """The system tells real paths; the follower hears the one that it asked for."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real, target_is_directory=True)
    wanted = {str(link / "x.jsonl")}
    told = asyncio.run(collect(SystemWatcher(), link, (real / "x.jsonl").touch, wanted))
    assert told == wanted


@pytest.mark.parametrize("place", ["directory", "file"])
def test_a_name_that_is_no_text_cannot_be_told(tmp_path: Path, place: str) -> None:
    """The system's words for it cannot be read, and whoever asked is told to look himself."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    directory = odd if place == "directory" else tmp_path
    try:
        odd.mkdir()
    except OSError:
        pytest.skip("this file system takes names that are text only")

    async def listen() -> None:
        async with aclosing(SystemWatcher().watch([directory])) as told:
            await anext(told)
            await asyncio.to_thread(odd.rmdir)
            await anext(told)

    with pytest.raises(WatchUnavailable):
        asyncio.run(listen())


def test_a_limit_of_eight_directories(tmp_path: Path) -> None:
    """Eight are watched; nine are refused with the figures."""
    directories = [tmp_path / f"{number}" for number in range(9)]
    for directory in directories:
        directory.mkdir()

    async def begin(count: int) -> None:
        async with aclosing(SystemWatcher(8).watch(directories[:count])) as told:
            await anext(told)

    asyncio.run(begin(8))
    with pytest.raises(WatchUnavailable, match="9 directories, and 8 may be watched"):
        asyncio.run(begin(9))


def test_a_directory_that_is_gone_is_not_asked_for(tmp_path: Path) -> None:
    """The others are watched all the same."""

    async def run() -> set[str]:
        seen: set[str] = set()
        watching = SystemWatcher().watch([tmp_path / "gone", tmp_path])
        async with asyncio.timeout(PATIENCE), aclosing(watching) as told:
            await anext(told)
            (tmp_path / "x.jsonl").touch()
            seen |= await anext(told)
        return seen

    assert asyncio.run(run()) == {str(tmp_path / "x.jsonl")}


def run_lookout(use: Callable[[Lookout], Awaitable[None]], lookout: Callable[[], Lookout]) -> None:
    """Use a lookout in a loop of its own, and end it."""

    async def run() -> None:
        made = lookout()
        try:
            async with asyncio.timeout(PATIENCE):
                await use(made)
        finally:
            await made.stop()

    asyncio.run(run())


async def wait_for(lookout: Lookout, path: Path) -> None:
    """Take what is told until it is this path."""
    while str(path) not in lookout.take():
        await lookout.changed.wait()


def test_a_watcher_that_gives_up_is_replaced(tmp_path: Path) -> None:
    """What it told is kept, polling goes on from there, and the reason is known."""

    async def use(lookout: Lookout) -> None:
        await lookout.watch([tmp_path])
        await wait_for(lookout, tmp_path / "told.jsonl")
        while not (lookout.take_gap() and lookout.is_polling):
            lookout.take()
            await lookout.changed.wait()
        assert lookout.reason == "OS file watch limit reached."
        (tmp_path / "x.jsonl").touch()
        await wait_for(lookout, tmp_path / "x.jsonl")

    run_lookout(use, lambda: Lookout(TiredWatcher()))


def test_a_limit_that_is_reached_at_once(tmp_path: Path) -> None:
    """More directories than may be watched are polled from the beginning."""
    places = [tmp_path / f"{number}" for number in range(9)]
    for place in places:
        place.mkdir()

    async def use(lookout: Lookout) -> None:
        await lookout.watch(places)
        assert lookout.is_polling
        (places[8] / "x.jsonl").touch()
        await wait_for(lookout, places[8] / "x.jsonl")

    run_lookout(use, lambda: Lookout(SystemWatcher(8)))


def test_a_system_that_says_nothing_is_not_trusted(tmp_path: Path) -> None:
    """After two changes that nobody told of, files are polled."""

    async def use(lookout: Lookout) -> None:
        await lookout.watch([tmp_path])
        lookout.note_missed()
        assert not lookout.is_polling
        lookout.note_missed()
        assert (lookout.is_polling, lookout.reason) == (True, NOT_TOLD)
        assert await lookout.watch([tmp_path])

    run_lookout(use, Lookout)


def test_a_watched_directory_that_is_made_anew_is_watched_again(tmp_path: Path) -> None:
    """The old one is not the one that is there now."""
    place = tmp_path / "place"
    place.mkdir()

    async def use(lookout: Lookout) -> None:
        assert await lookout.watch([tmp_path, place])
        assert not await lookout.watch([tmp_path, place])
        place.rmdir()
        await wait_for(lookout, place)
        place.mkdir()
        assert await lookout.watch([tmp_path, place])
        (place / "x.jsonl").touch()
        await wait_for(lookout, place / "x.jsonl")

    run_lookout(use, Lookout)


@pytest.mark.parametrize(
    ("value", "expected"), [(None, False), ("", False), ("0", False), ("1", True)]
)
def test_polling_by_environment(
    monkeypatch: pytest.MonkeyPatch, value: str | None, expected: bool
) -> None:
    """A variable forbids asking the system, for good or for one run."""
    environment = {} if value is None else {POLL_VARIABLE: value}
    assert must_poll(environment) is expected
    for name, text in environment.items():
        monkeypatch.setenv(name, text)

    async def make() -> tuple[bool, str]:
        lookout = Lookout()
        return lookout.is_polling, lookout.reason

    assert asyncio.run(make()) == (expected, FORBIDDEN if expected else "")


def test_polling_by_option() -> None:
    """Somebody who asks for it gets it."""

    async def make() -> tuple[bool, str]:
        lookout = Lookout(poll=True)
        return lookout.is_polling, lookout.reason

    assert asyncio.run(make()) == (True, ASKED_FOR)


def test_the_limit_leaves_room_for_others() -> None:
    """It is some number of directories, and not none."""
    assert find_watch_limit() > 8


class SleepyWatcher:
    """Never begins."""

    async def watch(self, _directories: Sequence[Path]) -> AsyncGenerator[Paths, None]:
        """Wait for ever."""
        await asyncio.Event().wait()
        yield frozenset()


def test_who_no_longer_waits_for_the_beginning_leaves_nothing_behind(tmp_path: Path) -> None:
    """Whoever follows a session may go before the watching has begun."""

    async def leave() -> set[str]:
        lookout = Lookout(SleepyWatcher())
        waiting = asyncio.create_task(lookout.watch([tmp_path]))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.wait({waiting})
        await lookout.stop()
        return {str(task) for task in asyncio.all_tasks() - {asyncio.current_task()}}

    assert asyncio.run(leave()) == set()
