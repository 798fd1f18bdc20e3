"""Line-by-line comparison of texts."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.turn_documents import Hunk
from recollect.render.views.part_builders import compare, show_addition, split_lines

lines = st.lists(st.sampled_from("abc"), max_size=20).map("\n".join)


@given(lines, lines)
def test_hunks_make_the_one_of_the_other(before: str, after: str) -> None:
    """Applying the hunks to one text gives the other."""
    hunks = compare(before, after)
    assert hunks is not None
    assert _apply(hunks, split_lines(before)) == split_lines(after)


def _apply(hunks: tuple[Hunk, ...], before: list[str]) -> list[str]:
    after: list[str] = []
    place = 0
    for hunk in hunks:
        after += before[place : hunk.old_start - 1]
        after += [line[1:] for line in hunk.lines if line[:1] in " +"]
        place = hunk.old_start - 1 + hunk.old_lines
        assert len(after) == hunk.new_start - 1 + hunk.new_lines
    return after + before[place:]


def test_texts_too_large_to_compare() -> None:
    """Beyond the limit there is no diff; a long text and a short one can be compared."""
    assert compare("a\n" * 400, "b\n" * 400) is None
    assert compare("a\n" * 20_000, "b") is not None


def test_addition() -> None:
    """A new file has only added lines; an empty one has none."""
    hunk = Hunk(new_start=1, new_lines=2, lines=("+a", "+b"))
    assert [show_addition("a\nb\n"), show_addition("")] == [(hunk,), ()]
