"""The status of a session, by its client, by its records, and by running processes."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from recollect.documents.kinds import StatusKind
from recollect.live.followed_files import RootScope
from recollect.live.live_events import SAME_CLIENT, CaughtUp, Continued, Ended, Found, StatusChanged
from recollect.live.session_status import (
    Client,
    SessionStatus,
    TurnState,
    advance_turn,
    determine_status,
    is_waiting_for_input,
    read_clients,
    read_turn_state,
)
from recollect.records.decoding import decode_record
from tests.library.claude_root import FIRST, SECOND, THIRD, ClaudeRoot, call, prompt, reply, result
from tests.live.following import Listener, run, session_scope

OPEN = TurnState(is_open=True)
CLOSED = TurnState(is_open=False)
RUNNING_BASH = TurnState(is_open=True, pending={"t1": "Bash"})
ASKED = TurnState(is_open=True, pending={"t1": "AskUserQuestion"})
CLOSING = TurnState(is_open=False, is_closing=True)
GONE_ON = TurnState(continued_in=SECOND)


def alive(status: str | None = None, waiting_for: str | None = None) -> Client:
    """Return a running client."""
    return Client(7, True, status, waiting_for)


LEFT_OVER = Client(7, False, "busy")

TABLE = [
    (OPEN, alive("busy"), StatusKind.RUNNING),
    (CLOSED, alive("busy"), StatusKind.RUNNING),
    (RUNNING_BASH, alive("busy"), StatusKind.RUNNING),
    (OPEN, alive("shell"), StatusKind.RUNNING),
    (CLOSED, alive("idle"), StatusKind.IDLE),
    (RUNNING_BASH, alive("waiting", "permission prompt"), StatusKind.WAITING_FOR_PERMISSION),
    (RUNNING_BASH, alive("waiting", "dialog open"), StatusKind.WAITING_FOR_INPUT),
    (CLOSED, alive("waiting"), StatusKind.WAITING_FOR_INPUT),
    (ASKED, alive("waiting", "permission prompt"), StatusKind.WAITING_FOR_INPUT),
    (ASKED, alive("busy"), StatusKind.WAITING_FOR_INPUT),
    (CLOSED, alive("dreaming"), StatusKind.IDLE),
    (CLOSED, alive(), StatusKind.IDLE),
    (OPEN, alive(), StatusKind.RUNNING),
    (RUNNING_BASH, alive(), StatusKind.UNKNOWN),
    (TurnState(), alive(), StatusKind.UNKNOWN),
    (RUNNING_BASH, LEFT_OVER, StatusKind.ENDED),
    (CLOSED, LEFT_OVER, StatusKind.ENDED),
    (CLOSING, None, StatusKind.ENDED),
    (GONE_ON, None, StatusKind.ENDED),
    (OPEN, None, StatusKind.UNKNOWN),
    (CLOSED, None, StatusKind.UNKNOWN),
    (RUNNING_BASH, None, StatusKind.UNKNOWN),
    (ASKED, None, StatusKind.UNKNOWN),
    (TurnState(), None, StatusKind.UNKNOWN),
]


@pytest.mark.parametrize(("turn", "client", "expected"), TABLE)
def test_the_table_of_statuses(
    turn: TurnState, client: Client | None, expected: StatusKind
) -> None:
    """Each status has a source, and without one it is unknown."""
    assert determine_status(turn, client).kind is expected


def test_a_client_that_was_seen_before_has_exited() -> None:
    """A missing file proves nothing by itself, but its process was running a moment ago."""
    expected = SessionStatus(StatusKind.ENDED, "its client (process 7) has exited")
    assert determine_status(OPEN, None, last_pid=7) == expected


@pytest.mark.parametrize(
    ("turn", "client", "expected"),
    [
        (CLOSED, alive("idle"), True),
        (CLOSED, alive("busy"), False),
        (CLOSED, None, True),
        (OPEN, None, False),
        (RUNNING_BASH, None, False),
        (TurnState(), None, False),
        (CLOSING, None, True),
    ],
)
def test_waiting_for_input(turn: TurnState, client: Client | None, expected: bool) -> None:
    """Without a client, a turn that has ended counts as idle."""
    assert is_waiting_for_input(determine_status(turn, client), turn) is expected


def turn_of(*lines: object) -> TurnState:
    """Return the state after these records."""
    state = TurnState()
    for line in lines:
        record = decode_record(json.dumps(line).encode())
        assert record is not None
        state = advance_turn(state, record)
    return state


def ended(text: str = "done") -> dict[str, object]:
    """Return a reply that ends the turn."""
    said = dict(reply(text))
    said["message"] = {**dict(said["message"]), "stop_reason": "end_turn"}  # type: ignore[call-overload]
    return said


def note(kind: str, **more: object) -> dict[str, object]:
    """Return a record outside the conversation."""
    return {"type": kind, "uuid": "s1", **more}


TURNS = [
    ((), TurnState()),
    ((prompt("a"),), OPEN),
    ((prompt("a"), call("Bash", {})), TurnState(is_open=True, pending={"toolu_1": "Bash"})),
    ((prompt("a"), call("Bash", {}), result("ok")), OPEN),
    ((prompt("a"), call("Bash", {}), result("ok"), ended()), CLOSED),
    ((prompt("a"), reply("not final")), OPEN),
    ((prompt("a"), ended(), prompt("b")), OPEN),
    ((prompt("a"), call("Bash", {}), prompt("[Request interrupted by user]")), CLOSED),
    ((prompt("a"), note("system", subtype="turn_duration")), CLOSED),
    ((prompt("a"), ended(), note("cost-state")), CLOSING),
    ((prompt("a"), ended(), note("cost-state"), prompt("b")), OPEN),
    ((prompt("<command-name>/model</command-name>"),), TurnState()),
    ((prompt("<local-command-stdout>ok</local-command-stdout>"),), CLOSED),
    ((note("continued-in", continuedInSessionId=SECOND),), GONE_ON),
    ((ended(), prompt("from a subagent", isSidechain=True)), CLOSED),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "expected"), TURNS)
def test_whose_turn_it_is(lines: tuple[object, ...], expected: TurnState) -> None:
    """Determined by the last records, as far as possible."""
    assert turn_of(*lines) == expected


def test_the_end_of_a_long_file_is_enough(tmp_path: Path) -> None:
    """The state is read from the end, further back if the last lines are large."""
    root = ClaudeRoot(tmp_path)
    blob = {"type": "api-request-blob", "message": "x" * 300_000}
    path = root.session(FIRST, *[ended()] * 500, call("Bash", {}), *[blob] * 3)
    assert read_turn_state(path) == TurnState(is_open=True, pending={"toolu_1": "Bash"})
    assert read_turn_state(tmp_path / "none.jsonl") == TurnState()


def test_real_sessions_ended(shared: Path) -> None:
    """Every complete session of 2.1.325 is reported as ended by its records."""
    paths = sorted(shared.glob("real_cli/2.1.325/config/projects/*/*.jsonl"))
    statuses = {
        determine_status(read_turn_state(path), None).kind for path in paths if path.stat().st_size
    }
    assert (len(paths) > 50, statuses) == (True, {StatusKind.ENDED})


def test_clients_and_what_they_wait_for(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """A running client is distinguished from a leftover file."""
    root = ClaudeRoot(tmp_path)
    root.client(sleeper.pid, status="waiting", waitingFor="permission prompt")
    root.client(2**22 + 1, SECOND, status="busy")
    assert read_clients(tmp_path, {}) == {
        FIRST: Client(sleeper.pid, True, "waiting", "permission prompt"),
        SECOND: Client(2**22 + 1, False, "busy"),
    }
    sleeper.communicate(b"\n")
    assert read_clients(tmp_path, {})[FIRST].is_alive is False


@pytest.mark.parametrize("content", [b"", b'{"pid": 12'])
def test_a_half_written_file_keeps_the_earlier_state(tmp_path: Path, content: bytes) -> None:
    """A client has not exited because its file was read while it was being written."""
    root, ours, ended = ClaudeRoot(tmp_path), os.getpid(), 2**22 + 1
    for pid in (ours, ended):
        root.write(f"sessions/{pid}.json", content)
    said = {FIRST: Client(ours, True, "busy"), SECOND: Client(ended, True, "busy")}
    before = {**said, THIRD: Client(ended + 1, True, "busy")}
    expected = {FIRST: said[FIRST], SECOND: Client(ended, False, "busy")}
    assert read_clients(tmp_path, before) == expected


def statuses(followed: Listener) -> list[StatusKind]:
    """Return the statuses of the first session."""
    changes = (event for event in followed.events if isinstance(event, StatusChanged))
    return [event.status.kind for event in changes if event.session_id == FIRST]


def test_a_running_client_is_followed_to_its_exit(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    """Running, waiting, idle and ended are reported in order."""
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, prompt("a"))

    async def script(listener: Listener) -> None:
        await listener.wait_for(CaughtUp)
        root.client(sleeper.pid, status="busy")
        await listener.wait(lambda _: StatusKind.RUNNING in statuses(listener))
        root.client(sleeper.pid, status="waiting", waitingFor="permission prompt")
        await listener.wait(lambda _: StatusKind.WAITING_FOR_PERMISSION in statuses(listener))
        root.client(sleeper.pid, status="idle")
        await listener.wait(lambda _: StatusKind.IDLE in statuses(listener))
        sleeper.communicate(b"\n")
        await listener.wait_for(Ended)

    followed = run(session_scope(tmp_path, FIRST), script)
    assert statuses(followed)[-4:] == [
        StatusKind.RUNNING,
        StatusKind.WAITING_FOR_PERMISSION,
        StatusKind.IDLE,
        StatusKind.ENDED,
    ]


def test_a_cleared_session_continues_in_another_file(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    """The same client with another session: that one is reported, and followed too."""
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, prompt("a"))
    root.client(sleeper.pid, status="busy")

    async def script(listener: Listener) -> None:
        await listener.wait(lambda _: StatusKind.RUNNING in statuses(listener))
        root.session(SECOND, prompt("<command-name>/clear</command-name>", uuid="b"))
        root.client(sleeper.pid, SECOND, status="idle")
        await listener.wait_for(Continued)
        await listener.wait_for(Found, 2)

    followed = run(session_scope(tmp_path, FIRST), script)
    (move,) = (event for event in followed.events if isinstance(event, Continued))
    assert (move.session_id, move.next_id, move.reason) == (FIRST, SECOND, SAME_CLIENT)
    found = [event.source.session_id for event in followed.events if isinstance(event, Found)]
    assert found == [FIRST, SECOND]


def test_running_sessions_have_a_status(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """A session with a client has a status before anything is appended; others have none."""
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, prompt("a"))
    root.session(SECOND, prompt("b"))
    root.client(sleeper.pid, status="busy")

    async def script(listener: Listener) -> None:
        await listener.wait_for(StatusChanged)

    followed = run(RootScope([tmp_path]), script)
    session_ids = [
        event.session_id for event in followed.events if isinstance(event, StatusChanged)
    ]
    assert session_ids == [FIRST]
