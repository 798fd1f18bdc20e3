"""Cursors as text: small, lossless, and validated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.live.live_events import (
    MAX_MARKS,
    Checkpoint,
    Cursor,
    Mark,
    advance,
    decode_cursor,
    encode_cursor,
    path_key,
)

marks = st.builds(Mark, st.integers(0, 2**60), st.binary(min_size=12, max_size=12))
cursors = st.builds(
    Cursor,
    st.integers(0, 2**63 - 1),
    st.dictionaries(st.binary(min_size=8, max_size=8), marks, max_size=MAX_MARKS),
)


@given(cursor=cursors)
def test_a_cursor_comes_back_from_its_text(cursor: Cursor) -> None:
    """Nothing is lost, and the text fits a header."""
    text = encode_cursor(cursor)
    assert decode_cursor(text) == cursor
    assert len(text) < 4096
    assert text.isascii()
    assert text.replace("-", "").replace("_", "").replace(".", "").isalnum()


@given(text=st.text(max_size=60))
def test_no_text_does_harm(text: str) -> None:
    """Any text that is not a cursor is rejected with a message."""
    try:
        decoded = decode_cursor(text)
    except UsageError:
        return
    assert isinstance(decoded, Cursor)


@pytest.mark.parametrize("text", ["", "1.", "1.####", "nonsense", "1.kgCB"])
def test_a_wrong_position_says_what_to_do(text: str) -> None:
    """The message says what to do."""
    with pytest.raises(UsageError, match="Pass the id of an event unchanged"):
        decode_cursor(text)


def test_the_newest_marks_are_kept() -> None:
    """The file that was read longest ago is dropped first."""
    cursor = Cursor()
    for number in range(MAX_MARKS + 10):
        cursor = advance(cursor, {path_key(f"{number}"): Mark(number, b"")})
    cursor = advance(cursor, {path_key("20"): Mark(7, b"")})
    assert len(cursor.marks) == MAX_MARKS
    assert [cursor.find_mark("0"), cursor.find_mark("20")] == [None, Mark(7, b"")]
    assert list(cursor.marks)[-1] == path_key("20")


def test_a_checkpoint_is_the_cursor_with_one_mark_more() -> None:
    """Its id is that of the cursor after the event."""
    base = Cursor(5, {path_key("a"): Mark(1, b"x")})
    checkpoint = Checkpoint(base, path_key("b"), Mark(2, b"y"))
    assert decode_cursor(checkpoint.id) == advance(base, {path_key("b"): Mark(2, b"y")})
    assert Checkpoint(base).id == encode_cursor(base)
