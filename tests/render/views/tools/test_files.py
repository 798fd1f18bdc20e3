"""Views of edits: diffs from the client's patch, or computed."""

import pytest

from recollect.documents.turn_documents import Code, Diff, Fields, Hunk, Plain
from recollect.render.views.tools import ToolView, describe_call
from recollect.session.tool_calls import PENDING
from tests.session.recordings import make_call

HUNK = {"oldStart": 7, "oldLines": 1, "newStart": 7, "newLines": 1, "lines": ["-a", "+b"]}
PATCH = Hunk(old_start=7, old_lines=1, new_start=7, new_lines=1, lines=("-a", "+b"))
COMPARED = Hunk(old_start=1, old_lines=1, new_start=1, new_lines=1, lines=("-a", "+b"))
SNIPPET = "Here's the result of running `cat -n` on a snippet of the edited file:"
EDIT = {"file_path": "/p/x.py", "old_string": "a", "new_string": "b"}


def test_edit_shows_the_patch_of_the_client() -> None:
    """The client's patch has line numbers, and whether the user changed the edit."""
    result = {"filePath": "/p/x.py", "structuredPatch": [HUNK], "userModified": True}
    assert describe_call(make_call("Edit", EDIT, result)) == ToolView(
        title="/p/x.py",
        summary="+1 -1 · changed by you",
        input=(Diff("/p/x.py", (PATCH,)),),
        output=(Plain("done"),),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The file /p/x.py has been updated successfully.", ()),
        ("The file /p/x.py has been updated. All occurrences of 'a' were replaced.", ()),
        ("File created successfully at: /p/x.py", ()),
        (f"The file /p/x.py has been updated. {SNIPPET}\n     6→z\n     7→b\n", ()),
        ("The file /p/x.py has been updated.\nlint: unused a", (Plain("lint: unused a"),)),
    ],
)
def test_a_change_that_was_made_says_nothing_more(text: str, said: tuple[Plain, ...]) -> None:
    """The diff shows the change, so Claude Code's confirmation is left out; other text is kept."""
    assert describe_call(make_call("Edit", EDIT, text=text)).output == said


def test_edit_of_all_occurrences_says_so() -> None:
    """Replacing all occurrences is distinguished from replacing one."""
    view = describe_call(make_call("Edit", {**EDIT, "replace_all": True}))
    assert view.summary == "+1 -1 · all occurrences"


def test_edit_without_a_patch_is_compared() -> None:
    """An edit by a subagent, or a pending one, is shown as a diff without line numbers."""
    done, waiting = make_call("Edit", EDIT), make_call("Edit", EDIT, outcome=PENDING)
    change = (Diff("/p/x.py", (COMPARED,), is_fragment=True),)
    assert [describe_call(call) for call in (done, waiting)] == [
        ToolView(title="/p/x.py", summary="+1 -1", input=change, output=(Plain("done"),)),
        ToolView(title="/p/x.py", summary="no result yet", input=change),
    ]


def test_edit_too_large_to_compare_shows_both_texts() -> None:
    """Beyond the limit both texts are shown instead of a diff."""
    before, after = "a\n" * 400, "b\n" * 400
    wanted = {"file_path": "x", "old_string": before, "new_string": after}
    view = describe_call(make_call("Edit", wanted))
    assert view.input == (Code(before, path="x"), Code(after, path="x"))


def test_several_edits_without_a_patch() -> None:
    """Each of several edits has a diff of its own."""
    steps = [{"old_string": "a", "new_string": "b"}] * 2
    view = describe_call(make_call("MultiEdit", {"file_path": "x", "edits": steps}))
    assert view.input == (Diff("x", (COMPARED,), is_fragment=True),) * 2


def test_new_file_is_all_additions() -> None:
    """A new file is a diff of only added lines."""
    wanted = {"file_path": "x.md", "content": "one\ntwo\n"}
    result = {"type": "create", "filePath": "x.md", "content": "one\ntwo\n", "structuredPatch": []}
    hunk = Hunk(new_start=1, new_lines=2, lines=("+one", "+two"))
    assert describe_call(make_call("Write", wanted, result)) == ToolView(
        title="x.md",
        summary="new file · +2 -0",
        input=(Diff("x.md", (hunk,), is_new_file=True),),
        output=(Plain("done"),),
    )


def test_written_file_shows_what_changed() -> None:
    """An existing file shows the client's patch, or else its new text."""
    wanted = {"file_path": "x.md", "content": "b\n"}
    result = {"type": "update", "filePath": "x.md", "content": "b\n", "structuredPatch": [HUNK]}
    known, unknown = make_call("Write", wanted, result), make_call("Write", wanted, outcome=PENDING)
    assert [describe_call(call).input for call in (known, unknown)] == [
        (Diff("x.md", (PATCH,)),),
        (Code("b\n", path="x.md", first_line=1),),
    ]


def test_cell_of_a_notebook() -> None:
    """A changed cell is the difference between its sources."""
    wanted = {"notebook_path": "n.ipynb", "cell_id": "c1", "new_source": "b"}
    result = {"notebook_path": "n.ipynb", "old_source": "a", "new_source": "b", "cell_type": "code"}
    assert describe_call(make_call("NotebookEdit", wanted, result)) == ToolView(
        title="n.ipynb",
        summary="replace · cell c1",
        input=(
            Diff("n.ipynb", (COMPARED,), is_fragment=True),
            Fields((("cell type", "code"),)),
        ),
        output=(Plain("done"),),
    )


def test_cell_that_could_not_be_changed() -> None:
    """The client's error about a cell is the output."""
    wanted = {"notebook_path": "n.ipynb", "edit_mode": "delete", "cell_number": 3}
    view = describe_call(make_call("NotebookEdit", wanted, {"error": "no such cell"}))
    assert (view.summary, len(view.output)) == ("delete · cell 3", 1)
