"""Tests of recollect.locations.sidecars."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.locations.sidecars import (
    Sidecar,
    SidecarKind,
    Sidecars,
    find_history,
    find_subagent_meta,
    list_process_files,
    list_session_sidecars,
    resolve_tool_result,
)
from recollect.locations.transcript_files import Transcript
from recollect.sources.safe_files import Refusal, Refused
from tests.locations.hostile_names import HOSTILE_NAMES, STRANGE_BUT_PLAIN_NAMES
from tests.locations.trees import link, needs_permissions, needs_pipes, transcript, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a decoy at every path that a hostile id could point to."""
    root = tmp_path / "root"
    for directory in ("", "root", "root/projects", "root/projects/-p", "root/plans"):
        for name in ("secret", "secret.md", "etc/passwd", "sessions/1.aa.key"):
            write(tmp_path / directory / name)
            write(tmp_path / directory / "tool-results" / name)
    return root


@pytest.fixture
def session(root: Path) -> Transcript:
    """A session without any sidecar."""
    return transcript(write(root / "projects" / "-p" / "s1.jsonl"), "s1")


def test_every_kind_of_session_sidecar_is_listed(root: Path, session: Transcript) -> None:
    """All files of a session are found with their kinds, sorted by path."""
    kinds = {
        "file-history/s1/0123456789abcdef@v1": SidecarKind.FILE_HISTORY,
        "plans/calm-blue-owl.md": SidecarKind.PLAN,
        "projects/-p/s1/archived.json": SidecarKind.ARCHIVED,
        "projects/-p/s1/auto-mode-classifier-error.txt": SidecarKind.OTHER,
        "projects/-p/s1/mcp-tasks/mcp-task-1.meta.json": SidecarKind.MCP_TASK,
        "projects/-p/s1/novel/thing.bin": SidecarKind.OTHER,
        "projects/-p/s1/remote-agents/remote-agent-1.meta.json": SidecarKind.REMOTE_AGENT,
        "projects/-p/s1/session-memory/summary.md": SidecarKind.SESSION_MEMORY,
        "projects/-p/s1/subagents/agent-a1.meta.json": SidecarKind.SUBAGENT_META,
        "projects/-p/s1/subagents/notes.txt": SidecarKind.OTHER,
        "projects/-p/s1/subagents/workflows/wf_1/agent-a2.meta.json": SidecarKind.SUBAGENT_META,
        "projects/-p/s1/subagents/workflows/wf_1/journal.jsonl": SidecarKind.WORKFLOW_JOURNAL,
        "projects/-p/s1/tool-results/b1.txt": SidecarKind.TOOL_RESULT,
        "projects/-p/s1/tool-results/toolu_1.json": SidecarKind.TOOL_RESULT,
        "projects/-p/s1/workflows/scripts/review-wf_1.js": SidecarKind.WORKFLOW_SCRIPT,
        "projects/-p/s1/workflows/wf_1.json": SidecarKind.WORKFLOW_SNAPSHOT,
        "tasks/s1/1.json": SidecarKind.TASK,
        "todos/s1-agent-a1.json": SidecarKind.TODO,
        "todos/s1-agent-s1.json": SidecarKind.TODO,
    }
    for name in kinds:
        write(root / name)
    found = tuple(Sidecar(kind, root / name) for name, kind in kinds.items())
    assert list_session_sidecars(session, slug="calm-blue-owl") == Sidecars(found, ())


def test_files_of_others_are_not_listed(root: Path, session: Transcript) -> None:
    """Transcripts, files of other sessions, locks and keys are not listed."""
    for name in (
        "file-history/s2/0123456789abcdef@v1",
        "plans/calm-blue-owl.md",
        "projects/-p/s1/any.key",
        "projects/-p/s1/tool-results/1.0af3.KEY",
        "projects/-p/s1/subagents/agent-a1.jsonl",
        "projects/-p/s1/subagents/workflows/wf_1/agent-a2.jsonl",
        "projects/-p/s2/tool-results/b1.txt",
        "projects/-p/s1.jsonl.backup",
        "tasks/s1/.lock",
        "tasks/s1/.highwatermark",
        "tasks/s1/deeper/1.json",
        "tasks/s2/1.json",
        "todos/s1.json",
        "todos/s1-agent-s1.json.lock",
        "todos/s10-agent-s10.json",
        "todos/deeper/s1-agent-s1.json",
    ):
        write(root / name)
    assert list_session_sidecars(session) == Sidecars((), ())


