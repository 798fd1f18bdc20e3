"""Secrets in lines of JSON: find them in a record, and mask them in its strings.

All strings of a record are scanned as one text, each with the name of its field, because a name may
say `password` and a secret may be split into `name` and `value`. A line that is not JSON is scanned
as it is.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from recollect.redact.findings import Match
from recollect.redact.plain_view import read_text
from recollect.redact.policy import find_masked
from recollect.redact.redaction_policy import DEFAULT_POLICY, RedactionPolicy
from recollect.redact.redactor import Redactor

_MAX_NAMED: Final = 400
"""Longer strings are texts; what they are called does not make them secret."""


class _Flat(NamedTuple):
    """The strings of a record as one text."""

    data: bytes
    strings: tuple[tuple[int, int], ...]
    """The span of each string that may be masked, in the order of the record."""


def find_in_record(line: bytes, policy: RedactionPolicy = DEFAULT_POLICY) -> list[Match]:
    """Return the secrets of a record; their positions are of no use outside this module."""
    return find_masked(read_text(_read_strings(line)), policy)


def learn_record(line: bytes, redactor: Redactor) -> bool:
    """Remember the secrets of a record; return whether a rule found any."""
    return redactor.learn_bytes(_read_strings(line))


def holds_known(line: bytes, redactor: Redactor) -> bool:
    """Return whether a record holds a secret that was found before, in any encoding."""
    return redactor.is_aware and redactor.holds_known(_read_strings(line))


def mask_record(line: bytes, redactor: Redactor) -> bytes:
    """Return a line with tags in the place of secrets; the same line if it has none."""
    value = _decode(line)
    if value is None:
        return _mask_in_place(line, redactor)
    flat = _flatten(value)
    matches = redactor.find(flat.data)
    if not matches:
        return line
    strings = iter(_mask_strings(flat, matches, redactor))
    return msgspec.json.encode(_rebuild(value, strings))


def _mask_in_place(line: bytes, redactor: Redactor) -> bytes:
    """Mask a line that is not JSON without changing its length: its parts have positions."""
    pieces: list[bytes] = []
    at = 0
    for match in redactor.find(line):
        length = match.end - match.start
        tag = redactor.tag(match)
        pieces += [
            line[at : match.start],
            tag.ljust(length) if len(tag) <= length else b"*" * length,
        ]
        at = match.end
    return b"".join([*pieces, line[at:]])


def _read_strings(line: bytes) -> bytes:
    """Return the strings of a record as one text; a line that is not JSON as it is."""
    value = _decode(line)
    return line if value is None else _flatten(value).data


def _decode(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _flatten(value: object) -> _Flat:
    pieces: list[bytes] = []
    spans: list[tuple[int, int]] = []
    at = 0
    for text, is_string in _iter_pieces(value, ""):
        piece = text.encode()
        if is_string:
            spans.append((at, at + len(piece)))
        pieces.append(piece)
        at += len(piece)
    return _Flat(b"".join(pieces), tuple(spans))


def _iter_pieces(value: object, name: str) -> Iterator[tuple[str, bool]]:
    """Yield strings, and between them what shows which name belongs to which value."""
    if isinstance(value, str):
        is_named = bool(name) and len(value) <= _MAX_NAMED
        yield (": '" if is_named else "\n"), False
        yield value, True
        yield ("'\n" if is_named else "\n"), False
    elif isinstance(value, dict):
        for key, each in value.items():
            yield "\n", False
            yield key, True
            yield from _iter_pieces(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _iter_pieces(each, "")


def _rebuild(value: object, strings: Iterator[str]) -> object:
    """Return a value with its strings replaced, in the order in which they were yielded."""
    if isinstance(value, str):
        return next(strings)
    if isinstance(value, dict):
        return {next(strings): _rebuild(each, strings) for each in value.values()}
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
