"""Views of `Read` results."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.turn_documents import Code, Fields, Json, Picture, Plain
from recollect.render.views.tools import ToolView, describe_call
from recollect.render.views.tools.file_views import strip_numbers
from tests.session.recordings import make_call


def test_part_of_a_file_is_numbered() -> None:
    """Lines keep the numbers that they have in the file."""
    file = {"filePath": "x.py", "content": "a\nb", "numLines": 2, "startLine": 5, "totalLines": 9}
    call = make_call(
        "Read", {"file_path": "x.py", "offset": 5, "limit": 2}, {"type": "text", "file": file}
    )
    assert describe_call(call) == ToolView(
        title="x.py",
        summary="lines 5 to 6 of 9",
        input=(Fields((("offset", "5"), ("limit", "2"))),),
        output=(Code("a\nb", path="x.py", first_line=5),),
    )


def test_numbers_of_the_client_are_taken_off() -> None:
    """If only the model's text was recorded, its line numbers are parsed."""
    text = "     7→def f():\n     8→\treturn 1\n\n<system-reminder>\nbe kind\n</system-reminder>\n"
    view = describe_call(make_call("Read", {"file_path": "x.py"}, text=text))
    assert view == ToolView(
        title="x.py",
        summary="2 lines",
        output=(Code("def f():\n\treturn 1", path="x.py", first_line=7),),
    )


@given(st.lists(st.text(alphabet="ab →\t1"), min_size=1), st.integers(1, 99))
def test_taking_numbers_off_undoes_putting_them_on(lines: list[str], first: int) -> None:
    """Removing line numbers restores any text that was numbered."""
    numbered = "\n".join(f"{first + place:>6}→{line}" for place, line in enumerate(lines))
    code = Code("\n".join(lines), path="x", first_line=first)
    assert strip_numbers(numbered, "x") == (code, "")


def test_pictures_and_documents() -> None:
    """Pictures, PDFs and their pages are shown as such."""
    image = {"type": "image", "file": {"base64": "AA", "type": "image/gif", "originalSize": 2048}}
    pdf = {"type": "pdf", "file": {"filePath": "x.pdf", "base64": "BB"}}
    parts = {
        "type": "parts",
        "file": {"filePath": "x.pdf", "count": 1},
        "pages": [{"base64": "CC", "mediaType": "image/jpeg"}],
    }
    views = [
        describe_call(make_call("Read", {"file_path": "x"}, found)) for found in (image, pdf, parts)
    ]
    assert [(view.summary, view.output) for view in views] == [
        ("a picture · 2.0 KB", (Picture("image/gif", "AA", "x"),)),
        ("a PDF", (Picture("application/pdf", "BB", "x"),)),
        ("1 page", (Picture("image/jpeg", "CC"),)),
    ]


def test_notebook_by_its_cells() -> None:
    """Each cell is code in its language, with its outputs."""
    cells = [{"cellType": "code", "language": "python", "source": ["1", "+1"], "outputs": [2]}]
    found = {"type": "notebook", "file": {"filePath": "n", "cells": cells}}
    view = describe_call(make_call("NotebookRead", {"notebook_path": "n"}, found))
    assert (view.summary, view.output) == (
        "1 cell",
        (Code("1+1", path="n", language="python"), Json("[\n  2\n]")),
    )


def test_unchanged_file() -> None:
    """For a file that has not changed since the last read, only the client's message is shown."""
    found = {"type": "file_unchanged", "file": {"filePath": "x"}}
    view = describe_call(make_call("Read", {"file_path": "x"}, found))
    assert view == ToolView(
        title="x", summary="unchanged since it was last read", output=(Plain("done"),)
    )
