"""No command, page or event shows a planted secret, whatever file or record it is in."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.process import RunRecollect
from tests.redact.planted_files import GONE, WORDS
from tests.redact.planted_sessions import FIELDS, KINDS, NAMES, Planted, plant_sessions
from tests.redact.stored_bytes import read_stored
from tests.web import addresses
from tests.web.running import collect_events, run_server
from tests.workspace.every_command import (
    KEEPING,
    OF_A_SESSION,
    OUTPUTS,
    RUNS,
    SILENT,
    iter_addresses,
    iter_commands,
    name_command,
)


def test_every_command_is_tried_or_shows_nothing() -> None:
    """Each command, also with JSON, is run on planted secrets or listed as showing nothing."""
    runs = (*OF_A_SESSION, *RUNS, *KEEPING)
    names = {name_command(each) for each in runs}
    commands = dict(iter_commands())
    assert sorted(names | SILENT.keys()) == sorted(commands)
    assert SILENT.keys() & names == set()
    tried = {(name_command(each), option) for each in runs for option in OUTPUTS if option in each}
    offered = {
        (name, option)
        for name, command in commands.items()
        for parameter in command.params
        for option in parameter.opts
        if option in OUTPUTS and name not in SILENT
    }
    assert offered - tried == set()


@pytest.mark.slow
@pytest.mark.usefixtures("own_rules")
def test_no_command_shows_a_secret(run_recollect: RunRecollect, home: Path, tmp_path: Path) -> None:
    """Every kind of secret in every kind of record and file, without an index and with one."""
    planted = plant_sessions(home)
    trial = Trial(run_recollect, planted, tmp_path / "outside")
    of_sessions = [
        tuple(each.format(session) for each in arguments)
        for session in (FIELDS, KINDS, NAMES)
        for arguments in OF_A_SESSION
    ]
    trial.run(of_sessions)
    assert run_recollect("index", "--text").code == 0
    trial.run((*of_sessions, *RUNS))
    assert list_stored(tmp_path / "data", planted) == {}
    trial.run(KEEPING)
    assert (trial.leaks, trial.refused) == ({}, {})
    for name in ("pages", "split", "documents"):
        written = [path for path in (tmp_path / "outside" / name).rglob("*") if path.is_file()]
        assert len(written) > 1
        found = {path.name: planted.list_readable(path.read_bytes()) for path in written}
        assert {each: secrets for each, secrets in found.items() if secrets} == {}
    # A command that always fails shows nothing, and neither does a file that nothing reads.
    assert trial.failing - trial.working == {"open"}
    assert [word for word in WORDS if word not in trial.seen] == []


def describe_status(secrets: Sequence[str]) -> str:
    """Return the input of a status line, with a secret in each text."""
    names = (
        "hook_event_name session_id transcript_path cwd version output_style.name model.id "
        "model.display_name workspace.current_dir workspace.project_dir"
    ).split()
    status: dict[str, object] = {}
    for name, secret in zip(names, secrets, strict=False):
        group, _, field = name.rpartition(".")
        inner = status.setdefault(group, {}) if group else status
        assert isinstance(inner, dict)
        inner[field] = secret
    return json.dumps(status)


class Trial:
    """Runs commands on planted sessions and looks for secrets in what they print."""

    def __init__(self, run_recollect: RunRecollect, planted: Planted, outside: Path) -> None:
        outside.mkdir()
        self._run = run_recollect
        self._planted = planted
        self._outside = outside
        self._status = describe_status(planted.secrets)
        self.leaks: dict[tuple[str, ...], list[str]] = {}
        self.refused: dict[tuple[str, ...], str] = {}
        self.working: set[str] = set()
        self.failing: set[str] = set()
        self.seen: set[str] = set()
        """The words of planted files that were printed."""

    def run(self, commands: Iterable[tuple[str, ...]]) -> None:
        """Run each command, and record the output."""
        file = self._planted.file
        for command in commands:
            arguments = tuple(
                each.format(file=file, directory=file.parent, outside=self._outside)
                for each in command
            )
            done = self._run(*arguments, input=self._status)
            if done.code not in {0, 3, 4}:
                self.refused[arguments] = done.stderr
            (self.failing if done.code == 3 else self.working).add(name_command(arguments))
            output = done.stdout + done.stderr
            self.seen |= {word for word in WORDS if word in output}
            if found := self._planted.list_readable(output.encode()):
                self.leaks[arguments] = found


def list_stored(data: Path, planted: Planted) -> dict[str, list[str]]:
    """Return the secrets that can be read in files of a data directory, by file."""
    files = [path for path in data.rglob("*") if path.is_file()]
    assert {"text.db", f"{GONE}.jsonl"} <= {path.name for path in files}
    paths = "\n".join(_iter_paths(planted.root))
    found = {
        path.name: [
            piece for piece in planted.list_readable(read_stored(path)) if piece not in paths
        ]
        for path in files
    }
    return {name: secrets for name, secrets in found.items() if secrets}


PATH_FIELDS = {"cwd", "worktreePath", "filename", "backupFileName"}
"""Fields of records with paths of files that Claude worked on, which the index needs unmasked."""


def _iter_paths(root: Path) -> Iterator[str]:
    def walk(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            yield from (each for name, each in value.items() if name in PATH_FIELDS)
            value = list(value.values())
        if isinstance(value, list):
            for each in value:
                yield from walk(each)

    for transcript in root.rglob("*.jsonl"):
        for line in transcript.read_text("utf-8").splitlines():
            yield from filter(lambda each: isinstance(each, str), walk(json.loads(line)))


@pytest.mark.slow
@pytest.mark.usefixtures("own_rules")
def test_no_page_sends_a_secret(tmp_path: Path) -> None:
    """Pages, API, raw records and static files of a server contain no planted value."""
    planted = plant_sessions(tmp_path / "root")
    leaks = {}
    seen = set()
    unanswered = {path for method, path in addresses.list_routes() if method == "GET"}
    with run_server(tmp_path, planted.root) as server:
        server.wait_until_current()
        for route, path in iter_addresses(planted.file):
            answer = server.get(path)
            leaks[path] = planted.list_readable(answer.body)
            seen |= {word for word in WORDS if word.encode() in answer.body}
            if answer.status == 200:
                unanswered.discard(route)
    assert {path: found for path, found in leaks.items() if found} == {}
    # Conversations with claude are in tests/web/test_masked_conversations.py; /archive redirects.
    others = ("/c/", "/static/", "/archive")
    assert [path for path in unanswered if not path.startswith(others)] == []
    assert [word for word in WORDS if word not in seen] == []
    assert list_stored(tmp_path / "data", planted) == {}


MAX_EVENTS = 300
"""Lines of a session that are sent as events; all of them take too long on a busy machine."""


@pytest.mark.slow
@pytest.mark.usefixtures("own_rules")
@pytest.mark.parametrize("session", [FIELDS, KINDS, NAMES])
def test_no_event_sends_a_secret(tmp_path: Path, session: str) -> None:
    """Neither events of a session with all its records, nor events of changed and deleted files."""
    planted = plant_sessions(tmp_path / "root")
    path = planted.root / "projects" / "-srv-reef" / f"{session}.jsonl"
    first, *others = path.read_text(encoding="utf-8").splitlines(keepends=True)[:MAX_EVENTS]
    path.write_text(first, encoding="utf-8")
    with run_server(tmp_path, planted.root) as server:
        server.wait_until_current()
        with (
            collect_events(server, "/api/events") as of_all,
            collect_events(server, f"/api/events?session={session}&records=true") as of_session,
        ):
            server.wait_for(lambda: b"event: caught_up" in b"".join(of_session))
            last = json.dumps({"type": "summary", "summary": "enough", "leafUuid": "x"}) + "\n"
            with path.open("a", encoding="utf-8") as file:
                file.writelines([*others, last])
            server.wait_for(lambda: b"enough" in b"".join(of_session))
            path.unlink()
            server.wait_for(lambda: b'"gone":["' in b"".join(of_all))
            heard = [*of_session, *of_all]
    assert planted.list_readable(b"".join(heard)) == []


POSTS = {
    "/api/launches": "starts claude and answers with an id",
    "/api/sessions/{}/mark": "answers with the user's own star and note",
    "/archive": "redirects to the home page",
    "/file/restore": "sends a masked diff: tests/web/test_restoring.py",
    "/s/{}/export": "sends what a person has reviewed: tests/web/test_export_review.py",
    "/s/{}/reveal": "shows one secret to a person who asks for it",
    "/sign-in": "answers with a cookie",
}
"""Routes that are not read from, and what they send; those of conversations are left out."""


def test_every_other_route_is_known_to_send_no_secret() -> None:
    """A new route has to be checked."""
    routes = [
        path.replace(addresses.SESSION, "{}")
        for method, path in addresses.list_routes()
        if method != "GET"
    ]
    assert sorted(path for path in routes if not path.startswith("/c")) == sorted(POSTS)
