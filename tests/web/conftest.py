"""Servers that several tests share: one for all that change nothing, one that runs clients."""

from collections.abc import Iterator

import pytest

from tests.web.conversing import Talker, run_talker
from tests.web.running import RunningServer, copy_demo, run_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on a copy of the demo data."""
    folder = tmp_path_factory.mktemp("server")
    with run_server(folder, copy_demo(folder)) as running:
        running.wait_until_current()
        running.wait_for_figures()
        yield running


@pytest.fixture(scope="module")
def talker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talker]:
    """A server that may run the fake client."""
    with run_talker(tmp_path_factory.mktemp("talker")) as found:
        yield found
