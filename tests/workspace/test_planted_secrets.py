"""No command and no page shows a planted secret, whatever file or record it is in.

The commands are those of the program's table and the pages those of the router, so that a new one
has to be tried here or said to show nothing of a session.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

import click
import pytest

from recollect.cli.program import COMMANDS, load_command
from tests.process import RunRecollect
from tests.redact.planted_files import AGENT, GONE, WORDS, WORKED
from tests.redact.planted_sessions import FIELDS, KINDS, Planted, plant_sessions
from tests.web import addresses
from tests.web.running import run_server

Runs = tuple[tuple[str, ...], ...]

OF_A_SESSION: Runs = (
    ("show", "{}", "--tools", "full", "--thinking", "--branch", "all", "--subagents"),
    ("show", "{}", "--json"),
    ("show", "{}", "--json-lines"),
    ("show", "{}", "--raw"),
    ("show", "{}", "--prompts"),
    ("show", "{}", "--thread", "--outline"),
    ("files", "{}", "--diff"),
    ("files", "{}", "--json"),
    ("checkpoints", "{}", "--json"),
    ("replay", "{}", "--instant"),
    ("follow", "{}", "--json-lines", "--turns", "50", "--until", "idle"),
    ("follow", "{}", "--turns", "50", "--until", "idle"),
)
"""What is asked of each session, also before there is an index."""

RUNS: Runs = (
    ("list", "--tree", "--subagents"),
    ("list", "--subagents", "--json"),
    ("search", "deploy"),
    ("search", "/K.*/", "--json"),
    ("search", "tasknote OR todonote", "--json"),
    ("tools",),
    ("tools", "--json"),
    ("usage", "session"),
    ("usage", "session", "--json"),
    ("usage", "subagent"),
    ("usage", "explain", KINDS),
    ("doctor",),
    ("doctor", "--json"),
    ("secrets", "scan", "--all", "--json"),
    ("secrets", "scan", "--all", "--thorough"),
    ("file", ".env", "--all-projects"),
    ("file", "{file}", "--json"),
    ("file", "{file}", "--diff", "1..2"),
    ("blame", "{file}"),
    ("blame", "{file}", "--json"),
    ("blame", "{file}", "--porcelain"),
    ("commits", WORKED),
    ("commits", WORKED, "--json"),
    ("why", "--repo", "{directory}"),
    ("why", "--repo", "{directory}", "--json"),
    ("checkpoints", WORKED, "--diff", "1..2"),
    ("restore", "{file}", "--at", "1", "--dry-run"),
    ("restore", WORKED, "--checkpoint", "2", "--dry-run", "--to", "{outside}/checkpoint"),
    ("resume", KINDS, "--print"),
    ("resume", KINDS, "--json"),
    ("star", KINDS),
    ("note", KINDS, "mine"),
    ("note", KINDS),
    ("open", KINDS),
    ("open", KINDS, "--json"),
    *(("export", KINDS, "--format", kind) for kind in ("html", "markdown", "text", "json", "csv")),
    ("export", "--all", "--format", "html", "--json", "-o", "{outside}/pages"),
    ("index", "--status"),
    ("index", "--status", "--json"),
    ("statusline",),
    ("statusline", "--json"),
)
"""What is asked of all of them."""

KEEPING: Runs = (
    ("archive", "enable", "--yes"),
    ("archive", "enable", "--yes", "--json"),
    ("archive", "sync"),
    ("archive", "sync", "--json"),
    ("archive", "status"),
    ("archive", "status", "--json"),
    ("archive", "list"),
    ("archive", "list", "--json"),
    ("archive", "verify", "--deep"),
    ("archive", "verify", "--json"),
    ("archive", "export", KINDS, "-o", "{outside}/one.tar"),
    ("archive", "export", "--all", "-o", "{outside}/all.tar", "--json"),
    ("archive", "restore", KINDS, "--to", "{outside}/restored"),
    ("archive", "restore", "--all", "--to", "{outside}/everything", "--json"),
    ("archive", "forget", KINDS, "--dry-run"),
    ("archive", "forget", KINDS, "--dry-run", "--json"),
    ("archive", "prune", "--older-than", "2026-11-12", "--dry-run"),
    ("archive", "prune", "--older-than", "2026-11-12", "--dry-run", "--json"),
    ("archive", "disable"),
    ("archive", "disable", "--json"),
    ("bundle", KINDS, "-o", "{outside}/one.recollect"),
    ("bundle", KINDS, "-o", "{outside}/two.recollect", "--json"),
    ("import", "{outside}/one.recollect", "--dry-run"),
    ("import", "{outside}/one.recollect", "--to", "{outside}/imported", "--json"),
    ("list", "--json"),
    ("show", GONE),
    ("show", GONE, "--json"),
)
"""What copies sessions unchanged, to where they are kept: what it says about them is masked."""

SILENT = {
    "archive decrypt": "prints counts; needs an encrypted archive",
    "archive encrypt": "prints counts; asks for a passphrase in a terminal",
    "chat": "shows what claude sends: tests/cli/chat/test_dialogs.py",
    "completion": "prints a script and reads no session",
    "config show": "prints settings and reads no session",
    "demo": "reads only the sample sessions",
    "help": "prints texts of the program",
    "run": "shows what claude sends: tests/cli/commands/test_run.py",
    "serve": "prints its address; its pages are tested below",
}
"""Commands that show nothing of a recorded session, and why."""


def iter_commands() -> Iterator[tuple[str, click.Command]]:
    """Every command of the program by its name, those of groups too."""
    for name in COMMANDS:
        command = load_command(name)
        if isinstance(command, click.Group):
            yield from ((f"{name} {each}", found) for each, found in command.commands.items())
        else:
            yield name, command


def name_command(arguments: tuple[str, ...]) -> str:
    """The command that is run by these arguments."""
    is_group = isinstance(load_command(arguments[0]), click.Group)
    return " ".join(arguments[: 2 if is_group else 1])


def test_every_command_is_tried_or_shows_nothing() -> None:
    """A new command is either run on planted secrets or said to show nothing; so is its JSON."""
    tried = {(name_command(each), "--json" in each) for each in (*OF_A_SESSION, *RUNS, *KEEPING)}
    commands = dict(iter_commands())
    assert sorted({name for name, _ in tried} | SILENT.keys()) == sorted(commands)
    assert SILENT.keys() & {name for name, _ in tried} == set()
    with_json = {
        name
        for name, command in commands.items()
        if any("--json" in each.opts for each in command.params)
    }
    assert with_json - SILENT.keys() - {name for name, is_json in tried if is_json} == set()


@pytest.mark.slow
def test_no_command_shows_a_secret(run_recollect: RunRecollect, home: Path, tmp_path: Path) -> None:
    """Every kind of secret in every kind of record and file, without an index and with one."""
    planted = plant_sessions(home)
    trial = Trial(run_recollect, planted, tmp_path / "outside")
    of_sessions = [
        tuple(each.format(session) for each in arguments)
        for session in (FIELDS, KINDS)
        for arguments in OF_A_SESSION
    ]
    trial.run(of_sessions)
    assert run_recollect("index", "--text").code == 0
    trial.run((*of_sessions, *RUNS))
    assert list_stored(tmp_path / "data", planted) == {}
    trial.run(KEEPING)
    assert (trial.leaks, trial.refused) == ({}, {})
    # A command that always fails shows nothing, and neither does a file that nothing reads.
    assert trial.failing - trial.working == {"open"}
    assert [word for word in WORDS if word not in trial.seen] == []


class Trial:
    """Runs commands on planted sessions and looks for secrets in what they print."""

    def __init__(self, run_recollect: RunRecollect, planted: Planted, outside: Path) -> None:
        outside.mkdir()
        self._run = run_recollect
        self._planted = planted
        self._outside = outside
        self.leaks: dict[tuple[str, ...], list[str]] = {}
        self.refused: dict[tuple[str, ...], str] = {}
        self.working: set[str] = set()
        self.failing: set[str] = set()
        self.seen: set[str] = set()
        """The words of planted files that were printed."""

    def run(self, commands: Iterable[tuple[str, ...]]) -> None:
        """Run each of them, and note what came of it."""
        file = self._planted.file
        for command in commands:
            arguments = tuple(
                each.format(file=file, directory=file.parent, outside=self._outside)
                for each in command
            )
            done = self._run(*arguments, input="{}")
            if done.code not in {0, 3, 4}:
                self.refused[arguments] = done.stderr
            (self.failing if done.code == 3 else self.working).add(name_command(arguments))
            output = done.stdout + done.stderr
            self.seen |= {word for word in WORDS if word in output}
            if found := self._planted.list_readable(output.encode()):
                self.leaks[arguments] = found


def list_stored(data: Path, planted: Planted) -> dict[str, list[str]]:
    """Secrets that can be read in files of a data directory, by file."""
    files = [path for path in data.rglob("*") if path.is_file()]
    assert {"text.db", f"{GONE}.jsonl"} <= {path.name for path in files}
    found = {path.name: planted.list_readable(path.read_bytes()) for path in files}
    return {name: secrets for name, secrets in found.items() if secrets}


@pytest.mark.slow
def test_no_page_sends_a_secret(tmp_path: Path) -> None:
    """Pages, API and raw records of a server hold no planted value, and neither do its files."""
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
    # Conversations with claude are in tests/web/test_masked_conversations.py.
    assert [path for path in unanswered if not path.startswith(("/c/", "/static/"))] == []
    assert [word for word in WORDS if word not in seen] == []
    assert list_stored(tmp_path / "data", planted) == {}


POSTS = {
    "/api/launches": "starts claude and answers with an id",
    "/api/sessions/{}/mark": "answers with the user's own star and note",
    "/file/restore": "sends a masked diff: tests/web/test_restoring.py",
    "/s/{}/export": "sends what a person has reviewed: tests/web/test_export_review.py",
    "/s/{}/reveal": "shows one secret to a person who asks for it",
    "/sign-in": "answers with a cookie",
}
"""Routes that are not read from, and what they send; those of conversations are left out."""


def test_every_other_route_is_known_to_send_no_secret() -> None:
    """A new one has to be looked at."""
    routes = [
        path.replace(addresses.SESSION, "{}")
        for method, path in addresses.list_routes()
        if method != "GET"
    ]
    assert sorted(path for path in routes if not path.startswith("/c")) == sorted(POSTS)


QUERIES = {
    "/api/file": ("path={file}", "path={file}&version=1"),
    "/api/search": ("q=key&facets=true",),
    "/api/usage/explain": ("target={session}",),
    "/file": ("path={file}", "path={file}&at=1", "path={file}&diff=1..2"),
    "/search": ("q=deploy",),
    "/usage/explain": ("target={session}",),
    "/s/{}/turns": tuple(f"start={start}&count=40" for start in (0, 40, 80)),
    "/api/sessions/{}/turns": tuple(f"start={start}&count=40" for start in (0, 40, 80)),
    "/api/sessions/{}/find": ("q=key",),
    "/api/sessions/{}/export": tuple(
        f"format={kind}" for kind in ("markdown", "text", "json", "csv", "csv&table=calls")
    ),
}
"""What is asked of a route besides the route itself."""


def iter_addresses(file: Path) -> Iterator[tuple[str, str]]:
    """Every route that is read from, with addresses of sessions and some of their records."""
    for session in (FIELDS, KINDS, WORKED, GONE):
        ids = [f"00000000-0000-4000-8000-{int(session[0]):02d}{each:010d}" for each in (1, 5, 40)]
        for method, route in addresses.list_routes():
            if method == "GET":
                named = route.replace(addresses.SESSION, session)
                for each in (
                    (*ids, "toolu_003", "toolu_agent", AGENT) if "/none" in named else ids[:1]
                ):
                    yield route, named.replace("/none", f"/{each}")
                for query in QUERIES.get(route.replace(addresses.SESSION, "{}"), ()):
                    yield route, f"{named}?{query.format(file=quote(str(file)), session=session)}"
