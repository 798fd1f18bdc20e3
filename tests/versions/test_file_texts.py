"""Text of files: forms on disk, edits as the client applies them, patches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.records.tools import PatchHunk
from recollect.records.tools.file_tools import EditStep
from recollect.versions.file_texts import (
    FileText,
    TextForm,
    apply_steps,
    decode_file,
    encode_file,
    fits_window,
    reconcile_with_patch,
    revert_patch,
    revert_steps,
    split_lines,
)

LINES = st.text(st.sampled_from("ab\n\r\t\u2028é"), max_size=30)


@given(LINES)
def test_lines_end_only_at_newlines(text: str) -> None:
    """Lines put together are the text, and only a newline ends one."""
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.index("\n") == len(line) - 1 for line in lines[:-1])


@pytest.mark.parametrize(
    ("data", "text", "form"),
    [
        (b"a\nb\n", "a\nb\n", TextForm()),
        (b"a\r\nb\r\n", "a\nb\n", TextForm(line_end="\r\n")),
        (b"\xef\xbb\xbfa\n", "a\n", TextForm(has_bom=True)),
        (b"\xff\xfea\x00\n\x00", "a\n", TextForm("utf-16-le", has_bom=True)),
        (b"", "", TextForm()),
    ],
)
def test_files_are_written_as_they_were_read(data: bytes, text: str, form: TextForm) -> None:
    """Encoding, byte order mark and line ends survive a round trip."""
    assert decode_file(data) == FileText(text, form)
    assert encode_file(text, form) == data


@pytest.mark.parametrize("data", [b"a\xe9b", b"a\0b"])
def test_what_is_not_text_is_not_decoded(data: bytes) -> None:
    """Latin-1 and binary files have no text."""
    assert decode_file(data) is None


def _step(old: str, new: str, *, replace_all: bool = False) -> EditStep:
    return EditStep(old_string=old, new_string=new, replace_all=replace_all)


@pytest.mark.parametrize(
    ("text", "step", "after"),
    [
        ("a\nb\n", _step("b", "c"), "a\nc\n"),
        ("a\nb\nb\n", _step("b", "c"), None),
        ("a\nb\nb\n", _step("b", "c", replace_all=True), "a\nc\nc\n"),
        ("a\nb\nc\n", _step("b", ""), "a\nc\n"),
        ("a b\n", _step(" b", ""), "a"),
        ("", _step("", "new\n"), "new\n"),
        ("a", _step("", "new\n"), None),
        ("a\nb\n", _step("a\r\nb", "c"), "c\n"),
        ("a", _step("z", "c"), None),
    ],
)
def test_edits_are_applied_as_the_client_does(text: str, step: EditStep, after: str | None) -> None:
    """An edit must be unambiguous; an emptied line goes with its end."""
    assert apply_steps(text, [step]) == after


@given(LINES, st.text("ab", min_size=1, max_size=3), st.text("xy", min_size=1, max_size=3))
def test_undoing_an_edit_gives_the_text_before(text: str, old: str, new: str) -> None:
    """Reverting an edit gives the previous text, or None."""
    after = apply_steps(text, [_step(old, new)])
    if after is not None:
        assert revert_steps(after, [_step(old, new)]) in (None, text)


def _hunk(start: int, *lines: str) -> PatchHunk:
    return PatchHunk(old_start=start, new_start=start, lines=lines)


@pytest.mark.parametrize(
    ("text", "hunk", "adopted"),
    [
        ("a\n\tb\n", _hunk(1, " a", "+  b"), "a\n\tb\n"),
        ("a\n\tb\n", _hunk(1, " a", "+\tb"), "a\n\tb\n"),
        ('say "x"\n', _hunk(1, "+say \u201cx\u201d"), "say \u201cx\u201d\n"),
        ("\tsay 'x'\n", _hunk(1, "+  say \u2018x\u2019"), "\tsay \u2018x\u2019\n"),
        ("a\nb\n", _hunk(1, "+c"), None),
        ("a\nb\n", _hunk(7, "+c"), None),
        ("a", _hunk(1, "+a", "\\ No newline at end of file"), "a"),
    ],
)
def test_patches_confirm_a_text(text: str, hunk: PatchHunk, adopted: str | None) -> None:
    """Tabs are taken from the text, quotes from the patch, and anything else contradicts."""
    assert reconcile_with_patch(text, [hunk]) == adopted


def test_windows_are_compared_with_their_place() -> None:
    """Lines count only where they were seen, and the number of lines counts too."""
    assert fits_window("a\nb\nc\n", 2, ["b", "c"], 4)
    assert not fits_window("a\nb\nc\n", 1, ["b"], 4)
    assert not fits_window("a\nb\nc\n", 2, ["b"], 5)


def test_a_patch_leads_back_to_the_text_before() -> None:
    """Reverting a patch restores removed lines; a text that it does not fit gives none."""
    hunks = (
        PatchHunk(
            old_start=1, old_lines=2, new_start=1, new_lines=3, lines=(" a", "+b", "+c", " d")
        ),
        PatchHunk(old_start=4, old_lines=2, new_start=5, new_lines=1, lines=("-f", " g")),
    )
    assert revert_patch("a\nb\nc\nd\ng\n", hunks[:1]) == "a\nd\ng\n"
    assert revert_patch("a\nb\nc\nd\ng\n", hunks) == "a\nd\nf\ng\n"
    assert revert_patch("a\nb\nx\nd\ng\n", hunks) is None
