"""Terminal safety of every command: hostile input, but only harmless output.

Each command runs like a user's, 80 columns wide and in colour, on sessions in which every string
contains every payload; and then with the payloads in its arguments, its settings and its input.
Full detail of `show` and `files` is tested in tests/render/terminal.
"""

import json
import re
import shutil
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.cli.clock import NOW_VARIABLE
from recollect.cli.program import COMMANDS
from recollect.documents.usage_groups import Group
from tests.cli.demo_home import NOW
from tests.hostile import COLOURS, PAYLOAD, find_harm, list_sessions, replay, write_hostile_root
from tests.process import Finished, RunRecollect
from tests.terminal import Terminal, open_terminal

COLUMNS = 80
SESSION = "94791a87-9d13-410a-a632-25a9b25c1b45"
"""Its id is in two projects, so it has to be named by its path."""

ARGUMENT = PAYLOAD.replace("\0", "").encode("utf-8", "replace").decode()
"""The payloads that are possible as process arguments."""

RUNS: tuple[tuple[str, ...], ...] = (
    (),
    ("list",),
    ("list", "--tree"),
    ("list", "--errors"),
    ("list", "--json"),
    ("list", "--json-lines"),
    ("show", "latest"),
    ("show", "-2", "--tools", "full", "--thinking"),
    ("files", "--project", "tidepool"),
    ("files", "--project", "tidepool", "--diff"),
    ("search", "owned"),
    ("search", "tide", "--recent"),
    ("search", "vanished", "--json"),
    *(("usage", group.value) for group in Group),
    ("usage", "session", "--breakdown"),
    ("usage", "model", "--json"),
    ("usage", "cause"),
    ("usage", "explain", "latest"),
    ("usage", "explain", "2026-11-09"),
    ("tools",),
    ("tools", "--session", "latest"),
    ("tools", "--json"),
    ("resume", "latest", "--print"),
    ("resume", "latest", "--json"),
    ("resume", "latest"),
    ("open", "latest"),
    ("open", "latest", "--json"),
    ("follow", "latest", "--until", "idle"),
    ("replay", "latest", "--instant"),
    ("secrets", "scan", "--all"),
    ("secrets", "scan", "latest", "--json"),
    # Not Markdown: code in it keeps its tabs, which are harmless.
    *(("export", "latest", "--format", kind) for kind in ("text", "json", "csv")),
    ("doctor",),
    ("doctor", "--json"),
    ("index", "--text"),
    ("index", "--status"),
    ("archive",),
    ("config", "show"),
    ("demo", "list"),
    ("statusline",),
    ("show", "Title"),
    ("completion", "bash"),
)
"""Calls on the hostile sessions; without a command, a pipe gets the list.

`run` and `serve` print nothing about existing sessions; the output of `run` has its own tests.
"""

