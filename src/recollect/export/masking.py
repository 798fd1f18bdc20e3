"""The stage that every export passes through: records are masked while they are decoded, texts are
masked, and the output is scanned.

Half of a key is not recognised, so a text must be complete when it is masked. Lines are scanned
when they are read for the first time; other processes scan a long transcript at the same time. They
are masked when they are read again, if they contain a secret, even one that was found in another
line.

Records are masked when a session is opened for an export: `Exporter.open_masked`. The views of a
session are masked too, for personal data, which is not masked in records, and for files beside the
session.

All turns are scanned before the first one is written, because a value may be recognisable only in a
later turn, or in one that is not exported at all. The output is scanned once more. A secret that is
found only there, in an id or where markup has joined two texts, is masked in the output.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import Enum
from functools import cache
from typing import Any, Final, TypeVar, cast

from msgspec import Struct, msgpack
from msgspec.structs import replace

from recollect.documents.turn_documents import Fields, Picture
from recollect.errors import RecollectError
from recollect.reader import line_blocks
from recollect.redact.findings import Match, RedactionPolicy
from recollect.redact.record_lines import contains_known, find_in_record, learn_record, mask_record
from recollect.redact.redactor import Redactor
from recollect.sources.safe_files import open_file
from recollect.worker_processes import WorkerPool, count_cores

_RANGE_BYTES: Final = 1 << 20
"""Number of bytes of a file that a worker scans at a time."""


class ScanRange(Struct, frozen=True):
    """A range of bytes in a file."""

    file: str
    start: int
    stop: int
    size: int
    """Size of the whole file."""


class ScannedLines(Struct, frozen=True, array_like=True):
    """The secrets of a range of lines."""

    end: int
    """Where the last of these lines ends."""
    matches: dict[int, list[Match]]
    """The secrets of each line, by its offset."""


class RecordMask:
    """The lines of one export that contain secrets; usable as the mask of a decoder."""

    def __init__(self, redactor: Redactor) -> None:
        """Start without secrets; those found are remembered in `redactor`."""
        # Paths in records are used to find files, so personal data is masked in the views instead.
        self._redactor = redactor.without_personal_data()
        self._ends: dict[str, int] = {}
        """The end of the lines that have been scanned, by file."""
        self._secret_lines: dict[str, set[int]] = {}
        self._finish: Callable[[], None] | None = None

    @property
    def is_needed(self) -> bool:
        """Return whether any line so far contains a secret."""
        return bool(self._secret_lines) or self._redactor.knows_any

    @contextmanager
    def scan_in_background(self, files: Iterable[str]) -> Iterator[None]:
        """Scan files on all cores but one until the block calls `finish_scan`."""
        policy = self._redactor.policy
        # Compiles the rules once for all processes.
        find_in_record(b"", policy)
        ranges = [file_range for file in files for file_range in _cut_file(file)]

        def scan(number: int) -> bytes:
            return msgpack.encode(scan_range(ranges[number], policy))

        with ExitStack() as stack:
            pool = stack.enter_context(
                WorkerPool(
                    scan,
                    len(ranges),
                    in_flight=len(ranges),
                    # The work in the block takes longer than the scan, and needs one core.
                    workers=max(count_cores() - 1, 1),
                )
            )

            def finish() -> None:
                results = dict(pool.collect())
                stack.close()
                for number, file_range in enumerate(ranges):
                    self._add(file_range.file, msgpack.decode(results[number], type=ScannedLines))

            self._finish = finish
            stack.callback(setattr, self, "_finish", None)
            yield

    def finish_scan(self, files: Iterable[str]) -> None:
        """Wait for the scan in the background, then scan anything added to these files since."""
        if self._finish is not None:
            self._finish()
        self.scan(files)

    def scan(self, files: Iterable[str]) -> None:
        """Scan files in this process: a server must not start processes for a request."""
        for file in files:
            for file_range in _cut_file(file, self._ends.get(file, 0)):
                self._add(file, scan_range(file_range, self._redactor.policy))

    def _add(self, file: str, scanned: ScannedLines) -> None:
        for offset, matches in scanned.matches.items():
            self._redactor.remember(matches)
            self._secret_lines.setdefault(file, set()).add(offset)
        self._ends[file] = scanned.end

    def collect_secrets(self, file: str, block: line_blocks.LineBlock) -> Mapping[int, bytes]:
        """Remember the secrets of lines without replacing them."""
        if block.offset < line_blocks.NOWHERE and block.offset + len(block.data) > self._ends.get(
            file, 0
        ):
            for start, end in _iter_lines(block.data):
                self._learn_line(file, block.offset + start, block.data[start:end])
        return {}

    def __call__(self, file: str, block: line_blocks.LineBlock) -> Mapping[int, bytes]:
        """Return the lines of a block that contain secrets, with tags in place of the secrets."""
        self.collect_secrets(file, block)
        secret_lines = self._secret_lines.get(file, set())
        masked = {}
        for start, end in _iter_lines(block.data):
            line = block.data[start:end]
            has_secret = block.offset >= line_blocks.NOWHERE or block.offset + start in secret_lines
            if has_secret or contains_known(line, self._redactor):
                masked[start] = mask_record(line.rstrip(b"\r\n"), self._redactor)
        return masked

    def _learn_line(self, file: str, offset: int, line: bytes) -> None:
        """Scan a line, unless it was scanned when the file was read before."""
        known_end = self._ends.get(file, 0)
        if offset < known_end:
            return
        if offset == known_end and line.endswith(b"\n"):
            # Not for single lines, or for lines that are still being written.
            self._ends[file] = offset + len(line)
        if learn_record(line, self._redactor):
            self._secret_lines.setdefault(file, set()).add(offset)


def _cut_file(file: str, start: int = 0) -> Iterator[ScanRange]:
    """Yield ranges of about equal length, starting at `start`."""
    with open_file(file) as opened:
        size = opened.find_status().st_size
    for begin in range(start, size, _RANGE_BYTES):
        yield ScanRange(file, begin, min(begin + _RANGE_BYTES, size), size)


def scan_range(file_range: ScanRange, policy: RedactionPolicy) -> ScannedLines:
    """Scan the lines of a range; a line that crosses its end belongs to the next range."""
    matches: dict[int, list[Match]] = {}
    with open_file(file_range.file) as file:
        end = line_blocks.seek_line_start(file, file_range.stop)
        splitter = line_blocks.BlockSplitter(line_blocks.seek_line_start(file, file_range.start))
        is_last = file_range.stop == file_range.size
        blocks = [
            block
            for piece in line_blocks.iter_pieces(file, file_range.size if is_last else end)
            for block in splitter.feed(piece)
        ]
        # The last line may be unfinished, so it is scanned again when it is complete.
        for block in (*blocks, splitter.finish()):
            if isinstance(block, line_blocks.LineBlock):
                matches |= _find_secrets(block, policy)
    return ScannedLines(end, matches)


def _find_secrets(block: line_blocks.LineBlock, policy: RedactionPolicy) -> dict[int, list[Match]]:
    found = (
        (block.offset + start, find_in_record(block.data[start:end], policy))
        for start, end in _iter_lines(block.data)
    )
    return {offset: matches for offset, matches in found if matches}


def _iter_lines(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start of each line, and its end including the line end."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield start, end
        start = end


T = TypeVar("T", bound=Struct)

SEPARATOR: Final = "\n\n"
"""Put between the texts of a document, as between two paragraphs."""
_TAG: Final = re.compile(r"\[redacted:([a-z0-9-]+)#\d+\\?\]")
_SPAN: Final = re.compile(r"</?span[^>]*>")
"""What highlighting may put between the characters of a tag."""
_LINE_BREAK: Final = re.compile(r"\n[ |│]*")
"""The same for wrapped lines."""
_IDS: Final = frozenset(
    "uuid uuids message_id call_id result_uuid timestamp start end agent_id media_type".split()
)
"""Fields that are not scanned as texts; the second scan covers them."""


class Mask:
    """Masks the secrets of one export; without a policy nothing is masked."""

    def __init__(self, policy: RedactionPolicy | None, *, is_wrapped: bool = False) -> None:
        """Start with nothing masked.

        With `is_wrapped`, lines of the output are wrapped, and part of an id may look like a token.
        All texts are scanned before that, so likely secrets are not searched for again.
        """
        self._redactor = Redactor(policy) if policy is not None else None
        self._last = self._redactor
        """Scans the output."""
        if self._redactor is not None and is_wrapped:
            self._last = self._redactor.without_likely()
        self._markup = _LINE_BREAK if is_wrapped else _SPAN
        self.record_mask = RecordMask(self._redactor) if self._redactor is not None else None
        """Masks records while they are decoded."""
        self.hides_persons = policy is not None and policy != policy.for_records
        """Whether to mask personal data, which is not masked in records."""
        self._written: Counter[str] = Counter()

    @property
    def is_on(self) -> bool:
        """Return whether anything is masked at all."""
        return self._redactor is not None

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how many places are masked in the checked output, by kind."""
        return self._written

    def collect_secrets(self, document: Struct) -> bool:
        """Remember the secrets of a document; return whether it contains any."""
        if self._redactor is None:
            return False
        return bool(self._redactor.collect_secrets(join_texts(document)))

    def apply(self, document: T, *, is_clean: bool = False) -> T:
        """Return a document with its texts masked; a clean one has no secrets itself."""
        redactor = self._redactor
        if redactor is None:
            return document
        if is_clean and not (redactor.knows_any and redactor.has_known(join_texts(document))):
            return document
        return _mask_struct(document, redactor)

    def text(self, text: str) -> str:
        """Mask a text."""
        return text if self._redactor is None else self._redactor.redact(text)

    def check(self, written: str) -> str:
        """Scan output before it is written, and return it with any secrets masked."""
        redactor, masked = self._last, written
        if redactor is not None and not self.is_clean(written):
            masked = redactor.redact(written)
            if not self.is_clean(masked):
                raise RecollectError("A secret could not be masked. Nothing was written.")
        self.count(self.find_tags(masked))
        return masked

    def is_clean(self, written: str) -> bool:
        """Return whether output contains no secret."""
        return self._last is None or not self._last.verify(written)

    def find_tags(self, written: str) -> dict[str, int]:
        """Return how many places are masked in some output, by kind."""
        if self._redactor is None or not self._redactor.counts:
            return {}
        # Between the characters of a tag.
        return dict(Counter(_TAG.findall(self._markup.sub("", written))))

    def count(self, tags: Mapping[str, int]) -> None:
        """Add to the number of masked places in the output."""
        self._written.update(tags)


