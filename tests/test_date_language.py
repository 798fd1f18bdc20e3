"""Options, queries and pages parse dates with the same parser, with the same meaning."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.search import parse_query
from recollect.search.query_parser import QueryError
from recollect.search.query_tree import Bound
from recollect.session.times import parse_day_range, parse_range
from recollect.web.http_messages import read_range

NOW = datetime(2026, 11, 15, 10, 30, tzinfo=UTC)
DATES = st.one_of(
    st.sampled_from(["today", "yesterday", "2026", "2026-11", "202611", "20261115", "Yesterday"]),
    st.dates().map(str),
    st.builds("{}{}".format, st.integers(0, 400), st.sampled_from("hdwHDW")),
)


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")


@given(DATES)
def test_a_date_means_the_same_everywhere(text: str) -> None:
    """`--since`, `since:` and the field of a page start at the same moment, and end at one."""
    since, until = parse_range(text, None, NOW, UTC)[0], parse_range(None, text, NOW, UTC)[1]
    assert since is not None
    assert until is not None
    assert parse_query(f"since:{text}", now=NOW, timezone=UTC).root == Bound(
        "since", text.lower(), since
    )
    assert parse_query(f"until:{text}", now=NOW, timezone=UTC).root == Bound(
        "until", text.lower(), until
    )
    assert read_range(text, "", NOW) == (since, None)
    assert read_range("", text, NOW) == (None, until)


@given(DATES)
def test_reports_by_day_start_on_the_day_of_the_moment(text: str) -> None:
    """Usage is counted by whole days: the day of `since` is the first one."""
    start, _ = parse_range(text, None, NOW, UTC)
    assert start is not None
    assert parse_day_range(text, None, NOW) == (start.date(), None)


@pytest.mark.parametrize("text", ["7m", "soon", "2026-13", "2026-02-30", "tomorrow", "-7d", "1.5d"])
def test_what_is_not_a_date_is_refused_everywhere(text: str) -> None:
    """Each interface reports it in its usual form."""
    with pytest.raises(UsageError):
        parse_range(text, None, NOW)
    with pytest.raises(UsageError):
        parse_day_range(text, None, NOW)
    with pytest.raises(QueryError):
        parse_query(f"since:{text}", now=NOW)
    with pytest.raises(UsageError):
        read_range(text, "", NOW)
