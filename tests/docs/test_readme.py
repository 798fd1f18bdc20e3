"""README.md is correct: its output, example, exit codes, commands and list of pages."""

import re
from pathlib import Path

import pytest

from recollect import errors
from recollect.cli import exit_codes
from tests.process import Finished, RunRecollect, run_python

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


STARTING = [
    line.partition("#")[0].removeprefix("recollect").strip()
    for line in re.findall(r"^recollect.*$", blocks("sh")[-1], flags=re.MULTILINE)
]
"""The commands of the section on getting started."""

READING = [
    command
    for command in STARTING
    if command.startswith(("list", "show", "search", "usage", "export", "secrets", "doctor"))
]


def test_the_picture_is_what_the_program_prints(run_recollect: RunRecollect) -> None:
    """Running the command prints the output shown."""
    (picture,) = blocks("console")
    command, _, output = picture.partition("\n")
    words = command.removeprefix("$ recollect ").split()
    assert run_recollect(*words, env={"COLUMNS": "80"}) == Finished(0, output, "")


def test_the_example_does_what_it_shows() -> None:
    """Running the example prints the text below it."""
    (example,), (output,) = blocks("python"), blocks("text")
    assert run_python("-c", example) == Finished(0, output, "")


def test_the_commands_exist() -> None:
    """Every make target on the page exists."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\bmake ([a-z]+)\b", "".join(blocks("sh"))))
    assert named == {"app", "test"}
    assert named - set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE)) == set()


@pytest.mark.parametrize("command", READING)
def test_the_first_commands_find_something(
    run_recollect: RunRecollect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Each command works on the sample sessions, for readers without sessions."""
    monkeypatch.chdir(tmp_path)
    done = run_recollect("demo", *command.split())
    assert (done.code, bool(done.stdout + done.stderr)) == (0, True)


def test_the_first_commands_that_need_more_are_these() -> None:
    """A picker, the directory of a session, a browser and a decision are not part of the sample."""
    others = {command.partition(" ")[0] for command in STARTING} - {
        command.partition(" ")[0] for command in READING
    }
    assert others == {"", "resume", "serve", "archive"}


def test_every_exit_code_is_listed() -> None:
    """The table has exactly the exit codes of the program."""
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", README, flags=re.MULTILINE)}
    raised = {error.exit_code for error in errors.RecollectError.__subclasses__()}
    ends = {0, exit_codes.FAILED, exit_codes.INTERRUPTED, exit_codes.BROKEN_PIPE}
    assert listed == raised | ends


def test_every_page_is_linked() -> None:
    """The front page links to every page of the documentation."""
    linked = set(re.findall(r"\]\((docs/[\w/-]+\.md)\)", README))
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "dev").glob("*.md")]
    assert {path.relative_to(ROOT).as_posix() for path in pages} - linked == set()
