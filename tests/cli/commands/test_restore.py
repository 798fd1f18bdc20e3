"""Tests of recollect.cli.commands.restore_commands and checkpoints, through the program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.demo_home import GOLDEN, make_demo_home, run_at
from tests.golden import check_golden
from tests.process import Finished, RunRecollect
from tests.versions.small_project import SESSION, Project

BACKUP = "0123456789abcdef@v2"


@pytest.fixture
def project(safe_environment: None, tmp_path: Path) -> Project:
    """A project with a file of three versions, and a backup of the second."""
    made = Project(tmp_path / "shop")
    made.prompt("Write the greeting")
    made.write("src/app.py", "hello\nworld\n")
    second = made.prompt("Greet everybody")
    made.snapshot(second, {"src/app.py": "0123456789abcdef@v1"})
    made.edit("src/app.py", "world", "everybody")
    third = made.prompt("Be polite")
    made.snapshot(third, {"src/app.py": BACKUP})
    made.edit("src/app.py", "hello", "good day")
    made.save()
    backups = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "file-history" / SESSION
    backups.mkdir(parents=True)
    (backups / "0123456789abcdef@v1").write_bytes(b"hello\nworld\n")
    (backups / BACKUP).write_bytes(b"hello\r\neverybody\r\n")
    return made


def restore_here(project: Project, *arguments: str, input: str = "") -> Finished:
    """Run `recollect restore` in the directory of the project."""
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "restore", *arguments],
        cwd=project.directory,
        input=input,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def test_a_version_is_restored_and_the_present_is_kept(
    run_recollect: RunRecollect, project: Project
) -> None:
    """The diff is shown first, and the message names the copy of the previous content."""
    path = project.path("src/app.py")
    shown = run_recollect("restore", str(path), "--at", "1", "--yes")
    copy = path.with_name("app.py.before-restore")
    assert shown.code == 0
    assert "-good day\n" in shown.stdout
    assert shown.stdout.endswith(f"Restored {path}; the previous content is in {copy}.\n")
    assert path.read_bytes() == b"hello\nworld\n"
    assert copy.read_bytes() == b"good day\neverybody\n"
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name, copy.name]


def test_a_backup_is_restored_byte_for_byte(run_recollect: RunRecollect, project: Project) -> None:
    """Line ends are those of Claude Code's backup, if there is one."""
    path = project.path("src/app.py")
    assert run_recollect("restore", str(path), "--at", "2", "--yes").code == 0
    assert path.read_bytes() == b"hello\r\neverybody\r\n"


def test_without_a_backup_the_form_is_that_of_the_present_file(
    run_recollect: RunRecollect, project: Project
) -> None:
    """Byte order mark and line ends of the file stay."""
    path = project.path("src/app.py")
    path.write_bytes(b"\xef\xbb\xbfgood day\r\neverybody\r\n")
    target = path.with_name("copy.py")
    target.write_bytes(path.read_bytes())
    shown = run_recollect("restore", str(path), "--at", "3", "-o", str(target), "--yes")
    assert "already has the content" in shown.stdout


def test_the_message_says_where_versions_are_listed(
    run_recollect: RunRecollect, project: Project
) -> None:
    """Nobody knows their numbers by heart."""
    shown = run_recollect("restore", str(project.path("src/app.py")))
    assert shown.code == 2
    assert shown.stderr == (
        "recollect: Specify --at with a version that `recollect file PATH` lists, or --checkpoint"
        " with the number of a prompt.\n"
    )


def test_nothing_is_written_without_an_answer(
    run_recollect: RunRecollect, project: Project
) -> None:
    """Without a terminal, and in a dry run, nothing changes."""
    path = project.path("src/app.py")
    before = path.read_bytes()
    assert run_recollect("restore", str(path), "--at", "1").code == 2
    assert run_recollect("restore", str(path), "--at", "1", input="y\n").code == 2
    assert run_recollect("restore", str(path), "--at", "1", "--dry-run").code == 0
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["app.py"]


def test_a_deleted_file_is_restored(run_recollect: RunRecollect, project: Project) -> None:
    """The directory is created again, and there is no previous content to keep."""
    path = project.path("src/app.py")
    path.unlink()
    path.parent.rmdir()
    shown = run_recollect("restore", str(path), "--at", "1", "--yes")
    assert shown.stdout.endswith(f"Restored {path}.\n")
    assert path.read_bytes() == b"hello\nworld\n"


