"""Tests of recollect.cli.commands.statusline_command and statusline.run, through the program."""

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import pytest

from recollect.cli.program import COMMANDS, find_module
from recollect.cli.statusline_setup import PAUSE_SECONDS, STAMP_NAME, start_sync
from recollect.store.data_directory import INDEX_NAME
from tests.cli.demo_home import make_demo_home, run_at
from tests.process import Finished, RunRecollect, run_python

MODEL = '{"model":{"display_name":"Opus 4.5"}}'
NO_INDEX = "Opus 4.5 | today: run `recollect index` once\n"
NOW = "2026-11-12T07:30:00Z"
FIGURES = "Opus 4.5 | today $0.01 | block $0.01, 3h 30m left\n"
CPU_BUDGET_SECONDS = 0.1
HEAVY = {"click", "msgspec", "rich", "recollect.cli.program", "recollect.locations", "subprocess"}


@pytest.fixture
def home(safe_environment: None) -> Path:
    """Return a home with the demo data."""
    return make_demo_home()


@pytest.fixture
def data(home: Path, run_recollect: RunRecollect) -> Path:
    """Return the data directory, with an up-to-date index."""
    run_at(run_recollect, 80, "index")
    return home / ".local" / "share" / "recollect"


def ask(run: RunRecollect, *options: str, input: str = MODEL) -> Finished:
    """Print the status line for this status."""
    return run_at(run, 200, "statusline", *options, input=input, now=NOW)


def status_of(home: Path) -> str:
    """Return the status of a session of the demo data."""
    transcript = next(iter((home / ".claude").rglob("ba574db1*.jsonl")))
    return json.dumps({"model": {"display_name": "Opus 4.5"}, "transcript_path": str(transcript)})


def test_figures_come_from_the_index(run_recollect: RunRecollect, home: Path, data: Path) -> None:
    """The day and the block are those of `usage`."""
    assert ask(run_recollect, input=status_of(home)) == Finished(0, FIGURES, "")


def test_a_session_without_a_stated_cost_is_looked_up(
    run_recollect: RunRecollect, data: Path
) -> None:
    """If the client reports no cost, the index is used."""
    status = '{"session_id":"94791a87-9d13-410a-a632-25a9b25c1b45"}'
    document = json.loads(ask(run_recollect, "--json", input=status).stdout)
    assert (document["session"], document["session_origin"]) == (
        {"cost_usd": 0.059986, "unpriced_messages": 0},
        "index",
    )


@pytest.mark.parametrize("input", ["", "{}", "garbage", "[1]", "\x00", '{"model":5}'])
def test_any_input_makes_a_line(run_recollect: RunRecollect, data: Path, input: str) -> None:
    """Values that the client does not send are left out."""
    expected = Finished(0, "today $0.01 | block $0.01, 3h 30m left\n", "")
    assert ask(run_recollect, input=input) == expected


def test_without_an_index_the_line_says_how_to_get_one(run_recollect: RunRecollect) -> None:
    """A status line does not create one."""
    assert ask(run_recollect) == Finished(0, NO_INDEX, "")


def _damage(data: Path) -> None:
    (data / INDEX_NAME).write_bytes(b"no database" * 1000)


def _cut(data: Path) -> None:
    os.truncate(data / INDEX_NAME, 20_000)


@pytest.mark.parametrize("spoil", [_damage, _cut])
def test_a_damaged_index_leaves_a_line(
    run_recollect: RunRecollect, data: Path, spoil: Callable[[Path], None]
) -> None:
    """The line shows the client's values, and where to look for the problem."""
    spoil(data)
    result = ask(run_recollect)
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout in ("Opus 4.5 | today: see `recollect doctor`\n", FIGURES)


def test_an_index_in_use_is_read(run_recollect: RunRecollect, data: Path) -> None:
    """A running sync does not block the line."""
    fcntl = pytest.importorskip("fcntl")
    with (data / "index.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert ask(run_recollect) == Finished(0, FIGURES, "")


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        (
            {"RECOLLECT_NOW": "soon"},
            "recollect: RECOLLECT_NOW: 'soon' is not a valid time (try 2026-11-13T12:00:00Z).\n",
        ),
        (
            {"RECOLLECT_CONFIG": "/nowhere/config.toml"},
            "recollect: RECOLLECT_CONFIG: /nowhere/config.toml does not exist.\n",
        ),
    ],
)
def test_problems_are_reported_in_the_line(
    run_recollect: RunRecollect, environment: dict[str, str], line: str
) -> None:
    """With an exit code or a message elsewhere, the line would be blank."""
    wide = {"COLUMNS": "200", **environment}
    assert run_recollect("statusline", input=MODEL, env=wide) == Finished(0, line, "")


def test_an_unknown_option_is_reported_in_the_line(run_recollect: RunRecollect) -> None:
    """A mistake in settings.json is visible in the status line."""
    expected = Finished(0, "recollect statusline: no such option: --colour\n", "")
    assert ask(run_recollect, "--colour") == expected


def test_the_json_can_be_filtered(run_recollect: RunRecollect, data: Path) -> None:
    """`--jq` works as in other commands; a wrong expression is a usage error, not a line."""
    pytest.importorskip("jq")
    assert ask(run_recollect, "--jq", ".model") == Finished(0, "Opus 4.5\n", "")
    assert ask(run_recollect, "--jq=.today.day") == Finished(0, "2026-11-12\n", "")
    for wrong in (".model[", ".model.name"):
        failed = ask(run_recollect, "--jq", wrong)
        assert (failed.code, failed.stdout) == (2, "")


