"""Secrets in the versions of files: masked on display, restored exactly."""

import sys
from pathlib import Path

import pytest

from tests.process import RunRecollect
from tests.terminal import open_terminal
from tests.versions.small_project import SESSION, Project

KEY = "AKIAIOSFODNN7RTGHJKL"
OTHER = "AKIAIOSFODNN7RTGHJKM"


@pytest.fixture
def project(safe_environment: None, tmp_path: Path) -> Project:
    """A file with a key that was replaced by another."""
    made = Project(tmp_path / "shop")
    made.prompt("Write the settings")
    made.write("app.py", f'name = "shop"\naws_key = "{KEY}"\n')
    made.prompt("Use the other key")
    made.edit("app.py", f'aws_key = "{KEY}"', f'aws_key = "{OTHER}"')
    made.save()
    return made


def test_secrets_are_masked_wherever_lines_are_shown(
    run_recollect: RunRecollect, project: Project
) -> None:
    """A changed secret is a changed line; programs see no secret either."""
    path = str(project.path("app.py"))
    shown = {
        words: run_recollect(*words)
        for words in (
            ("file", path, "--diff", "1..2"),
            ("file", path, "--diff", "1.."),
            ("restore", path, "--at", "1", "--dry-run"),
            ("checkpoints", SESSION, "--diff", "1..2"),
            ("blame", path),
            ("blame", path, "--json"),
            ("blame", path, "--porcelain"),
        )
    }
    assert {words: (each.code, each.stderr) for words, each in shown.items()} == dict.fromkeys(
        shown, (0, "")
    )
    for each in shown.values():
        assert (KEY in each.stdout, OTHER in each.stdout) == (False, False)
        assert "aws_key = " in each.stdout
        assert "[redacted:aws-key]" in each.stdout
    diff = shown["file", path, "--diff", "1..2"].stdout
    assert [line[:9] for line in diff.splitlines()[-2:]] == ["-aws_key ", "+aws_key "]


def test_a_version_is_written_as_it_was(run_recollect: RunRecollect, project: Project) -> None:
    """To a pipe, and by a restore."""
    path = project.path("app.py")
    whole = f'name = "shop"\naws_key = "{KEY}"\n'
    assert run_recollect("file", str(path), "--at", "1").stdout == whole
    assert run_recollect("restore", str(path), "--at", "1", "--yes").code == 0
    assert path.read_text("utf-8") == whole


@pytest.mark.parametrize("words", [("file", "--at", "1"), ("file", "--diff", "1..2"), ("blame",)])
def test_secrets_are_not_revealed_to_programs(
    run_recollect: RunRecollect, project: Project, words: tuple[str, ...]
) -> None:
    """`--reveal` needs a terminal."""
    done = run_recollect(*words, str(project.path("app.py")), "--reveal")
    assert (done.code, done.stdout) == (2, "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal")
@pytest.mark.parametrize(
    ("words", "is_shown"),
    [
        (("file", "--at", "1"), False),
        (("file", "--at", "1", "--reveal"), True),
        (("blame", "--no-pager", "--reveal"), True),
    ],
)
def test_a_terminal_shows_secrets_only_if_asked_to(
    project: Project, words: tuple[str, ...], is_shown: bool
) -> None:
    """The same file for a person."""
    key = OTHER if "blame" in words else KEY
    with open_terminal(*words, str(project.path("app.py")), columns=120) as terminal:
        screen = "\n".join(terminal.wait_for_text("aws_key"))
        assert (key in screen, "[redacted:aws-key]" in screen) == (is_shown, not is_shown)
