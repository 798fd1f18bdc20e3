"""Tests of recollect.locations.transcript_files."""

from pathlib import Path

import pytest

from recollect.locations.transcript_files import (
    Place,
    TranscriptKind,
    guess_place,
    project_place,
    run_place,
    subagents_place,
)
from tests.locations.trees import transcript, write


def test_session_is_named_by_its_file(tmp_path: Path) -> None:
    """In a project's directory the stem is the session's id."""
    path = write(tmp_path / "s1.jsonl")
    found = project_place(tmp_path).describe("s1.jsonl", path.stat())
    assert found == transcript(path, "s1")


def test_flat_subagent_does_not_tell_its_session(tmp_path: Path) -> None:
    """A subagent of 2.0.x lies beside the sessions, and its session is inside the file only."""
    path = write(tmp_path / "agent-a1.jsonl")
    found = project_place(tmp_path).describe("agent-a1.jsonl", path.stat())
    assert found == transcript(path, agent_id="a1")


def test_subagent_belongs_to_the_session_above_it(tmp_path: Path) -> None:
    """A subagent of 2.1.2 and later lies in the directory of its session."""
    path = write(tmp_path / "s1" / "subagents" / "agent-a1.jsonl")
    found = subagents_place(path.parent).describe(path.name, path.stat())
    assert found == transcript(path, "s1", project_dir=tmp_path, agent_id="a1")


def test_workflow_agent_belongs_to_a_run(tmp_path: Path) -> None:
    """An agent of a workflow lies in the directory of its run, below its session."""
    path = write(tmp_path / "s1" / "subagents" / "workflows" / "wf_1" / "agent-a1.jsonl")
    found = run_place(path.parent).describe(path.name, path.stat())
    assert found == transcript(path, "s1", project_dir=tmp_path, agent_id="a1", run_id="wf_1")


def test_subagent_of_another_name_is_kept(tmp_path: Path) -> None:
    """A transcript among subagents without the usual prefix has its whole stem as id."""
    path = write(tmp_path / "s1" / "subagents" / "other.jsonl")
    found = subagents_place(path.parent).describe(path.name, path.stat())
    assert found == transcript(path, "s1", project_dir=tmp_path, agent_id="other")


@pytest.mark.parametrize("name", [".jsonl", "a:b.jsonl", "nul.jsonl"])
def test_id_that_is_no_plain_name_is_none(tmp_path: Path, name: str) -> None:
    """A file with a name that cannot be an id is still a transcript, without an id."""
    path = write(tmp_path / name)
    assert project_place(tmp_path).describe(name, path.stat()) == transcript(path)


def test_empty_file_is_empty(tmp_path: Path) -> None:
    """A file of 0 bytes is known for what it is without reading it."""
    empty, full = write(tmp_path / "a.jsonl", b""), write(tmp_path / "b.jsonl")
    assert [transcript(path).is_empty for path in (empty, full)] == [True, False]


@pytest.mark.parametrize(
    ("directory", "expected"),
    [
        ("p", Place("p/", Path("p"))),
        ("p/s", Place("p/s/", Path("p/s"))),
        ("p/s/subagents", Place("p/s/subagents/", Path("p"), TranscriptKind.SUBAGENT, "s")),
        (
            "p/s/subagents/workflows/w",
            Place(
                "p/s/subagents/workflows/w/",
                Path("p"),
                TranscriptKind.WORKFLOW_AGENT,
                "s",
                "w",
            ),
        ),
        ("p/workflows/w", Place("p/workflows/w/", Path("p/workflows/w"))),
        ("subagents", Place("subagents/", Path(), TranscriptKind.SUBAGENT)),
    ],
)
def test_place_is_guessed_by_the_names_above(directory: str, expected: Place) -> None:
    """Outside a root the names of the directories above decide, as far as there are any."""
    assert guess_place(Path(directory)) == expected
