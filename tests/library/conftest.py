"""Fixtures of the library tests."""

from pathlib import Path

import pytest

from tests.library.claude_root import ClaudeRoot


@pytest.fixture
def root(tmp_path: Path) -> ClaudeRoot:
    """A Claude directory without sessions."""
    (tmp_path / "claude" / "projects").mkdir(parents=True)
    return ClaudeRoot(tmp_path / "claude")
