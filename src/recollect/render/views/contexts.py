"""Attachments that carry files, selections and folders → the same contexts that prompts have."""

from recollect.records.attachments import Attachment
from recollect.records.attachments.files import (
    Directory,
    FileKind,
    OpenedFileInIde,
    SelectedLines,
)
from recollect.session.contexts import Context, ContextKind


def read_context(record: Attachment) -> Context | None:
    """What an attachment puts beside the person's words; None when it is about something else."""
    match record.attachment:
        case Directory() as folder:
            return _make_context(ContextKind.FOLDER, folder)
        case FileKind() as file:
            return _make_context(ContextKind.FILE, file)
        case OpenedFileInIde(filename=path):
            return Context(ContextKind.IDE_OPENED_FILE, path or "", path)
        case SelectedLines() as lines:
            return Context(
                ContextKind.IDE_SELECTION,
                lines.content or "",
                lines.filename or lines.display_path,
                lines.line_start,
                lines.line_end,
            )
    return None


def _make_context(kind: ContextKind, file: FileKind) -> Context:
    shown = file.display_path or file.filename or ""
    return Context(kind, shown, file.filename or file.display_path)
