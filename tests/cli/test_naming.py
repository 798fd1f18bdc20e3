"""The names that every command takes for a session, as a user types them."""

import json
from pathlib import Path

import pytest

from tests.cli.demo_home import make_demo_home, run_at
from tests.process import RunRecollect

NEWEST = "ba574db1-5dd4-405b-8185-149b3afd7a31"
SECOND = "7aa5fa93-883b-4f00-b3b1-6090844693a9"
HARBOUR = "94791a87-9d13-410a-a632-25a9b25c1b45"


@pytest.fixture
def home(safe_environment: None) -> Path:
    """A home with the demo data."""
    return make_demo_home()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("latest", NEWEST),
        ("-1", NEWEST),
        ("-2", SECOND),
        (HARBOUR, HARBOUR),
        ("9479", HARBOUR),
        ("Speed up the harbour import", HARBOUR),
        ("HARBOUR", HARBOUR),
        ("import  harbour", HARBOUR),
        ("9479:2", HARBOUR),
        ("harbour:2", HARBOUR),
        (f"{HARBOUR}#ee547413-47a7-4e8b-9fcb-d46ea9df52f1", HARBOUR),
        (f"http://127.0.0.1:8765/s/{HARBOUR}?at=ee547413#ee547413", HARBOUR),
    ],
)
def test_a_session_has_many_names(
    run_recollect: RunRecollect, home: Path, name: str, expected: str
) -> None:
    """An id, its beginning, a title, words of it, a count from the newest back, or a place."""
    done = run_at(run_recollect, 80, "resume", "--json", name)
    assert (done.code, json.loads(done.stdout)["session_id"]) == (0, expected)


def test_words_without_quotes_are_explained(run_recollect: RunRecollect, home: Path) -> None:
    """Commands with a session say how to give several words of a title; others do not."""
    done = run_recollect("show", "json", "flag")
    assert (done.code, done.stderr.splitlines()[-1]) == (
        2,
        "Put words of a title in quotes: `recollect show 'flaky test'`.",
    )
    other = run_recollect("config", "json", "flag", "more")
    assert other.stderr.splitlines()[-1] == "Try `recollect config --help`."


@pytest.mark.parametrize("words", [("-2",), ("--", "-2"), ("--turn", "-1", "-2", "--prompts")])
def test_a_count_is_no_option(
    run_recollect: RunRecollect, home: Path, words: tuple[str, ...]
) -> None:
    """Counting back names a session with or without `--`, and beside an option's own number."""
    done = run_at(run_recollect, 80, "show", "--json", *words)
    assert (done.code, json.loads(done.stdout)["session"]["id"]) == (0, SECOND)


def test_a_path_is_a_name(run_recollect: RunRecollect, home: Path) -> None:
    """A transcript can be named by its path, also outside of any Claude directory."""
    (path,) = home.rglob(f"{HARBOUR}.jsonl")
    copy = home / f"{HARBOUR}.jsonl"
    copy.write_bytes(path.read_bytes())
    for each in (path, copy):
        done = run_at(run_recollect, 80, "resume", "--json", str(each))
        assert json.loads(done.stdout)["session_id"] == HARBOUR


def test_an_unclear_name_lists_what_it_may_mean(run_recollect: RunRecollect, home: Path) -> None:
    """Nothing is guessed: the candidates are listed, and the exit code is 3."""
    done = run_at(run_recollect, 80, "resume", "the")
    assert (done.code, done.stdout) == (3, "")
    assert (
        done.stderr
        == f"""\
recollect: 'the' matches 5 sessions. Use one of these names:
  {NEWEST}  2026-11-12 06:00  letterpress
    Write release notes for 3.2 from the commits since v3.1. Three points…
  {SECOND}  2026-11-11 10:33  letterpress
    Document the theme interface
  {HARBOUR}  2026-11-09 09:06  tidepool
    Speed up the harbour import
  d0657261-7050-4903-90cb-4a145d6312bd  2026-01-14 19:23  letterpress
    rename the option `out` to `outDir` everywhere, but keep the old name…
  22f08a73-c57c-4a93-802d-7c5dc8381bc8  2026-01-05 20:06  菜谱
    some recipes are in here twice under different names, find them
"""
    )


@pytest.mark.parametrize("option", ["-9x", "--nonsense", "-z"])
def test_what_looks_like_an_option_is_one(
    run_recollect: RunRecollect, home: Path, option: str
) -> None:
    """Only a minus and a number name a session; anything else is an error."""
    done = run_at(run_recollect, 80, "resume", option)
    assert (done.code, done.stdout) == (2, "")


@pytest.mark.parametrize("command", ["show", "resume"])
def test_without_a_name_the_message_says_what_to_specify(
    run_recollect: RunRecollect, command: str
) -> None:
    """The message names `latest` and the command that lists all sessions."""
    done = run_recollect(command)
    _, _, hint = done.stderr.splitlines()[0].partition(". ")
    assert (done.code, done.stdout, hint) == (
        2,
        "",
        "Use `latest` for the newest; `recollect list` shows all sessions.",
    )
