"""What all records have in common: the span, the envelope of chain records, and irregular lines.

The spans of a file tile it: each byte, including newlines and blank lines, belongs to exactly one
span. A span has no file handle; its bytes are one positioned read away. Every field has a default,
because any client version may omit it. `Raw` fields contain JSON text that is parsed only on
demand; an empty `Raw` means that the field is missing.
"""

from msgspec import DecodeError, Raw, Struct, field

REFUSED = (DecodeError, UnicodeDecodeError, RecursionError)
"""What a typed decoder raises for a line that needs the slow path."""


class Span(Struct, frozen=True, gc=False):
    """`length` bytes of `file` from `offset`; `file` is "" for bytes that are not from a file.

    `damage` is what was wrong with the line that the record was recovered from; it is "" for a
    complete record on its own line.
    """

    file: str
    offset: int
    length: int
    damage: str = ""

    @property
    def end(self) -> int:
        """Return the offset after the last byte."""
        return self.offset + self.length


SPAN_KEY = "<span>"
"""JSON name of `Record.span`. No client writes it, and decoding overwrites it."""


class Record(
    Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    tag_field="type",
    gc=False,
    omit_defaults=True,
):
    """A record: normally one line of a transcript."""

    span: Span | None = field(default=None, name=SPAN_KEY)


class ForkedFrom(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The record of another session that this one was copied from."""

    session_id: str | None = None
    message_uuid: str | None = None


class Chain(Record, frozen=True):
    """A record that is a node of the conversation tree, with `uuid` and `parent_uuid`."""

    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    is_sidechain: bool = False
    session_id: str | None = None
    session_id_twin: str | None = field(default=None, name="session_id")
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    user_type: str | None = None
    entrypoint: str | None = None
    slug: str | None = None
    agent_id: str | None = None
    team_name: str | None = None
    agent_name: str | None = None
    agent_color: str | None = None
    session_kind: str | None = None
    forked_from: ForkedFrom | None = None
    is_meta: bool = False


def get_offset(record: Record) -> int:
    """Return the offset of the record's line in its file, 0 if it is not from a file."""
    return record.span.offset if record.span else 0


def is_absent(value: Raw) -> bool:
    """Return whether a `Raw` field is missing or null."""
    return bytes(value) in (b"", b"null")


class Unknown(Chain, frozen=True, tag="<unknown>"):
    """A record of an unknown type, with its JSON and its envelope, if any.

    A record of a newer client with a `uuid` is part of the tree, so its children stay attached.
    """

    record_type: str | None = None
    raw: Raw = Raw()


class StreamLine(Unknown, frozen=True, tag="<stream>"):
    """A stream message, such as `result`, in a transcript.

    Clients print these but never write them; the file was edited or combined.
    """

    subtype: str | None = None


class Damaged(Record, frozen=True, tag="<damaged>"):
    """Bytes that are not JSON, and why."""

    reason: str = ""


class Torn(Record, frozen=True, tag="<torn>"):
    """An incomplete last line; a client may be writing it right now."""


class Blank(Record, frozen=True, tag="<blank>"):
    """A blank line."""


class Oversized(Record, frozen=True, tag="<oversized>"):
    """A line too long to be read into memory; only its span is known."""
