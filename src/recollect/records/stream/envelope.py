"""What stream messages have in common, and the one for what no class here describes.

Names on the wire are snake_case, unlike those of a transcript; the few that are not say so.
Every field has a default, and an empty `Raw` means absent, as in the records.
"""

from msgspec import Raw, Struct, field

from recollect.records.envelope import SPAN_KEY
from recollect.records.span import Span


class Message(Struct, frozen=True, kw_only=True, tag_field="type", gc=False, omit_defaults=True):
    """One line that the client prints, or that is sent to it."""

    span: Span | None = field(default=None, name=SPAN_KEY)
    uuid: str | None = None
    session_id: str | None = None


class UnknownMessage(Message, frozen=True, tag="<unknown>"):
    """A JSON value that no class here describes, with its text.

    `kind` is its type; for a `system` message of an unknown subtype it is `system/SUBTYPE`.
    """

    kind: str | None = None
    raw: Raw = Raw()
