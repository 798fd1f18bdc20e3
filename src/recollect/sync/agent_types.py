"""What kind of subagent a transcript belongs to, as the small file beside it says."""

import msgspec
from msgspec import Struct

from recollect.errors import UnreadableInput
from recollect.locations import open_regular
from recollect.locations.names import TRANSCRIPT_SUFFIX

_LARGEST = 1024 * 1024


class _Meta(Struct, rename="camel"):
    # Not `session.subagents`: loading all that comes with it takes longer than a small sync.
    agent_type: str | None = None


_decode = msgspec.json.Decoder(_Meta).decode


def find_agent_type(transcript: str) -> str | None:
    """The type of the subagent whose transcript this is; None when nothing tells it."""
    path = f"{transcript.removesuffix(TRANSCRIPT_SUFFIX)}.meta.json"
    try:
        with open_regular(path) as file:
            return _decode(file.read(_LARGEST) or b"").agent_type or None
    except (UnreadableInput, OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
