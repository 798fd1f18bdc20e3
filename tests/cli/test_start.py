"""`recollect` without arguments, for a new user."""

from pathlib import Path

import pytest

from tests.cli.demo_home import make_demo_home, run_at
from tests.process import RunRecollect, run_python

TIP = "To try it with sample sessions: recollect demo\n"


def test_the_first_run_says_what_was_found(run_recollect: RunRecollect) -> None:
    """Number, age, expiring sessions and indexing time; later runs print only the list.

    The overview goes to stderr: a pipe gets only the list.
    """
    make_demo_home()
    first = run_at(run_recollect, 80)
    assert first.stderr.splitlines()[:8] == [
        "Found 8 sessions in 3 projects, 195.7 KB; the oldest is from 2026-01-05.",
        "Claude Code deletes sessions 30 days after their last change, 3 of them within 7",
        "days. Next to be deleted:",
        "  22f08a73  at its next start  some recipes are in here twice under different n…",
        "  d0657261  at its next start  rename the option `out` to `outDir` everywhere, …",
        "  c798220b  in 6 days  Fix flaky tide test around midnight",
        "To keep them: recollect archive enable, or set a larger cleanupPeriodDays in",
        "Claude Code's settings.json.",
    ]
    listed = run_at(run_recollect, 80, "list")
    second = run_at(run_recollect, 80)
    assert (first.code, first.stdout) == (0, listed.stdout)
    assert second == listed


def test_without_a_claude_directory_the_searched_directories_are_listed(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """Nothing found is a tip and an exit code, and no list."""
    place = tmp_path / "nowhere"
    done = run_recollect(env={"CLAUDE_CONFIG_DIR": str(place)})
    assert (done.code, done.stdout) == (3, "")
    assert done.stderr == (
        f"recollect: No Claude Code data found. Looked in:\n  {place}\n"
        "Use --claude-dir to specify the directory that contains `projects`, or set "
        f"CLAUDE_CONFIG_DIR to it.\n{TIP}"
    )


@pytest.mark.parametrize("has_projects", [False, True])
def test_without_a_session_the_searched_directory_is_listed(
    run_recollect: RunRecollect, tmp_path: Path, has_projects: bool
) -> None:
    """A Claude directory that has not been used yet is not an error."""
    (tmp_path / "claude" / "projects" if has_projects else tmp_path / "claude").mkdir(parents=True)
    done = run_recollect(env={"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")})
    assert (done.code, done.stdout) == (3, "")
    assert done.stderr == (
        f"recollect: No sessions yet. Looked in:\n  {tmp_path / 'claude' / 'projects'}\n{TIP}"
    )


def test_the_picker_shows_its_list_without_the_session_model() -> None:
    """Neither records nor sessions are decoded before the list is on the screen."""
    program = (
        "import sys; import recollect.cli.start, recollect.cli.picker_screen; "
        "print({'recollect.records.decoding', 'recollect.session.session'} & {*sys.modules})"
    )
    assert run_python("-c", program).stdout == "set()\n"
