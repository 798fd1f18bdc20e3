"""Is a line from a stream or from a transcript? Both have `user`, `assistant` and `system`.

The stream spells `session_id`, the transcript `sessionId`; newer transcripts have both on some
lines, so that the transcript's spelling decides. Only the outermost names are looked at.
"""

from msgspec import Raw, Struct, field

from recollect.records.decoding import decode_value
from recollect.records.stream.decoding import cut_noise

STREAM_TYPES = frozenset(
    {
        "stream_event",
        "tool_progress",
        "tool_use_summary",
        "rate_limit_event",
        "auth_status",
        "prompt_suggestion",
        "active_goal",
        "conversation_reset",
        "keep_alive",
        "transcript_mirror",
        "control_request",
        "control_response",
        "control_cancel_request",
    }
)
"""Types that no transcript has."""


class _Outline(Struct, frozen=True, gc=False):
    """The names that tell the two apart."""

    type: str | None = None
    subtype: str | None = None
    stream_session: Raw = field(default=Raw(), name="session_id")
    parent_tool_use_id: Raw = Raw()
    duration_ms: Raw = Raw()
    transcript_session: Raw = field(default=Raw(), name="sessionId")
    parent_uuid: Raw = field(default=Raw(), name="parentUuid")


def looks_like_stream(line: bytes) -> bool:
    """Whether `line` is a stream message, or an array of them, and not a transcript's record."""
    outline = _find_outline(line)
    if outline is None or outline.type is None:
        return False
    if outline.type in STREAM_TYPES:
        return True
    if bytes(outline.transcript_session) or bytes(outline.parent_uuid):
        return False
    if bytes(outline.stream_session) or bytes(outline.parent_tool_use_id):
        return True
    kind = (outline.type, outline.subtype)
    return kind == ("system", "init") or (
        outline.type == "result" and bytes(outline.duration_ms) != b""
    )


def _find_outline(line: bytes) -> _Outline | None:
    if line.lstrip().startswith(b"["):
        outlines = decode_value(line, tuple[_Outline, ...])
        if outlines:
            return outlines[0]
    outline = decode_value(line, _Outline)
    inner = cut_noise(line) if outline is None else None
    return outline if inner is None else decode_value(inner, _Outline)
