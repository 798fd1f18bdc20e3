"""Short phrases in views."""

import pytest

from recollect.render.views.part_builders import join_facts, take_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("one", "one"),
        ("\n\n one\n", "one"),
        ("one\r\ntwo", "one …"),
        ("x" * 301, "x" * 300 + "…"),
    ],
)
def test_one_line_of_many(text: str, line: str) -> None:
    """The first line that is not blank, with an ellipsis if there are more."""
    assert take_line(text) == line


def test_facts_in_a_line() -> None:
    """Empty facts are left out."""
    assert join_facts("a", None, "", "b") == "a · b"
