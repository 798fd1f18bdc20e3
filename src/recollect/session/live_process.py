"""What a running client says of itself; apart, so that a list need not load the session model."""

from msgspec import Struct


class LiveProcess(Struct, frozen=True, kw_only=True):
    """The client that has the session open right now, by its own account."""

    pid: int
    status: str | None = None
    name: str | None = None
    version: str | None = None
    updated_at: float | None = None
