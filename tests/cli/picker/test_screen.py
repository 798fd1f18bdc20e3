"""The picker in a real terminal, on the demo data: its screen and its keys."""

import base64
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.cli.picker_text import KEYS
from recollect.demo import CLAUDE_DIRECTORY
from tests.process import run_recollect
from tests.terminal import Terminal, open_terminal

DOWN, UP, END, ESCAPE = "\x1b[B", "\x1b[A", "\x1b[F", "\x1b"
CTRL_C, CTRL_D, CTRL_R = "\x03", "\x04", "\x12"
ALT = ESCAPE
NEWEST = "Write release notes"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the demo data, shared by all tests."""
    place = tmp_path_factory.mktemp("prepared")
    shutil.copytree(CLAUDE_DIRECTORY, place / "claude")
    (place / "bin").mkdir()
    if (pager := shutil.which("less")) is not None:
        (place / "bin" / "less").symlink_to(pager)
    return place


@pytest.fixture
def prepared(place: Path, safe_environment: None) -> Path:
    """The demo data and its index; the first test creates it in the safe environment."""
    if not (place / "data").exists():
        assert run_recollect("index", "--text", env=_environment(place)).code == 0
    return place


@pytest.fixture
def environment(prepared: Path) -> dict[str, str]:
    """The demo data as the default directory, with its index."""
    return _environment(prepared)


def _environment(place: Path) -> dict[str, str]:
    return {
        "CLAUDE_CONFIG_DIR": str(place / "claude"),
        "RECOLLECT_DATA_DIR": str(place / "data"),
        "RECOLLECT_NOW": "2026-11-13T12:00:00Z",
        "TZ": "UTC",
        # Without a clipboard program and without a client.
        "PATH": str(place / "bin"),
        "NO_COLOR": "1",
        "PAGER": "cat",
    }


@pytest.fixture
def picker(environment: dict[str, str], tmp_path: Path) -> Iterator[Terminal]:
    """A picker that shows the list and the first preview."""
    with open_terminal(columns=120, lines=24, env=environment, cwd=tmp_path) as terminal:
        terminal.wait_for_text("session ba574db1")
        yield terminal


def test_the_newest_session_is_chosen_and_previewed(picker: Terminal) -> None:
    """The screen has the list, the preview, the position and the keys."""
    lines = picker.lines
    assert lines[0] == ">"
    assert lines[1].startswith("▸ 1 d ago     letterpress")
    assert lines[-2] == "8 of 8 sessions, everywhere"
    assert lines[-1] == (
        "Enter read  F1 help  Esc quit  Alt+R resume  Alt+C copy command  Alt+P project  "
        "Alt+B branch  Alt+E errors  Alt+D date"
    )


def test_typing_narrows_the_list(picker: Terminal) -> None:
    """Titles and prompts are searched immediately."""
    picker.send("flaky")
    lines = picker.wait_for_text("1 of 8 sessions, everywhere")
    assert lines[0] == "> flaky"
    assert lines[1].startswith("▸ 3 w ago     tidepool          Fix flaky tide test")


def test_texts_are_searched_too(picker: Terminal) -> None:
    """A word that is only in a reply finds its session, with a snippet."""
    picker.send("batches")
    picker.wait_for(lambda lines: lines[1].startswith("▸") and "batches" in lines[1])


def test_arrows_choose_and_the_preview_follows(picker: Terminal) -> None:
    """Down, End and Up select, and the preview follows."""
    picker.send(DOWN)
    picker.wait_for_text("session 7aa5fa93")
    picker.send(END)
    picker.wait_for(lambda lines: lines[8].startswith("▸"))
    picker.send(UP)
    picker.wait_for(lambda lines: lines[7].startswith("▸"))


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not on this machine")
def test_enter_reads_at_the_hit_and_comes_back(picker: Terminal) -> None:
    """The pager starts at the highlighted words; quitting it returns to the same query and row."""
    picker.send("batches")
    picker.wait_for(lambda lines: lines[1].startswith("▸") and "batches" in lines[1])
    picker.send("\r")
    picker.wait_for(lambda lines: any(line.startswith("▶ ▌ Good. Do both") for line in lines))
    picker.send("q")
    picker.wait_for(lambda lines: lines[0] == "> batches" and "batches" in lines[1])
    picker.send(ESCAPE)
    assert picker.wait_for_end() == 0


def test_the_resume_command_is_copied(picker: Terminal) -> None:
    """Without a clipboard program it is copied through the terminal; the picker stays open."""
    picker.send(DOWN + ALT + "c")
    picker.wait_for_text("Copied: cd /home/mina/projects/letterpress && ")
    copied = picker.received.split(b"\x1b]52;c;")[1].split(b"\x07")[0]
    assert base64.b64decode(copied).decode() == (
        "cd /home/mina/projects/letterpress && claude --resume 7aa5fa93-883b-4f00-b3b1-6090844693a9"
    )


def test_resuming_says_why_it_cannot(picker: Terminal) -> None:
    """The directories of the demo sessions do not exist; the picker stays open."""
    picker.send(DOWN + ALT + "r")
    picker.wait_for_text("The directory of the session no longer exists")
    picker.send(ESCAPE)
    assert picker.wait_for_end() == 0


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (60, 24), (80, 17)])
def test_the_whole_help_is_shown_on_small_screens(
    environment: dict[str, str], tmp_path: Path, columns: int, lines: int
) -> None:
    """It covers the list and restores it."""
    with open_terminal(columns=columns, lines=lines, env=environment, cwd=tmp_path) as terminal:
        terminal.wait_for_text("8 of 8 sessions, everywhere")
        terminal.send("?")
        shown = terminal.wait_for_text("Esc     close this help")
        assert [key for key, _ in KEYS if not any(f" {key} " in line for line in shown)] == []
        assert shown[1].startswith("▸")
        terminal.send("?")
        terminal.wait_for(
            lambda lines: not any("Esc     close this help" in line for line in lines)
        )


def test_letters_always_search(picker: Terminal) -> None:
    """Even after an arrow key."""
    picker.send(DOWN + "r")
    picker.wait_for(lambda lines: lines[0] == "> r")
    picker.send("c/")
    picker.wait_for(lambda lines: lines[0] == "> rc/")


def test_filters_are_keys(picker: Terminal) -> None:
    """An active filter is shown below the list."""
    picker.send(ALT + "d")
    picker.wait_for_text("0 of 8 sessions, everywhere, today")
    picker.send(ALT + "d")
    picker.wait_for_text("4 of 8 sessions, everywhere, last 7 days")


def test_an_alt_key_without_a_meaning_does_nothing(picker: Terminal) -> None:
    """It is not mistaken for Escape, which would quit."""
    picker.send(ALT + "h")
    picker.send("tide")
    picker.wait_for(lambda lines: lines[0] == "> tide")


def test_the_keys_are_listed(picker: Terminal) -> None:
    """A question mark shows and hides them; Escape hides them first, then quits."""
    for key in ("?", ESCAPE):
        picker.send("?")
        picker.wait_for_text("only sessions with errors")
        picker.send(key)
        picker.wait_for_text("session ba574db1")
    picker.send(ESCAPE)
    assert picker.wait_for_end() == 0


@pytest.mark.parametrize(
    "keys", [ESCAPE, CTRL_C, CTRL_D, ESCAPE + ESCAPE, ESCAPE + CTRL_C, ESCAPE + CTRL_D]
)
def test_leaving_is_quiet(picker: Terminal, keys: str) -> None:
    """Nothing is printed and nothing is done, also if two such keys are pressed quickly."""
    picker.send(keys)
    assert picker.wait_for_end() == 0


def test_the_scope_is_this_project_where_there_is_one(prepared: Path, tmp_path: Path) -> None:
    """In a directory with sessions, only these are listed until the key is pressed."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    environment = _environment(tmp_path)
    home = tmp_path / "project"
    home.mkdir()
    records = tmp_path / "claude" / "projects" / "-p"
    records.mkdir()
    name = "0a0a0a0a-0000-4000-8000-000000000000"
    record = {
        "type": "user",
        "uuid": "u",
        "sessionId": name,
        "cwd": str(home),
        "timestamp": "2026-11-13T11:00:00Z",
        "message": {"role": "user", "content": "only here"},
    }
    (records / f"{name}.jsonl").write_text(f"{json.dumps(record)}\n")
    with open_terminal(columns=80, lines=24, env=environment, cwd=home) as terminal:
        lines = terminal.wait_for_text("1 of 9 sessions, this project")
        assert lines[1] == "▸ 1 h ago     only here"
        terminal.send(CTRL_R)
        terminal.wait_for_text("9 of 9 sessions, everywhere")


