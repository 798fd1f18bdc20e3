"""Break a usage figure down into transcript lines: which were counted, which were not, and why.

The index decides what counts, so the sums always equal those of the reports; transcripts are read
again only to show the lines behind them, each with its file and offset. A deleted transcript is
explained from what the index still has.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, structs

from recollect.errors import UnreadableInput
from recollect.locations.transcript_files import TranscriptKind
from recollect.pricing import Price, Prices, split_usage
from recollect.quantities import MICRO, format_dollars
from recollect.reader.usage_reader import read_usage
from recollect.records.conversation_records import SYNTHETIC_MODEL, RelayedUsage
from recollect.records.token_usage import Usage
from recollect.store.usage_queries import LedgerEntry, Measures
from recollect.sync import LineKey, Traits, find_key, group_copies, to_micro, to_milliseconds
from recollect.usage import ledger_access, scopes, zones
from recollect.usage.totals import ClientCost, Totals, add_up


class FileLine(Struct, frozen=True):
    """A transcript line with usage; it has no cost, because only whole messages are priced."""

    offset: int
    key: LineKey
    measures: Measures
    client_cost: int | None = None
    """Cost that an old client wrote on the line."""
    agent_id: str | None = None
    """The subagent whose message it is, if the line is a progress record."""
    is_unfinished: bool = False
    """Whether more of the message followed, so that its output tokens are a placeholder."""

    @property
    def is_synthetic(self) -> bool:
        """Whether Claude Code wrote the message itself, without calling a model."""
        return self.key[2] == SYNTHETIC_MODEL


def iter_file_lines(path: Path) -> Iterator[FileLine]:
    """Iterate over the lines with usage; raises `UnreadableInput` if the file cannot be read."""
    for record in read_usage(path, completes_last=True, with_relayed=True):
        message = record.message
        if message is None:
            continue
        time, offset = to_milliseconds(record.timestamp), record.span.offset if record.span else 0
        yield FileLine(
            offset=offset,
            key=find_key(record, message),
            measures=Measures(split_usage(message.usage or Usage()), time=time),
            client_cost=to_micro(record.cost_usd),
            agent_id=record.agent_id if record.is_relayed else None,
            is_unfinished=isinstance(message, RelayedUsage) and message.stop_reason is None,
        )


class PriceUsed(Struct, frozen=True):
    """A list price, and the model name as messages have it."""

    model: str
    price: Price


def find_prices(
    messages: Iterable[tuple[str | None, Measures]], user_file: Path | None = None
) -> tuple[PriceUsed, ...]:
    """Return the distinct prices of all priced messages, sorted by model and first day."""
    days = {
        (model, datetime.fromtimestamp(measures.time / 1000, UTC).date())
        for model, measures in messages
        if model is not None and measures.cost is not None and measures.time is not None
    }
    prices = Prices.load(user_file)
    found = {
        PriceUsed(model, price)
        for model, day in sorted(days)
        if (price := prices.find(model, day)) is not None
    }
    return tuple(sorted(found, key=lambda used: (used.model, str(used.price.first_day or ""))))


Track = Callable[[Sequence[int]], Iterable[int]]
"""Wrapper around the file numbers that shows progress, as `rich.progress.track` does."""


class Status(StrEnum):
    """Whether a line was counted, or why not."""

    COUNTED = "counted"
    COPY = "copy"
    REPEAT = "repeat"
    PROGRESS = "progress"
    SYNTHETIC = "synthetic"


class Line(Struct, frozen=True, kw_only=True):
    """One line of a transcript, and whether it was counted."""

    status: Status
    file: str
    offset: int
    message_id: str
    request_id: str | None
    model: str | None
    measures: Measures
    """The counted usage; for a line that was not counted, its own usage."""
    note: str = ""
    client_cost: int | None = None
    """Cost that an old client wrote on the message."""
    is_relayed: bool = False
    """Whether it comes from a progress record in the parent's transcript."""
    has_placeholder: bool = False
    """Whether its output tokens are only those of the first chunk."""


class Explanation(Struct, frozen=True, kw_only=True):
    """All lines that contribute to a figure, or might seem to."""

    kind: scopes.ScopeKind
    name: str
    timezone: str
    lines: tuple[Line, ...]
    totals: Totals
    """Sum of the counted lines, equal to the figure in a report."""
    prices: tuple[PriceUsed, ...]
    unread: tuple[tuple[str, str], ...]
    """Paths of unreadable files with the reason; their messages come from the index."""
    client: ClientCost | None = None

    @property
    def not_counted(self) -> dict[Status, int]:
        """Return the number of lines that were not counted, by reason."""
        statuses = [line.status for line in self.lines]
        reasons = (Status.REPEAT, Status.COPY, Status.PROGRESS, Status.SYNTHETIC)
        return {reason: statuses.count(reason) for reason in reasons if reason in statuses}


