"""Links into the web app."""

import pytest

from recollect.launch.web_link import Server, make_link
from recollect.locations.place_names import make_path


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8123"),
        ("192.168.1.5", "http://192.168.1.5:8123"),
        ("::1", "http://[::1]:8123"),
    ],
)
def test_a_link_leads_to_the_host_of_the_server(host: str, address: str) -> None:
    """A server that listens elsewhere has its links there, that of IPv6 in brackets."""
    assert make_link(Server(1, 8123, host), make_path("94791a87")) == f"{address}/s/94791a87"
