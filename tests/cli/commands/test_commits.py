"""Tests of recollect.cli.commands.commit_commands, through the program and with real git."""

import json
from pathlib import Path

import pytest

from tests.cli.demo_home import GOLDEN, run_at
from tests.git_repository import run_git
from tests.golden import check_golden
from tests.process import RunRecollect
from tests.versions.small_project import SESSION, Project


@pytest.fixture
def project(safe_environment: None, tmp_path: Path) -> Project:
    """A repository in which a session wrote a file, committed, and changed it again."""
    made = Project(tmp_path / "shop")
    run_git(made.directory, "init", "--quiet", "--initial-branch=main")
    made.path("notes.txt").write_text("by hand\n", "utf-8")
    run_git(made.directory, "add", ".")
    run_git(made.directory, "commit", "--quiet", "-m", "Begin", time="2026-10-01T10:00:00Z")
    made.prompt("Write the greeting")
    made.write("app.py", "hello\nworld\n")
    run_git(made.directory, "add", ".")
    printed = run_git(made.directory, "commit", "-m", "Greet the world")
    made.call("Bash", {"command": "git commit -am x"}, {"stdout": printed}, printed)
    made.prompt("Greet everybody")
    made.edit("app.py", "world", "everybody")
    made.save()
    return made


def _read(run: RunRecollect, project: Project, *arguments: str) -> dict[str, object]:
    done = run(*arguments, "--json", "--repo", str(project.directory))
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def _list(run: RunRecollect, project: Project) -> list[tuple[str, str, list[int]]]:
    found = _read(run, project, "commits", "latest")
    assert found["session"] == SESSION
    commits = found["commits"]
    assert isinstance(commits, list)
    return [(each["subject"], each["how"], each["turns"]) for each in commits]


def test_a_commit_is_known_by_its_hash(run_recollect: RunRecollect, project: Project) -> None:
    """The one that the session printed is its own, the earlier one is not."""
    assert _list(run_recollect, project) == [("Greet the world", "printed", [1])]


def test_content_links_a_commit_without_its_hash(
    run_recollect: RunRecollect, project: Project
) -> None:
    """A later commit by hand is linked by its content; an amended hash no longer exists."""
    run_git(project.directory, "commit", "--quiet", "-am", "Later", time="2026-11-02T10:00:00Z")
    assert _list(run_recollect, project) == [
        ("Greet the world", "printed", [1]),
        ("Later", "content", [2]),
    ]


def test_the_directory_of_the_session_is_the_default(
    run_recollect: RunRecollect, project: Project
) -> None:
    """Without --repo the repository is where the session worked."""
    shown = run_recollect("commits", "latest")
    assert shown.code == 0, shown.stderr
    assert "Greet the world" in shown.stdout


def test_a_session_outside_of_git_is_reported(
    run_recollect: RunRecollect, safe_environment: None, tmp_path: Path
) -> None:
    """The error says what to do."""
    made = Project(tmp_path / "plain")
    made.prompt("Write")
    made.write("a.py", "x\n")
    made.save()
    done = run_recollect("commits", "latest")
    assert (done.code, done.stdout) == (3, "")
    assert "--repo DIR" in done.stderr


def test_the_prompts_behind_a_commit(run_recollect: RunRecollect, project: Project) -> None:
    """Lines of the session have their prompts, those of the user have none."""
    path = project.path("app.py")
    path.write_text(path.read_text("utf-8") + "by hand\n", "utf-8")
    run_git(project.directory, "commit", "--quiet", "-am", "Both", time="2026-11-02T10:00:00Z")
    found = _read(run_recollect, project, "why")
    assert (found["subject"], found["added"], found["other"]) == ("Both", 2, 1)
    prompts = found["prompts"]
    assert isinstance(prompts, list)
    assert [(each["turn"], each["lines"], each["prompt"]) for each in prompts] == [
        (2, 1, "Greet everybody")
    ]
    first = _read(run_recollect, project, "why", "HEAD~1")
    assert first["sessions"] == [{"session": SESSION, "how": "printed", "turn": 1}]
    shown = run_recollect("why", "HEAD~1", "--repo", str(project.directory)).stdout
    assert shown.splitlines()[2].endswith("Write the greeting")
    assert shown.splitlines()[3] == "Session 5e551011, turn 1: by the output of its command."