def test_a_path_that_was_not_typed_is_not_written_to(
    run_recollect: RunRecollect, project: Project, tmp_path: Path
) -> None:
    """A file that is found by its name is only written to a target."""
    path = project.path("src/app.py")
    before = path.read_bytes()
    refused = run_recollect("restore", "app.py", "--at", "1", "--yes")
    assert (refused.code, refused.stdout, path.read_bytes()) == (2, "", before)
    assert refused.stderr.splitlines()[0] == (
        f"recollect: app.py was recorded as {path}. Specify that path, or use -o."
    )
    target = tmp_path / "earlier.py"
    done = run_recollect("restore", "app.py", "--at", "1", "-o", str(target), "--yes")
    assert (done.code, target.read_bytes()) == (0, b"hello\nworld\n")


def test_links_are_not_followed(
    run_recollect: RunRecollect, project: Project, tmp_path: Path
) -> None:
    """A target that is a symbolic link is refused."""
    path = project.path("src/app.py")
    other = tmp_path / "other.txt"
    other.write_text("precious", "utf-8")
    link = project.path("link.py")
    link.symlink_to(other)
    shown = run_recollect("restore", str(path), "--at", "1", "-o", str(link), "--yes")
    assert shown.code == 2
    assert "symbolic link" in shown.stderr
    assert other.read_text("utf-8") == "precious"


def test_checkpoints_are_listed(run_recollect: RunRecollect, project: Project) -> None:
    """There is one per prompt, with the files of the session."""
    shown = run_recollect("checkpoints", SESSION, "--json")
    found = json.loads(shown.stdout)["checkpoints"]
    path = str(project.path("src/app.py"))
    assert [(each["number"], each["prompt"], each["files"]) for each in found] == [
        (1, "Write the greeting", [{"path": path, "known": None, "exists": False}]),
        (2, "Greet everybody", [{"path": path, "known": "exact", "exists": True}]),
        (3, "Be polite", [{"path": path, "known": "exact", "exists": True}]),
    ]


def test_a_checkpoint_is_restored(project: Project) -> None:
    """All files are as they were when the prompt was sent."""
    path = project.path("src/app.py")
    assert restore_here(project, SESSION, "--checkpoint", "2", "--yes").code == 0
    assert path.read_bytes() == b"hello\nworld\n"


def test_a_checkpoint_is_written_elsewhere(project: Project, tmp_path: Path) -> None:
    """`--to` leaves the project alone."""
    before = project.path("src/app.py").read_bytes()
    elsewhere = tmp_path / "before"
    shown = restore_here(project, SESSION, "--checkpoint", "3", "--to", str(elsewhere), "--yes")
    assert shown.code == 0
    assert (elsewhere / "src" / "app.py").read_bytes() == b"hello\r\neverybody\r\n"
    assert project.path("src/app.py").read_bytes() == before


def test_a_session_of_another_directory_is_not_restored_in_place(
    run_recollect: RunRecollect, project: Project
) -> None:
    """The directory in a transcript is not trusted."""
    before = project.path("src/app.py").read_bytes()
    shown = run_recollect("restore", SESSION, "--checkpoint", "2", "--yes")
    assert shown.code == 2
    assert "--to" in shown.stderr
    assert project.path("src/app.py").read_bytes() == before


def test_hostile_paths_write_nothing_outside(project: Project, tmp_path: Path) -> None:
    """Paths outside the directory, through links, to devices or into `.git` are left alone."""
    hostile = Project(project.directory, "b0b0b0b0-aaaa-4bbb-8ccc-dddddddddddd")
    outside = tmp_path / "outside"
    outside.mkdir()
    project.path("link").symlink_to(outside)
    hostile.prompt("Be evil")
    for recorded in (
        "../outside/authorized_keys",
        f"{project.directory}/../outside/authorized_keys",
        str(outside / "absolute"),
        f"{project.directory}/link/through",
        f"{project.directory}/.git/hooks/post-checkout",
        f"{project.directory}/nul\0byte",
        f"{project.directory}/NUL",
        f"{project.directory}/a/../../outside/x",
        "/dev/null",
    ):
        hostile.write("", "owned\n", recorded=recorded)
    hostile.write("good.txt", "fine\n")
    hostile.prompt("And now?")
    hostile.save()
    project.path("good.txt").unlink()
    names = sorted(each.name for each in project.directory.rglob("*"))
    shown = restore_here(project, hostile.session, "--checkpoint", "2", "--yes")
    assert shown.code == 0
    assert list(outside.iterdir()) == []
    assert sorted(each.name for each in project.directory.rglob("*")) == sorted(
        [*names, "good.txt"]
    )
    assert shown.stderr.count("recollect: Skipped ") == 8