def explain(
    ledger: ledger_access.UsageLedger,
    target: str,
    zone: zones.Zone,
    today: date,
    *,
    track: Track = iter,
) -> Explanation:
    """Explain the usage of a message, a session, a subagent or a day."""
    scope = scopes.find_scope(ledger, target, zone, today)
    explainer = _Explainer(ledger, scope)
    lines = [
        line for file_id in track(explainer.list_files()) for line in explainer.explain(file_id)
    ]
    counted = [line for line in lines if line.status is Status.COUNTED]
    return Explanation(
        kind=scope.kind,
        name=scope.name,
        timezone=zone.name,
        lines=tuple(lines),
        totals=add_up(map(_to_totals, counted)),
        prices=find_prices(((line.model, line.measures) for line in counted), ledger.prices),
        unread=tuple(explainer.unread),
        client=_find_client_cost(ledger, scope) or _sum_client_costs(counted),
    )


class _Explainer:
    """Explains the files of one scope."""

    def __init__(self, ledger: ledger_access.UsageLedger, scope: scopes.ExplainScope) -> None:
        self._scope = scope
        self._paths = {number: row.path for number, row in ledger.queries.files.values()}
        self._copies = {
            entry.number: copies for copies in _group_entries(scope.entries) for entry in copies
        }
        self._entries: defaultdict[int, list[LedgerEntry]] = defaultdict(list)
        for entry in scope.entries:
            if self._is_wanted(entry):
                self._entries[entry.file_id].append(entry)
        self._files = ledger.files
        self.unread: list[tuple[str, str]] = []

    def list_files(self) -> list[int]:
        """Return the files to explain, sorted by path."""
        if self._scope.kind in (scopes.ScopeKind.SESSION, scopes.ScopeKind.SUBAGENT):
            return sorted(self._scope.file_ids, key=self._paths.__getitem__)
        return sorted(self._entries, key=self._paths.__getitem__)

    def explain(self, file_id: int) -> list[Line]:
        """Explain each line of a file, in file order."""
        entries = {entry.key: entry for entry in self._entries[file_id]}
        lines: defaultdict[LineKey, list[FileLine]] = defaultdict(list)
        found: list[Line] = []
        for line in self._read(file_id):
            if line.key in entries:
                lines[line.key].append(line)
            elif line.is_synthetic and self._shows_synthetic(line):
                found.append(self._make_synthetic_line(file_id, line))
        for key, entry in entries.items():
            found += self._explain_message(entry, lines[key])
        return sorted(found, key=lambda line: line.offset)

    def _is_wanted(self, entry: LedgerEntry) -> bool:
        if self._scope.contains(entry):
            return True
        # A copy written on another day belongs to the day on which its message counts.
        if self._scope.kind is not scopes.ScopeKind.DAY or entry.is_counted:
            return False
        owner = self._find_owner(entry)
        return owner is not None and self._scope.contains(owner)

    def _find_owner(self, entry: LedgerEntry) -> LedgerEntry | None:
        """Return the counted entry of which `entry` is a copy."""
        return next((other for other in self._copies[entry.number] if other.is_counted), None)

    def _read(self, file_id: int) -> list[FileLine]:
        path = self._paths[file_id]
        try:
            return list(iter_file_lines(Path(path)))
        except UnreadableInput as error:
            is_gone = self._files[file_id].is_gone
            self.unread.append((path, "It was deleted." if is_gone else str(error)))
            return []

    def _shows_synthetic(self, line: FileLine) -> bool:
        is_message = self._scope.kind is scopes.ScopeKind.MESSAGE
        return not is_message and self._scope.contains_time(line.measures.time)

    def _make_synthetic_line(self, file_id: int, line: FileLine) -> Line:
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

    def _explain_message(self, entry: LedgerEntry, lines: Sequence[FileLine]) -> Iterator[Line]:
        whole = Line(
            status=_find_status(entry),
            file=self._paths[entry.file_id],
            offset=entry.position,
            message_id=entry.message_id,
            request_id=entry.request_id,
            model=entry.model,
            measures=entry.measures,
            note="; ".join(self._iter_notes(entry, lines)),
            client_cost=entry.client_cost,
            is_relayed=entry.is_relayed,
            # A progress record has final figures only if it has a stop reason.
            has_placeholder=entry.is_relayed and all(line.is_unfinished for line in lines),
        )
        yield whole
        for line in lines:
            if line.offset != entry.position:
                yield structs.replace(
                    whole,
                    status=Status.REPEAT,
                    offset=line.offset,
                    measures=line.measures,
                    note=f"repeats {entry.position}",
                    client_cost=line.client_cost,
                    has_placeholder=line.is_unfinished,
                )

    def _iter_notes(self, entry: LedgerEntry, lines: Sequence[FileLine]) -> Iterator[str]:
        if not entry.is_counted:
            owner = self._find_owner(entry)
            yield f"copy of {self._format_location(owner)}" if owner else "copy"
            return
        if entry.is_relayed:
            yield from _iter_relayed_notes(lines)
        if _is_client_priced(entry.measures, entry.client_cost):
            yield "no tokens: cost as recorded by the client"
        elif entry.client_cost is not None:
            yield f"cost recorded by the client: {format_dollars(entry.client_cost / MICRO, 6)}"
        for line in lines:
            if line.measures.tokens == entry.own.tokens:
                if line.offset != entry.position:
                    yield f"usage of {line.offset}"
                break
        if entry.corrected is not None:
            yield from self._iter_correction_notes(entry, entry.corrected)

    def _iter_correction_notes(self, entry: LedgerEntry, corrected: Measures) -> Iterator[str]:
        others = [other for other in self._copies[entry.number] if other is not entry]
        if corrected.tokens != entry.own.tokens:
            larger = next((o for o in others if o.own.tokens == corrected.tokens), None)
            reason = (
                f"of copy {self._format_location(larger)}"
                if larger
                else "with cache writes by lifetime"
            )
            yield f"usage {reason}"
        if corrected.time != entry.own.time:
            earlier = next((o for o in others if o.own.time == corrected.time), None)
            yield f"time of copy {self._format_location(earlier)}" if earlier else "time of a copy"

    def _format_location(self, entry: LedgerEntry) -> str:
        return f"{self._paths[entry.file_id]}:{entry.position}"


