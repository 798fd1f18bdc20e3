"""Tests of recollect.locations.transcript_files."""

from pathlib import Path

import pytest

from recollect.locations.transcript_files import (
    TranscriptKind,
    TranscriptLocation,
    guess_place,
    project_location,
    run_location,
    shared_subagents_location,
    subagents_location,
)
from tests.locations.trees import transcript, write


def test_session_is_named_by_its_file(tmp_path: Path) -> None:
    """In a project's directory the stem is the session's id."""
    path = write(tmp_path / "s1.jsonl")
    found = project_location(tmp_path).describe("s1.jsonl", path.stat())
    assert found == transcript(path, "s1")


def test_flat_subagent_does_not_show_its_session(tmp_path: Path) -> None:
    """A subagent of 2.0.x is beside the sessions; its session is only in the file."""
    path = write(tmp_path / "agent-a1.jsonl")
    found = project_location(tmp_path).describe("agent-a1.jsonl", path.stat())
    assert found == transcript(path, agent_id="a1")


def test_shared_subagent_does_not_show_its_session(tmp_path: Path) -> None:
    """A subagent in `subagents` of its project names its session only in the file."""
    path = write(tmp_path / "subagents" / "agent-a1.jsonl")
    found = shared_subagents_location(path.parent).describe(path.name, path.stat())
    assert found == transcript(path, project_dir=tmp_path, agent_id="a1")


def test_subagent_belongs_to_the_session_above_it(tmp_path: Path) -> None:
    """A subagent of 2.1.2 and later is in the directory of its session."""
    path = write(tmp_path / "s1" / "subagents" / "agent-a1.jsonl")
    found = subagents_location(path.parent).describe(path.name, path.stat())
    assert found == transcript(path, "s1", project_dir=tmp_path, agent_id="a1")


def test_workflow_agent_belongs_to_a_run(tmp_path: Path) -> None:
    """An agent of a workflow is in the directory of its run, below its session."""
    path = write(tmp_path / "s1" / "subagents" / "workflows" / "wf_1" / "agent-a1.jsonl")
    found = run_location(path.parent).describe(path.name, path.stat())
    assert found == transcript(path, "s1", project_dir=tmp_path, agent_id="a1", run_id="wf_1")


def test_subagent_of_another_name_is_kept(tmp_path: Path) -> None:
    """A transcript among subagents without the usual prefix has its stem as id."""
    path = write(tmp_path / "s1" / "subagents" / "other.jsonl")
    found = subagents_location(path.parent).describe(path.name, path.stat())
    assert found == transcript(path, "s1", project_dir=tmp_path, agent_id="other")


@pytest.mark.parametrize(
    ("name", "session_id"),
    [
        (".jsonl", "%00"),
        ("a:b.jsonl", "a:b"),
        ("nul.jsonl", "nul"),
        ("-rf.jsonl", "%2Drf"),
        ("a\x1bb.jsonl", "a%1Bb"),
    ],
)
def test_every_session_has_an_id(tmp_path: Path, name: str, session_id: str) -> None:
    """Even if the file name cannot be part of a path."""
    path = write(tmp_path / name)
    assert project_location(tmp_path).describe(name, path.stat()) == transcript(path, session_id)


def test_empty_file_is_empty(tmp_path: Path) -> None:
    """A file of 0 bytes is known for what it is without reading it."""
    empty, full = write(tmp_path / "a.jsonl", b""), write(tmp_path / "b.jsonl")
    assert [transcript(path).is_empty for path in (empty, full)] == [True, False]


@pytest.mark.parametrize(
    ("directory", "expected"),
    [
        ("p", TranscriptLocation("p/", Path("p"), "p")),
        ("p/s", TranscriptLocation("p/s/", Path("p/s"), "s")),
        (
            "p/s/subagents",
            TranscriptLocation("p/s/subagents/", Path("p"), "p", TranscriptKind.SUBAGENT, "s"),
        ),
        (
            "p/s/subagents/workflows/w",
            TranscriptLocation(
                "p/s/subagents/workflows/w/",
                Path("p"),
                "p",
                TranscriptKind.WORKFLOW_AGENT,
                "s",
                "w",
            ),
        ),
        ("p/workflows/w", TranscriptLocation("p/workflows/w/", Path("p/workflows/w"), "w")),
        ("subagents", TranscriptLocation("subagents/", Path(), "", TranscriptKind.SUBAGENT)),
        (
            "projects/p/subagents",
            TranscriptLocation(
                "projects/p/subagents/",
                Path("projects/p"),
                "p",
                TranscriptKind.SUBAGENT,
                root=Path(),
            ),
        ),
    ],
)
def test_place_is_guessed_by_the_names_above(directory: str, expected: TranscriptLocation) -> None:
    """Outside a root, the names of parent directories decide."""
    assert guess_place(Path(directory)) == expected
