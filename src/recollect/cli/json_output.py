"""JSON output: the registry of all document types, and their formatting.

The registry names classes without importing them, since a command needs only its own.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Final

import click
import msgspec

from recollect.cli.options import JSON_FILTER
from recollect.documents.json_text import format_document as format_whole
from recollect.documents.json_text import format_line
from recollect.errors import UsageError
from recollect.render.terminal import safe_text

__all__ = [
    "DOCUMENTS",
    "compile_filter",
    "format_document",
    "format_line",
    "load_document_type",
]

DOCUMENTS: Final[Mapping[str, str]] = {
    "recollect.list/2": "recollect.documents.session_documents:ListDocument",
    "recollect.show/2": "recollect.documents.session_documents:ShowDocument",
    "recollect.event/2": "recollect.documents.events:EventDocument",
    "recollect.files/2": "recollect.documents.file_versions:FilesDocument",
    "recollect.file/1": "recollect.documents.file_versions:FileDocument",
    "recollect.blame/1": "recollect.documents.file_versions:BlameDocument",
    "recollect.tree/1": "recollect.documents.file_versions:TreeDocument",
    "recollect.commits/1": "recollect.documents.file_versions:CommitsDocument",
    "recollect.why/1": "recollect.documents.file_versions:WhyDocument",
    "recollect.checkpoints/1": "recollect.documents.file_versions:CheckpointsDocument",
    "recollect.tools/1": "recollect.documents.command_reports:ToolsDocument",
    "recollect.run/2": "recollect.documents.command_reports:RunDocument",
    "recollect.resume/1": "recollect.documents.command_reports:ResumeDocument",
    "recollect.open/1": "recollect.documents.command_reports:OpenDocument",
    "recollect.search/2": "recollect.documents.search_results:SearchDocument",
    "recollect.usage/1": "recollect.documents.usage_report:UsageDocument",
    "recollect.usage-cause/1": "recollect.documents.usage_report:CauseDocument",
    "recollect.usage-explain/1": "recollect.documents.usage_report:ExplainDocument",
    "recollect.doctor/2": "recollect.documents.health_report:HealthReport",
    "recollect.secrets-scan/1": "recollect.documents.command_reports:SecretsDocument",
    "recollect.index/2": "recollect.documents.command_reports:IndexDocument",
    "recollect.archive-status/1": "recollect.documents.archive_reports:ArchiveStatus",
    "recollect.archive-sync/1": "recollect.documents.archive_reports:ArchiveSync",
    "recollect.archive-list/1": "recollect.documents.archive_reports:ArchiveList",
    "recollect.archive-verify/1": "recollect.documents.archive_reports:ArchiveVerification",
    "recollect.archive-restore/1": "recollect.documents.archive_reports:ArchiveRestore",
    "recollect.archive-export/1": "recollect.documents.archive_reports:ArchiveExport",
    "recollect.archive-removal/1": "recollect.documents.archive_reports:ArchiveRemoval",
    "recollect.bundle/1": "recollect.documents.archive_reports:BundleReport",
    "recollect.import/1": "recollect.documents.archive_reports:ImportReport",
    "recollect.export/1": "recollect.documents.command_reports:ExportDocument",
    "recollect.statusline/2": "recollect.documents.usage_report:StatuslineDocument",
    "recollect.config/1": "recollect.documents.command_reports:ConfigDocument",
}
"""The class of each document by the value of its `schema` field."""


JsonFilter = Callable[[object], Iterable[object]]


def compile_filter(expression: str) -> JsonFilter:
    """Return the filter of a jq expression; raises UsageError if there is none."""
    try:
        import jq  # an extra: a library of half a megabyte
    except ImportError as error:
        raise UsageError(
            "--jq needs the package jq: `pip install 'recollect[jq]'`. Or pipe --json to jq."
        ) from error
    try:
        program = jq.compile(expression)
    except ValueError as error:
        raise UsageError(f"Not a valid jq expression: {str(error).strip()}") from error
    find: JsonFilter = program.input_value
    return find


def format_document(document: object) -> str:
    """Return a document as indented JSON, or filtered by --jq, line by line."""
    context = click.get_current_context(silent=True)
    chosen: JsonFilter | None = context.meta.get(JSON_FILTER) if context else None
    if chosen is None:
        return format_whole(document)
    try:
        return "\n".join(_show_value(each) for each in chosen(msgspec.to_builtins(document)))
    except ValueError as error:
        raise UsageError(f"The jq expression failed: {str(error).strip()}") from error


def _show_value(value: object) -> str:
    """Return a value as `jq -r` prints it: a string without quotes, made safe for a terminal."""
    return safe_text(value) if isinstance(value, str) else format_whole(value)


def load_document_type(schema: str) -> Any:
    """Import the class of documents with this `schema`."""
    module, _, name = DOCUMENTS[schema].partition(":")
    return getattr(import_module(module), name)
