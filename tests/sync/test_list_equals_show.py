"""A list from the index names every session as opening it does, at first and ever after."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from recollect.documents.session_listing import SessionListing
from recollect.errors import UnreadableInput
from recollect.library.opening import open_transcript
from recollect.sync.index_access import find_transcripts
from recollect.sync.session_lists import list_current
from tests.library.claude_root import FIRST, SECOND, ClaudeRoot, prompt, reply, summary
from tests.sdk.sources import iter_recorded_roots, lay_out, list_samples

Names = dict[str, tuple[str | None, str | None]]


def names_in_list(listings: Sequence[SessionListing]) -> Names:
    """Title and first prompt of every session that is listed, by path."""
    return {each.path: (each.title, each.first_prompt) for each in listings}


def names_when_opened(paths: Sequence[str], root: Path) -> Names:
    """Title and first prompt of the same sessions when they are opened."""
    found: Names = {}
    for each in find_transcripts([root]):
        if each.file in paths:
            # A file without any record of Claude Code is listed, if at all, without a name.
            found[each.file] = (None, None)
            with suppress(UnreadableInput):
                metadata = open_transcript(each).metadata
                found[each.file] = (metadata.title, metadata.first_prompt)
    return found


def assert_same_names(root: Path, data: Path) -> int:
    """The first list, the next ones, and one for which whole files were read, agree with `show`."""
    transcripts = find_transcripts([root])
    first = names_in_list(list_current(data, transcripts))
    assert first == names_when_opened([*first], root)
    assert names_in_list(list_current(data, transcripts)) == first
    assert names_in_list(list_current(data, transcripts, is_complete=True)) == first
    return len(first)


@pytest.mark.slow
def test_sessions_of_the_real_client(shared: Path, tmp_path: Path) -> None:
    """For everything that five versions of the client wrote."""
    roots = list(iter_recorded_roots(shared))
    assert sum(assert_same_names(root, tmp_path / str(number)) for number, root in enumerate(roots))


@pytest.mark.slow
def test_sessions_that_people_published(shared: Path, tmp_path: Path) -> None:
    """For the samples from elsewhere, those of one directory in one project."""
    with lay_out(list_samples(shared), shared / "corpus") as root:
        assert assert_same_names(root, tmp_path / "data") > 50


def test_a_title_that_comes_later_in_another_file(tmp_path: Path) -> None:
    """A list that is kept notices a title that the session's own file knows nothing of."""
    root, data = ClaudeRoot(tmp_path / "claude"), tmp_path / "data"
    root.session(FIRST, prompt("drain"), reply("Done."))
    assert_same_names(root.path, data)
    root.session(SECOND, summary("The pond", "a1"))
    assert_same_names(root.path, data)
    (listing,) = list_current(data, find_transcripts([root.path]))
    assert (listing.id, listing.title, listing.first_prompt) == (FIRST, "The pond", "drain")


def test_a_title_that_goes_with_its_file(tmp_path: Path) -> None:
    """When the file with the title is deleted, a list that was kept no longer shows it."""
    root, data = ClaudeRoot(tmp_path / "claude"), tmp_path / "data"
    root.session(FIRST, prompt("drain"), reply("Done."))
    leftover = root.session(SECOND, summary("The pond", "a1"))
    assert_same_names(root.path, data)
    leftover.unlink()
    assert_same_names(root.path, data)
    (listing,) = list_current(data, find_transcripts([root.path]))
    assert (listing.id, listing.title) == (FIRST, "drain")
