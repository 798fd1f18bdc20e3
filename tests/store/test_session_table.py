"""Tests of recollect.store.session_table: listings, figures and tool calls as rows."""

import os
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from recollect.documents.session_listing import CallSummary, FileFigures, SessionListing
from recollect.sources.source import UNTRUSTED
from recollect.store.data_directory import INDEX_NAME
from recollect.store.database import open_for_reading, open_for_writing
from recollect.store.schema import LISTINGS_KEY, load_checksums, write_meta
from recollect.store.session_table import (
    StoredCalls,
    StoredFigures,
    StoredListing,
    find_titles,
    load_calls,
    load_figures,
    load_listings,
    save_figures,
    save_listings,
)

pytestmark = pytest.mark.skipif(not load_checksums(), reason="this apsw has no checksum VFS")

ODD_PATH = os.fsdecode(b"/caf\xe9")
COUNTED = FileFigures(("x", "y"), 1, 2, 3, 4, "It began", 5, 0.25, "y9t0", (0, 1, 90, 2))
CALLS = [
    CallSummary("t1", "Bash", "success", 5.0, 6.5),
    CallSummary("t2", "Read", "pending"),
]


def make(path: str, *, size: int = 1, mtime_ns: int = 2, title: str = "Pond") -> StoredListing:
    """A listing with something in every field but those that come with figures."""
    listing = SessionListing(
        id="s",
        project="p",
        path=path,
        size=size,
        modified=1.5,
        activity=2.5,
        created="c",
        last_active="l",
        cwd="/home",
        title=title,
        first_prompt="A\0b",
        first_prompt_time="t",
        git_branch="main",
        version="2",
        tag="tag",
        is_subagent=True,
        parent_id="pa",
        forked_from="fo",
        continued_in="co",
        first_reply_id="fi",
        models=("x",),
        message_count=7,
    )
    return StoredListing(path, (9, size, mtime_ns), "hash", ODD_PATH, listing)


FIRST, SECOND = make("/a"), make("/b", size=3, mtime_ns=4)


def count(listed: StoredListing, figures: FileFigures = COUNTED) -> StoredFigures:
    """The figures of a file that was not changed since it was listed."""
    return StoredFigures(listed.path, listed.stamp, figures)


def test_listings_come_back_as_they_were(tmp_path: Path) -> None:
    """The last listing of a file counts; before the first there is none."""
    with open_for_writing(tmp_path) as connection:
        assert load_listings(connection) == {}
        empty = StoredListing("/empty", (9, 7, 8), "", "", None)
        save_listings(connection, [FIRST, SECOND, empty])
        changed = make("/a", size=9, title="Lake")
        save_listings(connection, [changed])
        expected = {"/a": changed, "/b": SECOND, "/empty": empty}
        assert load_listings(connection) == expected


def test_rows_of_some_files_are_found(tmp_path: Path) -> None:
    """By their paths, whatever their bytes."""
    odd = make(ODD_PATH)
    with open_for_writing(tmp_path) as connection:
        assert load_listings(connection, ["/a"]) == {}
        save_listings(connection, [FIRST, SECOND, odd])
        save_figures(connection, [(count(odd), CALLS)])
        assert load_listings(connection, ["/b", "/c"]) == {"/b": SECOND}
        assert load_listings(connection, []) == {}
        assert list(load_listings(connection, [ODD_PATH])) == [ODD_PATH]
        assert load_figures(connection, [ODD_PATH, "/a"]) == {ODD_PATH: count(odd)}
        assert load_calls(connection, [ODD_PATH]) == {
            ODD_PATH: StoredCalls(ODD_PATH, odd.stamp, CALLS)
        }
        assert find_titles(connection, [ODD_PATH]) == {ODD_PATH: (odd.stamp, "Pond")}


def test_figures_complete_the_listing_of_the_same_file(tmp_path: Path) -> None:
    """Figures of an earlier state of the file are left out."""
    with open_for_writing(tmp_path) as connection:
        save_figures(connection, [(count(FIRST), CALLS), (count(SECOND, FileFigures()), [])])
        assert load_listings(connection) == {}
        save_listings(connection, [FIRST, make("/b", size=3, mtime_ns=5)])
        found = load_listings(connection)
        assert FIRST.listing is not None
        assert found["/a"].listing == replace(
            FIRST.listing,
            models=("x", "y"),
            turn_count=1,
            message_count=2,
            error_count=3,
            compaction_count=4,
            compaction_summary="It began",
            copied_tokens=5,
            client_cost_usd=0.25,
            trace="y9t0",
        )
        assert found["/b"] == make("/b", size=3, mtime_ns=5)


def test_calls_replace_those_of_the_same_file(tmp_path: Path) -> None:
    """In their order; a file without calls is known to have none."""
    with open_for_writing(tmp_path) as connection:
        save_figures(connection, [(count(FIRST), CALLS * 3), (count(SECOND), [])])
        save_figures(connection, [(count(FIRST), CALLS[::-1])])
        assert load_calls(connection) == {
            "/a": StoredCalls("/a", FIRST.stamp, CALLS[::-1]),
            "/b": StoredCalls("/b", SECOND.stamp, []),
        }


def test_rows_of_another_version_are_read_again(tmp_path: Path) -> None:
    """Their files may have been deleted, so that they are kept, with a time that no file has."""
    with open_for_writing(tmp_path) as connection:
        save_listings(connection, [FIRST])
        save_figures(connection, [(count(FIRST), CALLS)])
        write_meta(connection, LISTINGS_KEY, "0")
        stale = (*FIRST.stamp[:2], UNTRUSTED)
        assert load_listings(connection)["/a"].stamp == stale
        save_listings(connection, [SECOND])
        found = load_listings(connection)
        assert (found["/a"].stamp, found["/b"].stamp) == (stale, SECOND.stamp)
        assert load_figures(connection)["/a"] == StoredFigures("/a", stale, COUNTED)
        assert load_calls(connection)["/a"].stamp == stale


@pytest.mark.parametrize("table", ["sessions", "tool_calls"])
def test_a_flipped_bit_in_a_row_is_an_error(tmp_path: Path, table: str) -> None:
    """It leaves the page structure intact, but the page's checksum detects it."""
    with open_for_writing(tmp_path) as connection:
        save_listings(connection, [make("/a", title="Find me")])
        save_figures(connection, [(count(FIRST), [CallSummary("Find me", "Bash", "x")])])
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).get
        size = connection.execute("PRAGMA page_size").get
    path = tmp_path / INDEX_NAME
    content = bytearray(path.read_bytes())
    start = content.index(b"Find me", (page - 1) * size, page * size)
    content[start] ^= 1
    path.write_bytes(content)
    reader = open_for_reading(tmp_path)
    assert reader is not None
    with pytest.raises(apsw.IOError, match="disk I/O error"):
        (load_listings if table == "sessions" else load_calls)(reader)
    reader.close()