def join_texts(document: Struct) -> str:
    """Return all texts of a document joined, to scan them at once."""
    return SEPARATOR.join(list_texts(document))


def list_texts(value: object) -> list[str]:
    """Return the texts of a document, with each name joined to its value."""
    found: list[str] = []
    _collect(value, found)
    return found


def _collect(value: object, found: list[str]) -> None:
    # Checks exact types and fills one list, because a long session has a million values.
    kind = type(value)
    if kind is str:
        if value:
            found.append(cast(str, value))
    elif kind is tuple:
        for each in cast(tuple[object, ...], value):
            _collect(each, found)
    elif kind is Fields:
        found += [_join_field(name, text) for name, text in cast(Fields, value).fields]
    elif isinstance(value, Struct):
        for name in _find_fields(cast(Any, kind)):
            _collect(getattr(value, name), found)


@cache
def _find_fields(kind: Any) -> tuple[str, ...]:
    """Return the fields to scan in a class of documents."""
    return tuple(name for name in kind.__struct_fields__ if name not in _IDS)


def _mask_value(value: Any, redactor: Redactor) -> Any:
    match value:
        case str():
            return value if isinstance(value, Enum) or not value else redactor.redact(value)
        case Struct():
            return _mask_struct(value, redactor)
        case tuple():
            return tuple([_mask_value(each, redactor) for each in value])
    return value


def _mask_struct(document: T, redactor: Redactor) -> T:
    if isinstance(document, Fields):
        return replace(document, fields=tuple(_mask_fields(document.fields, redactor)))
    if isinstance(document, Picture) and redactor.verify(document.data):
        # A masked image is no longer an image, and data that looks like one may be text in base64.
        document = replace(document, data="")
    changed = {}
    for name in document.__struct_fields__:
        if name in _IDS:
            continue
        value = getattr(document, name)
        masked = _mask_value(value, redactor)
        if masked != value:
            changed[name] = masked
    return replace(document, **changed) if changed else document


def _mask_fields(
    fields: Iterable[tuple[str, str]], redactor: Redactor
) -> Iterator[tuple[str, str]]:
    for name, value in fields:
        joined = _join_field(name, value)
        masked = redactor.redact(joined)
        if masked == joined:
            yield name, value
            continue
        start = _join_field(name, "")
        is_in_value = masked.startswith(start)
        yield (name, masked.removeprefix(start)) if is_in_value else ("", masked)


def _join_field(name: str, value: str) -> str:
    """Return a named value as an assignment, because the name shows that the value is a secret."""
    return f"{name}: {value}"
