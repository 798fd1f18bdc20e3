"""References in a prompt: paths of a project, its changes and its commits."""

import subprocess
from pathlib import Path

import pytest

from recollect.documents.kinds import ContextKind
from recollect.launch.context_references import (
    MAX_CONTENT,
    ContextReference,
    ProjectPath,
    list_changed,
    list_commits,
    list_paths,
    match_paths,
    read_changes,
    read_commit,
    read_reference,
)
from recollect.session.prompt_contexts import attach_contexts, separate_words


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit, an ignored file, a change and a new file."""
    for name, text in {
        ".gitignore": "build/\n*.log\n",
        "src/worker/pool.go": "package worker\n",
        "src/main.go": "package main\n",
        "build/out.bin": "x",
        "run.log": "x",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    _git(tmp_path, "init", "-q", "-b", "main")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-q", "-m", "Add the worker")
    (tmp_path / "src/main.go").write_text("package main // changed\n")
    (tmp_path / "new.md").write_text("new\n")
    return tmp_path


def _git(directory: Path, *arguments: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *arguments], cwd=directory, check=True)


def test_paths_leave_out_what_git_ignores(project: Path) -> None:
    """Folders come first; ignored files and their folders are not listed."""
    assert list_paths(project) == (
        ProjectPath("src", is_folder=True),
        ProjectPath("src/worker", is_folder=True),
        ProjectPath(".gitignore"),
        ProjectPath("new.md"),
        ProjectPath("src/main.go"),
        ProjectPath("src/worker/pool.go"),
    )


def test_paths_of_a_subdirectory_are_relative_to_it(project: Path) -> None:
    """A project may be a directory of a larger repository."""
    assert list_paths(project / "src") == (
        ProjectPath("worker", is_folder=True),
        ProjectPath("main.go"),
        ProjectPath("worker/pool.go"),
    )


def test_without_git_hidden_files_are_left_out(tmp_path: Path) -> None:
    """A directory without a repository lists what is not hidden, and follows no links."""
    for name in (".secret/key", "a/b.txt", ".env", "c.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert list_paths(tmp_path) == (
        ProjectPath("a", is_folder=True),
        ProjectPath("a/b.txt"),
        ProjectPath("c.txt"),
    )


def test_names_that_start_with_the_query_come_first() -> None:
    """Then names that contain it, then paths that do, then its letters in order."""
    names = ("x/wor/y.go", "sword.go", "a/worker.go", "w_o_r.go", "none.txt", "wor")
    paths = tuple(ProjectPath(name) for name in names)
    found = [each.path for each in match_paths(paths, "WOR")]
    assert found == ["wor", "a/worker.go", "sword.go", "x/wor/y.go", "w_o_r.go"]


def test_an_empty_query_lists_the_top_first() -> None:
    """Without a query, the top of the tree is listed."""
    paths = (ProjectPath("a/b/c"), ProjectPath("a/b"), ProjectPath("z"))
    assert [each.path for each in match_paths(paths, "", 2)] == ["z", "a/b"]


def test_changes_are_listed_and_read(project: Path) -> None:
    """Changed files are listed, new ones included, and their diff is git's."""
    (project / "notes").mkdir()
    (project / "notes/one.md").write_text("one\n")
    (project / "notes/two.md").write_text("two\n")
    assert list_changed(project) == ("src/main.go", "new.md", "notes/one.md", "notes/two.md")
    lines = read_changes(project).splitlines()
    assert lines[-7:-5] == ["-package main", "+package main // changed"]
    assert lines[-5:] == ["", "Untracked files:", "new.md", "notes/one.md", "notes/two.md"]


def test_commits_are_listed_and_read(project: Path) -> None:
    """A commit is found by its hash only; anything else reads nothing."""
    (commit,) = list_commits(project)
    assert commit.subject == "Add the worker"
    assert read_commit(project, commit.hash).startswith(f"commit {commit.hash}\n")
    for name in ("HEAD", "--output=x", "", "main", commit.hash + "\n"):
        assert read_commit(project, name) == ""


def test_a_long_change_becomes_its_summary(project: Path) -> None:
    """A diff that is too long for a prompt is replaced by a summary."""
    (project / "src/main.go").write_text("x\n" * MAX_CONTENT)
    assert read_changes(project).splitlines()[0].split("|")[0].strip() == "src/main.go"


def test_every_reference_is_read_back_from_the_prompt(project: Path) -> None:
    """History shows the same contexts, in order, with their texts."""
    commit = list_commits(project)[0].hash
    wanted = [
        ContextReference(kind="file", name="src/main.go"),
        ContextReference(kind="folder", name="src"),
        ContextReference(kind="web", name="https://example.org/tides"),
        ContextReference(kind="selection", name="src/main.go", text="one\ntwo"),
        ContextReference(kind="terminal", text="boom </pasted_content>\nbang"),
        ContextReference(kind="problems", text="unused variable"),
        ContextReference(kind="changes"),
        ContextReference(kind="commit", name=commit),
    ]
    found = [read_reference(project, each) for each in wanted]
    contexts, contents = [each for each, _ in found], [text for _, text in found]
    words, listed = separate_words(attach_contexts("why?", contexts, contents))
    assert words == "why?"
    assert [(each.kind, each.path) for each in listed] == [
        (ContextKind.FILE, "src/main.go"),
        (ContextKind.FOLDER, "src"),
        (ContextKind.WEB, "https://example.org/tides"),
        (ContextKind.SELECTION, "src/main.go"),
        (ContextKind.TERMINAL, None),
        (ContextKind.PROBLEMS, None),
        (ContextKind.GIT, None),
        (ContextKind.GIT, commit[:12]),
    ]
    heads = [each.text.partition("\n")[0] for each in listed]
    assert heads == [each.text for each in contexts]
    assert "package main // changed" in listed[6].text
    assert "Add the worker" in listed[7].text


def test_without_git_nothing_is_changed(tmp_path: Path) -> None:
    """A directory without a repository has no changes and no commits."""
    assert (list_changed(tmp_path), list_commits(tmp_path), read_changes(tmp_path)) == ((), (), "")
