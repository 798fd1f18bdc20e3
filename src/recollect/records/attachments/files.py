"""Attachments that carry a person's words or files: queued prompts, mentions, the editor."""

from msgspec import Raw, field

from recollect.records.attachments.kinds import AttachmentKind
from recollect.records.blocks import Content
from recollect.records.conversation import Origin


class QueuedCommand(AttachmentKind, frozen=True, tag="queued_command"):
    """Words that waited while a turn ran: often the only place where a prompt stands."""

    prompt: Content = None
    command_mode: str | None = None
    source_uuid: str | None = field(default=None, name="source_uuid")
    delivery_id: str | None = field(default=None, name="delivery_id")
    origin: Origin | None = None
    run_id: str | None = None
    timestamp: str | None = None
    image_paste_ids: Raw = Raw()
    is_meta: bool = False
    human_turn: bool = False
    usage: Raw = Raw()
    tools_used_delta: tuple[str, ...] | None = None


class FileKind(AttachmentKind, frozen=True):
    """A file that was put into the context."""

    filename: str | None = None
    content: Raw = Raw()
    display_path: str | None = None
    saved_copy_framing: Raw = Raw()


class File(FileKind, frozen=True, tag="file"):
    """A file that the person mentioned."""


class AlreadyReadFile(FileKind, frozen=True, tag="already_read_file"):
    """A file that is in the context already."""


class CompactFileReference(FileKind, frozen=True, tag="compact_file_reference"):
    """A file named again after a compaction."""


class PdfReference(FileKind, frozen=True, tag="pdf_reference"):
    """A PDF that is read in parts."""


class Directory(FileKind, frozen=True, tag="directory"):
    """A directory that the person mentioned."""


class EditedTextFile(AttachmentKind, frozen=True, tag="edited_text_file"):
    """A file changed outside the session."""

    filename: str | None = None
    snippet: str | None = None


class EditedImageFile(AttachmentKind, frozen=True, tag="edited_image_file"):
    """A picture changed outside the session."""

    filename: str | None = None
    content: Raw = Raw()


class OpenedFileInIde(AttachmentKind, frozen=True, tag="opened_file_in_ide"):
    """The file that is open in the editor."""

    filename: str | None = None


class SelectedLines(AttachmentKind, frozen=True):
    """Lines that are selected in the editor."""

    filename: str | None = None
    display_path: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    content: str | None = None
    ide_name: str | None = None


class SelectedLinesInIde(SelectedLines, frozen=True, tag="selected_lines_in_ide"):
    """A selection in a file."""


class SelectedLinesInDiff(SelectedLines, frozen=True, tag="selected_lines_in_diff"):
    """A selection in a diff view."""
