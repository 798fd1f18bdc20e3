"""Tests of recollect.locations.discovery."""

import os
import socket
import time
from pathlib import Path

import pytest

from recollect.errors import NothingFound, UnreadableInput
from recollect.locations.discovery import (
    Discovery,
    _Directory,
    _Level,
    _Walk,
    discover,
    discover_root,
)
from recollect.locations.transcript_files import TranscriptKind
from recollect.sources.safe_files import Refusal, Refused, list_directory
from tests.locations.trees import link, needs_permissions, needs_pipes, transcript, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with no transcripts yet."""
    (tmp_path / "root" / "projects").mkdir(parents=True)
    return tmp_path / "root"


@pytest.fixture
def project(root: Path) -> Path:
    """A project's directory in the root."""
    path = root / "projects" / "-srv-app"
    path.mkdir()
    return path


def refused(path: Path, reason: Refusal, detail: str = "") -> Discovery:
    """Return a result with only one refused entry."""
    return Discovery((), (Refused(path, reason, detail),))


def test_all_layouts_are_found(root: Path, project: Path) -> None:
    """Sessions, subagents beside them, below them or elsewhere, and agents of workflows."""
    session = write(project / "s1.jsonl")
    flat = write(project / "agent-a1.jsonl")
    shared = write(project / "subagents" / "agent-a4.jsonl")
    nested = write(project / "s1" / "subagents" / "agent-a2.jsonl")
    of_run = write(project / "s1" / "subagents" / "workflows" / "wf_1" / "agent-a3.jsonl")
    other = write(root / "projects" / "-srv-other" / "s2.jsonl")
    assert discover_root(root) == Discovery(
        (
            transcript(flat, agent_id="a1"),
            transcript(session, "s1"),
            transcript(nested, "s1", project_dir=project, agent_id="a2"),
            transcript(of_run, "s1", project_dir=project, agent_id="a3", run_id="wf_1"),
            transcript(shared, project_dir=project, agent_id="a4"),
            transcript(other, "s2"),
        ),
        (),
    )


def test_only_transcripts_are_found(root: Path, project: Path) -> None:
    """Sidecars, logs, backups, memory and files at other depths are not transcripts."""
    for name in (
        "history.jsonl",
        "dump-prompts/s1.jsonl",
        "jobs/1/parent-transcript.jsonl",
        "projects/loose.jsonl",
        "projects/-srv-app/s1.jsonl.backup",
        "projects/-srv-app/sessions-index.json",
        "projects/-srv-app/.session-aliases",
        "projects/-srv-app/._s1.jsonl",
        "projects/-srv-app/memory/notes.md",
        "projects/-srv-app/s1/tool-results/b1.jsonl",
        "projects/-srv-app/s1/subagents/agent-a1.meta.json",
        "projects/-srv-app/s1/subagents/workflows/loose.jsonl",
        "projects/-srv-app/s1/subagents/workflows/wf_1/journal.jsonl",
        "projects/-srv-app/s1/subagents/deeper/agent-a1.jsonl",
    ):
        write(root / name)
    assert discover_root(root) == Discovery((), ())


def test_project_may_have_any_name(root: Path) -> None:
    """Depth decides, so a directory called `subagents` may be a project."""
    path = write(root / "projects" / "subagents" / "s1.jsonl")
    assert discover_root(root) == Discovery((transcript(path, "s1"),), ())


def test_session_may_have_any_stem(root: Path, project: Path) -> None:
    """A renamed transcript is still found, by its stem."""
    path = write(project / "my best session.jsonl")
    assert discover_root(root) == Discovery((transcript(path, "my best session"),), ())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_file_name_that_is_not_utf8_is_found(root: Path, project: Path) -> None:
    """A name of arbitrary bytes is kept as the system gives it, and its id is text."""
    try:
        path = write(project / os.fsdecode(b"caf\xe9.jsonl"))
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    assert discover_root(root) == Discovery((transcript(path, "caf%E9"),), ())


