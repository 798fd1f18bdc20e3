"""The label of a session in one line."""

import pytest

from recollect.cli.terminal_output import NO_TITLE, label_id, label_project, label_title


@pytest.mark.parametrize(
    ("session_id", "expected"),
    [
        ("94791a87-9d13-410a-a632-25a9b25c1b45", "94791a87"),
        ("agent-a557725", "a557725"),
        ("\x1b[2Jname", "␛[2Jname"),
    ],
)
def test_the_beginning_of_an_id_is_enough(session_id: str, expected: str) -> None:
    """Every command accepts it; a subagent's has another one after the common prefix."""
    assert label_id(session_id) == expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("/home/mina/tidepool", "tidepool"),
        ("C:\\work\\tidepool", "tidepool"),
        ("/home/mina/tidepool/.claude/worktrees/side", "tidepool/side"),
        ("C:\\work\\tidepool\\.worktrees\\3", "tidepool/3"),
        ("/worktrees/3", "3"),
        ("/", "/"),
        ("-home-mina-tidepool", "-home-mina-tidepool"),
    ],
)
def test_a_project_is_the_last_part_of_its_directory(place: str, expected: str) -> None:
    """For paths of any system; with the project for a worktree. Other text is unchanged."""
    assert label_project(place) == expected


def test_a_title_is_one_line() -> None:
    """Without a title, the first prompt is used."""
    assert [
        label_title("Two\n  lines\t\x1b[2J", "asked"),
        label_title(None, "asked"),
        label_title("", None),
    ] == ["Two lines ␛[2J", "asked", NO_TITLE]
