"""Tools that look for files, for text in files and for symbols in code."""

from msgspec import field

from recollect.records.tools.values import ToolInput, ToolOutput


class GlobInput(ToolInput, frozen=True):
    """A pattern for file names."""

    pattern: str = ""
    path: str | None = None


class GlobResult(ToolOutput, frozen=True, rename="camel"):
    """Files whose names match."""

    filenames: tuple[str, ...] = ()
    num_files: int | None = None
    duration_ms: float | None = None
    truncated: bool = False
    total_matches: int | None = None
    count_is_complete: bool | None = None


class GrepInput(ToolInput, frozen=True):
    """A pattern for text; the short options are ripgrep's."""

    pattern: str = ""
    path: str | None = None
    glob: str | None = None
    type: str | None = None
    output_mode: str | None = None
    lines_before: int | None = field(default=None, name="-B")
    lines_after: int | None = field(default=None, name="-A")
    lines_around: int | None = field(default=None, name="-C")
    context: int | None = None
    line_numbers: bool | None = field(default=None, name="-n")
    ignore_case: bool | None = field(default=None, name="-i")
    only_matching: bool | None = field(default=None, name="-o")
    multiline: bool | None = None
    head_limit: int | None = None
    offset: int | None = None


class GrepResult(ToolOutput, frozen=True, rename="camel"):
    """Matches: `mode` says whether as lines, as files or as counts."""

    mode: str | None = None
    filenames: tuple[str, ...] = ()
    content: str | None = None
    num_files: int | None = None
    num_lines: int | None = None
    num_matches: int | None = None
    total_files: int | None = None
    total_lines: int | None = None
    applied_limit: int | None = None
    applied_offset: int | None = None


class LsInput(ToolInput, frozen=True):
    """A directory to list; clients 1.0.x answer with a string, which is a `TextResult`."""

    path: str = ""
    ignore: tuple[str, ...] = ()


class LspInput(ToolInput, frozen=True, rename="camel"):
    """A question to a language server about one place in a file."""

    operation: str = ""
    file_path: str = ""
    line: int | None = None
    character: int | None = None
    query: str | None = None


class LspResult(ToolOutput, frozen=True, rename="camel"):
    """The language server's answer, as text."""

    operation: str | None = None
    result: str | None = None
    file_path: str | None = None
    result_count: int | None = None
    file_count: int | None = None
