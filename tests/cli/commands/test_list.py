"""`recollect list` on the bundled demo data."""

import json
import re
from pathlib import Path

import pytest

from recollect.cli.clock import NOW_VARIABLE
from recollect.demo import CLAUDE_DIRECTORY
from tests.cli.demo_home import NOW
from tests.process import RunRecollect, run_python

DEMO = ("--claude-dir", str(CLAUDE_DIRECTORY))
NOT_FOR_UNCHANGED_FILES = {
    "recollect.records.decoding",
    "recollect.session.session",
    "recollect.redact.quick_masks",
    "recollect.locations.place_names",
    "recollect.store.replaced_indexes",
    "difflib",
    "hashlib",
    "json",
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An index for each test, and a fixed time zone and width."""
    return {
        "RECOLLECT_DATA_DIR": str(tmp_path / "data"),
        "TZ": "UTC",
        "COLUMNS": "80",
        NOW_VARIABLE: NOW,
    }


def test_sessions_are_listed_newest_first(
    run_recollect: RunRecollect, environment: dict[str, str]
) -> None:
    """Time, id, project and title of each session fit a terminal; a second call prints the same."""
    first = run_recollect("list", *DEMO, "-n", "3", env=environment)
    assert first.stdout.splitlines() == [
        "WHEN              ID        PROJECT      TITLE",
        "2026-11-12 06:00  ba574db1  letterpress  Write release notes for 3.2 from the c…",
        "2026-11-11 10:33  7aa5fa93  letterpress  Document the theme interface",
        "2026-11-09 09:06  94791a87  tidepool     Speed up the harbour import",
    ]
    assert first.stderr == "… and 5 more; use -n 0 to show all.\n"
    assert run_recollect("list", *DEMO, "-n", "3", env=environment) == first


@pytest.mark.parametrize(
    ("conditions", "ids"),
    [
        (("flaky",), ["c798220b"]),
        (("tide", "flaky"), ["c798220b"]),
        (("--project", "tidepool", "--since", "2026-11-01"), ["94791a87", "8facb961"]),
        (("--until", "2026-01-10"), ["22f08a73"]),
        (("--branch", "HEAD", "换算"), ["035908b6"]),
        (("--model", "haiku"), []),
        (("--model", "OPUS", "--since", "2026-11-05"), ["7aa5fa93", "94791a87"]),
        (("--errors",), ["035908b6", "c798220b"]),
        (("--since", "7d"), ["ba574db1", "7aa5fa93", "94791a87", "035908b6"]),
        (("ba57",), ["ba574db1"]),
    ],
)
def test_conditions_narrow_the_list(
    run_recollect: RunRecollect,
    environment: dict[str, str],
    conditions: tuple[str, ...],
    ids: list[str],
) -> None:
    """Text, project, branch and days each leave only matching sessions."""
    done = run_recollect("list", *DEMO, *conditions, "--json", env=environment)
    sessions = json.loads(done.stdout or '{"sessions": []}')["sessions"]
    assert [session["id"][:8] for session in sessions] == ids


def test_subagents_are_shown_on_request(
    run_recollect: RunRecollect, environment: dict[str, str]
) -> None:
    """They are not separate sessions, so they are left out unless requested."""
    counts = [
        json.loads(run_recollect("list", *DEMO, "--json", *more, env=environment).stdout)["total"]
        for more in ((), ("--subagents",))
    ]
    assert counts == [8, 10]


def test_a_changed_session_is_read_again(
    run_recollect: RunRecollect, environment: dict[str, str], tmp_path: Path
) -> None:
    """Cached data of a file is valid only while the file is unchanged."""
    path = tmp_path / "claude" / "projects" / "p" / "11111111-2222-4333-8444-555555555555.jsonl"
    path.parent.mkdir(parents=True)
    prompt = '{"type":"user","uuid":"a","sessionId":"s","message":{"content":"first words"}}\n'
    title = '{"type":"custom-title","customTitle":"a better name","sessionId":"s"}\n'
    seen = []
    for content in (prompt, prompt + title):
        path.write_text(content)
        done = run_recollect("list", "--claude-dir", str(tmp_path / "claude"), env=environment)
        seen.append(done.stdout.rstrip().rpartition("  ")[2])
    assert seen == ["first words", "a better name"]


def test_a_list_needs_no_index(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """The list is the same if the data directory cannot be created."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    done = run_recollect("list", *DEMO, "-n", "1", env={"RECOLLECT_DATA_DIR": str(blocked)})
    assert (done.code, done.stdout.count("\n")) == (0, 2)


def test_no_matches_are_reported(run_recollect: RunRecollect, environment: dict[str, str]) -> None:
    """An empty list has its own exit code."""
    done = run_recollect("list", "no such words", *DEMO, env=environment)
    assert (done.code, done.stdout) == (3, "")
    assert done.stderr == (
        "recollect: No matching sessions. Try fewer filters, or `recollect list -n 0`.\n"
    )


def test_one_line_of_json_a_session(
    run_recollect: RunRecollect, environment: dict[str, str]
) -> None:
    """`--json-lines` prints the sessions of the document, one per line."""
    whole = run_recollect("list", *DEMO, "--json", env=environment).stdout
    lines = run_recollect("list", *DEMO, "--json-lines", env=environment).stdout.splitlines()
    assert [json.loads(line) for line in lines] == json.loads(whole)["sessions"]
    both = run_recollect("list", *DEMO, "--json-lines", "--json", env=environment)
    assert (both.code, both.stdout) == (2, "")


def test_a_tree_shows_what_hangs_under_a_session(
    run_recollect: RunRecollect, environment: dict[str, str]
) -> None:
    """Subagents are below their session, with their relation to it."""
    done = run_recollect("list", *DEMO, "--tree", "themes", env=environment)
    assert done.stdout.splitlines()[1:] == [
        "2026-11-11 10:33  7aa5fa93  letterpress  Document the theme interface",
        "2026-11-11 10:31  ace9ac82  letterpress  └ subagent: Read the bundled themes in…",
    ]
    shape = json.loads(run_recollect("list", *DEMO, "--tree", "--json", env=environment).stdout)
    relations = [
        [child["relation"] for child in session["children"]] for session in shape["sessions"]
    ]
    assert relations == [[], ["subagent"], [], [], [], [], ["subagent"], []]


def test_figures_are_shown_once_they_are_known(
    run_recollect: RunRecollect, environment: dict[str, str]
) -> None:
    """A list does not read whole files, but shows figures cached by other commands."""
    seen = []
    for more in ((), ("--errors",), ()):
        done = run_recollect("list", "flaky", *DEMO, *more, "--json", env=environment)
        (session,) = json.loads(done.stdout)["sessions"]
        seen.append((session["turn_count"], session["error_count"], session["message_count"]))
    assert seen == [(None, None, 9), (1, 1, 9), (1, 1, 9)]


def test_conditions_need_no_index(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Filters that need whole files work without an index too."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    done = run_recollect("list", *DEMO, "--errors", env={"RECOLLECT_DATA_DIR": str(blocked)})
    assert (done.code, done.stdout.count("\n")) == (0, 3)


def test_unchanged_files_need_no_record_types(
    run_recollect: RunRecollect, environment: dict[str, str]
) -> None:
    """When nothing changed, no reader, session model or slow module of Python is loaded."""
    run_recollect("list", *DEMO, env=environment)
    done = run_python("-X", "importtime", "-m", "recollect", "list", *DEMO, env=environment)
    loaded = set(re.findall(r"^import time:.*\| +(\S+)$", done.stderr, flags=re.MULTILINE))
    assert (done.code, "recollect.cli.terminal_output" in loaded) == (0, True)
    assert loaded & NOT_FOR_UNCHANGED_FILES == set()
