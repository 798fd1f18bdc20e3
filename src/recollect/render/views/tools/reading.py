"""What `Read` found: text with its line numbers, pictures, PDFs, notebooks.

Where only the model's text was kept, the numbers that the client wrote before each line are
taken off again.
"""

import re
from collections.abc import Iterable

from recollect.records.blocks import ToolResult
from recollect.records.tools import ToolOutput
from recollect.records.tools.files import (
    NotebookCell,
    NotebookReadInput,
    ReadImage,
    ReadInput,
    ReadNotebook,
    ReadParts,
    ReadPdf,
    ReadText,
    ReadUnchanged,
    TextFile,
)
from recollect.records.tools.patch import count_text_lines
from recollect.render.views.blocks import show_blocks
from recollect.render.views.parts import Code, Part, Picture
from recollect.render.views.tools.view import Case, ToolView
from recollect.render.views.values import show_fields, show_plain, show_value
from recollect.render.views.words import count_of, join_facts, size_of
from recollect.session.contexts import separate_words

_NUMBERED = re.compile(r" {0,10}(\d{1,9})[→\t]")
_PDF = "application/pdf"
_IMAGE = "image/png"


def describe_read(case: Case) -> ToolView | None:
    """A file, or a part of it."""
    match case.input:
        case ReadInput(file_path=path) | NotebookReadInput(notebook_path=path) if path:
            pass
        case _:
            return None
    summary, output = _show_found(case, path)
    return ToolView(title=path, summary=summary, input=_show_range(case), output=output)


def _show_range(case: Case) -> tuple[Part, ...]:
    match case.input:
        case ReadInput() as wanted:
            return show_fields(
                ("offset", wanted.offset), ("limit", wanted.limit), ("pages", wanted.pages)
            )
        case NotebookReadInput(cell_id=cell):
            return show_fields(("cell", cell))
    return ()


def _show_found(case: Case, path: str) -> tuple[str, tuple[Part, ...]]:
    result = case.result
    match result:
        case ReadText(file=file):
            return _describe_range(file), _show_text(file, path)
        case ReadNotebook(file=notebook):
            cells = notebook.cells
            return count_of(len(cells), "cell"), _join(_show_cell(cell, path) for cell in cells)
        case ReadUnchanged():
            return "unchanged since it was last read", ()
    return _show_media(result, path) or _show_seen(case, path)


def _join(groups: Iterable[tuple[Part, ...]]) -> tuple[Part, ...]:
    return tuple(part for group in groups for part in group)


def _describe_range(file: TextFile) -> str:
    lines = count_text_lines(file.content) if file.num_lines is None else file.num_lines
    start, total = file.start_line or 1, file.total_lines
    cut = "cut by the token limit" if file.truncated_by_token_cap else None
    if not lines or total is None or (start == 1 and lines >= total):
        return join_facts(count_of(lines, "line"), cut)
    return join_facts(f"lines {start:,} to {start + lines - 1:,} of {total:,}", cut)


def _show_text(file: TextFile, path: str) -> tuple[Part, ...]:
    if not file.content:
        return ()
    return (Code(file.content, path=path, first_line=file.start_line or 1),)


def _show_cell(cell: NotebookCell, path: str) -> tuple[Part, ...]:
    source = cell.source if isinstance(cell.source, str) else "".join(cell.source)
    return (Code(source, path=path, language=cell.language), *show_value(cell.outputs))


def _show_media(result: ToolOutput, path: str) -> tuple[str, tuple[Part, ...]] | None:
    match result:
        case ReadImage(file=image):
            picture = Picture(image.type or _IMAGE, image.base64, path)
            return join_facts("a picture", _size(image.original_size)), (picture,)
        case ReadPdf(file=pdf):
            picture = Picture(_PDF, pdf.base64, path)
            return join_facts("a PDF", _size(pdf.original_size)), (picture,)
        case ReadParts(file=parts):
            pages = len(result.pages) if parts.count is None else parts.count
            return count_of(pages, "page"), tuple(
                Picture(page.media_type or _IMAGE, page.base64) for page in result.pages
            )
    return None


def _size(size: int | None) -> str | None:
    return None if size is None else size_of(size)


def _show_seen(case: Case, path: str) -> tuple[str, tuple[Part, ...]]:
    """What the model saw, for results that were not kept otherwise."""
    block = case.call.block
    if isinstance(block, ToolResult) and isinstance(block.content, tuple):
        parts = show_blocks(block.content)
        if any(isinstance(part, Picture) for part in parts):
            return "a picture or document", parts
    text, _ = separate_words(case.text) if case.text.rstrip().endswith(">") else (case.text, ())
    code, rest = strip_numbers(text, path)
    said = show_plain(rest)
    if code is None:
        return "", said
    return count_of(count_text_lines(code.text), "line"), (code, *said)


def strip_numbers(text: str, path: str | None) -> tuple[Code | None, str]:
    """The lines that `text` begins with and that are numbered, and what stands behind them."""
    lines = text.split("\n")
    kept: list[str] = []
    first = 0
    for line in lines:
        found = _NUMBERED.match(line)
        if found is None or (kept and int(found[1]) != first + len(kept)):
            break
        first = first if kept else int(found[1])
        kept.append(line[found.end() :])
    if not kept:
        return None, text
    rest = "\n".join(lines[len(kept) :])
    return Code("\n".join(kept), path=path, first_line=first), rest
