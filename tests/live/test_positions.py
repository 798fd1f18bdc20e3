"""Positions as texts: small, whole, and never believed blindly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.live.positions import (
    MOST_MARKS,
    Checkpoint,
    Cursor,
    Mark,
    advance,
    decode_cursor,
    encode_cursor,
    key_of,
)

marks = st.builds(Mark, st.integers(0, 2**60), st.binary(min_size=12, max_size=12))
cursors = st.builds(
    Cursor,
    st.integers(0, 2**63 - 1),
    st.dictionaries(st.binary(min_size=8, max_size=8), marks, max_size=MOST_MARKS),
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
    """What is no position is refused with words, whatever it is."""
    try:
        decoded = decode_cursor(text)
    except UsageError:
        return
    assert isinstance(decoded, Cursor)


@pytest.mark.parametrize("text", ["", "1.", "1.####", "nonsense", "1.kgCB"])
def test_a_wrong_position_says_what_to_do(text: str) -> None:
    """The message names the remedy."""
    with pytest.raises(UsageError, match="Take the id of an event as it is"):
        decode_cursor(text)


def test_the_newest_marks_are_kept() -> None:
    """A file that was read longest ago is left out first."""
    cursor = Cursor()
    for number in range(MOST_MARKS + 10):
        cursor = advance(cursor, {key_of(f"{number}"): Mark(number, b"")})
    cursor = advance(cursor, {key_of("20"): Mark(7, b"")})
    assert len(cursor.marks) == MOST_MARKS
    assert [cursor.find_mark("0"), cursor.find_mark("20")] == [None, Mark(7, b"")]
    assert list(cursor.marks)[-1] == key_of("20")


def test_a_checkpoint_is_the_cursor_with_one_mark_more() -> None:
    """Its id is made when it is asked for, and is that of the cursor behind the event."""
    base = Cursor(5, {key_of("a"): Mark(1, b"x")})
    checkpoint = Checkpoint(base, key_of("b"), Mark(2, b"y"))
    assert decode_cursor(checkpoint.id) == advance(base, {key_of("b"): Mark(2, b"y")})
    assert Checkpoint(base).id == encode_cursor(base)
