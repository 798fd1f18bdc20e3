"""What `recollect index --json` prints."""

from msgspec import Struct

from recollect.sync.text_status import TextStatus

SCHEMA = "recollect.index/1"


class Problem(Struct, frozen=True):
    """A transcript that could not be read."""

    file: str
    reason: str


class IndexDocument(Struct, frozen=True, kw_only=True):
    """What `--json` prints: what was done, and what the index is afterwards."""

    schema: str = SCHEMA
    path: str
    bytes: int
    is_sound: bool
    is_level: bool
    files_read: int
    bytes_read: int
    files: int
    files_gone: int
    messages: int
    copies: int
    text: TextStatus
    problems: list[Problem]