def _group_entries(entries: Iterable[LedgerEntry]) -> Iterator[list[LedgerEntry]]:
    """Group the entries of each message by the same rule as the ledger."""
    by_id: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
    for entry in entries:
        by_id[entry.message_id].append(entry)
    for message_id, same in by_id.items():
        for numbers in group_copies(message_id, [_make_traits(entry) for entry in same]):
            yield [same[number] for number in numbers]


def _make_traits(entry: LedgerEntry) -> Traits:
    own = entry.own
    return Traits(entry.file_id, entry.request_id, entry.model, own.time, own.tokens.input)


def _find_status(entry: LedgerEntry) -> Status:
    if entry.is_counted:
        return Status.COUNTED
    return Status.PROGRESS if entry.is_relayed else Status.COPY


def _iter_relayed_notes(lines: Sequence[FileLine]) -> Iterator[str]:
    agents = sorted({line.agent_id for line in lines if line.agent_id})
    yield "from agent_progress"
    yield " ".join(("transcript gone: subagent", *agents))
    if all(line.is_unfinished for line in lines):
        yield "output tokens are a placeholder"


def _is_client_priced(measures: Measures, client_cost: int | None) -> bool:
    """Whether there are no token counts, so that the cost is the one that the client wrote."""
    is_same = client_cost is not None and measures.cost == client_cost
    return is_same and not any(structs.astuple(measures.tokens))


def _to_totals(line: Line) -> Totals:
    cost, tokens = line.measures.cost, structs.astuple(line.measures.tokens)
    return Totals(
        *tokens,
        messages=1,
        cost=cost or 0,
        unpriced=int(cost is None),
        relayed=int(line.is_relayed),
        client_priced=int(_is_client_priced(line.measures, line.client_cost)),
    )


def _sum_client_costs(counted: Iterable[Line]) -> ClientCost | None:
    """Return the sum of costs that old clients wrote on messages, and ours of the same ones."""
    priced = [line for line in counted if line.client_cost is not None]
    if not priced:
        return None
    return ClientCost(
        sum(line.client_cost or 0 for line in priced),
        messages=len(priced),
        own_cost=sum(line.measures.cost or 0 for line in priced),
    )


def _find_client_cost(
    ledger: ledger_access.UsageLedger, scope: scopes.ExplainScope
) -> ClientCost | None:
    """Return the cost that Claude Code reported for a session whose transcript still exists."""
    if scope.kind is not scopes.ScopeKind.SESSION:
        return None
    rows = (ledger.files[number] for number in sorted(scope.file_ids))
    for row in rows:
        if row.kind == TranscriptKind.SESSION.value and not row.is_gone:
            return scopes.find_client_cost(Path(row.path))
    return None
