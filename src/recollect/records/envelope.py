"""What records have in common: a span, and for chain records the envelope that links them.

Every field has a default, because any client version may leave any of them out. Fields of type
`Raw` hold JSON text that is parsed only when somebody asks for it; an empty `Raw` means absent.
"""

from msgspec import Raw, Struct, field

from recollect.records.span import Span

SPAN_KEY = "<span>"
"""Wire name of `Record.span`. No client writes it, and decoding overwrites what stands there."""


class Record(
    Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    tag_field="type",
    gc=False,
    omit_defaults=True,
):
    """One line of a transcript."""

    span: Span | None = field(default=None, name=SPAN_KEY)


class ForkedFrom(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The record of another session that this one is a copy of."""

    session_id: str | None = None
    message_uuid: str | None = None


class Chain(Record, frozen=True):
    """A record that is a link of the conversation tree: it has `uuid` and `parent_uuid`."""

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


def is_absent(value: Raw) -> bool:
    """Whether the field that holds `value` was not written at all (or is null)."""
    return bytes(value) in (b"", b"null")
