"""JSON output: the registry of all document types, and their formatting.

The registry names classes without importing them, since a command needs only its own.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from recollect.documents.json_text import format_document, format_line

__all__ = ["DOCUMENTS", "format_document", "format_line", "load_document_type"]

DOCUMENTS: Final[Mapping[str, str]] = {
    "recollect.list/2": "recollect.documents.session_documents:ListDocument",
    "recollect.show/2": "recollect.documents.session_documents:ShowDocument",
    "recollect.event/2": "recollect.documents.events:EventDocument",
    "recollect.files/2": "recollect.documents.file_changes:FilesDocument",
    "recollect.file/1": "recollect.documents.file_versions:FileDocument",
    "recollect.blame/1": "recollect.documents.file_versions:BlameDocument",
    "recollect.tree/1": "recollect.documents.commits:TreeDocument",
    "recollect.commits/1": "recollect.documents.commits:CommitsDocument",
    "recollect.why/1": "recollect.documents.commits:WhyDocument",
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
    "recollect.export/1": "recollect.documents.export_report:ExportDocument",
    "recollect.statusline/2": "recollect.documents.status_line:StatuslineDocument",
    "recollect.config/1": "recollect.documents.command_reports:ConfigDocument",
}
"""The class of each document by the value of its `schema` field."""


def load_document_type(schema: str) -> Any:
    """Import the class of documents with this `schema`."""
    module, _, name = DOCUMENTS[schema].partition(":")
    return getattr(import_module(module), name)
