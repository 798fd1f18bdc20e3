"""Messages for users without sessions."""

import os
from pathlib import Path

import pytest

from tests.process import Finished, RunRecollect

TIP = "To try it with sample sessions: recollect demo\n"
COMMANDS = [
    (),
    ("list",),
    ("show", "latest"),
    ("search", "pond"),
    ("tools",),
    ("files", "--project", "pond"),
    ("secrets", "scan", "--all"),
    ("resume", "latest"),
    ("open", "-1"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_without_a_session_the_message_says_where_one_would_be(
    run_recollect: RunRecollect, words: tuple[str, ...]
) -> None:
    """Each command lists the searched directories, and how to try the demo."""
    projects = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects"
    projects.mkdir(parents=True)
    told = f"recollect: No sessions yet. Looked in:\n  {projects}\n{TIP}"
    assert run_recollect(*words) == Finished(3, "", told)


@pytest.mark.parametrize("words", [*COMMANDS, ("index",)], ids=" ".join)
def test_without_a_claude_directory_the_message_says_how_to_specify_one(
    run_recollect: RunRecollect, words: tuple[str, ...]
) -> None:
    """The same, and what to give or set where it is somewhere else."""
    root = os.environ["CLAUDE_CONFIG_DIR"]
    told = (
        f"recollect: No Claude Code data found. Looked in:\n  {root}\n"
        "Use --claude-dir to specify the directory that contains `projects`, or set "
        f"CLAUDE_CONFIG_DIR to it.\n{TIP}"
    )
    assert run_recollect(*words) == Finished(3, "", told)