def test_a_closed_or_silent_input_makes_a_line(home: Path) -> None:
    """The line is printed without input, and with input that never ends."""
    command = f'"{sys.executable}" -m recollect statusline'
    for shell in (f"exec {command} <&-", f"exec {command}"):
        with subprocess.Popen(
            ["sh", "-c", shell], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            # Its input stays open while the test reads.
            assert process.stdin is not None
            assert process.stdout is not None
            guard = Timer(60, process.kill)
            guard.start()
            assert process.stdout.readline() == b"today: run `recollect index` once\n"
            guard.cancel()
            process.kill()


def test_a_client_that_has_gone_is_no_error() -> None:
    """If the output is closed, nothing is reported."""
    command = f'"{sys.executable}" -m recollect statusline </dev/null >&-; echo $?'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_the_setup_is_printed_and_changes_nothing(run_recollect: RunRecollect, home: Path) -> None:
    """The settings go to stdout, the advice to stderr, and no file is touched."""
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    result = run_recollect("statusline", "--setup", env={"PATH": os.devnull})
    command = f"{sys.executable} -m recollect statusline"
    assert json.loads(result.stdout) == {"statusLine": {"type": "command", "command": command}}
    advice = "Add this to settings.json in your Claude directory. Nothing was changed.\n"
    assert (result.code, result.stderr) == (0, advice)
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before


def test_the_setup_names_the_program_where_it_is_found(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """For a program on the PATH, the name is enough."""
    program = tmp_path / "recollect"
    program.touch(mode=0o755)
    result = run_recollect("statusline", "--setup", env={"PATH": str(tmp_path)})
    assert json.loads(result.stdout)["statusLine"]["command"] == "recollect statusline"


def test_the_timezone_of_the_config_decides_the_day(
    run_recollect: RunRecollect, home: Path, data: Path
) -> None:
    """A day is one in the configured time zone."""
    config = home / ".config" / "recollect" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('timezone = "Pacific/Kiritimati"\n', encoding="utf-8")
    document = json.loads(ask(run_recollect, "--json").stdout)
    assert (document["timezone"], document["today"]["day"]) == ("Pacific/Kiritimati", "2026-11-12")
    late = run_recollect(
        "statusline", "--json", input=MODEL, env={"RECOLLECT_NOW": "2026-11-12T10:30:00Z"}
    )
    assert json.loads(late.stdout)["today"]["day"] == "2026-11-13"


def test_a_line_loads_little(data: Path) -> None:
    """Neither click nor msgspec nor any other command is imported."""
    result = run_python("-X", "importtime", "-m", "recollect", "statusline", input=MODEL)
    loaded = set(re.findall(r"^import time:.*\| +(\S+)$", result.stderr, flags=re.MULTILINE))
    assert "recollect.cli.statusline" in loaded
    others = {find_module(name) for name in COMMANDS}
    assert loaded & (HEAVY | others) == set()


def test_a_line_loads_little_with_a_data_directory_of_ones_own(home: Path) -> None:
    """Checking that it is not below a Claude directory needs no msgspec either."""
    own = {"RECOLLECT_DATA_DIR": str(home / "own")}
    result = run_python("-X", "importtime", "-m", "recollect", "statusline", input=MODEL, env=own)
    loaded = set(re.findall(r"^import time:.*\| +(\S+)$", result.stderr, flags=re.MULTILINE))
    assert "recollect.locations" in loaded
    assert loaded & {"click", "msgspec"} == set()


@pytest.mark.slow
def test_a_line_is_cheap(run_recollect: RunRecollect, home: Path, data: Path) -> None:
    """The best of ten lines takes less than a tenth of a second of CPU, start-up included."""
    spent = []
    for _ in range(10):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ask(run_recollect, input=status_of(home))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(spent) < CPU_BUDGET_SECONDS


def test_an_outdated_index_is_updated_in_the_background(
    run_recollect: RunRecollect, home: Path, data: Path
) -> None:
    """The line does not wait; a later one has the new figures."""
    status = status_of(home)
    transcript = Path(json.loads(status)["transcript_path"])
    transcript.write_bytes(transcript.read_bytes() + b"\n")
    assert ask(run_recollect, input=status) == Finished(0, FIGURES, "")
    deadline = time.monotonic() + 60
    while json.loads(ask(run_recollect, "--json", input=status).stdout)["index"] != "current":
        assert time.monotonic() < deadline
    assert (data / STAMP_NAME).exists()


def test_no_sync_is_started_on_request(run_recollect: RunRecollect, home: Path, data: Path) -> None:
    """`--no-sync` only reads."""
    status = status_of(home)
    transcript = Path(json.loads(status)["transcript_path"])
    transcript.write_bytes(transcript.read_bytes() + b"\n")
    document = json.loads(ask(run_recollect, "--json", "--no-sync", input=status).stdout)
    assert (document["index"], (data / STAMP_NAME).exists()) == ("behind", False)


def test_syncs_are_not_started_one_after_the_other(tmp_path: Path) -> None:
    """There is a pause between them, however many lines are requested."""
    stamp = tmp_path / STAMP_NAME
    stamp.touch()
    assert start_sync(tmp_path, "/nowhere") is None
    past = time.time() - PAUSE_SECONDS - 1
    os.utime(stamp, (past, past))
    process = start_sync(tmp_path, "/nowhere")
    assert process is not None
    assert process.wait() == 3


def test_no_sync_is_started_where_nothing_can_be_written(tmp_path: Path) -> None:
    """A missing or read-only directory is left alone."""
    assert start_sync(tmp_path / "missing", "/nowhere") is None
