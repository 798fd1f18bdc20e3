"""Every command of the program and every address of a server, for tests of what they show.

The commands are those of the program's table and the addresses those of the router, so that a new
one has to be tried or said to show nothing of a session.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

import click

from recollect.cli.program import COMMANDS, load_command
from tests.redact.planted_files import AGENT, GONE, WORKED
from tests.redact.planted_sessions import FIELDS, KINDS, NAMES
from tests.web import addresses

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
    ("files", "{}", "--json-lines"),
    ("checkpoints", "{}", "--json"),
    ("replay", "{}", "--instant"),
    ("follow", "{}", "--json-lines", "--turns", "50", "--until", "idle"),
    ("follow", "{}", "--turns", "50", "--until", "idle"),
)
"""The commands for each session, also before there is an index."""

RUNS: Runs = (
    ("list", "--tree", "--subagents"),
    ("list", "--subagents", "--json"),
    ("list", "--subagents", "--json-lines"),
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
    ("blame", "{file}", "--stat"),
    ("blame", "{directory}", "--stat", "--json"),
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
    ("export", KINDS, "--format", "markdown", "--budget", "4000"),
    ("export", KINDS, "--split", "5", "--format", "html", "-o", "{outside}/split"),
    ("export", KINDS, "--split", "5", "--format", "markdown", "-o", "{outside}/documents"),
    ("export", "--all", "--format", "html", "--json", "-o", "{outside}/pages"),
    ("index", "--status"),
    ("index", "--status", "--json"),
    ("statusline",),
    ("statusline", "--json"),
)
"""The commands for all sessions."""

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
"""The commands that copy sessions unchanged; only their messages are masked."""

OUTPUTS = (
    *("--json", "--json-lines", "--porcelain", "--raw", "--diff", "--prompts", "--outline"),
    *("--stat", "--tree", "--subagents", "--split", "--budget", "--format"),
)
"""Options that choose what is shown, or in which form."""

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
"""The parameters of a route, besides its path."""


SESSIONS = (FIELDS, KINDS, NAMES, WORKED, GONE)


def iter_addresses(file: Path, sessions: Iterable[str] = SESSIONS) -> Iterator[tuple[str, str]]:
    """Every route that is read from, with addresses of sessions and some of their records."""
    for session in sessions:
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
