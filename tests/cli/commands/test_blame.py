"""Tests of recollect.cli.commands.version_commands, through the program."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.demo_home import GOLDEN, run_at
from tests.golden import check_golden
from tests.process import RunRecollect
from tests.versions.small_project import SESSION, Project


@pytest.fixture
def project(safe_environment: None, tmp_path: Path) -> Project:
    """A committed file that Claude changed twice, and a person before, between and after."""
    made = Project(tmp_path / "shop")
    path = made.path("app.py")
    path.write_text("first\nsecond\nthird\n", "utf-8")
    _git(made, "init", "--quiet")
    _git(made, "add", ".")
    _git(made, "commit", "--quiet", "-m", "Begin")
    path.write_text("first\nby hand before\nsecond\nthird\n", "utf-8")
    made.prompt("Greet everybody, whoever they are and wherever they come from")
    made.edit("app.py", "second", "hello\neverybody")
    path.write_text(path.read_text("utf-8") + "by hand between\n", "utf-8")
    made.prompt("Be polite")
    made.edit("app.py", "hello", "good day")
    made.save()
    path.write_text(path.read_text("utf-8") + "by hand after\n", "utf-8")
    return made


def _git(project: Project, *arguments: str) -> None:
    settings = ("-c", "user.name=Mina", "-c", "user.email=mina@example.org")
    dates = {
        "GIT_COMMITTER_DATE": "2026-10-31T10:00:00Z",
        "GIT_AUTHOR_DATE": "2026-10-31T10:00:00Z",
    }
    subprocess.run(
        ["git", *settings, *arguments],
        cwd=project.directory,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(project.directory), **dates},
        check=True,
    )


def _read(
    run: RunRecollect, project: Project, *arguments: str
) -> list[tuple[str, str, int | None]]:
    shown = run("blame", str(project.path("app.py")), "--json", *arguments)
    assert shown.code == 0, shown.stderr
    lines = json.loads(shown.stdout)["lines"]
    return [(each["text"], each["by"], each["turn"]) for each in lines]


def test_every_line_has_an_author(run_recollect: RunRecollect, project: Project) -> None:
    """Lines of prompts, of the user and from before are distinguished."""
    assert _read(run_recollect, project) == [
        ("first", "other", None),
        ("by hand before", "other", None),
        ("good day", "claude", 2),
        ("everybody", "claude", 1),
        ("third", "other", None),
        ("by hand between", "other", None),
        ("by hand after", "other", None),
    ]


def test_a_line_says_where_it_comes_from(run_recollect: RunRecollect, project: Project) -> None:
    """The document names session, record, tool, model, time and prompt."""
    shown = run_recollect("blame", str(project.path("app.py")), "--json", "-L", "3")
    (line,) = json.loads(shown.stdout)["lines"]
    assert {**line, "uuid": "", "time": ""} == {
        "line": 3,
        "by": "claude",
        "session": SESSION,
        "turn": 2,
        "uuid": "",
        "tool": "Edit",
        "model": "claude-sonnet-4-5",
        "time": "",
        "prompt": "Be polite",
        "text": "good day",
    }


@pytest.mark.parametrize(
    ("wanted", "numbers"), [("2", [2]), ("2,3", [2, 3]), ("6,", [6, 7]), ("2,+3", [2, 3, 4])]
)
def test_ranges_of_lines(
    run_recollect: RunRecollect, project: Project, wanted: str, numbers: list[int]
) -> None:
    """Ranges are given as for git."""
    shown = run_recollect("blame", str(project.path("app.py")), "--json", "-L", wanted)
    assert [each["line"] for each in json.loads(shown.stdout)["lines"]] == numbers


def test_a_revision_is_blamed_by_what_was_before_it(
    run_recollect: RunRecollect, project: Project
) -> None:
    """A commit from before the session has no line of Claude Code."""
    path = str(project.path("app.py"))
    shown = run_recollect("blame", path, "--json", "--rev", "HEAD")
    assert [each["by"] for each in json.loads(shown.stdout)["lines"]] == ["other"] * 3
    assert run_recollect("blame", path, "--rev", "nothing").code == 3
    assert run_recollect("blame", path, "--rev", "--output=x").code == 3


def test_what_a_command_may_have_written_is_unknown(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """A line that appeared around a shell command has no known author."""
    made = Project(tmp_path / "shop")
    made.prompt("Write and format")
    made.write("app.py", "one\ntwo\n")
    made.call("Bash", {"command": "sed -i 's/two/three/' app.py"}, {"stdout": "", "stderr": ""})
    made.path("app.py").write_text("one\nthree\n", "utf-8")
    made.edit("app.py", "one", "zero")
    made.save()
    assert _read(run_recollect, made) == [("zero", "claude", 1), ("three", "unknown", None)]


def test_changes_of_white_space_can_be_ignored(
    run_recollect: RunRecollect, project: Project
) -> None:
    """With -w a line that was only indented keeps its author."""
    path = project.path("app.py")
    path.write_text(path.read_text("utf-8").replace("everybody", "    everybody"), "utf-8")
    assert _read(run_recollect, project)[3] == ("    everybody", "other", None)
    assert _read(run_recollect, project, "-w")[3] == ("    everybody", "claude", 1)


@pytest.mark.parametrize(
    ("name", "options"),
    [("blame", ()), ("blame-stat", ("--stat",)), ("blame-porcelain", ("--porcelain",))],
)
def test_pages_look_as_they_are_meant_to(
    run_recollect: RunRecollect, project: Project, name: str, options: tuple[str, ...]
) -> None:
    """Lines, counts and script output equal the golden files."""
    shown = run_at(run_recollect, 140, "blame", str(project.path("app.py")), *options)
    assert (shown.code, shown.stderr) == (0, "")
    check_golden(GOLDEN / f"{name}-140.txt", shown.stdout.replace(str(project.directory), "/shop"))


def test_a_document_is_what_it_is_meant_to_be(
    run_recollect: RunRecollect, project: Project
) -> None:
    """`--json` prints the lines."""
    shown = run_at(run_recollect, 80, "blame", str(project.path("app.py")), "--json")
    check_golden(GOLDEN / "blame.json", shown.stdout.replace(str(project.directory), "/shop"))


def test_impossible_requests_are_explained(run_recollect: RunRecollect, project: Project) -> None:
    """Invalid ranges and options are usage errors; a deleted file has no lines."""
    path = project.path("app.py")
    assert run_recollect("blame", str(path), "-L", "x").code == 2
    assert run_recollect("blame", str(path), "-L", "99").code == 2
    assert run_recollect("blame", str(path), "--json", "--stat").code == 2
    assert "--stat" in run_recollect("blame").stderr
    path.unlink()
    assert run_recollect("blame", str(path)).code == 3