def test_empty_file_is_found(root: Path, project: Path) -> None:
    """An empty file is found and marked, not dropped: callers decide what to do with it."""
    path = write(project / "s1.jsonl", b"")
    (found,) = discover_root(root).transcripts
    assert (found, found.is_empty) == (transcript(path, "s1"), True)


def test_order_is_that_of_the_paths(root: Path) -> None:
    """The order of results does not depend on the file system."""
    paths = [
        write(root / "projects" / directory / f"{name}.jsonl")
        for directory in ("-b", "-a", "-C")
        for name in ("2", "10", "1")
    ]
    assert [found.path for found in discover_root(root).transcripts] == sorted(paths, key=str)


def test_root_without_projects_is_empty(tmp_path: Path) -> None:
    """A root that Claude Code has not written to yet has no transcripts."""
    assert discover_root(tmp_path) == Discovery((), ())


def test_root_given_as_a_link_keeps_its_spelling(tmp_path: Path, root: Path, project: Path) -> None:
    """Paths are reported as the user wrote them, and the link itself is allowed."""
    write(project / "s1.jsonl")
    shortcut = link(tmp_path / "shortcut", root)
    path = shortcut / "projects" / "-srv-app" / "s1.jsonl"
    assert discover_root(shortcut) == Discovery((transcript(path, "s1"),), ())


def test_link_to_another_project_is_not_counted_twice(root: Path, project: Path) -> None:
    """A moved project linked to the directory it came from gives each transcript once."""
    path = write(project / "s1.jsonl")
    link(root / "projects" / "-a-moved", "-srv-app")
    assert discover_root(root) == Discovery((transcript(path, "s1"),), ())


def test_link_to_a_file_found_anyway_is_not_counted_twice(root: Path, project: Path) -> None:
    """A link to a transcript that is found anyway adds nothing."""
    path = write(project / "s1.jsonl")
    link(root / "projects" / "-a-moved" / "s2.jsonl", path)
    assert discover_root(root) == Discovery((transcript(path, "s1"),), ())


def test_link_to_a_directory_elsewhere_in_the_root_is_followed(root: Path) -> None:
    """A project whose directory was moved within the root is found under its name."""
    write(root / "store" / "s1.jsonl")
    write(root / "store" / "s1" / "subagents" / "agent-a1.jsonl")
    project = link(root / "projects" / "-srv-app", root / "store")
    link(root / "projects" / "-srv-second-link", root / "store")
    nested = project / "s1" / "subagents" / "agent-a1.jsonl"
    assert discover_root(root) == Discovery(
        (
            transcript(project / "s1.jsonl", "s1"),
            transcript(nested, "s1", project_dir=project, agent_id="a1"),
        ),
        (),
    )


def test_link_to_a_file_elsewhere_in_the_root_is_followed(root: Path, project: Path) -> None:
    """The transcript has the link's id and project, and the path of the bytes."""
    target = write(root / "store" / "kept.jsonl")
    link(project / "s1.jsonl", target)
    link(project / "s2.jsonl", target)
    assert discover_root(root) == Discovery((transcript(target, "s1", project_dir=project),), ())


def test_linked_subagents_are_followed(root: Path, project: Path) -> None:
    """A link for `subagents` is followed like one for a project."""
    write(root / "store" / "agent-a1.jsonl")
    subagents = link(project / "s1" / "subagents", root / "store")
    assert discover_root(root) == Discovery(
        (transcript(subagents / "agent-a1.jsonl", "s1", project_dir=project, agent_id="a1"),), ()
    )


@pytest.mark.parametrize(
    "place",
    [
        "projects/-x",
        "projects/-srv-app/s1.jsonl",
        "projects/-srv-app/s1",
        "projects/-srv-app/s1/subagents",
        "projects/-srv-app/s1/subagents/workflows",
        "projects/-srv-app/s1/subagents/agent-a1.jsonl",
        "projects/-srv-app/s1/subagents/workflows/wf_1",
    ],
)
@pytest.mark.parametrize("target", ["outside", "outside/s.jsonl", "root-and-more"])
def test_link_that_leaves_the_root_is_refused(
    tmp_path: Path, root: Path, project: Path, place: str, target: str
) -> None:
    """At every level, links to the outside are reported and not followed."""
    write(tmp_path / "outside" / "s.jsonl")
    write(tmp_path / "root-and-more" / "s.jsonl")
    path = link(root / place, tmp_path / target)
    assert discover_root(root) == refused(path, Refusal.LINK_OUTSIDE, str(tmp_path / target))