def test_session_outside_a_root_has_its_own_directory_only(tmp_path: Path) -> None:
    """Without a root, nothing above the session is searched."""
    result = write(tmp_path / "export" / "s1" / "tool-results" / "b1.txt")
    write(tmp_path / "todos" / "s1-agent-s1.json")
    session = transcript(write(tmp_path / "export" / "s1.jsonl"), "s1")
    assert session.root is None
    assert list_session_sidecars(session, slug="x") == Sidecars(
        (Sidecar(SidecarKind.TOOL_RESULT, result),), ()
    )


def test_links_are_refused_at_every_step(root: Path, session: Transcript) -> None:
    """Links are reported, whether to a directory on the way or to the file."""
    outside = write(root.parent / "outside" / "s1" / "1.json").parent.parent
    links = [
        link(root / "file-history", outside),
        link(root / "plans" / "owl.md", outside / "s1" / "1.json"),
        link(session.project_dir / "s1" / "tool-results" / "b1.txt", outside / "s1" / "1.json"),
        link(session.project_dir / "s1" / "workflows", outside),
        link(root / "tasks" / "s1", outside / "s1"),
        link(root / "todos" / "s1-agent-s1.json", outside / "s1" / "1.json"),
    ]
    link(root / "todos" / "s2-agent-s2.json", outside / "s1" / "1.json")
    assert list_session_sidecars(session, slug="owl") == Sidecars(
        (), tuple(Refused(path, Refusal.LINK) for path in links)
    )


def test_plans_behind_a_link_are_refused(tmp_path: Path) -> None:
    """The directory of a single file must be real as well."""
    session = transcript(write(tmp_path / "root" / "projects" / "-p" / "s1.jsonl"), "s1")
    write(tmp_path / "outside" / "owl.md")
    plans = link(tmp_path / "root" / "plans", tmp_path / "outside")
    expected = Sidecars((), (Refused(plans, Refusal.LINK),))
    assert list_session_sidecars(session, slug="owl") == expected


def test_directory_in_place_of_a_file_is_no_sidecar(root: Path, session: Transcript) -> None:
    """A directory with the name of a sidecar is not listed."""
    (root / "plans" / "owl.md").mkdir()
    (root / "history.jsonl").mkdir()
    (root / "sessions" / "1.json").mkdir()
    assert list_session_sidecars(session, slug="owl") == Sidecars((), ())
    assert (find_history(root), list_process_files(root)) == (None, ())


def test_session_directory_that_is_a_link_is_refused(root: Path, session: Transcript) -> None:
    """Even the session's own directory must be real."""
    write(root.parent / "outside" / "tool-results" / "b1.txt")
    path = link(session.project_dir / "s1", root.parent / "outside")
    assert list_session_sidecars(session) == Sidecars((), (Refused(path, Refusal.LINK),))


@needs_pipes
def test_pipe_among_sidecars_is_refused(session: Transcript) -> None:
    """A named pipe is reported and never opened."""
    directory = session.project_dir / "s1" / "tool-results"
    directory.mkdir(parents=True)
    os.mkfifo(directory / "b1.txt")
    assert list_session_sidecars(session) == Sidecars(
        (), (Refused(directory / "b1.txt", Refusal.SPECIAL),)
    )


@needs_permissions
def test_closed_directories_are_reported(root: Path, session: Transcript) -> None:
    """An unreadable directory is reported, and the rest is found."""
    todo = write(root / "todos" / "s1-agent-s1.json")
    closed = session.project_dir / "s1"
    closed.mkdir(mode=0o000)
    plan = write(root / "plans" / "owl.md")
    plan.parent.chmod(0o000)
    try:
        listed = list_session_sidecars(session, slug="owl")
    finally:
        closed.chmod(0o700)
        plan.parent.chmod(0o700)
    assert listed == Sidecars(
        (Sidecar(SidecarKind.TODO, todo),),
        (
            Refused(plan, Refusal.UNREADABLE, "Permission denied"),
            Refused(closed, Refusal.UNREADABLE, "Permission denied"),
        ),
    )


