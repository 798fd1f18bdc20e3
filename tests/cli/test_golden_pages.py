"""Golden files of the output of commands on the demo data, at three widths and as JSON."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.render.terminal import measure
from recollect.store.data_directory import find_data_directory
from recollect.sync.index_access import find_transcripts
from recollect.sync.session_lists import list_current
from tests.cli.demo_home import GOLDEN, NOW, WIDTHS, make_demo_home, run_at
from tests.golden import check_golden
from tests.process import Finished, RunRecollect

SESSION = "94791a87-9d13-410a-a632-25a9b25c1b45"
COMMANDS = {
    "statusline": ("statusline", "--no-sync"),
    "doctor": ("doctor",),
    "config": ("config", "show"),
    "index": ("index",),
    "archive": ("archive", "status"),
    "usage": ("usage",),
    "usage-session": ("usage", "session"),
    "usage-block": ("usage", "block"),
    "usage-model": ("usage", "model"),
    "usage-explain": ("usage", "explain", SESSION),
    "search": ("search", "tide"),
}
"""By the name of its golden files."""

MOMENTS = {"statusline": "2026-11-12T07:30:00Z"}
"""The time of a run, if not that of the demo data: a status line is about the current day."""

Ask = Callable[[int, tuple[str, ...]], Finished]


def make_status(home: Path) -> str:
    """Return the input that Claude Code would send for a session of the demo data."""
    (transcript,) = home.rglob(f"{SESSION}.jsonl")
    status = {
        "session_id": SESSION,
        "transcript_path": str(transcript),
        "model": {"id": "claude-opus-4-5", "display_name": "Opus 4.5"},
        "cost": {"total_cost_usd": 1.2345},
        "context_window": {"used_percentage": 41.7},
        "rate_limits": {
            "five_hour": {"used_percentage": 12.5, "resets_at": "2026-11-12T11:00:00Z"}
        },
    }
    return json.dumps(status)


@pytest.fixture
def home(safe_environment: None) -> Path:
    """A home with the demo data."""
    return make_demo_home()


@pytest.fixture
def ask(run_recollect: RunRecollect, home: Path) -> Ask:
    """Runs a command at a width, once the index is up to date and titles are known."""
    list_current(find_data_directory(), find_transcripts([home / ".claude"]))
    run_at(run_recollect, 80, "index")
    run_at(run_recollect, 80, "search", "--wait", "tide")
    return lambda width, words: run_at(
        run_recollect, width, *words, input=make_status(home), now=MOMENTS.get(words[0], NOW)
    )


def stabilise(text: str, home: Path) -> str:
    """Remove what differs between machines and releases."""
    text = re.sub(r"^/\S*\.jsonl$", "/home/mina/….jsonl", text, flags=re.MULTILINE)
    text = re.sub(r"\b3\.\d+\.\d+\b", "3.99.9", text.replace(str(home), "/home/mina"))
    text = re.sub(r'"bytes": \d+(,\s+"is_(sound|current)")', r'"bytes": 0\1', text)
    text = re.sub(r'(, schema |"schema_version": )\d+', r"\g<1>9", text)
    return re.sub(r"((?:Size|Texts) +)\d+\.\d KB(\n|, schema|, up)", r"\g<1>100.0 KB\2", text)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_pages_look_as_they_are_meant_to(ask: Ask, home: Path, name: str, width: int) -> None:
    """The output of each command equals its file and fits the width; stderr is empty."""
    result = ask(width, COMMANDS[name])
    assert (result.code, result.stderr) == (0, "")
    check_golden(GOLDEN / f"{name}-{width}.txt", stabilise(result.stdout, home))
    assert [line for line in result.stdout.splitlines() if measure(line) > width] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_documents_are_what_they_are_meant_to_be(ask: Ask, home: Path, name: str) -> None:
    """The JSON of each command equals its file."""
    result = ask(80, (*COMMANDS[name], "--json"))
    assert (result.code, result.stderr) == (0, "")
    check_golden(GOLDEN / f"{name}.json", stabilise(result.stdout, home))
