"""A Claude directory with its archive for each test."""

from pathlib import Path

import pytest

from tests.archive.trees import ArchivedRoot


@pytest.fixture
def archived(tmp_path: Path) -> ArchivedRoot:
    """Return an empty Claude directory with an enabled archive."""
    return ArchivedRoot(tmp_path)