def test_the_first_time_says_what_was_found(environment: dict[str, str], tmp_path: Path) -> None:
    """The overview stays until Enter is pressed."""
    fresh = {**environment, "RECOLLECT_DATA_DIR": str(tmp_path / "fresh")}
    with open_terminal(columns=120, lines=24, env=fresh, cwd=tmp_path) as terminal:
        lines = terminal.wait_for_text("Press Enter to continue, or type to search:")
        assert lines[0].startswith("Found 8 sessions in 3 projects")
        terminal.send("\r")
        terminal.wait_for_text("8 of 8 sessions, everywhere")


def test_what_is_typed_early_is_searched_for(environment: dict[str, str], tmp_path: Path) -> None:
    """Before the overview of a first run, and before the list of later ones."""
    fresh = {**environment, "RECOLLECT_DATA_DIR": str(tmp_path / "fresh")}
    for keys in ("flaky\r", "flaky"):
        with open_terminal(columns=120, lines=24, env=fresh, cwd=tmp_path) as terminal:
            terminal.send(keys)
            lines = terminal.wait_for_text("1 of 8 sessions, everywhere")
            assert lines[0] == "> flaky"
            terminal.send(ESCAPE)
            assert terminal.wait_for_end() == 0


def test_a_query_typed_before_indexing_is_answered_after_it(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """The word occurs in replies only: titles do not have it, and the index was still empty."""
    fresh = {**environment, "RECOLLECT_DATA_DIR": str(tmp_path / "fresh")}
    with open_terminal(columns=120, lines=24, env=fresh, cwd=tmp_path) as terminal:
        terminal.send("batches\r")
        lines = terminal.wait_for(lambda lines: "batches" in lines[1])
        assert lines[-2] == "1 of 8 sessions, everywhere"
