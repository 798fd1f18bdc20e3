"""Tools that read and write files, including notebooks, and the patches they report.

Lines end only at `\\n`, as in the client's patches; a last line without it counts too.
"""

from collections.abc import Iterable
from typing import Protocol

from msgspec import Raw, Struct, field

from recollect.records.tools.tool_values import ToolInput, ToolOutput

CHANGE_TOOLS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
"""Tools that write a file."""
FILE_TOOLS = CHANGE_TOOLS | {"Read"}


class PatchHunk(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One hunk of a patch; each line starts with a space, `+`, `-` or a backslash."""

    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0
    lines: tuple[str, ...] = ()


class GitDiff(Struct, frozen=True, kw_only=True, gc=False):
    """The git diff of a file after an edit."""

    filename: str | None = None
    status: str | None = None
    additions: int | None = None
    deletions: int | None = None
    changes: int | None = None
    patch: str | None = None
    repository: str | None = None


class LineCount(Struct, frozen=True, gc=False):
    """Lines that a change added and removed; a changed line is one of each."""

    added: int = 0
    removed: int = 0


class HasPatchLines(Protocol):
    """A hunk: the client's, or the one of documents."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Its lines, each with its sign."""


def count_patch_lines(hunks: Iterable[HasPatchLines]) -> LineCount:
    """Return the number of lines that `hunks` add and remove."""
    signs = [line[:1] for hunk in hunks for line in hunk.lines]
    return LineCount(added=signs.count("+"), removed=signs.count("-"))


def count_text_lines(text: str) -> int:
    """Return the number of lines; a final newline does not start another one."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


class ReadInput(ToolInput, frozen=True):
    """A file or a part of it; `pages` is a range in a PDF."""

    file_path: str = ""
    offset: int | None = None
    limit: int | None = None
    pages: str | None = None


class NotebookReadInput(ToolInput, frozen=True):
    """A notebook, before `Read` replaced it."""

    notebook_path: str = ""
    cell_id: str | None = None


class ReadResult(ToolOutput, frozen=True, tag_field="type", rename="camel"):
    """The result of `Read`: one class per `type`."""


class TextFile(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Lines of a text file, without their numbers."""

    file_path: str = ""
    content: str = ""
    num_lines: int | None = None
    start_line: int | None = None
    total_lines: int | None = None
    truncated_by_token_cap: bool = False


class ReadText(ReadResult, frozen=True, tag="text"):
    """A text file."""

    file: TextFile = TextFile()
    artifact_read: Raw = Raw()


class ImageDimensions(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Size in pixels, on disk and as the model saw it."""

    original_width: int | None = None
    original_height: int | None = None
    display_width: int | None = None
    display_height: int | None = None


class ImageFile(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """An image; its path is only in the input."""

    base64: str = ""
    type: str | None = None
    original_size: int | None = None
    dimensions: ImageDimensions | None = None


class ReadImage(ReadResult, frozen=True, tag="image"):
    """An image."""

    file: ImageFile = ImageFile()


class NotebookCell(Struct, frozen=True, kw_only=True, gc=False):
    """A cell, with its outputs as the client trimmed them."""

    cell_type: str | None = field(default=None, name="cellType")
    cell_id: str | None = None
    language: str | None = None
    source: str | tuple[str, ...] = ""
    execution_count: int | None = None
    outputs: Raw = Raw()


class NotebookFile(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The cells of a notebook."""

    file_path: str = ""
    cells: tuple[NotebookCell, ...] = ()


class ReadNotebook(ReadResult, frozen=True, tag="notebook"):
    """A notebook."""

    file: NotebookFile = NotebookFile()


class PdfFile(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A whole PDF."""

    file_path: str = ""
    base64: str = ""
    original_size: int | None = None


class ReadPdf(ReadResult, frozen=True, tag="pdf"):
    """A PDF that was passed to the model unchanged."""

    file: PdfFile = PdfFile()


class PartsFile(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A PDF whose pages were converted to images in `output_dir`."""

    file_path: str = ""
    original_size: int | None = None
    count: int | None = None
    output_dir: str | None = None


class PartsPage(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One page as an image."""

    base64: str = ""
    media_type: str | None = None
    error: str | None = None


class ReadParts(ReadResult, frozen=True, tag="parts"):
    """A PDF, page by page."""

    file: PartsFile = PartsFile()
    first_page: int | None = None
    pages: tuple[PartsPage, ...] = ()


class UnchangedFile(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A file that the model already read."""

    file_path: str = ""


class ReadUnchanged(ReadResult, frozen=True, tag="file_unchanged"):
    """The file has not changed since the model last read it."""

    file: UnchangedFile = UnchangedFile()
    source: str | None = None


class EditInput(ToolInput, frozen=True):
    """A replacement of text in a file."""

    file_path: str = ""
    old_string: str = ""
    new_string: str = ""
    replace_all: bool = False


class EditResult(ToolOutput, frozen=True, rename="camel"):
    """An applied edit; `original_file` is the whole file before it."""

    file_path: str = ""
    old_string: str = ""
    new_string: str = ""
    original_file: str | None = None
    structured_patch: tuple[PatchHunk, ...] = ()
    user_modified: bool = False
    replace_all: bool = False
    git_diff: GitDiff | None = None
    staged: bool = False
    stale_recovered: bool = False
    """The edit was applied although the file had changed since it was read."""


class EditStep(Struct, frozen=True, kw_only=True, gc=False):
    """One of several replacements in the same file."""

    old_string: str = ""
    new_string: str = ""
    replace_all: bool = False


class MultiEditInput(ToolInput, frozen=True):
    """Several replacements, applied in order or not at all."""

    file_path: str = ""
    edits: tuple[EditStep, ...] = ()


class MultiEditResult(ToolOutput, frozen=True, rename="camel"):
    """Several applied edits, as one patch."""

    file_path: str = ""
    edits: tuple[EditStep, ...] = ()
    original_file_contents: str | None = None
    structured_patch: tuple[PatchHunk, ...] = ()
    user_modified: bool = False


class WriteInput(ToolInput, frozen=True):
    """A whole file."""

    file_path: str = ""
    content: str = ""


class WriteResult(ToolOutput, frozen=True, rename="camel"):
    """A written file; `create` has no patch, and `update` without one changed nothing."""

    type: str | None = None
    file_path: str = ""
    content: str = ""
    structured_patch: tuple[PatchHunk, ...] = ()
    original_file: str | None = None
    user_modified: bool = False
    git_diff: GitDiff | None = None
    staged: bool = False


class NotebookEditInput(ToolInput, frozen=True):
    """A change of one cell: replace, insert or delete."""

    notebook_path: str = ""
    cell_id: str | None = None
    cell_number: int | None = None
    new_source: str = ""
    cell_type: str | None = None
    edit_mode: str | None = None


class NotebookEditResult(ToolOutput, frozen=True):
    """A changed cell, or why it was not changed."""

    notebook_path: str = ""
    cell_id: str | None = None
    cell_type: str | None = None
    language: str | None = None
    edit_mode: str | None = None
    new_source: str = ""
    old_source: str | None = None
    error: str | None = None
    original_file: str | None = None
    updated_file: str | None = None


def count_changed_lines(result: ToolOutput) -> LineCount:
    """Return the number of lines that a call added and removed; zero if it was not an edit."""
    if isinstance(result, WriteResult) and result.type == "create":
        return LineCount(added=count_text_lines(result.content))
    if isinstance(result, EditResult | MultiEditResult | WriteResult):
        return count_patch_lines(result.structured_patch)
    return LineCount()
