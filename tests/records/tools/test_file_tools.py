"""Tests of recollect.records.tools.file_tools."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from recollect.records.tools import (
    TextResult,
    ToolInput,
    ToolOutput,
    UnknownResult,
    count_changed_lines,
    parse_input,
    parse_result,
)
from recollect.records.tools.file_tools import (
    EditInput,
    EditResult,
    EditStep,
    GitDiff,
    ImageDimensions,
    ImageFile,
    LineCount,
    MultiEditInput,
    MultiEditResult,
    NotebookCell,
    NotebookEditInput,
    NotebookEditResult,
    NotebookFile,
    NotebookReadInput,
    PartsFile,
    PartsPage,
    PatchHunk,
    PdfFile,
    ReadImage,
    ReadInput,
    ReadNotebook,
    ReadParts,
    ReadPdf,
    ReadText,
    ReadUnchanged,
    TextFile,
    UnchangedFile,
    WriteInput,
    WriteResult,
    count_patch_lines,
    count_text_lines,
)

HUNK = b'{"oldStart":1,"oldLines":2,"newStart":1,"newLines":3,"lines":[" a","-b","+c","+d"]}'
PATCH = (
    PatchHunk(old_start=1, old_lines=2, new_start=1, new_lines=3, lines=(" a", "-b", "+c", "+d")),
)

INPUTS: list[tuple[str, bytes, ToolInput]] = [
    (
        "Read",
        b'{"file_path":"/a","offset":10,"limit":5,"pages":"1-2"}',
        ReadInput(file_path="/a", offset=10, limit=5, pages="1-2"),
    ),
    (
        "NotebookRead",
        b'{"notebook_path":"/n.ipynb","cell_id":"c1"}',
        NotebookReadInput(notebook_path="/n.ipynb", cell_id="c1"),
    ),
    (
        "Edit",
        b'{"file_path":"/a","old_string":"b","new_string":"c","replace_all":true}',
        EditInput(file_path="/a", old_string="b", new_string="c", replace_all=True),
    ),
    (
        "MultiEdit",
        (
            b'{"file_path":"/a","edits":[{"old_string":"b","new_string":"c"},'
            b'{"old_string":"d","new_string":"e","replace_all":true}]}'
        ),
        MultiEditInput(
            file_path="/a",
            edits=(
                EditStep(old_string="b", new_string="c"),
                EditStep(old_string="d", new_string="e", replace_all=True),
            ),
        ),
    ),
    ("Write", b'{"file_path":"/a","content":"x"}', WriteInput(file_path="/a", content="x")),
    (
        "NotebookEdit",
        (
            b'{"notebook_path":"/n.ipynb","cell_id":"c1","new_source":"1","cell_type":"code",'
            b'"edit_mode":"insert"}'
        ),
        NotebookEditInput(
            notebook_path="/n.ipynb",
            cell_id="c1",
            new_source="1",
            cell_type="code",
            edit_mode="insert",
        ),
    ),
]

RESULTS: list[tuple[str, bytes, ToolOutput]] = [
    (
        "Read",
        (
            b'{"type":"text","file":{"filePath":"/a","content":"x","numLines":1,"startLine":2,'
            b'"totalLines":3,"truncatedByTokenCap":true}}'
        ),
        ReadText(
            file=TextFile(
                file_path="/a",
                content="x",
                num_lines=1,
                start_line=2,
                total_lines=3,
                truncated_by_token_cap=True,
            )
        ),
    ),
    (
        "Read",
        (
            b'{"type":"image","file":{"base64":"AA==","type":"image/png","originalSize":1,'
            b'"dimensions":{"originalWidth":4,"originalHeight":3,"displayWidth":2,"displayHeight":1}}}'
        ),
        ReadImage(
            file=ImageFile(
                base64="AA==",
                type="image/png",
                original_size=1,
                dimensions=ImageDimensions(
                    original_width=4, original_height=3, display_width=2, display_height=1
                ),
            )
        ),
    ),
    (
        "NotebookRead",
        (
            b'{"type":"notebook","file":{"filePath":"/n.ipynb","cells":[{"cellType":"code",'
            b'"cell_id":"c1","language":"python","source":"1","execution_count":2,"outputs":[]}]}}'
        ),
        ReadNotebook(
            file=NotebookFile(
                file_path="/n.ipynb",
                cells=(
                    NotebookCell(
                        cell_type="code",
                        cell_id="c1",
                        language="python",
                        source="1",
                        execution_count=2,
                        outputs=Raw(b"[]"),
                    ),
                ),
            )
        ),
    ),
    (
        "Read",
        b'{"type":"pdf","file":{"filePath":"/a.pdf","base64":"AA==","originalSize":1}}',
        ReadPdf(file=PdfFile(file_path="/a.pdf", base64="AA==", original_size=1)),
    ),
    (
        "Read",
        (
            b'{"type":"parts","file":{"filePath":"/a.pdf","originalSize":9,"count":1,'
            b'"outputDir":"/o"},"firstPage":1,"pages":[{"base64":"AA==","mediaType":"image/png"}]}'
        ),
        ReadParts(
            file=PartsFile(file_path="/a.pdf", original_size=9, count=1, output_dir="/o"),
            first_page=1,
            pages=(PartsPage(base64="AA==", media_type="image/png"),),
        ),
    ),
    (
        "Read",
        b'{"type":"file_unchanged","file":{"filePath":"/a"},"source":"seeded"}',
        ReadUnchanged(file=UnchangedFile(file_path="/a"), source="seeded"),
    ),
    ("Read", b'{"type":"text"}', ReadText()),
    (
        "Read",
        b'{"type":"hologram","file":{}}',
        UnknownResult(raw=Raw(b'{"type":"hologram","file":{}}')),
    ),
    ("Read", b'{"file":{}}', UnknownResult(raw=Raw(b'{"file":{}}'))),
    ("Read", b'"Error: File does not exist."', TextResult(text="Error: File does not exist.")),
    (
        "Edit",
        b'{"filePath":"/a","oldString":"b","newString":"c\\nd","originalFile":"a\\nb",'
        b'"structuredPatch":[' + HUNK + b'],"userModified":true,"replaceAll":true,"staged":true,'
        b'"gitDiff":{"filename":"a","status":"modified","additions":2,"deletions":1,"changes":3,'
        b'"patch":"@@","repository":"o/r"}}',
        EditResult(
            file_path="/a",
            old_string="b",
            new_string="c\nd",
            original_file="a\nb",
            structured_patch=PATCH,
            user_modified=True,
            replace_all=True,
            staged=True,
            git_diff=GitDiff(
                filename="a",
                status="modified",
                additions=2,
                deletions=1,
                changes=3,
                patch="@@",
                repository="o/r",
            ),
        ),
    ),
    (
        "MultiEdit",
        b'{"filePath":"/a","edits":[{"old_string":"b","new_string":"c","replace_all":false}],'
        b'"originalFileContents":"b","structuredPatch":[' + HUNK + b'],"userModified":true}',
        MultiEditResult(
            file_path="/a",
            edits=(EditStep(old_string="b", new_string="c"),),
            original_file_contents="b",
            structured_patch=PATCH,
            user_modified=True,
        ),
    ),
    (
        "Write",
        b'{"type":"create","filePath":"/a","content":"x","structuredPatch":[],"originalFile":null}',
        WriteResult(type="create", file_path="/a", content="x"),
    ),
    (
        "NotebookEdit",
        (
            b'{"new_source":"2","old_source":"1","cell_id":"c1","cell_type":"code",'
            b'"language":"python","edit_mode":"replace","error":"","notebook_path":"/n.ipynb",'
            b'"original_file":"o","updated_file":"u"}'
        ),
        NotebookEditResult(
            notebook_path="/n.ipynb",
            cell_id="c1",
            cell_type="code",
            language="python",
            edit_mode="replace",
            new_source="2",
            old_source="1",
            error="",
            original_file="o",
            updated_file="u",
        ),
    ),
]


@pytest.mark.parametrize(("name", "text", "expected"), INPUTS)
def test_file_inputs_are_typed(name: str, text: bytes, expected: ToolInput) -> None:
    """The input of each file tool has a class."""
    assert parse_input(name, Raw(text)) == expected


@pytest.mark.parametrize(("name", "text", "expected"), RESULTS)
def test_file_results_are_typed(name: str, text: bytes, expected: ToolOutput) -> None:
    """The result of each file tool has a class; `Read` has one per `type`."""
    assert parse_result(name, Raw(text)) == expected


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (EditResult(structured_patch=PATCH), LineCount(added=2, removed=1)),
        (MultiEditResult(structured_patch=PATCH * 2), LineCount(added=4, removed=2)),
        (WriteResult(type="update", structured_patch=PATCH), LineCount(added=2, removed=1)),
        (WriteResult(type="update", content="same\n"), LineCount()),
        (WriteResult(type="create", content="a\nb\n"), LineCount(added=2)),
        (WriteResult(type="create", content="a\nb"), LineCount(added=2)),
        (WriteResult(type="create"), LineCount()),
        (TextResult(text="Error: no"), LineCount()),
    ],
)
def test_changed_lines_are_counted(result: ToolOutput, expected: LineCount) -> None:
    """An edit counts by its patch, a new file by its lines, anything else not at all."""
    assert count_changed_lines(result) == expected


LINES = st.lists(st.sampled_from(["a", "b", "+", "-", ""]), max_size=8)


def test_context_and_missing_newline_marks_do_not_count() -> None:
    """Only lines that start with plus or minus are changes."""
    hunk = PatchHunk(lines=(" same", "+++", "---", "", "\\ No newline at end of file"))
    assert count_patch_lines((hunk,)) == LineCount(added=1, removed=1)


def test_only_newlines_end_lines() -> None:
    """Other characters that `splitlines` treats as line ends are text."""
    assert count_text_lines("a\u2028b\rc\x0cd\n") == 1


@given(LINES)
def test_a_text_has_as_many_lines_as_were_joined(lines: list[str]) -> None:
    """The number of lines equals the number of line feeds."""
    assert count_text_lines("".join(f"{line}\n" for line in lines)) == len(lines)


@given(LINES, LINES)
def test_a_patch_accounts_for_the_difference_in_length(old: list[str], new: list[str]) -> None:
    """Lines added minus lines removed equal the growth of the file."""
    diff = [line for line in difflib.ndiff(old, new) if line[0] != "?"]
    count = count_patch_lines([PatchHunk(lines=tuple(diff))])
    assert count.added - count.removed == len(new) - len(old)
