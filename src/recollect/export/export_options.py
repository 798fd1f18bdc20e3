"""Export options: the format, the content, and the level of detail."""

from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from recollect.documents.turn_documents import Step, TextStep, ToolStep, TurnView
from recollect.errors import UsageError
from recollect.redact.findings import DEFAULT_POLICY, RedactionPolicy
from recollect.render.views.turn_views import keep_prompts


class Format(StrEnum):
    """The format of an export."""

    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


class Level(StrEnum):
    """How much of a conversation to export."""

    PROMPTS = "prompts"
    CONVERSATION = "conversation"
    """Prompts and replies."""
    TOOLS = "tools"
    """Also tool calls, with the important parts of their input and output."""
    FULL = "full"
    """Everything: thinking, notices, whole tool calls and subagents."""


class Images(StrEnum):
    """Where to put images."""

    INLINE = "inline"
    BESIDE = "beside"
    """In separate files, in a directory beside the export."""
    NONE = "none"


class Theme(StrEnum):
    """The colour theme of a page."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Table(StrEnum):
    """The tables of CSV and Parquet exports."""

    MESSAGES = "messages"
    CALLS = "calls"
    USAGE = "usage"


SUFFIXES: Final = {
    Format.HTML: ".html",
    Format.MARKDOWN: ".md",
    Format.TEXT: ".txt",
    Format.JSON: ".json",
    Format.JSONL: ".jsonl",
    Format.CSV: ".csv",
    Format.PARQUET: ".parquet",
}
READABLE: Final = frozenset({Format.HTML, Format.MARKDOWN, Format.TEXT})
TABULAR: Final = frozenset({Format.CSV, Format.PARQUET})
PAGED: Final = frozenset({Format.HTML, Format.MARKDOWN})
MEDIA_TYPES: Final = {
    Format.HTML: "text/html; charset=utf-8",
    Format.MARKDOWN: "text/markdown; charset=utf-8",
    Format.TEXT: "text/plain; charset=utf-8",
    Format.JSON: "application/json",
    Format.JSONL: "application/x-ndjson",
    Format.CSV: "text/csv; charset=utf-8",
    Format.PARQUET: "application/vnd.apache.parquet",
}


class ExportOptions(Struct, frozen=True, kw_only=True):
    """Options of an export."""

    format: Format = Format.HTML
    level: Level = Level.FULL
    redaction: RedactionPolicy | None = DEFAULT_POLICY
    """What to mask; None exports everything unchanged."""
    images: Images = Images.INLINE
    theme: Theme = Theme.SYSTEM
    table: Table = Table.MESSAGES
    budget: int | None = None
    """Maximum number of tokens, for a digest."""
    split: int | None = None
    """Number of turns on one page, if the session is split into pages."""
    force: bool = False
    """Whether to overwrite existing files."""


def find_format(target: Path) -> Format | None:
    """Return the format for a file's suffix; None if there is none."""
    suffix = target.suffix.lower()
    return next((each for each, known in SUFFIXES.items() if known == suffix), None)


def check_options(options: ExportOptions) -> None:
    """Raise UsageError for options that contradict each other."""
    name = options.format.value
    if options.format is Format.JSONL and options.redaction is not None:
        raise UsageError(
            "jsonl exports the original lines, which cannot be masked. Add --no-redact to export "
            "them with any secrets they contain, or use --format json."
        )
    if options.budget is not None and options.format is not Format.MARKDOWN:
        raise UsageError(f"--budget makes a digest in Markdown, not {name}. Use --format markdown.")
    if options.budget is not None and options.split is not None:
        raise UsageError("Use only one of --budget and --split.")
    if options.split is not None and options.format not in PAGED:
        raise UsageError(f"--split makes pages of html or markdown, not {name}.")
    if options.level is not Level.FULL and options.format not in READABLE:
        raise UsageError(f"--level only applies to html, markdown and text, not to {name}.")
    if options.images is Images.BESIDE and options.format not in PAGED:
        raise UsageError(f"Only html and markdown have images, not {name}.")


_KINDS: Final[dict[Level, tuple[type[Step], ...]]] = {
    Level.CONVERSATION: (TextStep,),
    Level.TOOLS: (TextStep, ToolStep),
}


def select_steps(turn: TurnView, level: Level) -> TurnView:
    """Return a turn with only the steps of a level."""
    if level is Level.FULL:
        return turn
    if level is Level.PROMPTS:
        return keep_prompts(turn)
    kinds = _KINDS[level]
    return structs.replace(
        turn, steps=tuple(step for step in turn.steps if isinstance(step, kinds))
    )
