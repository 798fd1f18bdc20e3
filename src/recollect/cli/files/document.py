"""The changes of files as `recollect files` prints them for programs."""

from collections.abc import Sequence

from msgspec import Struct, structs

from recollect.cli.show.parts import DiffEntry, describe_diff
from recollect.render.views.file_changes import Change, ChangeFacts
from recollect.render.views.parts import Code, Diff

SCHEMA = "recollect.files/1"


class ChangeEntry(ChangeFacts, frozen=True, kw_only=True):
    """A change as the document has it."""

    diff: tuple[DiffEntry | Code, ...]
    """With `--diff`: what changed, or the whole text where the transcript holds no patch."""


class FilesDocument(Struct, frozen=True, kw_only=True):
    """What `--json` prints."""

    schema: str = SCHEMA
    files: int
    lines_added: int
    lines_removed: int
    changes: tuple[ChangeEntry, ...]


def describe_changes(changes: Sequence[Change]) -> FilesDocument:
    """The changes with their sums, as `--json` prints them."""
    return FilesDocument(
        files=len({change.path for change in changes}),
        lines_added=sum(change.lines_added for change in changes),
        lines_removed=sum(change.lines_removed for change in changes),
        changes=tuple(map(describe_change, changes)),
    )


def describe_change(change: Change) -> ChangeEntry:
    """A change as `--json-lines` prints it."""
    fields = structs.asdict(change)
    parts = fields.pop("parts")
    diff = tuple(describe_diff(part) if isinstance(part, Diff) else part for part in parts)
    return ChangeEntry(**fields, diff=diff)
