"""Lines that name a session: found by the quick pass, read by lists."""

from pathlib import Path

import pytest

from recollect.library.listings import SessionContext, read_listing
from recollect.library.transcript_ends import NamingLines, read_head_and_tail
from recollect.locations import Transcript
from recollect.reader.marked_lines import NAMING_MARKS
from recollect.store.catalog import load_naming_lines
from recollect.sync import usage_counting
from recollect.sync.session_lists import list_current, list_unsaved
from recollect.sync.usage_counting import Job, extract
from tests.sync.lines import Line, user_line
from tests.sync.world import World

FILLER = b"".join(user_line("x" * 400) for _ in range(1000))
TITLES = (
    b'{"type":"custom-title","customTitle":"First"}\n',
    b'{"type":"tag","tag":"kept"}\n',
    b'{"type":"custom-title","customTitle":"Second"}\n',
)
REPLY = Line(id="m").encode()


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty Claude directory and no index yet."""
    return World(tmp_path, tmp_path / "data")


def load_spans(world: World) -> dict[str, list[bytes]]:
    """Return the recorded lines of each indexed file, as they are in the file."""
    connection = world.open()
    found = load_naming_lines(connection)
    connection.close()
    return {
        Path(path).stem: [read_at(Path(path), *span) for span in stored.spans]
        for path, stored in found.items()
    }


def read_at(path: Path, offset: int, length: int) -> bytes:
    """Bytes of a file."""
    return path.read_bytes()[offset : offset + length]


def test_the_quick_pass_notes_every_line_with_a_title(world: World) -> None:
    """At the start, between, at the end and without a line end; and no others."""
    parts = (TITLES[0], REPLY, FILLER, TITLES[1], FILLER, TITLES[2].rstrip())
    world.write("p/session", b"".join(parts))
    world.sync()
    assert load_spans(world) == {"session": [TITLES[0], TITLES[1], TITLES[2].rstrip()]}


def test_lines_are_added_as_a_file_grows(world: World) -> None:
    """Those that were known are kept; a file that was rewritten starts over."""
    world.write("p/session", TITLES[0] + REPLY)
    world.sync()
    world.append("p/session", FILLER + TITLES[1])
    world.sync()
    assert load_spans(world) == {"session": [TITLES[0], TITLES[1]]}
    world.write("p/session", REPLY + TITLES[2])
    world.sync()
    assert load_spans(world) == {"session": [TITLES[2]]}


def test_a_list_after_a_sync_is_that_of_a_search(world: World) -> None:
    """Wherever the title is, and although the file is not searched for it."""
    world.write("p/session", REPLY + FILLER + b"".join(TITLES) + FILLER + REPLY)
    world.sync()
    found = world.find()
    (listing,) = list_current(world.data, found)
    assert [listing] == list_unsaved(found)
    assert (listing.title, listing.tag) == ("Second", "kept")


def find_lines(transcript: Transcript) -> NamingLines:
    """Return the lines that the quick pass records."""
    naming = extract(Job(transcript.file)).naming
    assert naming is not None
    return NamingLines(transcript.size, naming)


def test_known_lines_are_used_only_for_the_file_that_they_are_of(world: World) -> None:
    """One that has grown meanwhile is searched."""
    world.write("p/session", REPLY + FILLER + TITLES[0] + FILLER + REPLY)
    (transcript,) = world.find()
    lines = find_lines(transcript)
    none = NamingLines(transcript.size, [])
    context = SessionContext()
    titles = [read_listing(transcript, context, each) for each in (lines, none)]
    assert [each.title for each in titles if each] == ["First", "x" * 400]
    world.append("p/session", FILLER + TITLES[2] + FILLER)
    grown = read_head_and_tail(transcript.path, (), none)
    assert [getattr(each, "custom_title", None) for each in grown.log.states] == ["First", "Second"]


def test_too_many_lines_are_not_noted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is searched instead."""
    monkeypatch.setattr(usage_counting, "MAX_NAMING_LINES", 2)
    world.write("p/session", REPLY + b"".join(TITLES))
    world.sync()
    assert load_spans(world) == {}


def test_marks_are_what_titles_are_found_by() -> None:
    """Each kind of record that can name a session contains one."""
    kinds = (b'{"type":"tag"', b'{"type":"ai-title"', b'"custom-title"', b'"last-prompt"')
    assert all(any(mark in kind for mark in NAMING_MARKS) for kind in kinds)
    assert any(mark in b'{"type":"summary","summary":"a","leafUuid":"b"}' for mark in NAMING_MARKS)
