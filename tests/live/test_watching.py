"""Watching for changes: file-system events, polling, and falling back from one to the other."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from recollect.live.watching import (
    NO_NOTIFICATIONS,
    POLL_VARIABLE,
    POLLING_FORCED,
    POLLING_REQUESTED,
    Paths,
    PollingWatcher,
    SystemWatcher,
    Watcher,
    WatcherSupervisor,
    WatchUnavailable,
    find_watch_limit,
    must_poll,
)

PATIENCE = 20.0

watchers = pytest.mark.parametrize(
    "watcher", [SystemWatcher(), PollingWatcher(0.02)], ids=["system", "polling"]
)


class TiredWatcher:
    """Starts, reports one change, then reaches the system's limit."""

    async def watch(self, directories: Sequence[Path]) -> AsyncGenerator[Paths, None]:
        """Watch for a little while."""
        yield frozenset()
        yield frozenset({str(directories[0] / "changes.jsonl")})
        raise WatchUnavailable("OS file watch limit reached.")


async def collect(
    watcher: Watcher, directory: Path, change: Callable[[], object], wanted: set[str]
) -> set[str]:
    """Return everything reported after `change`, until all wanted paths were."""
    seen: set[str] = set()
    async with asyncio.timeout(PATIENCE), aclosing(watcher.watch([directory])) as changes:
        assert await anext(changes) == frozenset()
        change()
        async for paths in changes:
            seen |= paths
            if wanted <= seen:
                break
    return seen


@watchers
def test_files_and_directories_are_reported(watcher: Watcher, tmp_path: Path) -> None:
    """New, changed and deleted files are reported, and new directories."""
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
    """A file of the same size with another mtime, earlier or later, is reported."""
    path = tmp_path / "x.jsonl"
    path.write_text("1")

    def change() -> None:
        os.utime(path, ns=(1, 1))

    changes = asyncio.run(collect(PollingWatcher(0.02), tmp_path, change, {str(path)}))
    assert changes == {str(path)}


def test_a_link_to_a_directory_keeps_its_name(tmp_path: Path) -> None:
    """Events carry real paths; the watcher reports the requested ones."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real, target_is_directory=True)
    wanted = {str(link / "x.jsonl")}
    changes = asyncio.run(collect(SystemWatcher(), link, (real / "x.jsonl").touch, wanted))
    assert changes == wanted


@pytest.mark.parametrize("place", ["directory", "file"])
def test_a_name_that_is_not_text_makes_events_unavailable(tmp_path: Path, place: str) -> None:
    """The event cannot be decoded, so the watcher says that events are unavailable."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    directory = odd if place == "directory" else tmp_path
    try:
        odd.mkdir()
    except OSError:
        pytest.skip("this file system takes names that are text only")

    async def listen() -> None:
        async with aclosing(SystemWatcher().watch([directory])) as changes:
            await anext(changes)
            await asyncio.to_thread(odd.rmdir)
            await anext(changes)

    with pytest.raises(WatchUnavailable):
        asyncio.run(listen())


def test_a_limit_of_eight_directories(tmp_path: Path) -> None:
    """Eight are watched; nine are refused with both numbers."""
    directories = [tmp_path / f"{number}" for number in range(9)]
    for directory in directories:
        directory.mkdir()

    async def begin(count: int) -> None:
        async with aclosing(SystemWatcher(8).watch(directories[:count])) as changes:
            await anext(changes)

    asyncio.run(begin(8))
    with pytest.raises(WatchUnavailable, match="9 directories to watch, but the limit is 8"):
        asyncio.run(begin(9))


def test_a_missing_directory_is_not_watched(tmp_path: Path) -> None:
    """The others are still watched."""

    async def run() -> set[str]:
        seen: set[str] = set()
        watching = SystemWatcher().watch([tmp_path / "gone", tmp_path])
        async with asyncio.timeout(PATIENCE), aclosing(watching) as changes:
            await anext(changes)
            (tmp_path / "x.jsonl").touch()
            seen |= await anext(changes)
        return seen

    assert asyncio.run(run()) == {str(tmp_path / "x.jsonl")}


def run_supervisor(
    use: Callable[[WatcherSupervisor], Awaitable[None]], supervisor: Callable[[], WatcherSupervisor]
) -> None:
    """Use a supervisor in an event loop of its own, and stop it."""

    async def run() -> None:
        made = supervisor()
        try:
            async with asyncio.timeout(PATIENCE):
                await use(made)
        finally:
            await made.stop()

    asyncio.run(run())


