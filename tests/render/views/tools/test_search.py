"""Views of file searches."""

from recollect.documents.turn_documents import Entries, Entry, Fields, Plain
from recollect.render.views.tools import ToolView, describe_call
from tests.session.recordings import make_call


def test_matches_have_a_place() -> None:
    """Lines of ripgrep are parsed, including context lines."""
    content = "a.py:3:x = 1\na.py-4-y = 2\n--\nC:\\b.py:9:x"
    result = {"mode": "content", "content": content, "numLines": 4, "filenames": []}
    call = make_call("Grep", {"pattern": "x", "output_mode": "content", "-i": True}, result)
    assert describe_call(call) == ToolView(
        title="x",
        summary="4 lines",
        input=(Fields((("ignore case", "yes"),)),),
        output=(
            Entries(
                (
                    Entry("x = 1", path="a.py", line=3),
                    Entry("y = 2", path="a.py", line=4),
                    Entry("--"),
                    Entry("x", path="C:\\b.py", line=9),
                )
            ),
        ),
    )


def test_matches_in_a_single_file() -> None:
    """Lines without a path belong to the file that was searched."""
    wanted = {"pattern": "x", "path": "a.py", "output_mode": "content"}
    view = describe_call(make_call("Grep", wanted, text="3:x = 1"))
    assert view.output == (Entries((Entry("x = 1", path="a.py", line=3),)),)


def test_files_with_matches() -> None:
    """The count includes files that were cut off, also if the result is only text."""
    result = {"mode": "files_with_matches", "filenames": ["a", "b"], "totalFiles": 5}
    told = make_call("Grep", {"pattern": "x"}, text="Found 2 files\na\nb")
    views = [describe_call(call) for call in (make_call("Grep", {"pattern": "x"}, result), told)]
    entries = (Entry("a", path="a"), Entry("b", path="b"))
    assert [(view.summary, view.output) for view in views] == [
        ("5 files", (Entries(entries, omitted=3),)),
        ("2 files", (Entries(entries),)),
    ]


def test_files_by_name() -> None:
    """A truncated list is marked as such."""
    cut = {"filenames": ["a"], "numFiles": 1, "truncated": True}
    none = {"filenames": [], "numFiles": 0, "truncated": False}
    views = [describe_call(make_call("Glob", {"pattern": "*"}, found)) for found in (cut, none)]
    assert [(view.summary, view.output) for view in views] == [
        ("1 file · cut", (Entries((Entry("a", path="a"),)),)),
        ("no matches", (Plain("done"),)),
    ]


def test_directory_and_language_server() -> None:
    """Directories are lists of lines; a language server answers in text."""
    listing = describe_call(make_call("LS", {"path": "/p"}, text="- /p/\n  - a\n"))
    wanted = {"operation": "hover", "filePath": "x.py", "line": 3}
    answer = describe_call(make_call("LSP", wanted, {"result": "int", "resultCount": 1}))
    assert (listing.summary, listing.output) == (
        "2 lines",
        (Entries((Entry("- /p/"), Entry("  - a"))),),
    )
    assert (answer.title, answer.summary) == ("hover · x.py:3", "1 result")
