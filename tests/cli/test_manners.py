"""Pipes, terminals, colours, interrupts and exit codes for every command."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from recollect.cli.program import COMMANDS
from tests.cli.demo_home import NOW, make_demo_home
from tests.process import RunRecollect
from tests.terminal import open_terminal

SESSION = "94791a87-9d13-410a-a632-25a9b25c1b45"
CALLS = {
    "list": ("list",),
    "show": ("show", SESSION),
    "search": ("search", "tide"),
    "usage": ("usage",),
    "tools": ("tools",),
    "files": ("files", SESSION),
    "file": ("file", "/home/mina/projects/tidepool/src/tidepool/cli.py"),
    "checkpoints": ("checkpoints", SESSION),
    "secrets": ("secrets", "scan", SESSION),
    "export": ("export", SESSION, "--format", "text"),
    "doctor": ("doctor",),
    "index": ("index",),
    "archive": ("archive", "status"),
    "config": ("config", "show"),
    "statusline": ("statusline", "--no-sync"),
    "completion": ("completion", "bash"),
    "help": ("help", "places"),
}
"""A call of each command that prints something and ends by itself."""

NOT_TRIED = {
    *(
        "blame",
        "commits",
        "why",
        "restore",
        "resume",
        "open",
        "demo",
        "serve",
        "follow",
        "run",
        "replay",
    ),
    *("bundle", "import", "chat", "star", "note"),
}
"""Commands that start something, go on until stopped, print nothing, or need a web app, a file or a
repository."""

COLOURED = ("usage", "search", "show")
ESCAPE = "\x1b"
PLAIN: list[Mapping[str, str]] = [
    {},
    {"TERM": "xterm-256color"},
    {"CLICOLOR": "1"},
    {"NO_COLOR": "1"},
    {"NO_COLOR": "1", "FORCE_COLOR": "1"},
    {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"},
    {"TERM": "dumb"},
    {"FORCE_COLOR": "0"},
]
"""Environments in which a pipe gets no colours."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")


@pytest.fixture
def home(safe_environment: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the demo data, at its time."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RECOLLECT_NOW", NOW)
    return make_demo_home()


@pytest.mark.parametrize("name", CALLS)
def test_pipes_get_plain_text(run_recollect: RunRecollect, home: Path, name: str) -> None:
    """No escape sequences, spinners or pagers, in any environment."""
    for environment in PLAIN:
        result = run_recollect(*CALLS[name], env=environment)
        assert (result.code, result.stdout.count(ESCAPE), result.stderr.count(ESCAPE)) == (0, 0, 0)
        assert "\r" not in result.stdout + result.stderr


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "CLICOLOR_FORCE"])
@pytest.mark.parametrize("name", COLOURED)
def test_colours_can_be_forced(
    run_recollect: RunRecollect, home: Path, name: str, variable: str
) -> None:
    """Colours can be requested in a pipe."""
    assert ESCAPE in run_recollect(*CALLS[name], env={variable: "1"}).stdout


@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm-256color", "CLICOLOR": "0"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_a_terminal_gets_colours_unless_disabled(
    home: Path, environment: Mapping[str, str], is_coloured: bool
) -> None:
    """On a terminal colours are the default, and each way to switch them off works."""
    arguments = ("usage", "--no-pager")
    with open_terminal(*arguments, env=environment) as terminal:
        terminal.wait_for_end()
    assert (b"\x1b[1m" in terminal.received) is is_coloured


@pytest.mark.parametrize("columns", [40, 60, 200])
def test_the_width_is_that_of_the_environment(
    run_recollect: RunRecollect, home: Path, columns: int
) -> None:
    """COLUMNS is followed in a pipe too."""
    result = run_recollect("usage", env={"COLUMNS": str(columns)})
    assert max(map(len, result.stdout.splitlines())) <= columns


def test_tables_are_not_cut_in_a_pipe(
    run_recollect: RunRecollect, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs get complete titles, whatever the width of the terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)
    title = "Write release notes for 3.2 from the commits since v3.1. Three points at most."
    lines = run_recollect("list").stdout.splitlines()
    assert [line.endswith(f"  {title}") for line in lines].count(True) == 1


