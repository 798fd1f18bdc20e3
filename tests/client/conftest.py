"""The real client, one version at a time; skipped if it is not installed or cannot be isolated."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.client.client_sandbox import ClientSandbox, find_isolation
from tests.client.versions import VERSIONS, require_client


@pytest.fixture(scope="session")
def isolation() -> Sequence[str]:
    """The command that isolates a program."""
    words = find_isolation()
    if words is None:
        pytest.skip("no network namespace: `unshare -n` is missing or not permitted")
    return words


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """A version of the client."""
    return str(request.param)


@pytest.fixture
def sandbox(version: str, isolation: Sequence[str], tmp_path: Path) -> ClientSandbox:
    """That version, with its own data."""
    client = require_client(version)
    return ClientSandbox(tmp_path, client, isolation)
