"""Records for what is not a known record: nothing in a file is without one."""

from msgspec import Raw

from recollect.records.envelope import Chain, Record


class Unknown(Chain, frozen=True, tag="<unknown>"):
    """A JSON value that no class here describes, with its text and the envelope it may have.

    A record type of a newer client is a chain link when it has a `uuid`, so that what hangs on it
    keeps its place.
    """

    record_type: str | None = None
    raw: Raw = Raw()


class Damaged(Record, frozen=True, tag="<damaged>"):
    """Bytes that are no JSON, and why."""

    reason: str = ""


class Torn(Record, frozen=True, tag="<torn>"):
    """The last line, not finished yet: a client may be writing it right now."""


class Blank(Record, frozen=True, tag="<blank>"):
    """A line with nothing on it."""


class Oversized(Record, frozen=True, tag="<oversized>"):
    """A line too long to be held in memory; its span says where it is."""
