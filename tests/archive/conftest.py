"""A Claude directory with its archive for each test."""

from pathlib import Path

import pytest

from tests.archive.trees import Pond


@pytest.fixture
def pond(tmp_path: Path) -> Pond:
    """Return an empty Claude directory with an enabled archive."""
    return Pond(tmp_path)