@pytest.mark.parametrize("name", CALLS)
def test_a_reader_that_leaves_is_no_error(home: Path, name: str) -> None:
    """`| head -1` ends a command with 141, or before it notices, without a message."""
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(
        [sys.executable, "-m", "recollect", *CALLS[name]],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (process.returncode, process.stderr) == (0 if name == "statusline" else 141, b"")


@pytest.mark.parametrize("delay", [0.02, 0.05, 0.1, 0.2, 0.4])
@pytest.mark.parametrize("name", ["usage", "search"])
def test_an_interrupt_is_quiet(home: Path, name: str, delay: float) -> None:
    """Ctrl+C ends a command immediately, at any time, without a message."""
    arguments = ["recollect", *CALLS[name]]
    start = "import sys; from recollect.cli import main; sys.stderr.write('.'); sys.stderr.flush()"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{start}; sys.argv = {arguments}; main()"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert process.stderr.read(1) == b"."
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert said == b""
    assert process.returncode in (0, 130, -signal.SIGINT)


def _make_damaged(home: Path) -> Path:
    path = home / "damaged.jsonl"
    path.write_text("no json\n", encoding="utf-8")
    return path


EXITS: list[tuple[int, tuple[str, ...]]] = [
    *((0, call) for call in CALLS.values()),
    *((0, (name, "--help")) for name in COMMANDS),
    (0, ("statusline", "--nonsense")),
    (0, ("--version",)),
    *((2, (name, "--nonsense")) for name in COMMANDS if name != "statusline"),
    (2, ("nonsense",)),
    (0, ("config",)),
    (2, ("config", "nonsense")),
    (2, ("usage", "nonsense")),
    (2, ("usage", "--timezone", "Mars")),
    (2, ("usage", "--since", "someday")),
    (2, ("search",)),
    (2, ("search", "/(/")),
    (2, ("show",)),
    (2, ("secrets", "scan")),
    (2, ("index", "--rebuild", "--status")),
    (2, ("doctor", "--demo", "x")),
    (2, ("completion", "nonsense")),
    (3, ("list", "nothing has this in its title")),
    (3, ("show", "nothing")),
    (3, ("files", "nothing")),
    (3, ("secrets", "scan", "nothing")),
    (3, ("resume", "nothing")),
    (3, ("open", "nothing")),
    (3, ("search", "nothingsaysthis")),
    (3, ("usage", "--project", "nothing")),
    (3, ("usage", "explain", "nothing")),
    (3, ("doctor", "/nowhere")),
    *(
        (3, (name, *words, "--claude-dir", "/nowhere"))
        for name, words in {
            "list": (),
            "usage": (),
            "search": ("x",),
            "tools": (),
            "index": (),
            "doctor": (),
        }.items()
    ),
    (4, ("doctor", "DAMAGED")),
]
"""The exit code of each call, as documented in the README and docs/cli.md."""


@pytest.mark.parametrize(
    ("code", "words"), EXITS, ids=[f"{code} {' '.join(w)}" for code, w in EXITS]
)
def test_exit_codes_are_those_of_the_table(
    run_recollect: RunRecollect, home: Path, code: int, words: tuple[str, ...]
) -> None:
    """Each command exits with the documented code, and explains failures on stderr."""
    arguments = [str(_make_damaged(home)) if word == "DAMAGED" else word for word in words]
    result = run_recollect(*arguments)
    assert result.code == code, result
    assert "internal error" not in result.stderr
    if code in (2, 3) and "--project" not in words:
        assert (result.stdout, result.stderr[:11]) == ("", "recollect: ")


@pytest.mark.parametrize("words", [("index",), ("index", "--status")])
def test_an_index_that_cannot_be_used_has_its_own_code(
    run_recollect: RunRecollect, home: Path, words: tuple[str, ...]
) -> None:
    """A data directory that is a file ends with 5."""
    (home / "file").touch()
    environment = {"RECOLLECT_DATA_DIR": str(home / "file")}
    code = run_recollect(*words, env=environment).code
    assert code == (5 if words == ("index",) else 0)


def test_nothing_is_written_into_the_claude_directory(
    run_recollect: RunRecollect, home: Path
) -> None:
    """No command creates or changes anything there."""
    before = {path: path.lstat().st_mtime_ns for path in (home / ".claude").rglob("*")}
    for words in CALLS.values():
        run_recollect(*words)
    assert {path: path.lstat().st_mtime_ns for path in (home / ".claude").rglob("*")} == before


def test_every_command_is_tried() -> None:
    """Every command has a call here, or is listed as an exception."""
    assert set(COMMANDS) - set(CALLS) <= NOT_TRIED
