"""The syntax of places in sessions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.locations.place_names import (
    PlaceName,
    make_path,
    name_place,
    read_place,
    read_place_within,
)

IDS = st.text("abcdef0123456789-", min_size=4, max_size=40)
RECORDS = st.text("abcdef0123456789-", min_size=1, max_size=40).filter(
    lambda text: not text.startswith("turn-")
)
SITE = "http://127.0.0.1:8765"


@given(IDS, st.none() | RECORDS, st.none() | st.integers(1, 10**6))
def test_a_place_is_named_by_what_it_was_made_of(
    session: str, record: str | None, turn: int | None
) -> None:
    """A printed place can be passed to any command, as a name and as a URL."""
    place = PlaceName(session, record, None if record else turn)
    assert read_place(name_place(session, record, turn))[0] == place
    assert read_place(f"{SITE}{make_path(session, place.anchor)}") == (place,)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("94791a87", (PlaceName("94791a87"),)),
        ("94791a87#u-1", (PlaceName("94791a87", "u-1"), PlaceName("94791a87#u-1"))),
        ("94791a87:12", (PlaceName("94791a87", turn=12), PlaceName("94791a87:12"))),
        ("latest:-1", (PlaceName("latest", turn=-1), PlaceName("latest:-1"))),
        ("-1#u-1", (PlaceName("-1", "u-1"), PlaceName("-1#u-1"))),
        ("Fix issue #12", (PlaceName("Fix issue #12"), PlaceName("Fix issue ", "12"))),
        ("Fix issue #12: the tide", (PlaceName("Fix issue #12: the tide"),)),
        ("#12", (PlaceName("#12"),)),
        ("at 07:12", (PlaceName("at 07:12"), PlaceName("at 07", turn=12))),
        ("at 07:00", (PlaceName("at 07:00"),)),
        (f"{SITE}/s/a%20b?at=u-1&offset=12#u-1", (PlaceName("a b", "u-1", offset=12),)),
        (f"{SITE}/s/a?at=u-1", (PlaceName("a", "u-1"),)),
        (f"{SITE}/s/a/raw/u-1?project=p", (PlaceName("a", "u-1"),)),
        (f"{SITE}/s/a/changes", (PlaceName("a"),)),
        (f"{SITE}/usage", (PlaceName(f"{SITE}/usage"),)),
        ("ftp://host/s/a", (PlaceName("ftp://host/s/a"),)),
    ],
)
def test_a_name_may_be_a_place_or_a_title(name: str, expected: tuple[PlaceName, ...]) -> None:
    """Titles may contain `#` and `:`: unless the first part is an id, the whole is tried first."""
    assert read_place(name) == expected


@pytest.mark.parametrize(
    ("spot", "expected"),
    [
        ("3", PlaceName("", turn=3)),
        (":-1", PlaceName("", turn=-1)),
        ("#u-1", PlaceName("", "u-1")),
        ("u-1", PlaceName("", "u-1")),
        ("94791a87#u-1", PlaceName("94791a87", "u-1")),
    ],
)
def test_a_place_can_be_named_without_its_session(spot: str, expected: PlaceName) -> None:
    """If the session is given separately, the record or turn is enough."""
    assert read_place_within(spot) == expected


def test_an_address_with_nonsense_in_it_is_refused() -> None:
    """Only an id can become part of a printed link."""
    with pytest.raises(UsageError, match="is not a record id"):
        read_place(f"{SITE}/s/94791a87#<script>")


def test_an_odd_uuid_is_quoted() -> None:
    """The name of any uuid in a transcript is a single word."""
    record = 'a[R]"<b> c'
    assert name_place("94791a87", record) == "94791a87#a%5BR%5D%22%3Cb%3E%20c"
    assert read_place(name_place("94791a87", record))[0] == PlaceName("94791a87", record)
