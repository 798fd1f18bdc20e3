"""Follow sessions with their subagents, projects and whole roots while they are written."""

import asyncio
import json
import random
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest
from msgspec.structs import replace

from recollect.errors import UsageError
from recollect.live.follow import DELETED, FollowOptions, follow
from recollect.live.followed_files import FollowScope, RootScope
from recollect.live.live_events import Appended, CaughtUp, Continued, Ended, Found, Reset, Watching
from recollect.live.tail import REWRITTEN, SHORTER, UNKNOWN
from recollect.live.watching import POLLING_REQUESTED, Paths, SystemWatcher
from recollect.reader.transcript_reader import read_transcript
from tests.library.claude_root import FIRST, PROJECT, SECOND, ClaudeRoot, prompt, reply, title
from tests.live.following import PATIENCE, QUICK, Listener, finish, run, session_scope
from tests.live.schedules import Schedule, line
from tests.live.test_watching import TiredWatcher

POLLING = replace(QUICK, poll=True)
UNTIL_END = replace(QUICK, until="end")
both_ways = pytest.mark.parametrize("options", [QUICK, POLLING], ids=["system", "polling"])


@pytest.fixture
def root(tmp_path: Path) -> ClaudeRoot:
    """A Claude directory with one session of two lines."""
    root = ClaudeRoot(tmp_path)
    root.write(f"projects/{PROJECT}/{FIRST}.jsonl", line(1) + line(2))
    return root