def test_impossible_requests_are_explained(run_recollect: RunRecollect, project: Project) -> None:
    """Options that do not fit together are usage errors, unknown checkpoints are not found."""
    path = str(project.path("src/app.py"))
    assert run_recollect("restore", path).code == 2
    assert run_recollect("restore", path, "--at", "1", "--to", "x").code == 2
    assert run_recollect("restore", SESSION, "--checkpoint", "1", "-o", "x").code == 2
    assert restore_here(project, SESSION, "--checkpoint", "99").code == 3


@pytest.mark.parametrize("width", [80, 140])
def test_pages_look_as_they_are_meant_to(run_recollect: RunRecollect, width: int) -> None:
    """The output for the demo data equals the golden files."""
    make_demo_home()
    path = "/home/mina/projects/tidepool/src/tidepool/cli.py"
    shown = run_at(run_recollect, width, "restore", path, "--at", "2", "-o", "old.py", "--dry-run")
    check_golden(GOLDEN / f"restore-{width}.txt", shown.stdout)
    shown = run_at(run_recollect, width, "checkpoints", "8facb961")
    check_golden(GOLDEN / f"checkpoints-{width}.txt", shown.stdout)


def test_a_document_is_what_it_is_meant_to_be(run_recollect: RunRecollect) -> None:
    """`--json` prints the checkpoints."""
    make_demo_home()
    shown = run_at(run_recollect, 80, "checkpoints", "8facb961", "--json")
    check_golden(GOLDEN / "checkpoints.json", shown.stdout)


def save_timeline(project: Project, data: str) -> None:
    """Write a timeline of opcode for the session."""
    (transcript,) = Path(os.environ["CLAUDE_CONFIG_DIR"]).glob(f"projects/*/{SESSION}.jsonl")
    directory = transcript.parent / ".timelines" / SESSION
    directory.mkdir(parents=True)
    (directory / "timeline.json").write_text(data, encoding="utf-8")


def make_node(number: int, words: str, *children: object) -> dict[str, object]:
    """Return a checkpoint of opcode with its children."""
    checkpoint = {
        "id": f"c{number}",
        "sessionId": SESSION,
        "messageIndex": number,
        "timestamp": f"2026-11-01T10:0{number}:30.123456Z",
        "description": None,
        "metadata": {"userPrompt": words, "totalTokens": 5},
    }
    return {"checkpoint": checkpoint, "children": children, "fileSnapshotIds": ["h1", "h2"]}


def test_checkpoints_of_opcode_are_listed(run_recollect: RunRecollect, project: Project) -> None:
    """They are listed after the session's own, by time, with the text of their prompts."""
    tree = make_node(1, "Write\x1b[31m it", make_node(3, "Be polite"), make_node(2, "Greet"))
    save_timeline(project, json.dumps({"sessionId": SESSION, "rootNode": tree}))
    shown = run_recollect("checkpoints", SESSION)
    assert shown.stdout.split("\n")[5:] == [
        "Saved by opcode, which can restore them:",
        "  when              files    prompt",
        "  2026-11-01 10:01  2 files  Write␛[31m it",
        "  2026-11-01 10:02  2 files  Greet",
        "  2026-11-01 10:03  2 files  Be polite",
        "",
    ]
    found = json.loads(run_recollect("checkpoints", SESSION, "--json").stdout)["opcode"]
    assert [each["description"] for each in found] == ["Write\x1b[31m it", "Greet", "Be polite"]


@pytest.mark.parametrize("data", ["", "{", "[]", '{"rootNode": 5}', '{"rootNode":' * 100_000])
def test_a_broken_timeline_of_opcode_hides_nothing(
    run_recollect: RunRecollect, project: Project, data: str
) -> None:
    """A broken timeline does not affect the session's own checkpoints."""
    save_timeline(project, data)
    found = json.loads(run_recollect("checkpoints", SESSION, "--json").stdout)
    assert (len(found["checkpoints"]), found["opcode"]) == (3, [])
