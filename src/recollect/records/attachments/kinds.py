"""The root of all kinds of attachments, and the kind for those without a class."""

from msgspec import Raw, Struct


class AttachmentKind(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", gc=False):
    """The inner object of an `attachment` record."""


class OtherAttachment(AttachmentKind, frozen=True, tag="<other>"):
    """A kind without a class here."""

    kind: str | None = None
    raw: Raw = Raw()