def append(path: Path, data: bytes) -> None:
    """Append to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data)


def main_file(root: ClaudeRoot, session_id: str = FIRST) -> Path:
    """Return the file of a session."""
    return root.path / "projects" / PROJECT / f"{session_id}.jsonl"


def uuid_of(event: Appended) -> str:
    """Return the uuid of the appended record."""
    return str(getattr(event.record, "uuid", ""))


@both_ways
def test_a_session_with_a_subagent_that_appears(root: ClaudeRoot, options: FollowOptions) -> None:
    """Existing records come first, then new ones in writing order."""
    agent = root.path / "projects" / PROJECT / FIRST / "subagents" / "agent-abc.jsonl"

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        append(main_file(root), line(3)[:9])
        await asyncio.sleep(0.05)
        append(main_file(root), line(3)[9:])
        await listener.wait_for(Appended, 3)
        append(agent, line(4) + line(5))
        await listener.wait_for(Appended, 5)
        append(main_file(root), line(6))
        await listener.wait_for(Appended, 6)

    followed = run(session_scope(root.path, FIRST), script, start="start", options=options)
    events = [event for event in followed.events if isinstance(event, Found | Appended | CaughtUp)]
    assert [type(event).__name__ for event in events] == [
        "Found", "Appended", "Appended", "CaughtUp", "Appended", "Found", "Appended", "Appended",
        "Appended",
    ]  # fmt: skip
    assert followed.uuids() == ["u0001", "u0002", "u0003", "u0006"]
    assert followed.uuids("abc") == ["u0004", "u0005"]
    found = [event.source for event in events if isinstance(event, Found)]
    assert [(each.session_id, each.agent_id) for each in found] == [(FIRST, None), (FIRST, "abc")]


def test_a_workflow_and_a_flat_subagent_belong_to_their_session(root: ClaudeRoot) -> None:
    """Agents of workflows, and agents that name their session only in their records."""
    home = root.path / "projects" / PROJECT

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        append(home / FIRST / "subagents" / "workflows" / "wf1" / "agent-w.jsonl", line(3))
        await listener.wait_for(Appended, 1)
        other = {"type": "user", "uuid": "x", "sessionId": SECOND, "isSidechain": True}
        append(home / "agent-other.jsonl", json.dumps(other).encode() + b"\n")
        own = {"type": "user", "uuid": "y", "sessionId": FIRST, "isSidechain": True}
        append(home / "agent-flat.jsonl", json.dumps(own).encode() + b"\n")
        await listener.wait_for(Appended, 2)

        shared = {**own, "uuid": "z"}
        append(home / "subagents" / "agent-shared.jsonl", json.dumps(shared).encode() + b"\n")
        await listener.wait_for(Appended, 3)

    followed = run(session_scope(root.path, FIRST), script)
    sources = [event.source for event in followed.events if isinstance(event, Appended)]
    assert [(each.session_id, each.agent_id) for each in sources] == [
        (FIRST, "w"),
        (FIRST, "flat"),
        (FIRST, "shared"),
    ]


@both_ways
def test_all_sessions_and_those_that_appear(root: ClaudeRoot, options: FollowOptions) -> None:
    """From the end nothing old is reported, but new projects and sessions are, completely."""
    other = root.path / "projects" / "-other" / f"{SECOND}.jsonl"

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        append(main_file(root), line(3))
        await listener.wait_for(Appended, 1)
        append(other, line(4))
        await listener.wait_for(Appended, 2)
        append(other, line(5))
        await listener.wait_for(Appended, 3)

    followed = run(RootScope([root.path]), script, options=options)
    events = [event for event in followed.events if isinstance(event, Found | Appended)]
    assert [type(event).__name__ for event in events] == [
        "Found", "Appended", "Found", "Appended", "Appended",
    ]  # fmt: skip
    assert [event.is_new for event in events if isinstance(event, Found)] == [False, True]
    assert followed.uuids() == ["u0003", "u0004", "u0005"]


def test_a_project_by_its_work_directory(tmp_path: Path) -> None:
    """Only sessions of that working directory are followed, whatever their folder is called."""
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, prompt("a"))
    (tmp_path / "projects" / "-strange").mkdir()

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        elsewhere = json.dumps(prompt("b", uuid="no", cwd="/somewhere/else")).encode() + b"\n"
        append(tmp_path / "projects" / "-strange" / f"{SECOND}.jsonl", elsewhere)
        here = json.dumps(prompt("c", uuid="yes", cwd="/home/mina/pond")).encode() + b"\n"
        append(tmp_path / "projects" / "-strange" / "third.jsonl", here)
        append(main_file(root), line(9))
        await listener.wait_for(Appended, 2)

    followed = run(RootScope([tmp_path], "mina/pond"), script)
    assert sorted(followed.uuids()) == ["u0009", "yes"]


def test_a_limit_of_eight_watches_falls_back_to_polling(root: ClaudeRoot) -> None:
    """With more directories than the limit it polls, says why, and misses nothing."""
    for number in range(9):
        (root.path / "projects" / f"-p{number}").mkdir()
    last = root.path / "projects" / "-p8" / f"{SECOND}.jsonl"

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        append(last, line(3))
        await listener.wait_for(Appended, 1)

    followed = run(RootScope([root.path]), script, options=replace(QUICK, watch_limit=8))
    events = [event for event in followed.events if isinstance(event, Watching)]
    reason = "11 directories to watch, but the limit is 8"
    assert [(event.is_polling, event.reason) for event in events] == [(True, reason)]
    assert followed.uuids() == ["u0003"]


def test_a_watcher_that_reaches_its_limit_later(root: ClaudeRoot) -> None:
    """Changes while no watcher was running are found."""

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        append(main_file(root), line(3))
        await listener.wait(lambda event: isinstance(event, Watching) and event.is_polling)
        append(main_file(root), line(4))
        await listener.wait_for(Appended, 2)

    followed = run(RootScope([root.path]), script, watcher=TiredWatcher())
    assert followed.uuids() == ["u0003", "u0004"]


def test_polling_says_why(root: ClaudeRoot) -> None:
    """Requested polling is reported with its reason."""

    async def script(listener: Listener) -> None:
        await listener.wait_for(Watching)

    followed = run(RootScope([root.path]), script, options=POLLING)
    (events,) = (event for event in followed.events if isinstance(event, Watching))
    assert (events.is_polling, events.reason) == (True, POLLING_REQUESTED)


@both_ways
@pytest.mark.parametrize("seed", range(4))
def test_schedules_end_in_the_state_of_a_fresh_read(
    root: ClaudeRoot, options: FollowOptions, seed: int
) -> None:
    """Truncations, rewrites and replacements while following leave the correct records."""
    path = main_file(root)

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        rng = random.Random(seed)
        for _ in Schedule(path, rng).play(12):
            await asyncio.sleep(rng.choice((0, 0.01, 0.05)))
        append(path, b"\n" + line(9999))
        expected = [record.span for record in read_transcript(path)]

        def is_caught_up(_: object) -> bool:
            return [record.span for record in listener.records()] == expected

        await listener.wait(is_caught_up, 1)
        await asyncio.sleep(0.4)
        assert listener.records() == list(read_transcript(path))

    run(session_scope(root.path, FIRST), script, start="start", options=options)


def test_new_bytes_of_the_same_size_are_found_at_rest(root: ClaudeRoot) -> None:
    """A change in the middle of a file is found by verifying all of it."""
    path = main_file(root)
    path.write_bytes(line(7, "x" * 3000) + line(1) + line(8, "x" * 3000))

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        path.write_bytes(path.read_bytes().replace(b"u0001", b"u0002"))
        await listener.wait_for(Reset)
        await listener.wait_for(CaughtUp, 2)

    followed = run(session_scope(root.path, FIRST), script, start="start")
    assert followed.uuids() == ["u0007", "u0002", "u0008"]
    assert [event.reason for event in followed.events if isinstance(event, Reset)] == [REWRITTEN]


@pytest.mark.parametrize("is_session", [True, False])
def test_following_can_resume_after_any_event(root: ClaudeRoot, is_session: bool) -> None:
    """A second follower that resumes after an event gets exactly what followed it."""
    agent = root.path / "projects" / PROJECT / FIRST / "subagents" / "agent-abc.jsonl"

    def scope() -> FollowScope:
        return session_scope(root.path, FIRST) if is_session else RootScope([root.path])

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        append(main_file(root), line(3))
        await listener.wait_for(Appended, 3)
        append(agent, line(4))
        await listener.wait_for(Appended, 4)
        append(main_file(root), line(5) + line(6))
        await listener.wait_for(Appended, 6)

    followed = run(scope(), script, start="start")
    events = [event for event in followed.events if isinstance(event, Appended)]
    assert len(events) == 6
    for number, event in enumerate(events, start=1):

        async def wait(listener: Listener) -> None:
            await listener.wait_for(CaughtUp)

        again = run(scope(), wait, start=event.id)
        repeated = [each for each in again.events if isinstance(each, Appended)]
        resets = [each.source.path for each in again.events if isinstance(each, Reset)]
        assert resets in ([], [str(agent)])
        assert sorted(map(uuid_of, repeated)) == sorted(map(uuid_of, events[number:]))


def test_resuming_after_a_rewrite_starts_over(root: ClaudeRoot) -> None:
    """A position in a file with other content is not used."""

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)

    first = run(session_scope(root.path, FIRST), script, start="start")
    main_file(root).write_bytes(line(7))
    again = run(session_scope(root.path, FIRST), script, start=first.events[-1].id)
    assert [event.reason for event in again.events if isinstance(event, Reset)] == [SHORTER]
    assert again.uuids() == ["u0007"]


def test_resuming_repeats_only_changed_files(root: ClaudeRoot) -> None:
    """A file that was never read and has changed since comes completely, after a reset."""
    newer, idle = main_file(root, SECOND), main_file(root, "idle")
    idle.write_bytes(line(8))
    newer.write_bytes(line(3))

    async def wait_until_current(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)

    first = run(RootScope([root.path]), wait_until_current)
    append(main_file(root), line(4))
    again = run(RootScope([root.path]), wait_until_current, start=first.events[-1].id)
    events = [
        event.reason if isinstance(event, Reset) else uuid_of(event)
        for event in again.events
        if isinstance(event, Reset | Appended)
    ]
    assert events == [UNKNOWN, "u0001", "u0002", "u0004"]


def test_a_moved_session_continues_where_it_was(root: ClaudeRoot) -> None:
    """`/cd` moves the file; nothing is repeated."""
    moved = root.path / "projects" / "-elsewhere" / f"{FIRST}.jsonl"

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        moved.parent.mkdir()
        shutil.move(main_file(root), moved)
        await listener.wait_for(Found, 2)
        append(moved, line(3))
        await listener.wait_for(Appended, 3)

    followed = run(session_scope(root.path, FIRST), script, start="start")
    assert followed.uuids() == ["u0001", "u0002", "u0003"]
    assert [event for event in followed.events if isinstance(event, Reset)] == []


def test_a_deleted_session_has_ended(root: ClaudeRoot) -> None:
    """A deleted file ends the session, and a new file in its place is followed."""

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        main_file(root).unlink()
        await listener.wait_for(Ended)
        main_file(root).write_bytes(line(5))
        await listener.wait_for(Reset)
        await listener.wait_for(CaughtUp, 2)

    followed = run(session_scope(root.path, FIRST), script, start="start")
    assert [event.reason for event in followed.events if isinstance(event, Ended)] == [DELETED]
    assert followed.uuids() == ["u0005"]


def test_a_session_that_says_where_it_continues(root: ClaudeRoot) -> None:
    """The next file is followed too; an id that is not a plain name is ignored."""

    def record(next_id: str) -> bytes:
        return (
            json.dumps({"type": "continued-in", "continuedInSessionId": next_id}).encode() + b"\n"
        )

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        append(main_file(root), record("../../../etc") + record(SECOND))
        await listener.wait_for(Continued, 2)
        append(main_file(root, SECOND), line(3))
        await listener.wait(lambda event: isinstance(event, Appended) and b"u0003" in event.raw)

    followed = run(session_scope(root.path, FIRST), script)
    assert [event.next_id for event in followed.events if isinstance(event, Continued)] == [
        "../../../etc",
        SECOND,
    ]
    assert [event.source.session_id for event in followed.events if isinstance(event, Found)] == [
        FIRST,
        SECOND,
    ]


def test_until_idle_includes_the_last_line(tmp_path: Path) -> None:
    """When the turn has ended, a complete last line without a line end counts."""
    root = ClaudeRoot(tmp_path)
    path = root.session(FIRST, prompt("a"), reply("done", uuid="a1"), title("x"))
    data = path.read_bytes().replace(b'"usage"', b'"stop_reason": "end_turn", "usage"')
    path.write_bytes(data.rstrip(b"\n"))
    events = finish(session_scope(tmp_path, FIRST), replace(QUICK, until="idle"))
    records = [event.record for event in events if isinstance(event, Appended)]
    assert records == list(read_transcript(path))
    assert type(events[-1]) is Appended


def test_a_wrong_position_is_refused(root: ClaudeRoot) -> None:
    """An invalid position is an error."""

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)

    with pytest.raises(UsageError, match="not a position"):
        run(session_scope(root.path, FIRST), script, start="nonsense")


def test_a_subagent_alone(root: ClaudeRoot) -> None:
    """An agent's own file is followed by itself."""
    agent = root.path / "projects" / PROJECT / FIRST / "subagents" / "agent-abc.jsonl"
    append(agent, line(4))

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        append(main_file(root), line(3))
        append(agent, line(5))
        await listener.wait_for(Appended, 2)

    followed = run(session_scope(root.path, "abc"), script, start="start")
    assert followed.uuids("abc") == ["u0004", "u0005"]
    assert followed.uuids() == []


