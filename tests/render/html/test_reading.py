"""What makes a conversation quick to read: names that stay whole, figures beside a turn."""

import pytest

from recollect.documents.kinds import ToolStatus
from recollect.documents.turns import Diff, Hunk, ToolStep, TurnView
from recollect.records.usage import Tokens
from recollect.render.html.html_turns import (
    TurnChanges,
    count_changes,
    draw_context,
    name_in_words,
    split_path,
)
from recollect.render.html.markdown import render_markdown
from recollect.render.views.part_builders import fold_progress


@pytest.mark.parametrize(
    ("title", "tool", "parts"),
    [
        ("src/pond/frog.py", "Edit", ("src/pond/", "frog.py")),
        ("C:\\w\\frog.py", "Read", ("C:\\w\\", "frog.py")),
        ("frog.py", "Write", ("", "frog.py")),
        ("make a/b", "Bash", ("", "make a/b")),
    ],
)
def test_the_name_of_a_file_is_never_cut(title: str, tool: str, parts: tuple[str, str]) -> None:
    """It is apart from its folder, which loses letters first; commands stay as they are."""
    assert split_path(title, tool) == parts


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("one\ntwo\n", "one\ntwo\n"),
        ("10 %\r55 %\r100 %\ndone", "100 %\ndone"),
        ("lines\r\nof Windows\r\n", "lines\nof Windows\n"),
        ("all\r", "all"),
        ("\r\r", ""),
        ("downloading\r   \r", "downloading"),
    ],
)
def test_progress_is_folded_to_its_last_state(printed: str, shown: str) -> None:
    """What a terminal would have overwritten is left out."""
    assert fold_progress(printed) == shown


def test_lines_are_broken_where_they_were_broken() -> None:
    """A line break in a prompt or a reply stays one."""
    assert render_markdown("one\ntwo") == "<p>one<br>\ntwo</p>\n"


@pytest.mark.parametrize(
    ("name", "words"), [("create_issue", "create issue"), ("linear", "linear"), ("_", "_")]
)
def test_tools_of_servers_have_readable_names(name: str, words: str) -> None:
    """Underscores are spaces, unless there is nothing else."""
    assert name_in_words(name) == words


def make_edit(path: str, *lines: str, status: ToolStatus = ToolStatus.SUCCESS) -> ToolStep:
    """A call that changed a file."""
    return ToolStep(
        uuid=None,
        message_id="m",
        call_id="c",
        tool="Edit",
        mcp_server=None,
        title=path,
        summary="",
        status=status,
        input=(Diff(path, (Hunk(lines=lines),)),),
    )


def test_changes_of_a_turn_are_counted() -> None:
    """A file counts once, a failed call not at all."""
    turn = TurnView(
        number=1,
        uuid=None,
        kind=None,
        is_by_person=True,
        is_on_main_path=True,
        segment=0,
        words="",
        command=None,
        contexts=(),
        media=(),
        steps=(
            make_edit("a", "+x", "-y", " z"),
            make_edit("a", "+x"),
            make_edit("b", "-x"),
            make_edit("c", "+x", status=ToolStatus.FAILED),
        ),
        tokens=Tokens(),
        model=None,
        start=None,
        end=None,
        active_ms=None,
        permission_mode=None,
    )
    assert count_changes(turn) == TurnChanges(files=2, added=2, removed=2)


@pytest.mark.parametrize(
    ("tokens", "share"), [(50_000, 25), (200_000, 100), (500_000, 50), (3_000_000, 100)]
)
def test_context_is_drawn_in_its_window(tokens: int, share: int) -> None:
    """The window is the smallest known one that holds it."""
    assert f'class="used" width="{share}%"' in draw_context(tokens)
