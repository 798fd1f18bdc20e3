"""A server whose indexer has not listed anything yet: it has just started, on a busy machine."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.errors import NothingFound
from recollect.workspace import served_workspace
from recollect.workspace.served_workspace import ServedWorkspace
from tests.library.claude_root import FIRST, SECOND, THIRD, ClaudeRoot, prompt, reply

NOW = datetime(2026, 11, 13, 12, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> ClaudeRoot:
    """A Claude directory with a session that is in two projects, and another one."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, prompt("drain the pond"), reply("Drained."))
    root.session(FIRST, prompt("drain the pond"), project="-elsewhere")
    root.session(SECOND, prompt("fill it again"))
    return root


@pytest.fixture
def unlisted(
    root: ClaudeRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ServedWorkspace]:
    """A workspace without an indexer process."""
    monkeypatch.setattr(served_workspace, "ALL_SECONDS", 0)
    with ServedWorkspace([root.path], tmp_path / "data", lambda: NOW) as workspace:
        yield workspace


def test_a_session_is_found_before_it_is_listed(unlisted: ServedWorkspace) -> None:
    """By its id, with its title; and by project, if there are several with that id."""
    found = unlisted.locate(SECOND)
    assert (found.listing.id, found.listing.first_prompt) == (SECOND, "fill it again")
    with unlisted.use(found) as session:
        assert [turn.number for turn in session.turns] == [1]
    assert unlisted.locate(FIRST, "-elsewhere").listing.project == "-elsewhere"


def test_its_title_is_masked(root: ClaudeRoot, unlisted: ServedWorkspace) -> None:
    """As in the list, where titles come from the index."""
    root.session(THIRD, prompt("rotate AKIAIOSFODNN7RTGHJKL"))
    found = unlisted.locate(THIRD)
    assert found.listing.first_prompt == "rotate [redacted:aws-key]"


def test_a_session_that_is_not_there_is_not_found(unlisted: ServedWorkspace) -> None:
    """Neither a part of an id, nor a path, nor an id in another project."""
    for name, project in ((SECOND[:8], None), ("../x", None), (SECOND, "-elsewhere")):
        with pytest.raises(NothingFound):
            unlisted.locate(name, project)
