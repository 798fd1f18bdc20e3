"""Find and mask secrets in the strings of JSON lines.

All strings of a record are scanned as one text, each with the name of its field, because a field
may be named `password`, or `name` and `value` may be separate fields. A line that is not JSON is
scanned as plain text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Final, NamedTuple

import msgspec

from recollect.redact.findings import DEFAULT_POLICY, Match, RedactionPolicy
from recollect.redact.plain_view import read_text
from recollect.redact.policy import find_masked
from recollect.redact.redactor import Redactor

_MAX_NAMED: Final = 400
"""Maximum length of a string whose field name can make it a secret; longer ones are prose."""


_COUNTS: Final = frozenset(
    f"{name}_tokens"
    for name in (
        "input output cache_creation_input cache_read_input ephemeral_5m_input ephemeral_1h_input"
    ).split()
)
"""Fields in every reply that look like names of secrets; ignored if they are numbers."""


_RECORD_IDS: Final = ("uuid", "parentUuid", "sessionId")
_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
"""Values of these fields, known in all records; a third of the long words of a transcript."""


class _Flat(NamedTuple):
    """The strings of a record as one text."""

    data: bytes
    strings: tuple[tuple[int, int], ...]
    """The span of each string that may be masked, in the order of the record."""


def find_in_record(line: bytes, policy: RedactionPolicy = DEFAULT_POLICY) -> list[Match]:
    """Return the secrets of a record; their positions are only meaningful in this module."""
    return find_masked(read_text(_read_strings(line)), policy)


def locate_in_record(line: bytes, policy: RedactionPolicy = DEFAULT_POLICY) -> list[Match]:
    """Return the secrets of a record with their positions, for `mask_record`."""
    return find_masked(read_text(_read_all(line)), policy)


def read_spans(line: bytes, spans: Iterable[tuple[int, int]]) -> list[bytes]:
    """Return the bytes at positions that `locate_in_record` returned."""
    data = _read_all(line)
    return [data[start:end] for start, end in spans]


def _read_all(line: bytes) -> bytes:
    value = _decode(line)
    return line if value is None else _flatten(value).data


def learn_record(line: bytes, redactor: Redactor) -> bool:
    """Remember the secrets of a record; return whether a rule found any."""
    return redactor.collect_secrets_in_bytes(_read_strings(line))


def contains_known(line: bytes, redactor: Redactor) -> bool:
    """Return whether a record contains a known secret, in any encoding."""
    return redactor.knows_any and redactor.contains_known(_read_strings(line))


def mask_record(line: bytes, redactor: Redactor, recorded: Sequence[Match] | None = None) -> bytes:
    """Return a line with its secrets replaced by tags; the same object if it has none.

    With `recorded`, the recorded positions of its secrets, no rule runs.
    """
    find = redactor.find if recorded is None else partial(redactor.find_recorded, recorded=recorded)
    value = _decode(line)
    if value is None:
        return _mask_in_place(line, find(line), redactor)
    flat = _flatten(value)
    matches = find(flat.data)
    if not matches:
        return line
    strings = iter(_mask_strings(flat, matches, redactor))
    return msgspec.json.encode(_rebuild(value, strings))


def _mask_in_place(line: bytes, matches: Iterable[Match], redactor: Redactor) -> bytes:
    """Mask a line that is not JSON without changing its length, so that spans stay valid."""
    pieces: list[bytes] = []
    at = 0
    for match in matches:
        length = match.end - match.start
        tag = redactor.tag(match)
        pieces += [
            line[at : match.start],
            tag.ljust(length) if len(tag) <= length else b"*" * length,
        ]
        at = match.end
    return b"".join([*pieces, line[at:]])


def _read_strings(line: bytes) -> bytes:
    """Return the strings of a record as one text; a line that is not JSON unchanged."""
    value = _decode(line)
    if value is None:
        return line
    if isinstance(value, dict):
        for name in _RECORD_IDS:
            if isinstance(value.get(name), str) and _UUID.fullmatch(value[name]):
                del value[name]
    pieces: list[str] = []
    _collect_pieces(value, "", pieces, [])
    return "".join(_drop_repeats(pieces)).encode()


def _drop_repeats(pieces: list[str]) -> list[str]:
    """Return the pieces without repeats of long texts: records contain tool output twice."""
    long = [piece for piece in pieces if len(piece) > _MAX_NAMED]
    seen = set(long)
    if len(seen) == len(long):
        return pieces
    kept: list[str] = []
    for piece in pieces:
        if len(piece) <= _MAX_NAMED:
            kept.append(piece)
        elif piece in seen:
            seen.remove(piece)
            kept.append(piece)
    return kept


def _decode(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _flatten(value: object) -> _Flat:
    texts: list[str] = []
    strings: list[int] = []
    _collect_pieces(value, "", texts, strings)
    pieces = [text.encode() for text in texts]
    ends = list(accumulate(map(len, pieces)))
    spans = [(ends[number] - len(pieces[number]), ends[number]) for number in strings]
    return _Flat(b"".join(pieces), tuple(spans))


def _collect_pieces(value: object, name: str, pieces: list[str], strings: list[int]) -> None:
    """Append strings, with separators that show which name belongs to which value.

    `strings` gets the numbers of those pieces that are strings. Into lists, because there are
    millions of values in a history.
    """
    if isinstance(value, str):
        is_named = bool(name) and len(value) <= _MAX_NAMED
        strings.append(len(pieces) + 1)
        pieces += (": '", value, "'\n") if is_named else ("\n", value, "\n")
    elif isinstance(value, dict):
        for key, each in value.items():
            if type(each) is int and key in _COUNTS:
                continue
            strings.append(len(pieces) + 1)
            pieces += "\n", key
            _collect_pieces(each, key, pieces, strings)
    elif isinstance(value, list):
        for each in value:
            _collect_pieces(each, "", pieces, strings)


def _rebuild(value: object, strings: Iterator[str]) -> object:
    """Return a value with its strings replaced, in the order in which they were collected."""
    if isinstance(value, str):
        return next(strings)
    if isinstance(value, dict):
        return {
            key if type(each) is int and key in _COUNTS else next(strings): _rebuild(each, strings)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_rebuild(each, strings) for each in value]
    return value


def _mask_strings(flat: _Flat, matches: Sequence[Match], redactor: Redactor) -> Iterator[str]:
    """Yield the strings; of a secret that spans several, each part is masked."""
    first = 0
    for start, end in flat.strings:
        while first < len(matches) and matches[first].end <= start:
            first += 1
        at, pieces = start, []
        for match in matches[first:]:
            if match.start >= end:
                break
            pieces += [flat.data[at : max(match.start, at)], redactor.tag(match)]
            at = min(match.end, end)
        yield b"".join([*pieces, flat.data[at:end]]).decode("utf-8", "replace")