def test_hundreds_of_sessions_at_once(tmp_path: Path) -> None:
    """Each record of each session comes once, in file order."""
    home = tmp_path / "projects" / PROJECT
    paths = [home / f"{number:04}.jsonl" for number in range(300)]
    for path in paths:
        append(path, line(0))

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        for number in range(1, 4):
            for path in paths:
                append(path, line(number))
            await asyncio.sleep(0.02)
        await listener.wait_for(Appended, 900)

    followed = run(RootScope([tmp_path]), script, watcher=SystemWatcher())
    events: dict[str, list[str]] = {}
    for event in followed.events:
        if isinstance(event, Appended):
            events.setdefault(event.source.path, []).append(uuid_of(event))
    assert events == {str(path): ["u0001", "u0002", "u0003"] for path in paths}


class CalledWatcher:
    """Reports a change on request."""

    def __init__(self) -> None:
        self.call = asyncio.Event()

    async def watch(self, directories: Sequence[Path]) -> AsyncGenerator[Paths, None]:
        """Wait for a request, then forever."""
        yield frozenset()
        await self.call.wait()
        yield frozenset({str(directories[-1] / "x.jsonl")})
        await asyncio.Event().wait()


@pytest.mark.parametrize("rounds", range(10))
def test_a_cancellation_is_not_lost_when_a_change_arrives_with_it(
    root: ClaudeRoot, rounds: int
) -> None:
    """Cancelling works however many loop iterations ago something changed."""

    async def main() -> None:
        watcher, followed = CalledWatcher(), asyncio.Event()

        async def listen() -> None:
            async with aclosing(follow(RootScope([root.path]), watcher=watcher)) as events:
                async for event in events:
                    if isinstance(event, CaughtUp):
                        followed.set()

        task = asyncio.create_task(listen())
        await followed.wait()
        await asyncio.sleep(0.1)
        watcher.call.set()
        for _ in range(rounds):
            await asyncio.sleep(0)
        task.cancel()
        assert await asyncio.wait({task}, timeout=PATIENCE) == ({task}, set())

    asyncio.run(main())


def test_a_subagent_alone_does_not_end(root: ClaudeRoot) -> None:
    """Nothing tells that it has ended, even if nothing is written for a while."""
    agent = root.path / "projects" / PROJECT / FIRST / "subagents" / "agent-abc.jsonl"
    append(agent, line(1))

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        await asyncio.sleep(2 * UNTIL_END.quiet_seconds + UNTIL_END.status_seconds)
        append(agent, line(2))
        await listener.wait_for(Appended)

    followed = run(session_scope(root.path, "abc"), script, options=UNTIL_END)
    assert followed.uuids("abc") == ["u0002"]