WITH_ARGUMENT: tuple[tuple[str, ...], ...] = (
    ("list", ARGUMENT),
    ("list", "--project", ARGUMENT),
    ("list", "--since", ARGUMENT),
    ("list", "--limit", ARGUMENT),
    ("show", ARGUMENT),
    ("show", "latest", "--turn", ARGUMENT),
    ("show", "latest", "--branch", ARGUMENT),
    ("show", f"{ARGUMENT}.jsonl"),
    ("files", ARGUMENT),
    ("file", ARGUMENT),
    ("restore", ARGUMENT, "--at", "1"),
    ("checkpoints", ARGUMENT),
    ("blame", ARGUMENT),
    ("commits", ARGUMENT),
    ("why", ARGUMENT),
    ("search", ARGUMENT),
    ("search", f"/{ARGUMENT}/"),
    ("search", f"since:{ARGUMENT}"),
    ("usage", ARGUMENT),
    ("usage", "explain", ARGUMENT),
    ("usage", "--timezone", ARGUMENT),
    ("tools", "--session", ARGUMENT),
    ("secrets", "scan", ARGUMENT),
    ("secrets", "scan", "--project", ARGUMENT),
    ("export", ARGUMENT),
    ("export", "--project", ARGUMENT, "-o", "out"),
    ("star", ARGUMENT),
    ("note", ARGUMENT),
    ("help", ARGUMENT),
    ("chat", ARGUMENT),
    ("resume", ARGUMENT),
    ("open", ARGUMENT),
    ("follow", ARGUMENT),
    ("replay", ARGUMENT),
    ("run", "--resume", ARGUMENT, "hello"),
    ("serve", "--port", ARGUMENT),
    ("doctor", "--claude-dir", ARGUMENT),
    ("index", "--claude-dir", ARGUMENT),
    ("index", "--prices", ARGUMENT),
    ("archive", "restore", ARGUMENT),
    ("bundle", ARGUMENT, "-o", ARGUMENT),
    ("import", ARGUMENT, "--into-claude-dir", ARGUMENT),
    ("statusline", ARGUMENT),
    ("config", ARGUMENT),
    ("config", "show", "--timezone", ARGUMENT),
    ("demo", ARGUMENT),
    ("completion", ARGUMENT),
    (ARGUMENT,),
    (f"--{ARGUMENT}",),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hostile Claude directory, in which even the name of a file is hostile."""
    path = tmp_path_factory.mktemp("place")
    first, *_ = list_sessions(write_hostile_root(path))
    shutil.copyfile(first, first.with_name("\x1b[2J\u202eevil.jsonl"))
    return path


@pytest.fixture
def environment(place: Path, safe_environment: None) -> dict[str, str]:
    """The hostile directory as the default; all tests share its index."""
    return {
        "CLAUDE_CONFIG_DIR": str(place / "hostile"),
        "RECOLLECT_DATA_DIR": str(place / "data"),
        "COLUMNS": str(COLUMNS),
        "FORCE_COLOR": "1",
        NOW_VARIABLE: NOW,
        "TZ": "UTC",
    }


def check(done: Finished) -> None:
    """Fail if the output is not harmless text, or if the program crashed."""
    assert "internal error" not in done.stderr
    for output in (done.stdout, done.stderr):
        assert find_harm(output) == []
        assert replay(output, COLUMNS) == set()


@pytest.mark.slow
@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_sessions_cannot_drive_the_terminal(
    run_recollect: RunRecollect, environment: dict[str, str], words: tuple[str, ...]
) -> None:
    """Output about hostile sessions has no control sequences, links or hidden text."""
    done = run_recollect(*words, input="", env=environment)
    check(done)
    assert (done.stdout + done.stderr).strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", WITH_ARGUMENT, ids=lambda words: " ".join(words).replace(ARGUMENT, "PAYLOAD")
)
def test_messages_cannot_drive_the_terminal(
    run_recollect: RunRecollect, environment: dict[str, str], words: tuple[str, ...]
) -> None:
    """Arguments quoted in errors are harmless too."""
    done = run_recollect(*words, env=environment)
    check(done)
    # These accept any argument: a status line is always printed, settings are only shown, and a
    # list finds sessions with these words.
    accepting = (("statusline", ARGUMENT), ("config", "show"), ("list", ARGUMENT))
    assert done.code in (2, 3) or words[:2] in accepting


def test_every_command_is_tried() -> None:
    """A new command has to be added here."""
    tried = {words[0] for words in (*RUNS, *WITH_ARGUMENT) if words}
    assert set(COMMANDS) - tried == set()


def test_the_first_look_is_as_safe(
    run_recollect: RunRecollect, environment: dict[str, str], tmp_path: Path
) -> None:
    """The overview shows untrusted titles of sessions that will be deleted."""
    years_later = {NOW_VARIABLE: "2030-01-01T00:00:00Z", "RECOLLECT_DATA_DIR": str(tmp_path)}
    done = run_recollect(env={**environment, **years_later})
    check(done)
    assert (done.code, done.stderr.count("␛]0;owned")) == (0, 3)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_status_line_is_as_safe(
    run_recollect: RunRecollect, environment: dict[str, str], options: tuple[str, ...]
) -> None:
    """Values from the client are harmless text on one line."""
    texts = ("session_id", "transcript_path", "cwd", "version", "session_name", PAYLOAD)
    status = {
        **dict.fromkeys(texts, PAYLOAD),
        "model": {"id": PAYLOAD, "display_name": PAYLOAD},
        "workspace": {"current_dir": PAYLOAD, "project_dir": PAYLOAD},
        "output_style": {"name": PAYLOAD},
        "rate_limits": {"five_hour": {"used_percentage": 1, "resets_at": PAYLOAD}},
    }
    words = ("statusline", "--no-sync", *options)
    for text in (json.dumps(status), ARGUMENT):
        done = run_recollect(*words, input=text, env=environment)
        check(done)
        assert (done.code, done.stderr, bool(done.stdout.strip())) == (0, "", True)
        assert options or done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        f"timezone = {json.dumps(ARGUMENT)}",
        f"prices = {json.dumps(ARGUMENT)}",
        f"roots = [{json.dumps(ARGUMENT)}]",
        f"{json.dumps(ARGUMENT)} = 1",
        ARGUMENT,
    ],
    ids=["timezone", "prices", "roots", "name", "no settings"],
)
def test_settings_are_as_safe(
    run_recollect: RunRecollect, environment: dict[str, str], tmp_path: Path, text: str
) -> None:
    """A config file, and its name, may come from anywhere."""
    path = tmp_path / "\x1b[2J\u202econfig.toml"
    path.write_text(text, encoding="utf-8")
    settings = {**environment, "RECOLLECT_CONFIG": str(path)}
    del settings["CLAUDE_CONFIG_DIR"]
    for words in (("config", "show"), ("config", "show", "--json"), ("list",), ("usage",)):
        check(run_recollect(*words, env=settings))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_what_a_shell_is_offered_is_as_safe(
    run_recollect: RunRecollect, environment: dict[str, str], shell: str
) -> None:
    """Titles are shown by the shell; an id that is not plain text is not offered."""
    run_recollect("list", env=environment)
    asked = {"COMP_WORDS": "recollect show ", "COMP_CWORD": "" if shell == "powershell" else "2"}
    done = run_recollect(env={**environment, "_RECOLLECT_COMPLETE": f"{shell}_complete", **asked})
    assert find_harm(done.stdout.replace("\t", "")) == []
    assert (done.code, done.stderr) == (0, "")
    assert (SESSION in done.stdout, "evil" in done.stdout) == (True, False)


OUR_SEQUENCES = re.compile(
    r"\x1b\[(?:[0-9;]*[ABCDHJKm]|\?(?:1|7|12|25|1049|2004)[hl]|6n)|\x1b\[0?q|[\r\n\x08]"
)
"""Sequences of a full-screen program: moving, erasing, colours, modes; no titles or strings."""


@pytest.fixture
def picker(
    environment: dict[str, str], run_recollect: RunRecollect, tmp_path: Path
) -> Iterator[Terminal]:
    """The picker on the hostile sessions, in a terminal without a clipboard."""
    (tmp_path / "bin").mkdir()
    run_recollect("index", "--text", env=environment)
    settings = {**environment, "PATH": str(tmp_path / "bin"), "PAGER": "cat"}
    with open_terminal(columns=COLUMNS, env=settings, cwd=tmp_path) as terminal:
        terminal.wait_for_text("session c798220b")
        yield terminal


def check_screen(terminal: Terminal) -> None:
    """Fail if the screen shows anything else, or if other sequences were sent."""
    drawn = OUR_SEQUENCES.sub("", terminal.received.decode("utf-8"))
    kinds = {unicodedata.category(character) for character in drawn}
    assert kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"} == set()
    assert (terminal.title, terminal.lines[-1][:10]) == ("", "Enter read")
    assert terminal.lines[0].startswith(">")


@pytest.mark.slow
def test_the_picker_is_as_safe(picker: Terminal) -> None:
    """Rows, preview, hits and the message about copying do not affect the screen."""
    assert picker.lines[1].startswith("▸ ")
    assert sum("␛" in line for line in picker.lines) > 10
    check_screen(picker)
    picker.send("vanished")
    picker.wait_for(lambda lines: lines[0] == "> vanished" and "␛" in lines[1])
    picker.send("\x1b[B\x1b[B")
    picker.wait_for(lambda lines: lines[3].startswith("▸ "))
    picker.send("\x1bc")
    picker.wait_for_text("contains control or invisible characters")
    check_screen(picker)
    assert not any(word in picker.received.decode() for word in ("\x1b]", "\x1bP", "\x1b_"))
    assert [sgr for sgr, _ in COLOURS.values() if sgr in picker.received.decode()] == []


@pytest.mark.slow
def test_a_note_cannot_drive_the_terminal(
    run_recollect: RunRecollect, environment: dict[str, str]
) -> None:
    """A note may contain anything, and is printed as text, alone and in a list."""
    for words in (("note", "latest", ARGUMENT), ("star", "latest")):
        assert run_recollect(*words, env=environment) == Finished(0, "", "")
    for words in (("note", "latest"), ("list", "--starred"), ("list", "--starred", "--json")):
        done = run_recollect(*words, env=environment)
        check(done)
        assert (done.code, "owned" in done.stdout) == (0, True)
