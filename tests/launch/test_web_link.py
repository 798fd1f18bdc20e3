"""Links into the web app, and what they name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.launch.web_link import Server, make_link, make_path, split_target

PLAIN = st.text("abcdef0123456789-", min_size=1, max_size=40)


@given(PLAIN, st.none() | PLAIN)
def test_a_link_names_what_it_was_made_of(session: str, record: str | None) -> None:
    """What is printed can be given back to any command that takes it."""
    link = make_link(Server(1, 8123), make_path(session, record))
    assert split_target(link) == (session, record)


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


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("94791a87", ("94791a87", None)),
        ("94791a87#u-1", ("94791a87", "u-1")),
        ("Fix issue #12: the tide", ("Fix issue #12: the tide", None)),
        ("-1#u-1", ("-1", "u-1")),
        ("#12", ("#12", None)),
    ],
)
def test_a_record_stands_behind_a_sharp(target: str, expected: tuple[str, str | None]) -> None:
    """Titles may hold one too: what follows has to look like an id."""
    assert split_target(target) == expected


def test_a_link_with_nonsense_in_it_is_refused() -> None:
    """Nothing else than an id may get into the link that is printed."""
    with pytest.raises(UsageError, match="is not a record id"):
        split_target("http://127.0.0.1:8123/s/94791a87#<script>")
