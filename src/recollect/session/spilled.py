"""Output that was too large for the transcript and lies in a file beside it.

Knows what the record says about that file, and nothing of the disk: the path is that of the
machine that wrote it, and only `recollect.locations` may turn it into one of this machine.
"""

import re

from msgspec import Raw, Struct

from recollect.records.decoding import decode_value


class SpilledOutput(Struct, frozen=True):
    """Where the client said that it put the output, its size, and the part that it kept."""

    recorded_path: str
    size: int | None
    preview: str


class _Persisted(Struct, frozen=True, rename="camel"):
    persisted_output_path: str | None = None
    persisted_output_size: int | None = None


_MARK = "<persisted-output>"
_PATH = re.compile(r"Full output saved to: (.+?)(?:\n|\Z)")
_PREVIEW = re.compile(r"Preview \(first [^)\n]{1,40}\):\n")
_END = "</persisted-output>"
_ELLIPSIS = "\n..."


def find_spilled(text: str, raw_result: Raw) -> SpilledOutput | None:
    """What a tool result says of an output kept elsewhere; None when it holds all of it."""
    if not text.lstrip().startswith(_MARK):
        return None
    named = _PATH.search(text)
    found = decode_value(raw_result, _Persisted) or _Persisted()
    path = found.persisted_output_path or (named[1].strip() if named else None)
    if path is None:
        return None
    preview = _PREVIEW.search(text)
    kept = text[preview.end() :] if preview else ""
    kept = kept.rstrip().removesuffix(_END).removesuffix("\n").removesuffix(_ELLIPSIS)
    return SpilledOutput(path, found.persisted_output_size, kept)
