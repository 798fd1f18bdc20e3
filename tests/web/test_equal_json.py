"""The API and the command line give equal JSON for turns, hits, figures and events."""

import http.client
import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from recollect.documents.usage_groups import Group
from recollect.usage.causes import Cause
from recollect.web.endpoints import ENDPOINTS
from recollect.web.event_stream import PATH as EVENTS_PATH
from tests.conftest import SHARED
from tests.process import run_recollect
from tests.web.running import NOW, RunningServer, copy_demo, run_server

pytestmark = pytest.mark.slow

REAL_CLI = SHARED / "real_cli"
PAGE = 200
SESSIONS = 25
"""Sessions of a root that are compared, the newest ones."""

FILES = 3
"""Files of a root that are compared, which the newest sessions changed."""

COMPARED = {
    "/api/file": "file",
    "/api/sessions/{id}/checkpoints": "checkpoints",
    "/api/sessions/{id}/turns": "show",
    "/api/search": "search",
    "/api/usage": "usage",
    "/api/usage/causes": "usage cause",
    "/api/usage/explain": "usage explain",
    "/api/health": "doctor",
    EVENTS_PATH: "follow",
}
WITHOUT_COMMAND = {
    "/api/conversations": "only a server runs any",
    "/api/history/sessions": "spelled as other programs spell it",
    "/api/overview": "no command prints the overview",
    "/api/projects": "no command lists projects alone",
    "/api/sessions/{id}": "figures and subagents of one session, which no command prints as JSON",
    "/api/sessions/{id}/outline": "navigation of the page",
    "/api/sessions/{id}/find": "navigation of the page",
    "/api/sessions/{id}/records/{uuid}": "bytes, not JSON",
    "/api/sessions/{id}/export": "a file; tests/web/test_downloads.py compares it with the command",
}


