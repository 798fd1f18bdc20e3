"""One server for all tests that change nothing."""

from collections.abc import Iterator

import pytest

from tests.web.running import RunningServer, copy_demo, run_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on a copy of the demo data."""
    folder = tmp_path_factory.mktemp("server")
    with run_server(folder, copy_demo(folder)) as running:
        running.wait_until_current()
        running.wait_for_figures()
        yield running
