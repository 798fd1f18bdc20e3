"""Find secrets during the text pass, to record them in the index and mask the indexed texts.

A line is only scanned if a cheap prefilter on its bytes matches. All secrets in such lines are
recorded; the definite ones are masked wherever they occur in the same range.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from recollect.reader.line_blocks import LineBlock
from recollect.redact.findings import Match, RedactionPolicy
from recollect.redact.own_rules import find_own_rules
from recollect.redact.prefilter import find_suspicious_lines, prepare_scan
from recollect.redact.quick_masks import mask_words
from recollect.redact.record_lines import find_in_record, locate_in_record, mask_record
from recollect.redact.redactor import Redactor
from recollect.store.text_rows import SecretRow


class ScannedLine(Struct, frozen=True):
    """A line with its definite secrets masked, and all of its secrets, each once."""

    masked: bytes
    matches: tuple[Match, ...] = ()
    located: tuple[Match, ...] = ()
    """The definite ones wherever they are in the line, as `locate_in_record` returns them."""


class _Identity(Struct, frozen=True, rename="camel"):
    uuid: str | None = None
    timestamp: str | None = None


class SecretScanner:
    """Scans the lines of one range; secrets of earlier lines are recognised in later ones."""

    def __init__(self) -> None:
        self._policy = find_own_rules().policy
        self._redactor = Redactor(self._policy)
        self._knows_any = False

    def scan_lines(self, lines: Sequence[bytes]) -> dict[int, ScannedLine]:
        """Return the lines that contain secrets, by number."""
        joined = b"\n".join(lines)
        suspects = _find_numbers(lines, (at for at, _ in find_suspicious_lines(joined)))
        all_kinds = replace(self._policy, likely=True)
        found = {number: _find_distinct(lines[number], all_kinds) for number in suspects}
        located = {
            number: locate_in_record(lines[number], self._policy)
            for number, each in found.items()
            if any(match.is_definite for match in each)
        }
        for number, matches in located.items():
            self._redactor.add(match for match in found[number] if match.is_definite)
            self._redactor.remember(matches)
        self._knows_any |= bool(located)
        if not self._knows_any:
            return {
                number: ScannedLine(lines[number], each) for number, each in found.items() if each
            }
        known = _find_numbers(lines, self._redactor.find_known(joined))
        return {
            number: self._mask(lines[number], found.get(number, ()), located.get(number))
            for number in suspects | known
        }

    def _mask(
        self, line: bytes, matches: tuple[Match, ...], located: list[Match] | None
    ) -> ScannedLine:
        masked = mask_record(line, self._redactor, located)
        return ScannedLine(masked, matches, tuple(located or ()))


def _find_numbers(lines: Sequence[bytes], places: Iterable[int]) -> set[int]:
    """Return the numbers of the lines that contain these places of the joined lines."""
    found = tuple(places)
    if not found:
        return set()
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    return {bisect_right(starts, at) - 1 for at in found}


_SAMPLE: Final = b'{"text": "API_KEY=Zk3vQ9xWb7Lm2Rt8Yc5N token-a1b2c3d4e5f6g7h8i9j0 --auth v1.2"}'
"""A made-up text that exercises the rules that nearly every history needs."""


def load_rules() -> None:
    """Compile the rules in advance, because that takes some time."""
    prepare_scan()
    find_suspicious_lines(_SAMPLE)
    find_in_record(_SAMPLE)


def _find_distinct(line: bytes, policy: RedactionPolicy) -> tuple[Match, ...]:
    found = find_in_record(line, policy)
    matches = {(match.kind, match.value): match for match in reversed(found)}
    return tuple(reversed(matches.values()))


def make_rows(scanned: ScannedLine, line: bytes, position: int, length: int) -> Iterator[SecretRow]:
    """Yield the rows for the secrets of a line."""
    identity = _read_identity(line)
    spans = _list_spans(scanned.located)
    for match in scanned.matches:
        yield SecretRow(
            position=position,
            length=length,
            kind=match.kind,
            is_definite=match.is_definite,
            value=match.value,
            uuid=identity.uuid and mask_words(identity.uuid),
            timestamp=identity.timestamp and mask_words(identity.timestamp),
            spans=spans.get((match.kind, match.value), ()),
        )


def _list_spans(located: Iterable[Match]) -> dict[tuple[str, bytes], tuple[int, ...]]:
    """Return the spans of each secret."""
    spans: dict[tuple[str, bytes], tuple[int, ...]] = {}
    for match in located:
        key = match.kind, match.value
        spans[key] = (*spans.get(key, ()), match.start, match.end)
    return spans


def _read_identity(line: bytes) -> _Identity:
    try:
        return msgspec.json.decode(line, type=_Identity)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _Identity()


def mask_lines(_file: str, block: LineBlock) -> Mapping[int, bytes]:
    """Return the lines of a block with definite secrets masked; a mask for a decoder."""
    found = {}
    redactor = Redactor(find_own_rules().policy)
    for start, end in find_suspicious_lines(block.data):
        line = block.data[start:end]
        masked = mask_record(line, redactor)
        if masked != line:
            found[start] = masked
    return found