def test_a_note_is_written_only_when_asked_for(
    run_recollect: RunRecollect, project: Project
) -> None:
    """A git-ai note names the session and its lines, and is never replaced."""
    run_git(project.directory, "config", "user.name", "Mina")
    run_git(project.directory, "config", "user.email", "mina@example.org")
    repo = ("--repo", str(project.directory))
    assert run_recollect("why", *repo).code == 0
    assert run_git(project.directory, "for-each-ref", "refs/notes") == ""
    done = run_recollect("why", *repo, "--write-note")
    assert done.code == 0, done.stderr
    note = run_git(project.directory, "notes", "--ref=ai", "show", "HEAD").splitlines()
    assert note[0] == "app.py"
    assert note[1].startswith("  s_")
    assert note[1].endswith(" 1-2")
    assert note[2] == "---"
    details = json.loads("\n".join(note[3:]))
    assert details["schema_version"] == "authorship/3.0.0"
    (session,) = details["sessions"].values()
    assert session["agent_id"]["id"] == SESSION
    assert _read(run_recollect, project, "why")["sessions"] == [
        {"session": SESSION, "how": "printed", "turn": 1},
        {"session": SESSION, "how": "note", "turn": None},
    ]
    again = run_recollect("why", *repo, "--write-note")
    assert again.code == 1
    assert "may have one already" in again.stderr


def test_a_trailer_of_entire_leads_to_its_session(
    run_recollect: RunRecollect, project: Project
) -> None:
    """The checkpoint named by the trailer identifies the session."""
    branch = project.directory.parent / "entire"
    run_git(project.directory, "worktree", "add", "--quiet", "--detach", str(branch))
    run_git(branch, "checkout", "--quiet", "--orphan", "entire/checkpoints/v1")
    place = branch / "ab" / "cdef012345" / "0"
    place.mkdir(parents=True)
    (place / "metadata.json").write_text(json.dumps({"session_id": SESSION}), "utf-8")
    run_git(branch, "add", ".")
    run_git(branch, "commit", "--quiet", "-m", "Checkpoint", time="2026-09-01T10:00:00Z")
    message = "By a person\n\nEntire-Checkpoint: abcdef012345"
    arguments = ("commit", "--quiet", "--allow-empty", "-m", message)
    run_git(project.directory, *arguments, time="2026-11-03T10:00:00Z")
    assert _list(run_recollect, project)[-1] == ("By a person", "trailer", [])


def test_a_repository_runs_nothing(run_recollect: RunRecollect, project: Project) -> None:
    """Its configuration names programs for everything, and none of them is started."""
    marker = project.directory / "ran"
    script = project.directory / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {marker}\n", "utf-8")
    script.chmod(0o755)
    for name in (
        *("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.sshCommand"),
        *("diff.x.textconv", "diff.x.command", "filter.x.smudge", "filter.x.clean", "core.editor"),
    ):
        run_git(project.directory, "config", name, str(script))
    run_git(project.directory, "config", "log.showSignature", "true")
    (project.directory / ".git" / "info" / "attributes").write_text("* diff=x filter=x\n", "utf-8")
    for hook in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction"):
        target = project.directory / ".git" / "hooks" / hook
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(script.read_bytes())
        target.chmod(0o755)
    repo = ("--repo", str(project.directory))
    assert run_recollect("commits", "latest", *repo).code == 0
    assert run_recollect("why", *repo, "--write-note").code in (0, 1)
    assert run_recollect("blame", str(project.path("app.py"))).code == 0
    assert run_recollect("blame", "--stat", str(project.directory)).code == 0
    assert not marker.exists()


def test_a_whole_tree_is_counted(
    run_recollect: RunRecollect, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines are counted by prompt, with the number of written lines that survive."""
    done = run_recollect("blame", "--stat", str(project.directory), "--json")
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    numbers = {name: found[name] for name in ("files", "lines", "other", "written", "survived")}
    assert numbers == {"files": 2, "lines": 3, "other": 1, "written": 3, "survived": 2}
    assert [(each["turn"], each["lines"]) for each in found["prompts"]] == [(1, 1), (2, 1)]
    shown = run_recollect("blame", "--stat", str(project.directory)).stdout.splitlines()
    monkeypatch.chdir(project.directory)
    assert run_recollect("blame", "--stat").stdout.splitlines() == shown
    assert shown[0] == "2 files, 3 lines"
    assert shown[-1] == "2 of 3 lines by Claude Code survived (67%)"


@pytest.mark.parametrize(
    ("name", "words"), [("commits", ("commits", "latest")), ("why", ("why", "HEAD"))]
)
def test_pages_look_as_they_are_meant_to(
    run_recollect: RunRecollect, project: Project, name: str, words: tuple[str, ...]
) -> None:
    """Tables and JSON equal the golden files."""
    repo = ("--repo", str(project.directory))
    shown = run_at(run_recollect, 100, *words, *repo)
    assert (shown.code, shown.stderr) == (0, "")
    check_golden(GOLDEN / f"{name}-100.txt", shown.stdout)
    document = run_at(run_recollect, 100, *words, *repo, "--json").stdout
    check_golden(GOLDEN / f"{name}.json", document.replace(str(project.directory), "/shop"))
