"""Tests of recollect.cli.commands.version_commands, through the program."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from recollect.errors import NothingFound
from recollect.render.terminal import measure
from tests.cli.demo_home import GOLDEN, make_demo_home, run_at
from tests.golden import check_golden
from tests.process import RunRecollect, run_python
from tests.versions.small_project import SESSION, Project

DEMO_FILE = "/home/mina/projects/tidepool/src/tidepool/cli.py"


@pytest.fixture
def home(safe_environment: None) -> Path:
    """A home with the demo data."""
    return make_demo_home()


@pytest.fixture
def project(safe_environment: None, tmp_path: Path) -> Project:
    """A project with a file of four versions, one of them by a person."""
    made = Project(tmp_path / "shop")
    made.prompt("Write the greeting")
    made.write("app.py", "hello\nworld\n")
    made.prompt("Greet everybody")
    made.edit("app.py", "world", "everybody")
    made.path("app.py").write_text("hello\neverybody\nby hand\n", "utf-8")
    made.prompt("Be polite")
    made.edit("app.py", "hello", "good day")
    made.save()
    return made


@pytest.mark.parametrize("width", [80, 140])
def test_versions_are_listed(run_recollect: RunRecollect, home: Path, width: int) -> None:
    """The list equals its golden file and fits the width."""
    shown = run_at(run_recollect, width, "file", DEMO_FILE)
    assert (shown.code, shown.stderr) == (0, "")
    check_golden(GOLDEN / f"file-{width}.txt", shown.stdout)
    assert all(measure(line) <= width for line in shown.stdout.splitlines())


@pytest.mark.parametrize("name", ["harbour.py", "importer/harbour.py"])
def test_a_file_is_found_by_its_name(run_recollect: RunRecollect, home: Path, name: str) -> None:
    """Outside its project, the end of a path is enough if only one file has it."""
    known = "/home/mina/projects/tidepool/src/tidepool/importer/harbour.py"
    by_name = run_recollect("file", name)
    assert (by_name.code, by_name.stderr) == (0, "")
    assert by_name.stdout == run_recollect("file", known).stdout
    current = run_recollect("file", name, "--diff", "2..").stdout.splitlines()[1]
    assert current == f"+++ {known}"
    assert run_recollect("file", "arbour.py").code == NothingFound.exit_code


def test_files_with_the_same_name_are_listed(
    run_recollect: RunRecollect, project: Project, tmp_path: Path
) -> None:
    """Nothing is chosen among several files."""
    other = Project(tmp_path / "stall")
    other.prompt("The same")
    other.write("app.py", "hello\n")
    other.save()
    ambiguous = run_recollect("file", "app.py")
    paths = [str(each.path("app.py")) for each in (project, other)]
    assert (ambiguous.code, ambiguous.stdout) == (NothingFound.exit_code, "")
    assert ambiguous.stderr.splitlines() == [
        "recollect: 'app.py' matches 2 files. Use one of these paths:",
        *(f"  {each}" for each in paths),
    ]


def test_a_document_is_what_it_is_meant_to_be(run_recollect: RunRecollect, home: Path) -> None:
    """`--json` prints the versions."""
    check_golden(
        GOLDEN / "file.json", run_at(run_recollect, 80, "file", DEMO_FILE, "--json").stdout
    )


def test_versions_say_who_made_them_and_how_well_they_are_known(
    run_recollect: RunRecollect, project: Project
) -> None:
    """The document has all versions; what a person changed is one of its own."""
    shown = run_recollect("file", str(project.path("app.py")), "--json")
    versions = json.loads(shown.stdout)["versions"]
    assert [(each["number"], each["kind"], each["known"], each["turn"]) for each in versions] == [
        (1, "write", "exact", 1),
        (2, "edit", "replayed", 2),
        (3, "outside", "exact", 3),
        (4, "edit", "replayed", 3),
    ]
    assert [(each["added"], each["removed"]) for each in versions] == [
        (2, 0),
        (1, 1),
        (1, 0),
        (1, 1),
    ]
    assert versions[1]["prompt"] == "Greet everybody"
    assert versions[1]["session"] == SESSION
    assert versions[2]["causes"] == ["between prompts"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("1", "hello\nworld\n"),
        ("3", "hello\neverybody\nby hand\n"),
        (f"{SESSION[:8]}:2", "hello\neverybody\n"),
        (f"{SESSION}:1", "hello\nworld\n"),
        ("2026-11-01T10:06:30Z", "hello\nworld\n"),
        ("2026-11-30", "good day\neverybody\nby hand\n"),
    ],
)
def test_a_version_is_printed_as_it_was(
    run_recollect: RunRecollect, project: Project, name: str, text: str
) -> None:
    """Versions are named by number, by session and turn, and by time."""
    shown = run_recollect("file", str(project.path("app.py")), "--at", name)
    assert (shown.code, shown.stdout) == (0, text)


@pytest.mark.parametrize("command", ["file", "blame"])
def test_unchanged_sessions_are_asked_cheaply(
    run_recollect: RunRecollect, project: Project, command: str
) -> None:
    """When nothing changed, neither the session model nor the rules for secrets are loaded."""
    path = str(project.path("app.py"))
    for transcript in Path(os.environ["CLAUDE_CONFIG_DIR"]).rglob("*.jsonl"):
        # One that has just been written may still change unseen.
        os.utime(transcript, (1, 1))
    assert run_recollect(command, path).code == 0
    done = run_python("-X", "importtime", "-m", "recollect", command, path)
    loaded = set(re.findall(r"^import time:.*\| +(\S+)$", done.stderr, flags=re.MULTILINE))
    assert (done.code, "recollect.versions.edit_index" in loaded) == (0, True)
    assert loaded & {"recollect.session.session", "recollect.sync.secret_scanning"} == set()


def test_a_turn_that_does_not_exist_is_not_the_last_one(
    run_recollect: RunRecollect, project: Project
) -> None:
    """A turn after the last change is a version, one after the last turn is not."""
    path = str(project.path("app.py"))
    project.prompt("Well done")
    project.save()
    shown = run_recollect("file", path, "--at", f"{SESSION[:8]}:4")
    assert (shown.code, shown.stdout) == (0, "good day\neverybody\nby hand\n")
    for command in ("file", "restore"):
        shown = run_recollect(command, path, "--at", f"{SESSION[:8]}:99")
        assert (shown.code, shown.stdout) == (3, "")
        assert "No turn 99: this session has 4 turns." in shown.stderr


def test_the_start_of_several_ids_is_no_version(
    run_recollect: RunRecollect, project: Project
) -> None:
    """The command does not guess which session is meant."""
    other = f"{SESSION[:-1]}2"
    again = Project(project.directory, session=other)
    again.prompt("Once more")
    again.edit("app.py", "good day", "hello")
    again.save()
    shown = run_recollect("file", str(project.path("app.py")), "--at", f"{SESSION[:8]}:1")
    assert (shown.code, shown.stdout) == (2, "")
    assert f"{SESSION[:8]} matches several sessions: {other}, {SESSION}." in shown.stderr


def test_a_deleted_file_still_has_its_versions(
    run_recollect: RunRecollect, project: Project
) -> None:
    """The file need not be there anymore, nor its directory."""
    shutil.rmtree(project.directory)
    shown = run_recollect("file", str(project.path("app.py")), "--at", "2")
    assert (shown.code, shown.stdout) == (0, "hello\neverybody\n")


def test_a_moved_project_keeps_its_versions(
    run_recollect: RunRecollect, project: Project, tmp_path: Path
) -> None:
    """The earlier directory is named once, and the files are found under their new path."""
    moved = tmp_path / "market"
    project.directory.rename(moved)
    path = str(moved / "app.py")
    assert run_recollect("file", path).code == 3
    shown = run_recollect("file", path, "--moved-from", str(project.directory), "--at", "2")
    assert (shown.code, shown.stdout) == (0, "hello\neverybody\n")


def test_a_renamed_file_keeps_its_versions(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A file that a command moved has the versions of its old name too."""
    made = Project(tmp_path / "shop")
    made.prompt("Write the greeting")
    made.write("old.py", "hello\n")
    made.call("Bash", {"command": "git mv old.py new.py"}, {"stdout": "", "stderr": ""})
    made.path("old.py").rename(made.path("new.py"))
    made.edit("new.py", "hello", "good day")
    made.save()
    shown = run_recollect("file", str(made.path("new.py")), "--json")
    versions = json.loads(shown.stdout)["versions"]
    assert [(each["kind"], each["known"]) for each in versions] == [
        ("write", "exact"),
        ("edit", "replayed"),
    ]


