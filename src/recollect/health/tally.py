"""Records and their bytes → counts, one record at a time, in memory that does not grow with them.

The number of different names and of listed places is limited, because a broken or hostile file
can hold a new one on every line; what goes beyond the limit is still counted.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from recollect.health.drift import find_drift, find_misfit_fields
from recollect.health.naming import is_time, name_message, name_record, safe_version
from recollect.health.report import Counts, DamagedPlace, Place, RefusedFile, Report
from recollect.reader.salvage import CUT_SHORT
from recollect.records.envelope import Chain, Record
from recollect.records.irregular import Blank, Damaged, Oversized, Torn, Unknown
from recollect.records.span import Span
from recollect.records.stream.decoding import StreamMessage
from recollect.records.stream.envelope import UnknownMessage
from recollect.records.stream.system import Init
from recollect.records.system import SYSTEM_SUBTYPES, System

MOST_NAMES = 1000
"""Different names that a table holds before the rest is counted together."""

MOST_PLACES = 10_000
"""Damaged places that are listed one by one."""

OTHER_NAMES = "(other names)"
STREAM = "stream"

_POSITION = re.compile(r"\[[0-9]+\]")


class Tally:
    """Counts that grow as records are added; `report` may be asked for at any time."""

    def __init__(self) -> None:
        self.byte_count = 0
        """Bytes that came out of the files; `account` counts them a second time, by spans."""
        self._files = self._streams = self._empty_files = 0
        self._kinds: Counts = {}
        self._accounted = self._records = self._salvaged = self._blank = 0
        self._times: tuple[str, str] | None = None
        self._types: Counts = {}
        self._versions: Counts = {}
        self._unknown_types: Counts = {}
        self._unknown_fields: dict[str, Counts] = {}
        self._misfits: dict[str, Counts] = {}
        self._damaged: list[DamagedPlace] = []
        self._damaged_omitted = 0
        self._torn: list[Place] = []
        self._oversized: list[Place] = []

    def add_file(self, kind: str, *, is_stream: bool, is_empty: bool) -> None:
        """Count a file; an empty one has no bytes, or nothing but titles of other sessions."""
        self._files += 1
        self._streams += is_stream
        self._empty_files += is_empty
        count(self._kinds, STREAM if is_stream else kind)

    def account(self, span: Span) -> None:
        """Take note that the bytes of `span` were read, and of what is wrong with them."""
        self._accounted += span.length
        if span.damage:
            self._salvaged += 1
        if span.damage == CUT_SHORT:
            self._add_damaged(span, CUT_SHORT)

    def add_irregular(self, record: Record, span: Span) -> bool:
        """Count `record` if it stands for bytes that hold no JSON; tell whether it does."""
        match record:
            case Blank():
                self._blank += 1
            case Damaged():
                self._add_damaged(span, record.reason)
            case Torn():
                self._torn.append(_place(span))
            case Oversized():
                self._oversized.append(_place(span))
            case _:
                return False
        self._accounted += span.length
        return True

    def add_record(self, record: Record, line: bytes) -> None:
        """Count a record of a transcript, which was read from `line`."""
        name = name_record(record)
        self._add(name, record, line)
        if isinstance(record, Chain):
            self._add_time(record.timestamp)
            self._add_version(record.version)
        if _is_unknown(record):
            count(self._unknown_types, name)
        for field in find_misfit_fields(line, type(record)):
            count(self._table(self._misfits, name), _POSITION.sub("[]", field))

    def add_message(self, message: StreamMessage, line: bytes) -> None:
        """Count a message of a stream, which was read from `line`."""
        name = name_message(message)
        self._add(name, message, line)
        self._add_time(getattr(message, "timestamp", None))
        if isinstance(message, Init):
            self._add_version(message.claude_code_version)
        if isinstance(message, UnknownMessage):
            count(self._unknown_types, name)

    def report(self, refused: Iterable[RefusedFile] = ()) -> Report:
        """Everything counted so far, the most frequent first."""
        return Report(
            files=self._files,
            kinds=_by_count(self._kinds),
            streams=self._streams,
            empty_files=self._empty_files,
            byte_count=self.byte_count,
            accounted_bytes=self._accounted,
            records=self._records,
            salvaged=self._salvaged,
            blank=self._blank,
            oldest=self._times[0] if self._times else None,
            newest=self._times[1] if self._times else None,
            types=_by_count(self._types),
            versions=_by_count(self._versions),
            unknown_types=_by_count(self._unknown_types),
            unknown_fields=_by_total(self._unknown_fields),
            misfits=_by_total(self._misfits),
            damaged=tuple(self._damaged),
            damaged_omitted=self._damaged_omitted,
            torn=tuple(self._torn),
            oversized=tuple(self._oversized),
            refused=tuple(refused),
        )

    def _add(self, name: str, value: Struct, line: bytes) -> None:
        self._records += 1
        count(self._types, name)
        if isinstance(value, Unknown | UnknownMessage):
            return
        drift = find_drift(line, type(value))
        for kind in drift.kinds:
            count(self._unknown_types, kind)
        for field in drift.fields:
            count(self._table(self._unknown_fields, name), field)

    def _table(self, tables: dict[str, Counts], name: str) -> Counts:
        return tables.setdefault(_limited(tables, name), {})

    def _add_time(self, time: str | None) -> None:
        if time is not None and is_time(time):
            oldest, newest = self._times or (time, time)
            self._times = min(oldest, time), max(newest, time)

    def _add_version(self, version: str | None) -> None:
        if version is not None:
            count(self._versions, safe_version(version))

    def _add_damaged(self, span: Span, reason: str) -> None:
        if len(self._damaged) < MOST_PLACES:
            place = DamagedPlace(
                file=span.file, offset=span.offset, length=span.length, reason=reason
            )
            self._damaged.append(place)
        else:
            self._damaged_omitted += 1


def count(table: Counts, name: str) -> None:
    """Count `name` in `table`, under its own name as long as there are not too many of them."""
    name = _limited(table, name)
    table[name] = table.get(name, 0) + 1


def _limited(table: Mapping[str, object], name: str) -> str:
    return name if name in table or len(table) < MOST_NAMES else OTHER_NAMES


def _is_unknown(record: Record) -> bool:
    if isinstance(record, System):
        return record.subtype is not None and record.subtype not in SYSTEM_SUBTYPES
    return isinstance(record, Unknown)


def _place(span: Span) -> Place:
    return Place(file=span.file, offset=span.offset, length=span.length)


def _by_count(table: Counts) -> Counts:
    return dict(sorted(table.items(), key=lambda item: (-item[1], item[0])))


def _by_total(tables: Mapping[str, Counts]) -> dict[str, Counts]:
    totals = sorted(tables.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    return {name: _by_count(table) for name, table in totals}