async def wait_for(supervisor: WatcherSupervisor, path: Path) -> None:
    """Read changes until this path is among them."""
    while str(path) not in supervisor.take_changes():
        await supervisor.changed.wait()


def test_a_watcher_that_gives_up_is_replaced(tmp_path: Path) -> None:
    """Its changes are kept, polling continues, and the reason is known."""

    async def use(supervisor: WatcherSupervisor) -> None:
        await supervisor.watch([tmp_path])
        await wait_for(supervisor, tmp_path / "changes.jsonl")
        while not (supervisor.take_gap() and supervisor.is_polling):
            supervisor.take_changes()
            await supervisor.changed.wait()
        assert supervisor.reason == "OS file watch limit reached."
        (tmp_path / "x.jsonl").touch()
        await wait_for(supervisor, tmp_path / "x.jsonl")

    run_supervisor(use, lambda: WatcherSupervisor(TiredWatcher()))


def test_a_limit_that_is_reached_at_once(tmp_path: Path) -> None:
    """More directories than the limit are polled from the start."""
    places = [tmp_path / f"{number}" for number in range(9)]
    for place in places:
        place.mkdir()

    async def use(supervisor: WatcherSupervisor) -> None:
        await supervisor.watch(places)
        assert supervisor.is_polling
        (places[8] / "x.jsonl").touch()
        await wait_for(supervisor, places[8] / "x.jsonl")

    run_supervisor(use, lambda: WatcherSupervisor(SystemWatcher(8)))


def test_missing_events_lead_to_polling(tmp_path: Path) -> None:
    """After two unreported changes, it polls."""

    async def use(supervisor: WatcherSupervisor) -> None:
        await supervisor.watch([tmp_path])
        supervisor.note_missed()
        assert not supervisor.is_polling
        supervisor.note_missed()
        assert (supervisor.is_polling, supervisor.reason) == (True, NO_NOTIFICATIONS)
        assert await supervisor.watch([tmp_path])

    run_supervisor(use, WatcherSupervisor)


def test_a_recreated_directory_is_watched_again(tmp_path: Path) -> None:
    """The watch of the old directory does not cover the new one."""
    place = tmp_path / "place"
    place.mkdir()

    async def use(supervisor: WatcherSupervisor) -> None:
        assert await supervisor.watch([tmp_path, place])
        assert not await supervisor.watch([tmp_path, place])
        place.rmdir()
        await wait_for(supervisor, place)
        place.mkdir()
        assert await supervisor.watch([tmp_path, place])
        (place / "x.jsonl").touch()
        await wait_for(supervisor, place / "x.jsonl")

    run_supervisor(use, WatcherSupervisor)


@pytest.mark.parametrize(
    ("value", "expected"), [(None, False), ("", False), ("0", False), ("1", True)]
)
def test_polling_by_environment(
    monkeypatch: pytest.MonkeyPatch, value: str | None, expected: bool
) -> None:
    """An environment variable forces polling."""
    environment = {} if value is None else {POLL_VARIABLE: value}
    assert must_poll(environment) is expected
    for name, text in environment.items():
        monkeypatch.setenv(name, text)

    async def make() -> tuple[bool, str]:
        supervisor = WatcherSupervisor()
        return supervisor.is_polling, supervisor.reason

    assert asyncio.run(make()) == (expected, POLLING_FORCED if expected else "")


def test_polling_by_option() -> None:
    """The option forces polling."""

    async def make() -> tuple[bool, str]:
        supervisor = WatcherSupervisor(poll=True)
        return supervisor.is_polling, supervisor.reason

    assert asyncio.run(make()) == (True, POLLING_REQUESTED)


def test_the_limit_leaves_room_for_others() -> None:
    """The limit is positive, even if others use many watches."""
    assert find_watch_limit() > 8


class SleepyWatcher:
    """A watcher that never starts."""

    async def watch(self, _directories: Sequence[Path]) -> AsyncGenerator[Paths, None]:
        """Wait forever."""
        await asyncio.Event().wait()
        yield frozenset()


def test_cancelling_before_the_start_leaves_nothing_behind(tmp_path: Path) -> None:
    """A follower may be cancelled before watching has started."""

    async def leave() -> set[str]:
        supervisor = WatcherSupervisor(SleepyWatcher())
        waiting = asyncio.create_task(supervisor.watch([tmp_path]))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.wait({waiting})
        await supervisor.stop()
        return {str(task) for task in asyncio.all_tasks() - {asyncio.current_task()}}

    assert asyncio.run(leave()) == set()
