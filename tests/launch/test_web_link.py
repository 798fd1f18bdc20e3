"""Links into the web app."""

import socket

import pytest

from recollect.errors import NothingFound
from recollect.launch.web_link import Server, make_link, make_sign_in_link
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
    """Links use the server's host, an IPv6 address in brackets."""
    assert make_link(Server(1, 8123, host), make_path("94791a87")) == f"{address}/s/94791a87"


def test_a_server_that_is_gone_gives_no_link() -> None:
    """If nothing listens on the port any more, the message says what to do."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(NothingFound, match="recollect serve"):
        make_sign_in_link(Server(1, port), "/")