def test_projects_that_lead_outside_are_refused(tmp_path: Path) -> None:
    """The directory of all projects cannot link to the outside either."""
    write(tmp_path / "outside" / "-p" / "s1.jsonl")
    path = link(tmp_path / "root" / "projects", tmp_path / "outside")
    expected = refused(path, Refusal.LINK_OUTSIDE, str(tmp_path / "outside"))
    assert discover(tmp_path / "root") == expected


def test_link_through_a_link_is_judged_by_its_end(tmp_path: Path, root: Path) -> None:
    """A chain of links that ends outside is refused."""
    (tmp_path / "outside").mkdir()
    link(root / "inside", tmp_path / "outside")
    path = link(root / "projects" / "-x", root / "inside")
    expected = refused(path, Refusal.LINK_OUTSIDE, str(tmp_path / "outside"))
    assert discover_root(root) == expected


@pytest.mark.parametrize("target", [".credentials.json", "sessions/1.0af3.key", "history.jsonl"])
def test_link_to_another_file_of_the_root_is_refused(
    root: Path, project: Path, target: str
) -> None:
    """A link's name does not turn another file of the root into a transcript."""
    secret = write(root / target)
    path = link(project / "s1.jsonl", secret)
    assert discover_root(root) == refused(path, Refusal.LINK_ELSEWHERE, str(secret))


def test_link_that_leads_nowhere_is_refused(root: Path, project: Path) -> None:
    """A broken link is reported."""
    path = link(project / "s1.jsonl", "gone.jsonl")
    expected = refused(path, Refusal.LINK_BROKEN, "No such file or directory")
    assert discover_root(root) == expected


def test_link_of_no_interest_is_ignored(root: Path, project: Path) -> None:
    """A link to a file that cannot be a transcript is skipped without a report."""
    link(project / "notes", write(root / "CLAUDE.md"))
    link(project / "s1" / "subagents" / "notes", "gone")
    assert discover_root(root) == Discovery((), ())


def test_loops_end(root: Path, project: Path) -> None:
    """Links to themselves, to each other, upwards and to the root itself do not hang."""
    path = write(project / "s1.jsonl")
    loops = [
        link(root / "projects" / "-one", "-two"),
        link(project / "own.jsonl", "own.jsonl"),
        link(root / "projects" / "-two", "-one"),
    ]
    for name, target in (("up", ".."), ("root", root), ("here", ".")):
        link(project / name, target)
        link(project / "s1" / "subagents" / "workflows" / name, target)
        link(project / "s1" / name, target)
    detail = "Too many levels of symbolic links"
    assert discover_root(root) == Discovery(
        (transcript(path, "s1"),),
        tuple(Refused(loop, Refusal.LINK_BROKEN, detail) for loop in loops),
    )


@needs_pipes
def test_pipe_is_refused_without_opening_it(root: Path, project: Path) -> None:
    """A named pipe among transcripts is reported, without waiting for a writer."""
    os.mkfifo(project / "s1.jsonl")
    os.mkfifo(project / "not a transcript")
    assert discover_root(root) == refused(project / "s1.jsonl", Refusal.SPECIAL)


