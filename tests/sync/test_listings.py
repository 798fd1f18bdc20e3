"""Lists by the index: level with the files, and complete where that is asked for."""

from pathlib import Path

from recollect.sync.figures import load_calls
from recollect.sync.level import find_transcripts
from recollect.sync.listings import list_known, list_level
from recollect.sync.selection import Conditions, select
from tests.library.claude_root import (
    FIRST,
    SECOND,
    ClaudeRoot,
    call,
    prompt,
    reply,
    result,
    title,
)


def make_root(tmp_path: Path) -> ClaudeRoot:
    """Two sessions, one of which has a failed call."""
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
    """A plain list does not read whole files, but tells what is known of them."""
    root, data = make_root(tmp_path), tmp_path / "data"
    transcripts = find_transcripts([root.path])
    known = {each.id: each.error_count for each in list_level(data, transcripts)}
    assert known == {FIRST: None, SECOND: None}
    complete = list_level(data, transcripts, is_complete=True)
    assert {each.id: (each.turn_count, each.error_count) for each in complete} == {
        FIRST: (1, 0),
        SECOND: (1, 1),
    }
    assert list_level(data, transcripts) == complete
    assert [each.id for each in select(complete, Conditions(has_errors=True))] == [SECOND]


def test_a_changed_file_loses_its_figures(tmp_path: Path) -> None:
    """What was found out holds for the file as it was."""
    root, data = make_root(tmp_path), tmp_path / "data"
    list_level(data, find_transcripts([root.path]), is_complete=True)
    root.session(SECOND, prompt("c"))
    listings = list_level(data, find_transcripts([root.path]))
    assert {each.id: each.turn_count for each in listings} == {FIRST: 1, SECOND: None}


def test_what_is_known_is_told_without_looking(tmp_path: Path) -> None:
    """Completion asks at every key: nothing is read, and before the first list nothing known."""
    root, data = make_root(tmp_path), tmp_path / "data"
    assert list_known(data) == []
    listings = list_level(data, find_transcripts([root.path]))
    assert list_known(data) == listings


def test_every_file_that_is_read_is_told(tmp_path: Path) -> None:
    """The caller can show how far it is, and is not bothered when nothing has changed."""
    root, data = make_root(tmp_path), tmp_path / "data"
    transcripts = find_transcripts([root.path])
    told: list[tuple[int, int]] = []
    for _ in range(2):
        load_calls(data, transcripts, lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_a_place_that_cannot_be_written_gives_the_same_answer(tmp_path: Path) -> None:
    """Without an index everything is found out anew each time."""
    root, data = make_root(tmp_path), tmp_path / "data"
    transcripts = find_transcripts([root.path])
    data.write_text("in the way")
    blocked = [list_level(data, transcripts, is_complete=True) for _ in range(2)]
    expected = list_level(tmp_path / "other", transcripts, is_complete=True)
    assert blocked == [expected, expected]
