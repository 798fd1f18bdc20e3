"""Count records one at a time, in constant memory.

The number of distinct names and of listed damaged regions is limited, because a broken or hostile
file may have a new one on every line. Everything beyond the limit is still counted.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from recollect.documents import health_report
from recollect.health import drift
from recollect.reader.transcript_reader import CUT_SHORT
from recollect.records import envelope
from recollect.records.stream import message_decoding, stream_messages, system_messages
from recollect.records.system_records import SYSTEM_SUBTYPES, System

MAX_NAMES = 1000
"""Maximum number of distinct names in a table; others are counted together."""

MAX_DAMAGED = 10_000
"""Maximum number of damaged regions that are listed."""

OTHER_NAMES = "(other names)"
STREAM = "stream"

_POSITION = re.compile(r"\[[0-9]+\]")


class RecordCounter:
    """Counts records as they are added; `report` may be called at any time."""

    def __init__(self) -> None:
        self.byte_count = 0
        """Bytes read from the files; `add_span` counts them independently, by span."""
        self._files = self._streams = self._empty_files = 0
        self._kinds: health_report.Counts = {}
        self._accounted = self._records = self._salvaged = self._blank = 0
        self._times: tuple[str, str] | None = None
        self._types: health_report.Counts = {}
        self._versions: health_report.Counts = {}
        self._unknown_types: health_report.Counts = {}
        self._unknown_fields: dict[str, health_report.Counts] = {}
        self._misfits: dict[str, health_report.Counts] = {}
        self._damaged: list[health_report.DamagedRange] = []
        self._damaged_omitted = 0
        self._torn: list[health_report.FileLocation] = []
        self._oversized: list[health_report.FileLocation] = []

    def add_file(self, kind: str, *, is_stream: bool, is_empty: bool) -> None:
        """Count a file; an empty one has no bytes, or only titles of other sessions."""
        self._files += 1
        self._streams += is_stream
        self._empty_files += is_empty
        count(self._kinds, STREAM if is_stream else kind)

    def add_span(self, span: envelope.Span) -> None:
        """Count the bytes of `span`, and its damage if it has any."""
        self._accounted += span.length
        if span.damage:
            self._salvaged += 1
        if span.damage == CUT_SHORT:
            self._add_damaged(span, CUT_SHORT)

    def add_irregular(self, record: envelope.Record, span: envelope.Span) -> bool:
        """Count `record` and return True if it is not JSON: blank, damaged, torn or oversized."""
        match record:
            case envelope.Blank():
                self._blank += 1
            case envelope.Damaged():
                self._add_damaged(span, record.reason)
            case envelope.Torn():
                self._torn.append(_locate(span))
            case envelope.Oversized():
                self._oversized.append(_locate(span))
            case _:
                return False
        self._accounted += span.length
        return True

    def add_record(self, record: envelope.Record, line: bytes) -> None:
        """Count a transcript record that was decoded from `line`."""
        name = drift.name_record(record)
        self._add(name, record, line)
        if isinstance(record, envelope.Chain):
            self._add_time(record.timestamp)
            self._add_version(record.version)
        if _is_unknown(record):
            count(self._unknown_types, name)
        for field in drift.find_misfit_fields(line, type(record)):
            count(self._table(self._misfits, name), _POSITION.sub("[]", field))

    def add_message(self, message: message_decoding.StreamMessage, line: bytes) -> None:
        """Count a stream message that was decoded from `line`."""
        name = drift.name_message(message)
        self._add(name, message, line)
        self._add_time(getattr(message, "timestamp", None))
        if isinstance(message, system_messages.Init):
            self._add_version(message.claude_code_version)
        if isinstance(message, stream_messages.UnknownMessage):
            count(self._unknown_types, name)

    def report(
        self, refused: Iterable[health_report.RefusedFile] = ()
    ) -> health_report.HealthReport:
        """Return everything counted so far, the most frequent first."""
        return health_report.HealthReport(
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
        if isinstance(value, envelope.Unknown | stream_messages.UnknownMessage):
            return
        found = drift.find_drift(line, type(value))
        for kind in found.kinds:
            count(self._unknown_types, kind)
        for field in found.fields:
            count(self._table(self._unknown_fields, name), field)

    def _table(self, tables: dict[str, health_report.Counts], name: str) -> health_report.Counts:
        return tables.setdefault(_limit_name(tables, name), {})

    def _add_time(self, time: str | None) -> None:
        if time is not None and drift.is_time(time):
            oldest, newest = self._times or (time, time)
            self._times = min(oldest, time), max(newest, time)

    def _add_version(self, version: str | None) -> None:
        if version is not None:
            count(self._versions, drift.safe_version(version))

    def _add_damaged(self, span: envelope.Span, reason: str) -> None:
        if len(self._damaged) < MAX_DAMAGED:
            self._damaged.append(
                health_report.DamagedRange(
                    file=span.file, offset=span.offset, length=span.length, reason=reason
                )
            )
        else:
            self._damaged_omitted += 1


def count(table: health_report.Counts, name: str) -> None:
    """Count `name` in `table`, or `OTHER_NAMES` if the table is full."""
    name = _limit_name(table, name)
    table[name] = table.get(name, 0) + 1


def _limit_name(table: Mapping[str, object], name: str) -> str:
    return name if name in table or len(table) < MAX_NAMES else OTHER_NAMES


def _is_unknown(record: envelope.Record) -> bool:
    if isinstance(record, System):
        return record.subtype is not None and record.subtype not in SYSTEM_SUBTYPES
    return isinstance(record, envelope.Unknown) and not isinstance(record, envelope.StreamLine)


def _locate(span: envelope.Span) -> health_report.FileLocation:
    return health_report.FileLocation(file=span.file, offset=span.offset, length=span.length)


def _by_count(table: health_report.Counts) -> health_report.Counts:
    return dict(sorted(table.items(), key=lambda item: (-item[1], item[0])))


def _by_total(tables: Mapping[str, health_report.Counts]) -> dict[str, health_report.Counts]:
    totals = sorted(tables.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    return {name: _by_count(table) for name, table in totals}
