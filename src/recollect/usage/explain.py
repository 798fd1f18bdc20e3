"""A figure taken apart: what was counted, what was not, and why.

The index says what counts; the files are read again to show the lines behind it. So the sums are
those of the reports, and every line can be looked up by its file and offset. A file that is gone
is explained by what the index kept of it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import astuple, replace

from recollect.errors import UnreadableInput
from recollect.locations.transcript_files import TranscriptKind
from recollect.store.usage_queries import Entry, Measures
from recollect.sync.rows import LineKey
from recollect.usage.client_costs import ClientCost, find_client_cost
from recollect.usage.file_lines import FileLine, iter_file_lines
from recollect.usage.loading import Books
from recollect.usage.prices_used import PriceUsed, find_prices
from recollect.usage.scopes import Scope, ScopeKind, find_scope
from recollect.usage.totals import Totals, add_up
from recollect.usage.zones import Zone

Track = Callable[[Sequence[int]], Iterable[int]]


class Status(StrEnum):
    """What a line is to the count."""

    COUNTED = "counted"
    COPY = "copy"
    REPEAT = "repeat"
    SYNTHETIC = "synthetic"


class Line(Struct, frozen=True, kw_only=True):
    """One line of a transcript, and what became of it."""

    status: Status
    file: str
    offset: int
    message_id: str
    request_id: str | None
    model: str | None
    measures: Measures
    """What was counted; of a line that was not, what it says itself."""
    note: str = ""


class Explanation(Struct, frozen=True, kw_only=True):
    """All lines that have to do with a figure."""

    kind: ScopeKind
    name: str
    timezone: str
    lines: tuple[Line, ...]
    totals: Totals
    """The counted lines added up: what a report says."""
    prices: tuple[PriceUsed, ...]
    unread: tuple[tuple[str, str], ...]
    """Files whose lines could not be shown, and why; what the index knows of them is."""
    client: ClientCost | None = None

    @property
    def not_counted(self) -> dict[Status, int]:
        """How many lines did not count, by the reason."""
        statuses = [line.status for line in self.lines]
        reasons = (Status.REPEAT, Status.COPY, Status.SYNTHETIC)
        return {reason: statuses.count(reason) for reason in reasons if reason in statuses}


def explain(
    books: Books, target: str, zone: Zone, today: date, *, track: Track = iter
) -> Explanation:
    """What the figures of a message, a session, a subagent or a day are made of."""
    scope = find_scope(books, target, zone, today)
    inquiry = _Inquiry(books, scope)
    lines = [line for file_id in track(inquiry.list_files()) for line in inquiry.explain(file_id)]
    counted = [line for line in lines if line.status is Status.COUNTED]
    return Explanation(
        kind=scope.kind,
        name=scope.name,
        timezone=zone.name,
        lines=tuple(lines),
        totals=add_up(_to_totals(line.measures) for line in counted),
        prices=find_prices(((line.model, line.measures) for line in counted), books.prices),
        unread=tuple(inquiry.unread),
        client=_find_client_cost(books, scope),
    )


class _Inquiry:
    """Goes through the files of one scope."""

    def __init__(self, books: Books, scope: Scope) -> None:
        self._scope = scope
        self._paths = {number: row.path for number, row in books.ledger.files.values()}
        self._same: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in scope.entries:
            self._same[entry.message_id].append(entry)
        self._entries: defaultdict[int, list[Entry]] = defaultdict(list)
        for entry in scope.entries:
            if self._is_wanted(entry):
                self._entries[entry.file_id].append(entry)
        self._files = books.files
        self.unread: list[tuple[str, str]] = []

    def list_files(self) -> list[int]:
        """The files to explain, in the order of their paths."""
        if self._scope.kind in (ScopeKind.SESSION, ScopeKind.SUBAGENT):
            return sorted(self._scope.file_ids, key=self._paths.__getitem__)
        return sorted(self._entries, key=self._paths.__getitem__)

    def explain(self, file_id: int) -> list[Line]:
        """What became of each line of a file, in its order."""
        entries = {entry.key: entry for entry in self._entries[file_id]}
        lines: defaultdict[LineKey, list[FileLine]] = defaultdict(list)
        found: list[Line] = []
        for line in self._read(file_id):
            if line.key in entries:
                lines[line.key].append(line)
            elif line.is_synthetic and self._shows_synthetic(line):
                found.append(self._tell_synthetic(file_id, line))
        for key, entry in entries.items():
            found += self._explain_message(entry, lines[key])
        return sorted(found, key=lambda line: line.offset)

    def _is_wanted(self, entry: Entry) -> bool:
        if self._scope.holds(entry):
            return True
        # A copy of another day belongs to the day on which its message counts.
        if self._scope.kind is not ScopeKind.DAY or entry.is_counted:
            return False
        owner = self._find_owner(entry)
        return owner is not None and self._scope.holds(owner)

    def _find_owner(self, entry: Entry) -> Entry | None:
        """The row that counts for a copy; of several by that id, the one it has most in common."""
        counted = [other for other in self._same[entry.message_id] if other.is_counted]
        return max(counted, key=lambda other: _likeness(entry, other), default=None)

    def _read(self, file_id: int) -> list[FileLine]:
        path = self._paths[file_id]
        try:
            return list(iter_file_lines(Path(path)))
        except UnreadableInput as error:
            is_gone = self._files[file_id].is_gone
            self.unread.append((path, "It is gone." if is_gone else str(error)))
            return []

    def _shows_synthetic(self, line: FileLine) -> bool:
        is_asked = self._scope.kind is not ScopeKind.MESSAGE
        return is_asked and self._scope.holds_time(line.measures.time)

    def _tell_synthetic(self, file_id: int, line: FileLine) -> Line:
        return Line(
            status=Status.SYNTHETIC,
            file=self._paths[file_id],
            offset=line.offset,
            message_id=line.key[0],
            request_id=line.key[1],
            model=line.key[2],
            measures=line.measures,
            note="written by the client itself",
        )

    def _explain_message(self, entry: Entry, lines: Sequence[FileLine]) -> Iterator[Line]:
        whole = Line(
            status=Status.COUNTED if entry.is_counted else Status.COPY,
            file=self._paths[entry.file_id],
            offset=entry.position,
            message_id=entry.message_id,
            request_id=entry.request_id,
            model=entry.model,
            measures=entry.measures,
            note="; ".join(self._remark(entry, lines)),
        )
        yield whole
        for line in lines:
            if line.offset != entry.position:
                yield replace(
                    whole,
                    status=Status.REPEAT,
                    offset=line.offset,
                    measures=line.measures,
                    note=f"repeats {entry.position}",
                )

    def _remark(self, entry: Entry, lines: Sequence[FileLine]) -> Iterator[str]:
        if not entry.is_counted:
            owner = self._find_owner(entry)
            yield f"copy of {self._place(owner)}" if owner else "copy"
            return
        for line in lines:
            if line.measures.tokens == entry.own.tokens:
                if line.offset != entry.position:
                    yield f"usage of {line.offset}"
                break
        if entry.corrected is not None:
            yield from self._remark_correction(entry, entry.corrected)

    def _remark_correction(self, entry: Entry, corrected: Measures) -> Iterator[str]:
        others = [other for other in self._same[entry.message_id] if other is not entry]
        if corrected.tokens != entry.own.tokens:
            larger = next((o for o in others if o.own.tokens == corrected.tokens), None)
            reason = f"of copy {self._place(larger)}" if larger else "with cache writes by lifetime"
            yield f"usage {reason}"
        if corrected.time != entry.own.time:
            earlier = next((o for o in others if o.own.time == corrected.time), None)
            yield f"time of copy {self._place(earlier)}" if earlier else "time of a copy"

    def _place(self, entry: Entry) -> str:
        return f"{self._paths[entry.file_id]}:{entry.position}"


def _likeness(entry: Entry, other: Entry) -> tuple[bool, bool, bool]:
    return (
        entry.request_id == other.request_id,
        entry.model == other.model,
        entry.own.input == other.own.input,
    )


def _to_totals(measures: Measures) -> Totals:
    cost = measures.cost
    tokens = astuple(measures.tokens)
    return Totals(*tokens, messages=1, cost=cost or 0, unpriced=int(cost is None))


def _find_client_cost(books: Books, scope: Scope) -> ClientCost | None:
    """The client's own figure for a session whose transcript can still be read."""
    if scope.kind is not ScopeKind.SESSION:
        return None
    rows = (books.files[number] for number in sorted(scope.file_ids))
    for row in rows:
        if row.kind == TranscriptKind.SESSION.value and not row.is_gone:
            return find_client_cost(Path(row.path))
    return None
