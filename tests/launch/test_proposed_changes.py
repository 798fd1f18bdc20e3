"""Previews of what a tool would do: the diff against the current file."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from recollect.documents.turn_documents import Code, Diff, Hunk
from recollect.launch.request_details import compare_texts, describe_proposal, find_change

FILE = "".join(f"line {number}\n" for number in range(1, 31))


def make_input(**fields: object) -> Raw:
    """Return the input of a tool."""
    return Raw(json.dumps(fields).encode())


def test_an_edit_is_shown_in_its_file(tmp_path: Path) -> None:
    """The hunk has line numbers and context of the file."""
    path = tmp_path / "a.txt"
    path.write_text(FILE)
    edit = make_input(file_path=str(path), old_string="line 20", new_string="line twenty")
    view = describe_proposal("Edit", edit)
    lines = (
        *(" line 17", " line 18", " line 19", "-line 20", "+line twenty"),
        *(" line 21", " line 22", " line 23"),
    )
    hunk = Hunk(old_start=17, old_lines=7, new_start=17, new_lines=7, lines=lines)
    assert view.input == (Diff(str(path), (hunk,)),)
    assert (view.title, view.summary) == (str(path), "+1 -1")


def test_a_write_shows_what_it_would_remove(tmp_path: Path) -> None:
    """Writing to an existing file is a change, otherwise a new file."""
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n")
    change = find_change("Write", make_input(file_path=str(path), content="one\nthree\n"))
    assert change is not None
    assert [line for hunk in change.hunks for line in hunk.lines] == [" one", "-two", "+three"]
    fresh = find_change("Write", make_input(file_path=str(tmp_path / "b"), content="x\n"))
    assert fresh is not None
    assert (fresh.is_new_file, fresh.hunks[0].lines) == (True, ("+x",))


def test_several_edits_are_one_change(tmp_path: Path) -> None:
    """Edits are applied in order before they are compared."""
    path = tmp_path / "a.txt"
    path.write_text("a a\n")
    edits = [
        {"old_string": "a", "new_string": "b", "replace_all": True},
        {"old_string": "b b", "new_string": "c"},
    ]
    change = find_change("MultiEdit", make_input(file_path=str(path), edits=edits))
    assert change is not None
    assert change.hunks[0].lines == ("-a a", "+c")


def test_an_edit_that_does_not_apply_is_shown_as_asked(tmp_path: Path) -> None:
    """A missing string, a directory or a relative path is not an error."""
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "b.bin").write_bytes(b"\xff\xfe")
    for path in (tmp_path / "a.txt", tmp_path / "b.bin", tmp_path, Path("a.txt"), Path("/a\0b")):
        edit = make_input(file_path=str(path), old_string="nope", new_string="y")
        assert find_change("Edit", edit) is None
        (shown,) = describe_proposal("Edit", edit).input
        assert isinstance(shown, Diff)
        assert shown.is_fragment


@pytest.mark.parametrize("name", ["x" * 5000, "\ud800", "a/" * 3000, "new\nline"])
def test_names_that_no_file_can_have_are_new_files(name: str) -> None:
    """The content to be written is shown, whatever the path."""
    given = Raw(json.dumps({"file_path": f"/nowhere/{name}", "content": "x"}).encode())
    (shown,) = describe_proposal("Write", given).input
    assert isinstance(shown, Diff)
    assert shown.hunks[0].lines == ("+x",)


def test_other_tools_have_their_own_view() -> None:
    """A command is shown as a command, without an output."""
    view = describe_proposal("Bash", make_input(command="rm -r build", description="Clean"))
    assert view.output == ()
    (shown,) = (part for part in view.input if isinstance(part, Code))
    assert shown.text == "rm -r build"


_TEXT = st.lists(st.sampled_from("abc"), max_size=12).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@given(before=_TEXT, after=_TEXT)
def test_hunks_turn_one_text_into_the_other(before: str, after: str) -> None:
    """Applying the hunks to the old text gives the new one."""
    old = before.split("\n")[:-1]
    new, at = [], 0
    for hunk in compare_texts(before, after):
        start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        new += old[at:start]
        new += [line[1:] for line in hunk.lines if line[0] != "-"]
        assert [line[1:] for line in hunk.lines if line[0] != "+"] == old[
            start : start + hunk.old_lines
        ]
        at = start + hunk.old_lines
    assert [*new, *old[at:]] == after.split("\n")[:-1]
