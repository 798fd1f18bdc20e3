"""A Claude directory and an index for each test."""

from pathlib import Path

import pytest

from tests.sync.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty Claude directory without an index."""
    return World(tmp_path, tmp_path / "data")
