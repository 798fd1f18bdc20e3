"""Lists from the index: up to date with the files, and complete if requested."""

import os
from contextlib import closing
from pathlib import Path

import apsw

from recollect import Workspace
from recollect.library.session_filters import SessionQuery, select
from recollect.reader.line_blocks import masked_by
from recollect.records.conversation_records import COMPACTION_MARK
from recollect.store.data_directory import INDEX_NAME
from recollect.sync.cached_values import load_calls
from recollect.sync.index_access import find_transcripts
from recollect.sync.session_lists import list_current, list_indexed, list_newest
from tests.library.claude_root import (
    FIRST,
    SECOND,
    ClaudeRoot,
    call,
    encode,
    prompt,
    reply,
    result,
    summary,
    title,
)
from tests.sync.lines import Line, user_line
from tests.sync.world import World

PAGE = 8192


def make_root(tmp_path: Path) -> ClaudeRoot:
    """Write two sessions, one with a failed call."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, prompt("a"), reply("b"), title("The pond"))
    failed = result("no such file", is_error=True)
    blocks = {"role": "user", "content": [{**_block(failed), "is_error": True}]}
    root.session(SECOND, prompt("c"), call("Bash", {}), {**failed, "message": blocks})
    return root


def _block(line: object) -> dict[str, object]:
    assert isinstance(line, dict)
    (block,) = line["message"]["content"]
    return dict(block)


def test_figures_are_found_out_on_request_and_kept(tmp_path: Path) -> None:
    """A plain list does not read whole files, but shows cached figures."""
    root, data = make_root(tmp_path), tmp_path / "data"
    transcripts = find_transcripts([root.path])
    known = {each.id: each.error_count for each in list_current(data, transcripts)}
    assert known == {FIRST: None, SECOND: None}
    complete = list_current(data, transcripts, is_complete=True)
    assert {each.id: (each.turn_count, each.error_count) for each in complete} == {
        FIRST: (1, 0),
        SECOND: (1, 1),
    }
    assert list_current(data, transcripts) == complete
    assert [each.id for each in select(complete, SessionQuery(has_errors=True))] == [SECOND]


def test_a_changed_file_loses_its_figures(tmp_path: Path) -> None:
    """Cached figures are only valid for the unchanged file."""
    root, data = make_root(tmp_path), tmp_path / "data"
    list_current(data, find_transcripts([root.path]), is_complete=True)
    root.session(SECOND, prompt("c"))
    listings = list_current(data, find_transcripts([root.path]))
    assert {each.id: each.turn_count for each in listings} == {FIRST: 1, SECOND: None}


def test_known_listings_are_returned_without_reading(tmp_path: Path) -> None:
    """For completion at every key press: nothing is read, or known before the first list."""
    root, data = make_root(tmp_path), tmp_path / "data"
    assert list_indexed(data) == []
    listings = list_current(data, find_transcripts([root.path]))
    assert list_indexed(data) == listings


def test_every_file_that_is_read_is_reported(tmp_path: Path) -> None:
    """The caller can show progress, and is not called if nothing has changed."""
    root, data = make_root(tmp_path), tmp_path / "data"
    transcripts = find_transcripts([root.path])
    told: list[tuple[int, int]] = []
    for _ in range(2):
        load_calls(data, transcripts, lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_a_title_with_a_secret_does_not_list_its_project_again(tmp_path: Path) -> None:
    """Titles in other files are compared as stored, independent of the mask."""
    root, data = make_root(tmp_path), tmp_path / "data"
    root.session(FIRST, summary("the key is hunter2", "an-uuid"), prompt("a"), reply("b"))
    list_current(data, find_transcripts([root.path]))
    root.session(SECOND, prompt("d"), reply("e"))
    told: list[tuple[int, int]] = []
    with masked_by(lambda _file, block: {0: block.data.replace(b"hunter2", b"[redacted]")}):
        list_current(data, find_transcripts([root.path]), lambda *each: told.append(each))
    assert told == [(1, 1)]


def test_a_place_that_cannot_be_written_gives_the_same_answer(tmp_path: Path) -> None:
    """Without an index everything is computed again each time."""
    root, data = make_root(tmp_path), tmp_path / "data"
    transcripts = find_transcripts([root.path])
    data.write_text("in the way")
    blocked = [list_current(data, transcripts, is_complete=True) for _ in range(2)]
    expected = list_current(tmp_path / "other", transcripts, is_complete=True)
    assert blocked == [expected, expected]


def test_compactions_count_however_they_are_marked(tmp_path: Path) -> None:
    """A boundary counts, and so does a summary without a boundary before it."""
    root = ClaudeRoot(tmp_path / "claude")
    by_text = prompt(f"{COMPACTION_MARK} about ponds.", uuid="u2")
    boundary = {**by_text, "type": "system", "subtype": "compact_boundary", "uuid": "b1"}
    summary = {**by_text, "isCompactSummary": True, "uuid": "u3"}
    root.session(FIRST, prompt("drain the pond"), reply("Done."), by_text)
    root.session(SECOND, prompt("drain the pond"), by_text, reply("Done."), boundary, summary)
    complete = list_current(tmp_path / "data", find_transcripts([root.path]), is_complete=True)
    previews = {each.id: (each.compaction_count, each.compaction_summary) for each in complete}
    text = f"{COMPACTION_MARK} about ponds."
    assert previews == {FIRST: (1, text), SECOND: (2, text)}


def test_a_file_replaced_at_equal_size_and_time_is_listed_again(world: World) -> None:
    """Another file of the same size and time under the same name has another title."""
    record = b'{"type":"custom-title","customTitle":"%s"}\n'
    path = world.write("p/a", Line().encode() + record % b"first")
    (listed,) = list_current(world.data, world.find())
    status = path.stat()
    other = path.with_suffix(".other")
    other.write_bytes(Line().encode() + record % b"other")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    (again,) = list_current(world.data, world.find())
    assert (listed.title, again.title) == ("first", "other")


def test_damage_met_while_saving_does_not_fail_a_list(world: World) -> None:
    """SQLite has already ended the transaction, so there is nothing to roll back."""
    world.write("p/a", Line().encode())
    world.sync()
    listed = list_current(world.data, world.find())
    path = world.data / INDEX_NAME
    content = bytearray(path.read_bytes())
    with closing(apsw.Connection(str(path))) as connection:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'sessions'"
        start = (int(connection.execute(query).get) - 1) * PAGE
    content[start + 5000] ^= 16
    path.write_bytes(content)
    assert list_current(world.data, world.find()) == listed


FILLER = b"".join(user_line("x" * 400) for _ in range(1000))
"""More than lists read at the ends of a file."""


def write_titles(world: World, *titles: str) -> None:
    """Write large sessions, oldest first, each with a title far from both ends."""
    for each in titles:
        named = encode([title(each)])
        world.write(f"p/{each}", user_line(f"about {each}") + FILLER + named + FILLER)


def test_only_the_newest_files_are_searched_for_titles(tmp_path: Path) -> None:
    """Others are listed by their ends, once; the next complete list searches them."""
    world = World(tmp_path, tmp_path / "data")
    write_titles(world, "old", "new")
    old, new = (str(world.path(f"p/{name}")) for name in ("old", "new"))
    read: list[tuple[int, int]] = []
    for _ in range(2):
        found = list_newest(world.data, world.find(), 1, lambda *each: read.append(each))
        assert {each.path: each.title for each in found.listings} == {new: "new", old: "about old"}
        assert found.unsearched == {old}
    assert read == [(1, 2), (2, 2)]
    complete = list_current(world.data, world.find())
    assert [each.title for each in complete] == ["new", "old"]
    assert list_newest(world.data, world.find(), 1) == (complete, frozenset())


def test_every_page_has_the_titles_of_its_sessions(tmp_path: Path) -> None:
    """Also of those that an earlier page did not need."""
    world = World(tmp_path, tmp_path / "data")
    write_titles(world, "first", "second", "third")
    with Workspace([world.root], world.data) as workspace:
        pages = [workspace.sessions(page=number, page_size=1) for number in (1, 3, 2, 1)]
        found = [[each.title for each in page.sessions] for page in pages]
        assert found == [["third"], ["first"], ["second"], ["third"]]
        titled = workspace.sessions(SessionQuery(text="first"), page_size=1)
        assert [each.title for each in titled.sessions] == ["first"]


def test_a_session_that_is_newer_than_its_file_suggests_has_its_title(tmp_path: Path) -> None:
    """A page by activity may show a session whose file is among the oldest."""
    world = World(tmp_path, tmp_path / "data")
    write_titles(world, "busy", "idle")
    world.append("p/idle", encode([prompt("asked long ago", timestamp="2019-01-01T00:00:00Z")]))
    with Workspace([world.root], world.data) as workspace:
        (first,) = workspace.sessions(page_size=1).sessions
    assert first.title == "busy"


def test_a_file_that_may_still_change_is_searched(tmp_path: Path) -> None:
    """No time in its row could say that it was not."""
    world = World(tmp_path, tmp_path / "data")
    write_titles(world, "old", "new")
    old = world.path("p/old")
    old.write_bytes(old.read_bytes())
    found = list_newest(world.data, world.find(), 0)
    assert {each.title for each in found.listings} == {"old", "about new"}
    assert found.unsearched == {str(world.path("p/new"))}