class Pair:
    """A running server, and the command line on the same files and the same index."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server

    def get(self, path: str, /, **query: object) -> Any:
        """The JSON of the API."""
        words = {name: str(value) for name, value in query.items()}
        answer = self._server.get(f"{path}?{urlencode(words)}")
        assert answer.status == 200, answer.body
        return answer.json()

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "RECOLLECT_DATA_DIR": str(self._server.data),
            "CLAUDE_CONFIG_DIR": str(self._server.root),
            "RECOLLECT_NOW": NOW,
        }

    def run(self, *words: str) -> str:
        """The output of a command."""
        done = run_recollect(*words, env=self._environment)
        assert done.code in (0, 3, 4), done
        return done.stdout

    def load(self, *words: str) -> Any:
        """The JSON that a command prints."""
        return json.loads(self.run(*words, "--json"))

    def list_sessions(self) -> list[str]:
        """Ids of some sessions, each of which only one file has."""
        ids = [each["id"] for each in self.load("list", "-n", "0")["sessions"]]
        return [each for each in ids if ids.count(each) == 1][:SESSIONS]

    def list_files(self) -> list[str]:
        """Paths of some files that the newest sessions changed."""
        sessions = self.list_sessions()[:5]
        listed = (self.load("files", session)["changes"] for session in sessions)
        changed = (each["path"] for changes in listed for each in changes)
        return list(dict.fromkeys(changed))[:FILES]

    def iter_turns(self, session: str) -> Iterator[Any]:
        """All turns of a session by the API, page by page."""
        start, total = 0, None
        while total is None or start < total:
            found = self.get(f"/api/sessions/{quote(session)}/turns", start=start, count=PAGE)
            yield from found["turns"]
            start, total = start + max(len(found["turns"]), 1), found["total"]

    def follow(self, session: str, *options: str, stop: str) -> list[Any]:
        """The events that `follow` prints, up to the first one named `stop`."""
        command = [sys.executable, "-m", "recollect", "follow", session, "--json-lines", *options]
        environment = {**os.environ, **self._environment}
        events: list[Any] = []
        with Popen(command, env=environment, stdout=PIPE, encoding="utf-8") as process:
            assert process.stdout is not None
            for line in process.stdout:
                events.append(json.loads(line))
                if events[-1]["event"] == stop:
                    break
            process.terminate()
        return events

    def listen(self, session: str, last_id: str, stop: str) -> list[Any]:
        """The data of the events of a session after `last_id`, up to the first one named `stop`."""
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=60)
        path = f"{EVENTS_PATH}?{urlencode({'session': session, 'last_id': last_id})}"
        events: list[Any] = []
        with closing(connection):
            connection.request("GET", path, headers=self._server.authority)
            response = connection.getresponse()
            assert response.status == 200
            while not events or events[-1]["event"] != stop:
                key, _, value = response.readline().decode().rstrip("\n").partition(": ")
                if key == "data":
                    events.append(json.loads(value))
        return events


def list_roots() -> list[object]:
    """The demo data, and what the real client wrote where that is there."""
    reason = "../shared/real_cli is not there"
    real = sorted(each.parent for each in REAL_CLI.glob("*/*/projects"))
    missing = [pytest.param(None, marks=pytest.mark.skip(reason), id="real client")]
    return ["demo", *(real or missing)]


def _name_root(root: object) -> str:
    return str(root) if not isinstance(root, Path) else f"{root.parent.name}-{root.name}"


@pytest.fixture(scope="module", params=list_roots(), ids=_name_root)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    """Both surfaces on one root, once everything is indexed."""
    folder = tmp_path_factory.mktemp("equal")
    root = copy_demo(folder) if request.param == "demo" else request.param
    with run_server(folder, root) as server:
        server.wait_until_current()
        server.wait_for_figures()
        yield Pair(server)


def test_every_endpoint_is_compared_or_says_why_not() -> None:
    """A new endpoint has to be listed here."""
    paths = {*(each.path for each in ENDPOINTS), EVENTS_PATH}
    assert COMPARED.keys() | WITHOUT_COMMAND.keys() == paths
    assert COMPARED.keys() & WITHOUT_COMMAND.keys() == set()


def test_turns(pair: Pair) -> None:
    """Every turn of every session, with all steps and parts."""
    sessions = pair.list_sessions()
    assert sessions
    for session in sessions:
        printed = pair.run("show", session, "--branch", "all", "--json")
        # A session without messages is an error there, and an empty list here.
        shown = json.loads(printed)["turns"] if printed else []
        assert list(pair.iter_turns(session)) == shown


def test_checkpoints(pair: Pair) -> None:
    """The prompts of sessions, and the files at each."""
    for session in pair.list_sessions()[:5]:
        found = pair.get(f"/api/sessions/{quote(session)}/checkpoints")
        assert found == pair.load("checkpoints", session)


def test_files(pair: Pair) -> None:
    """The versions of a file, and how well each is known."""
    for path in pair.list_files():
        assert pair.get("/api/file", path=path) == pair.load("file", path)


@pytest.mark.parametrize("query", ["the", "tool:Bash", '"a test" OR file', "is:error", "zyxwvu"])
def test_search_results(pair: Pair, query: str) -> None:
    """Hits, snippets, totals and the names of sessions."""
    found = pair.get("/api/search", q=query, limit=20)
    assert found == pair.load("search", query, "--limit", "20")


@pytest.mark.parametrize("group", Group)
def test_usage_reports(pair: Pair, group: Group) -> None:
    """Rows, totals and the current block."""
    report = pair.get("/api/usage", group=group.value, breakdown="true")
    assert report == pair.load("usage", group.value, "--breakdown")


@pytest.mark.parametrize("cause", ["", *Cause])
def test_causes(pair: Pair, cause: str) -> None:
    """Why tokens were spent, and the messages of each cause."""
    query = {"cause": cause} if cause else {}
    assert pair.get("/api/usage/causes", **query) == pair.load("usage", "cause", *query.values())


def test_explanations(pair: Pair) -> None:
    """Return the lines behind the figure of a session."""
    for session in pair.list_sessions()[:5]:
        if pair.run("usage", "explain", session):
            found = pair.get("/api/usage/explain", target=session)
            assert found == pair.load("usage", "explain", session)


def test_health_reports(pair: Pair) -> None:
    """Return the health of files, directories and index."""
    assert _without_size(pair.get("/api/health")["report"]) == _without_size(pair.load("doctor"))


def _without_size(report: dict[str, Any]) -> dict[str, Any]:
    """Leave out the size of the index, which changes whenever SQLite tidies up its log."""
    return {**report, "index": {**report["index"], "bytes": None}}


def test_events(pair: Pair) -> None:
    """All events of a session after its first one."""
    session = pair.list_sessions()[0]
    first, *_ = pair.follow(session, stop="caught_up")
    followed = pair.follow(session, "--after", first["id"], stop="caught_up")
    assert pair.listen(session, first["id"], "caught_up") == followed