@needs_pipes
def test_link_to_a_pipe_is_refused(root: Path, project: Path) -> None:
    """A link to a pipe is refused like a pipe."""
    os.mkfifo(root / "pipe.jsonl")
    path = link(project / "s1.jsonl", root / "pipe.jsonl")
    assert discover_root(root) == refused(path, Refusal.LINK_ELSEWHERE, str(root / "pipe.jsonl"))


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no sockets in directories here")
def test_socket_is_refused(root: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket is reported like a pipe."""
    monkeypatch.chdir(project)
    with socket.socket(socket.AF_UNIX) as server:
        # A relative name, because the system allows some hundred characters only.
        server.bind("s1.jsonl")
    assert discover_root(root) == refused(project / "s1.jsonl", Refusal.SPECIAL)


def test_directory_named_like_a_transcript_is_none(root: Path, project: Path) -> None:
    """A directory is not a transcript, whatever its name."""
    path = write(project / "s1.jsonl" / "subagents" / "agent-a1.jsonl")
    assert discover_root(root) == Discovery(
        (transcript(path, "s1.jsonl", project_dir=project, agent_id="a1"),), ()
    )


@needs_permissions
def test_closed_directories_are_reported_and_the_rest_is_found(root: Path, project: Path) -> None:
    """An unreadable directory does not hide the others."""
    path = write(project / "s1.jsonl")
    closed = root / "projects" / "-closed"
    closed.mkdir(mode=0o000)
    unsearchable = project / "s2"
    unsearchable.mkdir(mode=0o000)
    try:
        found = discover_root(root)
    finally:
        closed.chmod(0o700)
        unsearchable.chmod(0o700)
    assert found == Discovery(
        (transcript(path, "s1"),),
        (
            Refused(closed, Refusal.UNREADABLE, "Permission denied"),
            Refused(unsearchable / "subagents", Refusal.UNREADABLE, "Permission denied"),
        ),
    )


@needs_permissions
def test_files_of_a_directory_that_may_only_be_listed_are_reported(
    root: Path, project: Path
) -> None:
    """Files that can be listed but not accessed are refused one by one."""
    paths = [write(project / name) for name in ("s1.jsonl", "s2.jsonl")]
    project.chmod(0o400)
    try:
        found = discover_root(root)
    finally:
        project.chmod(0o700)
    detail = "Permission denied"
    assert found == Discovery(
        (), tuple(Refused(path, Refusal.UNREADABLE, detail) for path in paths)
    )


def test_file_deleted_during_the_walk_is_not_found(root: Path, project: Path) -> None:
    """Claude Code may delete files between listing and stat."""
    walk = _Walk(root, root)
    path = write(project / "s1.jsonl")
    (entry,) = list_directory(project)
    path.unlink()
    directory = _Directory(str(project), str(project), _Level.PROJECT)
    walk._take(directory, directory.place(), entry)
    assert walk.run(_Level.ROOT) == Discovery((), ())


def test_any_directory_is_searched_to_the_bottom(tmp_path: Path) -> None:
    """A directory with another layout gives every transcript below it, with the ids it has."""
    loose = write(tmp_path / "export" / "s1.jsonl")
    deep = write(tmp_path / "export" / "2026" / "11" / "s2.jsonl")
    flat = write(tmp_path / "export" / "agent-a1.jsonl")
    nested = write(tmp_path / "export" / "s1" / "subagents" / "agent-a2.jsonl")
    write(tmp_path / "export" / "history.jsonl")
    write(tmp_path / "export" / "s1.jsonl.backup")
    assert discover(tmp_path) == Discovery(
        (
            transcript(deep, "s2"),
            transcript(flat, agent_id="a1"),
            transcript(loose, "s1"),
            transcript(nested, "s1", project_dir=tmp_path / "export", agent_id="a2"),
        ),
        (),
    )


def test_links_in_any_directory_are_judged_alike(tmp_path: Path) -> None:
    """Links to the inside add nothing, links to the outside are refused."""
    path = write(tmp_path / "export" / "deep" / "s1.jsonl")
    outside = write(tmp_path / "outside" / "s2.jsonl")
    link(tmp_path / "export" / "a", "deep")
    link(tmp_path / "export" / "deep" / "loop", "..")
    way_out = link(tmp_path / "export" / "b", outside.parent)
    assert discover(tmp_path / "export") == Discovery(
        (transcript(path, "s1"),),
        (Refused(way_out, Refusal.LINK_OUTSIDE, str(outside.parent)),),
    )


def test_very_deep_directory_is_searched(tmp_path: Path) -> None:
    """Deep trees cause no recursion error."""
    directory = tmp_path
    for _ in range(400):
        directory = directory / "d"
        directory.mkdir()
    path = write(directory / "s.jsonl")
    assert discover(tmp_path) == Discovery((transcript(path, "s"),), ())


def test_root_is_known_by_its_projects(root: Path, project: Path) -> None:
    """A directory that contains `projects` is treated as a root."""
    path = write(project / "s1.jsonl")
    write(root / "jobs" / "1" / "parent-transcript.jsonl")
    assert discover(root) == Discovery((transcript(path, "s1"),), ())


@pytest.mark.parametrize("name", ["s1.jsonl", "saved.jsonl.backup", "history.jsonl", "export.txt"])
def test_single_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    """A file that the user names is treated as a transcript, whatever its suffix."""
    path = write(tmp_path / name)
    assert discover(path) == Discovery((transcript(path, name.removesuffix(".jsonl")),), ())


def test_single_subagent_knows_its_session(project: Path) -> None:
    """The path of a single file gives the same ids as a directory walk."""
    path = write(project / "s1" / "subagents" / "agent-a1.jsonl")
    assert discover(path) == Discovery(
        (transcript(path, "s1", project_dir=project, agent_id="a1"),), ()
    )


def test_single_link_is_resolved(tmp_path: Path, project: Path) -> None:
    """A link that the user names is followed anywhere, and the sidecars are at its end."""
    path = write(project / "s1.jsonl")
    assert discover(link(tmp_path / "shortcut", path)) == Discovery((transcript(path, "s1"),), ())


def test_missing_path_is_reported(tmp_path: Path) -> None:
    """The error names the path."""
    with pytest.raises(NothingFound) as caught:
        discover(tmp_path / "missing")
    assert str(caught.value) == f"No such file or directory: {tmp_path / 'missing'}"


def test_impossible_path_is_reported(tmp_path: Path) -> None:
    """The error for a link loop says so."""
    loop = link(tmp_path / "loop", "loop")
    with pytest.raises(UnreadableInput) as caught:
        discover(loop)
    assert str(caught.value) == (
        f"Cannot access {loop}: Too many levels of symbolic links. Check its permissions."
    )


def test_key_is_no_transcript(tmp_path: Path) -> None:
    """The secret of a process is never read as a transcript, even if the user names it."""
    key = write(tmp_path / "1.0af3.key")
    with pytest.raises(UnreadableInput) as caught:
        discover(key)
    assert str(caught.value) == f"{key} is not a transcript. Specify a .jsonl file or a directory."


@needs_pipes
def test_pipe_is_no_transcript(tmp_path: Path) -> None:
    """A pipe is refused without waiting."""
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(UnreadableInput) as caught:
        discover(pipe)
    assert str(caught.value) == f"{pipe} is not a transcript. Specify a .jsonl file or a directory."


def test_two_thousand_sessions_are_found_at_once(root: Path) -> None:
    """Finding the transcripts of a large history takes a fraction of a second."""
    for number in range(2000):
        write(root / "projects" / f"-srv-{number % 40}" / f"{number}.jsonl")
    seconds = []
    for _ in range(5):
        start = time.process_time()
        assert len(discover_root(root).transcripts) == 2000
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.2


@pytest.mark.parametrize(
    ("version", "sessions", "subagents", "workflow_agents"),
    [("1.0.35", True, False, False), ("2.0.77", True, True, False), ("2.1.325", True, True, True)],
)
def test_files_of_the_real_client_are_all_found(
    shared: Path, version: str, sessions: bool, subagents: bool, workflow_agents: bool
) -> None:
    """Every .jsonl file of the real client below `projects` is found, except journals."""
    root = shared / "real_cli" / version / "config"
    found = discover_root(root)
    written = {path for path in root.glob("projects/**/*.jsonl") if path.name != "journal.jsonl"}
    kinds = {transcript.kind for transcript in found.transcripts}
    assert ({transcript.path for transcript in found.transcripts}, found.refused) == (written, ())
    assert [kind in kinds for kind in TranscriptKind] == [sessions, subagents, workflow_agents]