def test_files_of_a_root_are_found(tmp_path: Path) -> None:
    """History and running clients belong to no single session; keys are never listed."""
    history, *clients = (
        write(tmp_path / name) for name in ("history.jsonl", "sessions/1.json", "sessions/9.json")
    )
    for name in ("1.0af3.key", "2.json.key", "deeper/3.json", "4.json.lock"):
        write(tmp_path / "sessions" / name)
    assert find_history(tmp_path) == history
    assert list_process_files(tmp_path) == tuple(clients)


def test_root_without_such_files_has_none(tmp_path: Path) -> None:
    """Nothing is found, and nothing is raised."""
    missing = tmp_path / "missing"
    assert (find_history(missing), list_process_files(missing)) == (None, ())


def test_files_of_a_root_behind_links_are_not_followed(tmp_path: Path) -> None:
    """Neither a file nor a directory of a root may be a link to elsewhere."""
    link(tmp_path / "history.jsonl", write(tmp_path / "elsewhere.jsonl"))
    write(tmp_path / "other" / "1.json")
    link(tmp_path / "sessions", tmp_path / "other")
    assert (find_history(tmp_path), list_process_files(tmp_path)) == (None, ())


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_session_id_finds_nothing(session: Transcript, name: str) -> None:
    """An id that is not a plain name is never joined to a path."""
    hostile = session._replace(session_id=name)
    assert list_session_sidecars(hostile) == Sidecars((), ())
    assert resolve_tool_result(hostile, "/x/tool-results/secret") is None


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_slug_finds_nothing(session: Transcript, name: str) -> None:
    """A slug that is not a plain name gives no plan."""
    assert list_session_sidecars(session, slug=name) == Sidecars((), ())


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, *STRANGE_BUT_PLAIN_NAMES])
def test_hostile_tool_result_finds_nothing(session: Transcript, name: str) -> None:
    """Whatever follows `tool-results`, only files of the session are returned."""
    (session.project_dir / "s1" / "tool-results").mkdir(parents=True)
    assert resolve_tool_result(session, f"/home/me/s1/tool-results/{name}") is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.text(st.sampled_from("./\\:~% \0se1cretjonlk-\ud83d中"), max_size=24),
    slug=st.text(st.sampled_from("./\\:secretmd\0"), max_size=12),
)
def test_whatever_the_names_nothing_outside_is_returned(
    root: Path, session: Transcript, name: str, slug: str
) -> None:
    """For any id, slug and recorded path the results are where such files belong."""
    own = session.project_dir / "s1"
    write(own / "tool-results" / "secret")
    listed = list_session_sidecars(session._replace(session_id=name), slug=slug)
    result = resolve_tool_result(session, f"tool-results/{name}")
    plans = [it for it in listed.found if it.kind is SidecarKind.PLAN]
    assert [it.path.parent for it in plans] == [root / "plans"] * len(plans)
    others = [it for it in listed.found if it.kind is not SidecarKind.PLAN]
    assert [it for it in others if not it.path.is_relative_to(session.project_dir / name)] == []
    assert result in (None, own / "tool-results" / "secret")


@pytest.mark.parametrize(
    "recorded",
    [
        "/home/other/.claude/projects/-x/s9/tool-results/b1.txt",
        "C:\\Users\\me\\.claude\\projects\\C--x\\s9\\tool-results\\b1.txt",
        "\\\\server\\share\\tool-results\\b1.txt",
        "C:\\Users\\me/mixed/tool-results\\b1.txt",
        "tool-results/b1.txt",
    ],
)
def test_tool_result_is_found_by_its_last_two_parts(session: Transcript, recorded: str) -> None:
    """The path from another machine gives this session's own file."""
    path = write(session.project_dir / "s1" / "tool-results" / "b1.txt")
    assert resolve_tool_result(session, recorded) == path


def test_tool_result_of_a_subagent_is_with_its_session(session: Transcript) -> None:
    """A subagent, of a workflow too, shares the directory of its parent session."""
    path = write(session.project_dir / "s1" / "tool-results" / "b1.txt")
    subagents = session.project_dir / "s1" / "subagents"
    child = transcript(
        write(subagents / "workflows" / "wf_1" / "agent-a1.jsonl"),
        "s1",
        project_dir=session.project_dir,
        agent_id="a1",
        run_id="wf_1",
    )
    assert resolve_tool_result(child, "/x/tool-results/b1.txt") == path


