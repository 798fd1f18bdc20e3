"""Recover the records from a line that is not valid JSON, and keep the remaining bytes.

Known cases: two or more records on one line, NUL bytes before a record, a truncated line, a
truncated line with the next record glued to it, a value overwritten in the middle. The returned
parts tile the line.
"""

import json
import re

from msgspec import Struct

from recollect.records.decoding import decode_record
from recollect.records.envelope import Chain, Record, Unknown

NO_RECORD = "no record"
NUL_BYTES = "NUL bytes"
CUT_SHORT = "cut short"
SHARES_LINE = "shares its line"

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_HEAD = re.compile(
    rb'\{\s*"(?:parentUuid|logicalParentUuid|isSidechain|type|messageId|uuid|sessionId)"\s*:'
)
_PARTIAL = re.compile(rb"(?:[A-Za-z0-9.+-]+|,\s*|\\u?[0-9a-fA-F]{0,3})\Z")
_SPACE = re.compile(rb"\s*+")
_MAX_SCANS = 8
"""Full scans of a line while looking for a glue point: each try may scan to the end of the line."""
_TAIL = 64
"""Bytes at the end of a piece that are searched for a broken token."""


class SalvagedPart(Struct, frozen=True):
    """The bytes of a line from `start` to `end`: a record, or None with the reason in `damage`."""

    start: int
    end: int
    record: Record | None
    damage: str


def salvage(line: bytes) -> list[SalvagedPart]:
    """Return the parts of `line`, in order and without gaps."""
    parts: list[SalvagedPart] = []
    position = 0
    while position < len(line):
        found = _next_parts(line, position)
        parts += found
        position = found[-1].end
    return _absorb_space(line, parts)


def _next_parts(line: bytes, position: int) -> list[SalvagedPart]:
    start = line.find(b"{", position)
    if start < 0:
        return [_noise(line, position, len(line))]
    before = [_noise(line, position, start)] if start > position else []
    end = _end_of_object(line, start)
    record = decode_record(line[start:end]) if end else None
    if record is not None:
        return [*before, SalvagedPart(start, end, record, SHARES_LINE)]
    glued = _find_glue(line, start + 1)
    return [*before, *_complete(line, start, glued)]


def _noise(line: bytes, start: int, end: int) -> SalvagedPart:
    is_nul = not line[start:end].strip(b"\0 \t\r\n")
    return SalvagedPart(start, end, None, NUL_BYTES if is_nul else NO_RECORD)


def _end_of_object(line: bytes, start: int) -> int:
    """Return where the object that opens at `start` closes, or 0 if it does not."""
    depth = 0
    for match in _TOKEN.finditer(line, start):
        token = match.group()
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
            if depth == 0:
                return match.end()
        elif token == b'"':
            return 0
    return 0


def _find_glue(line: bytes, start: int) -> int:
    """Return the first offset from which complete, known records reach to the end of the line."""
    budget = _MAX_SCANS * len(line)
    failed: set[int] = set()
    for match in _HEAD.finditer(line, start):
        place = match.start()
        while place not in failed and budget > 0:
            failed.add(place)
            end = _end_of_object(line, place)
            budget -= (end or len(line)) - place
            record = decode_record(line[place:end]) if end else None
            if record is None or not _stands_alone(record):
                break
            place = _skip_space(line, end)
            if place == len(line):
                return match.start()
        if budget <= 0:
            break
    return len(line)


def _skip_space(line: bytes, position: int) -> int:
    match = _SPACE.match(line, position)
    return match.end() if match else position


def _stands_alone(record: Record) -> bool:
    """Return whether a client writes `record` on a line of its own, rather than nested in another.

    `agent_progress` records contain whole messages whose usage must not be counted again; those
    have no session id.
    """
    if isinstance(record, Unknown):
        return False
    return not isinstance(record, Chain) or record.session_id is not None


def _complete(line: bytes, start: int, end: int) -> list[SalvagedPart]:
    """Return the truncated record between `start` and `end`, closed where it breaks off."""
    for stop in (end, _first_error(line[start:end]) + start):
        record = _close(line[start:stop])
        if record is not None:
            rest = [_noise(line, stop, end)] if stop < end else []
            return [SalvagedPart(start, stop, record, CUT_SHORT), *rest]
    return [SalvagedPart(start, end, None, NO_RECORD)]


def _first_error(piece: bytes) -> int:
    try:
        # Latin-1 maps each byte to one character, so that positions are byte positions.
        json.loads(piece.decode("latin-1"), strict=False)
    except json.JSONDecodeError as error:
        return error.pos
    except (RecursionError, ValueError):
        return 0
    return len(piece)


def _close(piece: bytes) -> Record | None:
    """Return the known record that results from closing open strings and brackets, or None."""
    opened, in_string = _open_brackets(piece)
    if not opened:
        return None
    closers = opened.translate(bytes.maketrans(b"{[", b"}]"))[::-1]
    shorter = piece[:-_TAIL] + _PARTIAL.sub(b"", piece[-_TAIL:])
    bodies = (
        (piece + b'"', piece + b'":null', shorter + b'"')
        if in_string
        else (piece, piece + b"null", shorter, shorter + b"null")
    )
    for body in bodies:
        for tail in (closers, closers[:-1] + _role_as_type(piece) + b"}"):
            record = decode_record(body + tail)
            if record is not None and not isinstance(record, Unknown):
                return record
    return None


def _open_brackets(piece: bytes) -> tuple[bytes, bool]:
    stack = bytearray()
    for match in _TOKEN.finditer(piece):
        token = match.group()
        if token in b"{[":
            stack += token
        elif token in b"}]":
            # A mismatched bracket: from here on, nesting would be guesswork.
            if not stack or stack.pop() != (b"{" if token == b"}" else b"[")[0]:
                return b"", False
        elif token == b'"':
            return bytes(stack), True
    return bytes(stack), False


def _role_as_type(piece: bytes) -> bytes:
    """Return a `type` field from the role of the message, since older clients write it last."""
    role = b"assistant" if b'"role":"assistant"' in piece else b"user"
    return b',"type":"' + role + b'"'


def _absorb_space(line: bytes, parts: list[SalvagedPart]) -> list[SalvagedPart]:
    """Add white space between records to the part before it."""
    kept: list[SalvagedPart] = []
    for part in parts:
        if part.record is None and kept and not line[part.start : part.end].strip():
            last = kept[-1]
            kept[-1] = SalvagedPart(last.start, part.end, last.record, last.damage)
        else:
            kept.append(part)
    return kept
