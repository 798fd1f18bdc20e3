"""Definite secrets are masked in names: of directories, files, models, branches, tools and more."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.process import RunRecollect
from tests.redact.planted_files import GONE, WORKED
from tests.redact.planted_names import LOST, SESSION, Names, plant_client, plant_names
from tests.redact.planted_sessions import KINDS
from tests.redact.stored_bytes import read_stored
from tests.web.running import collect_events, run_server
from tests.workspace.every_command import KEEPING, OF_A_SESSION, RUNS, iter_addresses

NEEDED_PATHS = {"directory", "empty project", "task file", "folder", "file", "backup"}
"""Parts of the paths of transcripts, sidecars and edited files, which the index needs unmasked."""
ALSO_ARCHIVED = ("state.json", ".timelines.jsonl")
"""Files of the archive, which keeps names as it keeps contents: unchanged."""


@pytest.mark.slow
@pytest.mark.parametrize("are_own", [False, True])
@pytest.mark.usefixtures("own_rules")
def test_no_command_shows_a_name_with_a_secret(
    run_recollect: RunRecollect, home: Path, tmp_path: Path, *, are_own: bool
) -> None:
    """Without an index, with one, and while a client is running; files of the index neither."""
    names = Names(are_own=are_own)
    file = plant_names(home, names)
    model = {name: names.draw(name) for name in ("id", "display_name")}
    status = json.dumps({"model": model, "version": names.draw("version of the client")})
    outside = tmp_path / "outside"
    outside.mkdir()
    leaks: dict[str, list[str]] = {}

    def run_all(commands: Iterable[Sequence[str]]) -> None:
        for command in commands:
            arguments = [
                _name_here(each).format(
                    SESSION, file=file, directory=file.parent.parent, outside=outside
                )
                for each in command
            ]
            # Nothing is shortened, however long the path of a temporary directory is.
            done = run_recollect(*arguments, input=status, env={"COLUMNS": "1000"})
            assert done.code in {0, 3, 4}, (arguments, done.stderr)
            if found := names.find((done.stdout + done.stderr).encode()):
                leaks[" ".join(command)] = found

    run_all(OF_A_SESSION)
    assert run_recollect("index", "--text").code == 0
    run_all(OF_A_SESSION)
    plant_client(home, names)
    run_all(each for each in OF_A_SESSION if each[0] != "follow")
    run_all(RUNS)
    stored = list_stored(tmp_path / "data", names)
    run_all(KEEPING)
    assert leaks == {}
    assert stored <= NEEDED_PATHS
    shown = run_recollect("usage", "model", "--json").stdout
    assert f"claude-[redacted:{'reef' if are_own else 'aws'}-key]" in shown


def _name_here(argument: str) -> str:
    return argument.replace(KINDS, SESSION).replace(WORKED, SESSION).replace(GONE, LOST)


def list_stored(data: Path, names: Names) -> set[str]:
    """The names that can be read in files of a data directory, or in what those are called."""
    paths = [path for path in data.rglob("*") if path.name not in ALSO_ARCHIVED]
    assert {"index.db", "text.db"} <= {path.name for path in paths}
    called = "\n".join(str(path.relative_to(data)) for path in paths).encode()
    contents = [read_stored(path) for path in paths if path.is_file()]
    return {place for data in (called, *contents) for place in names.find(data)}


@pytest.mark.slow
@pytest.mark.parametrize("are_own", [False, True])
@pytest.mark.usefixtures("own_rules")
def test_no_page_and_no_event_names_a_secret(tmp_path: Path, *, are_own: bool) -> None:
    """Nor does a link: a file whose name contains a secret has no page."""
    root = tmp_path / "root"
    names = Names(are_own=are_own)
    file = plant_names(root, names)
    plant_client(root, names)
    (transcript,) = (root / "projects").glob(f"*/{SESSION}.jsonl")
    leaks = {}
    with run_server(tmp_path, root) as server:
        server.wait_until_current()
        for _, path in iter_addresses(file, (SESSION, LOST)):
            if found := names.find(server.get(path).body):
                leaks[path] = found
        with (
            collect_events(server, "/api/events") as of_all,
            collect_events(server, f"/api/events?session={SESSION}") as of_session,
        ):
            server.wait_for(lambda: b"event: caught_up" in b"".join(of_session))
            with transcript.open("a", encoding="utf-8") as lines:
                lines.write('{"type":"summary","summary":"enough","leafUuid":"x"}\n')
            server.wait_for(lambda: b'"appended"' in b"".join(of_session))
            transcript.unlink()
            server.wait_for(lambda: b'"gone":["' in b"".join(of_all))
            heard = b"".join([*of_session, *of_all])
    assert leaks == {}
    assert names.find(heard) == []
    assert list_stored(tmp_path / "data", names) <= NEEDED_PATHS
