"""JSON output: formatting, and the registry of all document types.

Non-ASCII characters are escaped, so that text from a transcript cannot control the terminal at the
end of a pipe. The registry names classes without importing them, since a command needs only its
own.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import msgspec

DOCUMENTS: Final[Mapping[str, str]] = {
    "recollect.list/2": "recollect.documents.session_documents:ListDocument",
    "recollect.show/2": "recollect.documents.session_documents:ShowDocument",
    "recollect.event/2": "recollect.documents.events:EventDocument",
    "recollect.files/2": "recollect.documents.file_changes:FilesDocument",
    "recollect.file/1": "recollect.documents.file_versions:FileDocument",
    "recollect.blame/1": "recollect.documents.file_versions:BlameDocument",
    "recollect.checkpoints/1": "recollect.documents.file_versions:CheckpointsDocument",
    "recollect.tools/1": "recollect.documents.tool_report:ToolsDocument",
    "recollect.run/2": "recollect.documents.command_reports:RunDocument",
    "recollect.resume/1": "recollect.documents.command_reports:ResumeDocument",
    "recollect.open/1": "recollect.documents.command_reports:OpenDocument",
    "recollect.search/2": "recollect.documents.search_results:SearchDocument",
    "recollect.usage/1": "recollect.documents.usage_report:UsageDocument",
    "recollect.usage-explain/1": "recollect.documents.usage_report:ExplainDocument",
    "recollect.doctor/2": "recollect.documents.health_report:HealthReport",
    "recollect.secrets-scan/1": "recollect.documents.secret_report:SecretsDocument",
    "recollect.index/2": "recollect.documents.index_report:IndexDocument",
    "recollect.archive-status/1": "recollect.documents.archive_reports:ArchiveStatus",
    "recollect.archive-sync/1": "recollect.documents.archive_reports:ArchiveSync",
    "recollect.archive-list/1": "recollect.documents.archive_reports:ArchiveList",
    "recollect.archive-verify/1": "recollect.documents.archive_reports:ArchiveVerification",
    "recollect.archive-restore/1": "recollect.documents.archive_reports:ArchiveRestore",
    "recollect.archive-export/1": "recollect.documents.archive_reports:ArchiveExport",
    "recollect.archive-removal/1": "recollect.documents.archive_reports:ArchiveRemoval",
    "recollect.bundle/1": "recollect.documents.archive_reports:BundleReport",
    "recollect.import/1": "recollect.documents.archive_reports:ImportReport",
    "recollect.statusline/2": "recollect.documents.status_line:StatuslineDocument",
    "recollect.config/1": "recollect.documents.command_reports:ConfigDocument",
}
"""The class of each document by the value of its `schema` field."""


def format_document(document: object) -> str:
    """Return a document as indented JSON."""
    return _format(document, indent=2)


def format_line(document: object) -> str:
    """Return a document as JSON on one line."""
    return _format(document, indent=None)


def _format(document: object, indent: int | None) -> str:
    # DEL is ASCII, so JSON does not escape it, but terminals may interpret it.
    return json.dumps(msgspec.to_builtins(document), indent=indent).replace("\x7f", "\\u007f")


def load_document_type(schema: str) -> Any:
    """Import the class of documents with this `schema`."""
    module, _, name = DOCUMENTS[schema].partition(":")
    return getattr(import_module(module), name)