def test_a_diff_has_the_tabs_of_the_file(
    safe_environment: None, run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """They are as harmless as in `git diff`; other control characters are shown by name."""
    made = Project(tmp_path / "shop")
    made.prompt("Write it")
    made.write("main.go", "{\n\treturn\n}\n")
    made.edit("main.go", "\treturn", "\t\tpanic(\x1b)")
    made.save()
    shown = run_recollect("file", str(made.path("main.go")), "--diff", "1..2")
    assert shown.stdout.splitlines()[3:] == [" {", "-\treturn", "+\t\tpanic(␛)", " }"]


def test_a_diff_of_versions_and_of_the_present(
    run_recollect: RunRecollect, project: Project
) -> None:
    """Two versions are compared, or one with the current file."""
    path = project.path("app.py")
    shown = run_recollect("file", str(path), "--diff", "1..2")
    assert shown.stdout.splitlines()[2:] == [
        "@@ -1,2 +1,2 @@",
        " hello",
        "-world",
        "+everybody",
    ]
    path.write_text("hello\neverybody\n", "utf-8")
    assert run_recollect("file", str(path), "--diff", "2..").stdout == ""
    path.write_text("hello\neverybody", "utf-8")
    assert run_recollect("file", str(path), "--diff", "2..").stdout.splitlines()[2:] == [
        "@@ -1,2 +1,2 @@",
        " hello",
        "-everybody",
        "+everybody",
        "\\ No newline at end of file",
    ]


def test_what_is_no_version_is_explained(run_recollect: RunRecollect, project: Project) -> None:
    """Wrong names of versions are usage errors, missing ones are not found."""
    path = str(project.path("app.py"))
    assert run_recollect("file", path, "--at", "99").code == 3
    assert run_recollect("file", path, "--at", "nonsense").code == 2
    assert run_recollect("file", path, "--diff", "1").code == 2
    assert run_recollect("file", path, "--at", "1", "--json").code == 2
    assert run_recollect("file", str(project.path("other.py"))).code == 3
    shown = run_recollect("file", str(project.directory))
    assert (shown.code, shown.stderr) == (
        2,
        f"recollect: {project.directory} is a directory. Specify a file.\n",
    )
