"""The terminal safety test: transcripts full of hostile sequences, rendered in full detail."""

from pathlib import Path

import pytest

from tests.hostile import (
    COLOURS,
    PAYLOADS,
    find_harm,
    find_hidden,
    list_sessions,
    replay,
    write_hostile_root,
)
from tests.process import Finished, RunRecollect

ALL = ("--tools", "full", "--thinking", "--subagents", "--branch", "all")


COLUMNS = 100


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hostile Claude directory."""
    return write_hostile_root(tmp_path_factory.mktemp("root"))


def run(run_recollect: RunRecollect, *arguments: str, **environment: str) -> Finished:
    """Return the program, as wide as the screen that its output is replayed on."""
    env = {"COLUMNS": str(COLUMNS), "TZ": "UTC", **environment}
    return run_recollect(*arguments, env=env)


@pytest.mark.slow
def test_nothing_in_a_transcript_drives_the_terminal(
    run_recollect: RunRecollect, root: Path
) -> None:
    """Each session in full detail only shows text, moves forward and hides no payload."""
    for path in list_sessions(root):
        shown = run(run_recollect, "show", str(path), *ALL, FORCE_COLOR="1")
        assert (shown.code, shown.stderr) == (0, "")
        assert find_harm(shown.stdout) == []
        assert replay(shown.stdout, COLUMNS) == set()
        assert find_hidden(shown.stdout) == []


@pytest.mark.parametrize(
    "options", [(), ("--prompts",), ("--tools", "none"), ("--json",), ("--json-lines",)]
)
def test_less_detail_is_no_less_safe(
    run_recollect: RunRecollect, root: Path, options: tuple[str, ...]
) -> None:
    """With less detail, and in a pipe, the output is only text too."""
    path = max(list_sessions(root), key=lambda each: each.stat().st_size)
    shown = run(run_recollect, "show", str(path), *options)
    assert (shown.code, shown.stderr) == (0, "")
    assert find_harm(shown.stdout) == []
    assert replay(shown.stdout, COLUMNS) == set()


@pytest.mark.parametrize("options", [(), ("--diff",), ("--json",)])
def test_changes_are_as_safe(
    run_recollect: RunRecollect, root: Path, options: tuple[str, ...]
) -> None:
    """The same for `recollect files`."""
    shown = run(
        run_recollect, "files", "--project", "tidepool", "--claude-dir", str(root), *options
    )
    assert (shown.code, shown.stderr) == (0, "")
    assert find_harm(shown.stdout) == []
    assert replay(shown.stdout, COLUMNS) == set()


@pytest.mark.parametrize("name", [*PAYLOADS, *COLOURS])
def test_the_test_would_notice(name: str) -> None:
    """Every payload that is sent unchanged is found, by its characters or by what it hides."""
    payload = PAYLOADS.get(name) or COLOURS[name][0]
    assert find_harm(payload) != [] or name in ("tower of accents", "selectors")