@pytest.mark.parametrize(
    "recorded",
    [
        "",
        "b1.txt",
        "/x/b1.txt",
        "/x/tool-results/",
        "/x/tool-results",
        "/x/tool-results/deeper/b1.txt",
        "/x/Tool-Results/b1.txt",
        "/x/../s1/tool-results/b1.txt",
        "..\\tool-results\\b1.txt",
        "/x/tool-results/gone.txt",
        "/x/tool-results/deeper",
        "/x/tool-results/a.key",
        "/x/tool-results/b1.txt\0",
        "/x/tool-results/b1.txt/",
        "/x/tool-results/b1.txt::$DATA",
    ],
)
def test_other_recorded_paths_lead_nowhere(session: Transcript, recorded: str) -> None:
    """Paths elsewhere, with `..`, to missing files, directories or keys are not tool results."""
    directory = session.project_dir / "s1" / "tool-results"
    for name in ("b1.txt", "a.key", "deeper/b1.txt"):
        write(directory / name)
    assert resolve_tool_result(session, recorded) is None


@pytest.mark.parametrize("linked", ["s1", "s1/tool-results", "s1/tool-results/b1.txt"])
def test_tool_result_behind_a_link_is_refused(session: Transcript, linked: str) -> None:
    """Neither the file nor a directory above it may be a link, wherever it points."""
    depth = linked.count("/")
    target = session.project_dir / "kept"
    write(target.joinpath(*["tool-results", "b1.txt"][depth:]) if depth < 2 else target)
    link(session.project_dir / linked, target)
    assert (session.project_dir / "s1" / "tool-results" / "b1.txt").is_file()
    assert resolve_tool_result(session, "/x/tool-results/b1.txt") is None


@needs_pipes
def test_tool_result_that_is_a_pipe_is_refused(session: Transcript) -> None:
    """Only a regular file is a tool result."""
    directory = session.project_dir / "s1" / "tool-results"
    directory.mkdir(parents=True)
    os.mkfifo(directory / "b1.txt")
    assert resolve_tool_result(session, "/x/tool-results/b1.txt") is None


def test_flat_subagent_has_no_tool_results(session: Transcript) -> None:
    """Without a session there is no directory to search."""
    write(session.project_dir / "tool-results" / "b1.txt")
    child = transcript(write(session.project_dir / "agent-a1.jsonl"), agent_id="a1")
    assert resolve_tool_result(child, "/x/tool-results/b1.txt") is None
    assert list_session_sidecars(child) == Sidecars((), ())


def test_meta_of_a_subagent_is_beside_it(session: Transcript) -> None:
    """The `.meta.json` of a subagent is found if it is a regular file."""
    subagents = session.project_dir / "s1" / "subagents"
    children = [
        transcript(write(subagents / f"agent-{name}.jsonl"), "s1", agent_id=name)
        for name in ("a1", "a2", "a3")
    ]
    meta = write(subagents / "agent-a1.meta.json")
    link(subagents / "agent-a2.meta.json", meta)
    assert [find_subagent_meta(child) for child in children] == [meta, None, None]


def test_root_is_derived_from_the_path(root: Path, session: Transcript) -> None:
    """A transcript below `projects` knows its root."""
    assert session.root == root


def test_sidecars_of_the_real_client_have_known_kinds(shared: Path) -> None:
    """Every file that the real client wrote for a session with a workflow has a kind."""
    projects = shared / "real_cli" / "2.1.325" / "config" / "projects"
    (snapshot, *_) = sorted(projects.glob("*/*/workflows/*.json"))
    directory = snapshot.parent.parent
    session = transcript(directory.with_name(f"{directory.name}.jsonl"), directory.name)
    listed = list_session_sidecars(session)
    inside = [it for it in listed.found if it.path.is_relative_to(directory)]
    written = [
        path
        for path in sorted(directory.rglob("*"), key=str)
        if path.is_file() and not (path.suffix == ".jsonl" and path.name != "journal.jsonl")
    ]
    assert ([it.path for it in inside], listed.refused) == (written, ())
    assert [it for it in inside if it.kind is SidecarKind.OTHER] == []
