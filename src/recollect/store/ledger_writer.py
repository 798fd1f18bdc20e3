"""Write the usage ledger: files, messages, whether each counts, and totals.

A sync passes the changes of files and their extracted messages, which are written in bounded
transactions; the index is consistent after each of them. A `CountingRule` decides which copy of a
message counts, and its cost. Before the totals of a file change, they are checked against its
messages, so that disk damage is detected rather than added up.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from recollect.sources.source import is_present
from recollect.store import catalog, database, ledger_rows
from recollect.store.data_directory import DATA_VERSION, Lock, name_version
from recollect.store.ledger_rows import Copy, Counted, MessageRow
from recollect.store.schema import DamagedIndex, load_checksums, read_meta, write_meta

T = TypeVar("T")

_NAMED = MessageRow.__struct_fields__[-7:]
"""The fields that are stored as numbers of names, because their texts repeat."""
_PLAIN = len(MessageRow.__struct_fields__) - len(_NAMED)
_FLAGS = [
    index for index, name in enumerate(MessageRow.__struct_fields__) if name.startswith("is_")
]


_get_message_id = itemgetter(ledger_rows.MESSAGE_COLUMNS.index("message_id"))
_get_request = itemgetter(*map(ledger_rows.MESSAGE_COLUMNS.index, ("message_id", "request_id")))


def to_values(
    row: MessageRow, number: int, file_id: int, names: catalog.Names
) -> ledger_rows.MessageValues:
    """Return a row as it is stored; it counts until it turns out to be a copy."""
    numbers = names.numbers
    return (
        number,
        file_id,
        *msgspec.structs.astuple(row)[:_PLAIN],
        numbers[row.model],
        numbers[row.branch],
        numbers[row.version],
        numbers[row.entrypoint],
        numbers[row.cwd],
        numbers[row.tools],
        numbers[row.terms],
        True,
    )


def from_stored(stored: ledger_rows.StoredMessage, names: catalog.Names) -> MessageRow:
    """Reverse `to_values`; raises `DamagedIndex` for invalid values."""
    fields: list[Any] = [*stored[2:-1]]
    fields[_PLAIN:] = map(names.text, fields[_PLAIN:])
    for index in _FLAGS:
        fields[index] = bool(fields[index])
    try:
        return msgspec.convert(fields, MessageRow)
    except msgspec.ValidationError as error:
        raise DamagedIndex(f"Row {stored.id} of the index is not a message: {error}.") from error


def to_correction(
    number: int, row: MessageRow, counted: Counted, names: catalog.Names
) -> ledger_rows.Correction | None:
    """Return the figures that count instead of the row's own; None if they are the same."""
    own = (row.tokens, row.cost, row.time, row.tools)
    if own == (counted.tokens, counted.cost, counted.time, counted.tools):
        return None
    tools = names.number(counted.tools)
    figures = (*msgspec.structs.astuple(counted.tokens), counted.cost, counted.time, tools)
    return ledger_rows.Correction._make((number, *figures))


class CountingRule(Protocol):
    """Decides which copy of a message counts, and its cost."""

    def count_group(self, copies: Sequence[Copy]) -> list[Counted]:
        """Return the figures that count for copies with the same message id."""

    def merge_pair(self, one: MessageRow, other: MessageRow) -> MessageRow:
        """Merge two rows of one message in one file; `one` is from the earlier lines."""

    def find_cost(self, row: MessageRow) -> int | None:
        """Return the cost of a message at the current prices."""


class FileReading(msgspec.Struct, frozen=True):
    """Data read from a file, from byte `start` on."""

    path: str
    problem: str | None
    row: catalog.FileRow | None
    """None if it could not be read or was deleted: its stored data stays."""
    number: int | None = None
    """The number of its row, if it has one."""
    known: catalog.FileRow | None = None
    """Its row, if valid."""
    start: int = 0
    size: int = 0
    """Bytes that were read."""
    rows: Sequence[MessageRow] = ()
    naming: Sequence[catalog.Span] | None = None


class FileChanges(msgspec.Struct, frozen=True):
    """Changes of files that need no reading."""

    moved: Sequence[tuple[int, catalog.FileRow]] = ()
    """Numbers and new rows of files that were moved."""
    gone: Sequence[int] = ()
    returned: Sequence[int] = ()
    solved: Sequence[str] = ()
    """Unreadable files that no longer need to be read."""


class LedgerWriter:
    """Writes one sync, while no other process writes the index."""

    def __init__(
        self,
        connection: database.Connection,
        rule: CountingRule,
        lock: Lock | None = None,
        directory: Path | None = None,
    ) -> None:
        self._connection = connection
        self._rule = rule
        self._directory = directory
        self._names = catalog.Names(connection)
        self._has_files = catalog.has_files(connection)
        self._is_first = not self._has_files
        """Whether there are no messages yet."""
        self._first = self._next = ledger_rows.next_message_number(connection)
        self._rows: list[ledger_rows.MessageValues] = []
        self._merged: list[ledger_rows.MessageValues] = []
        self._relayed: list[int] = []
        """Positions in `_rows` of messages from progress records."""
        self._stale: dict[str, None] = {}
        """Messages to be counted again, in order of discovery."""
        self._files: set[int] = set()
        """Files whose sums must be rebuilt; their earlier rows have been checked."""
        self.lock = lock
        self.problems = catalog.load_problems(connection)
        """Why files could not be read, in this sync or before, by path."""
        self.is_outdated = read_meta(connection, "data") != name_version(DATA_VERSION)
        """Whether all files have to be read again."""
        self.stamps = catalog.load_states(connection) if load_checksums() else None
        """The stamps of existing files, by path; None if only whole rows can be trusted.
        """

    def load_files(self, paths: Iterable[str] | None) -> dict[str, tuple[int, catalog.FileRow]]:
        """Return the rows of all files by path, or of those in `paths` and the deleted ones."""
        # With page checksums, row checksums need not be compared.
        is_trusted = paths is not None and load_checksums()
        return catalog.load_files(self._connection, paths, is_trusted=is_trusted)

    def check_daily(self, *, now: bool) -> None:
        """Check the whole index once a day, or `now`, since queries read only parts of it."""
        today = time.strftime("%Y-%m-%d", time.gmtime())
        if now or self._read_meta("checked") != today:
            if self._has_files:
                database.check_everything(self._connection)
            write_meta(self._connection, "checked", today)

    def apply_changes(self, changes: FileChanges, prices: str) -> None:
        """Write the changes that need no reading; `prices` is the fingerprint of the prices."""
        is_repriced = self._read_meta(catalog.PRICES_KEY) != prices
        is_fresh = not self._read_meta(database.CARRIED_KEY)
        if not (any(msgspec.structs.astuple(changes)) or is_repriced or is_fresh):
            return
        with database.transaction(self._connection):
            if is_fresh:
                self._carry_over()
            for path in changes.solved:
                self._note_problem(path, None)
            for number, row in changes.moved:
                catalog.save_file(self._connection, row, number)
                # The path decides between equal copies.
                self._recount_later(ledger_rows.find_shared(self._connection, number))
            self._mark(changes.gone, is_gone=True)
            self._mark(changes.returned, is_gone=False)
            if is_repriced:
                self._reprice()
                write_meta(self._connection, catalog.PRICES_KEY, prices)
            self._update_totals()
        if is_fresh and self._directory:
            database.delete_copies(self._directory)

    def write(self, readings: Iterator[FileReading], commit_bytes: int) -> None:
        """Write extracted data, in transactions of about `commit_bytes` bytes of transcripts."""
        more = True
        while more:
            more = self._write_step(readings, commit_bytes)
        if self.is_outdated:
            write_meta(self._connection, "data", name_version(DATA_VERSION))

    def _write_step(self, readings: Iterator[FileReading], room: int) -> bool:
        """Write as much as fits into one transaction; return whether there may be more."""
        first = next(readings, None)
        if first is None:
            return False
        with database.transaction(self._connection):
            for reading in chain((first,), readings):
                self._add(reading)
                room -= reading.size
                if room <= 0:
                    break
            self._update_totals()
        return room <= 0

    def _add(self, reading: FileReading) -> None:
        """Add the data of one file."""
        if self.lock is not None:
            self.lock.signal_progress()
        self._note_problem(reading.path, reading.problem)
        if reading.row is None:
            return
        if reading.number is not None:
            self._check(reading.number)
        file_id = catalog.save_file(self._connection, reading.row, reading.number)
        catalog.save_naming_lines(self._connection, file_id, reading.start, reading.naming)
        self._files.add(file_id)
        if reading.known is not None and reading.known.began != reading.row.began:
            # The start of their files decides between equal copies.
            self._recount_later(ledger_rows.find_shared(self._connection, file_id))
        if reading.number is not None:
            stale = ledger_rows.delete_messages(self._connection, file_id, reading.start)
            self._recount_later(stale)
        add_row = self._merge_row if reading.start else self._add_row
        for message in reading.rows:
            add_row(message, file_id)

    def copy_files(
        self, connection: database.Connection, files: Mapping[int, catalog.FileRow]
    ) -> None:
        """Copy these files and all recorded problems from another index."""
        names = catalog.Names(connection)
        for number, row in files.items():
            stored = ledger_rows.select_of_file(connection, number)
            self._add_known(row, (from_stored(each, names) for each in stored))
        for path, problem in catalog.load_problems(connection).items():
            self._note_problem(path, problem)
        self._update_totals()

    def _carry_over(self) -> None:
        """Carry over deleted transcripts from replaced indexes."""
        if self._directory and database.find_predecessors(self._directory):
            self._carry_over_deleted(self._directory)
        write_meta(self._connection, database.CARRIED_KEY, "yes")

    def _carry_over_deleted(self, directory: Path) -> None:
        # Rarely needed.
        from recollect.store.replaced_indexes import find_deleted_listings, iter_deleted_transcripts
        from recollect.store.session_table import load_listings, save_figures, save_listings

        for remains in iter_deleted_transcripts(directory, is_present):
            try:
                rows = [from_stored(each, remains.names) for each in remains.messages]
            except DamagedIndex:
                continue
            self._add_known(msgspec.structs.replace(remains.file, is_gone=True), rows)
        self._update_totals()
        sessions = find_deleted_listings(directory, is_present)
        known = load_listings(self._connection)
        save_listings(
            self._connection,
            [stored for stored in sessions.listings if stored.path not in known],
        )
        save_figures(self._connection, sessions.figures)

    def _add_known(self, row: catalog.FileRow, rows: Iterable[MessageRow]) -> None:
        """Add a file from another index."""
        file_id = catalog.save_file(self._connection, row)
        self._files.add(file_id)
        for message in rows:
            self._add_row(message, file_id)

    def _note_problem(self, path: str, problem: str | None) -> None:
        """Record or clear the problem of a file."""
        if self.problems.get(path) == problem:
            return
        catalog.save_problem(self._connection, path, problem)
        if problem is None:
            del self.problems[path]
        else:
            self.problems[path] = problem

    def _read_meta(self, key: str) -> str:
        return read_meta(self._connection, key) or ""

    def _mark(self, numbers: Iterable[int], *, is_gone: bool) -> None:
        """Mark files as deleted, or as existing again."""
        for number in numbers:
            catalog.mark_gone(self._connection, number, is_gone=is_gone)
            self._recount_later(ledger_rows.find_shared(self._connection, number))

    def _reprice(self) -> None:
        """Compute the cost of every message again, by the current prices."""
        for chunk in ledger_rows.iter_chunks(self._connection):
            costs = []
            for stored in chunk:
                row = from_stored(stored, self._names)
                cost = self._rule.find_cost(row)
                if cost != row.cost:
                    self._check(stored.file_id)
                    costs.append((cost, stored.id))
            ledger_rows.set_costs(self._connection, costs)
        self._recount_later(ledger_rows.find_corrected(self._connection))

    def _update_totals(self) -> None:
        """Decide which copies count, and update the totals."""
        dismissed = self._dismiss_relayed()
        ledger_rows.insert_messages(self._connection, self._rows)
        ledger_rows.replace_messages(self._connection, self._merged)
        self._recount_later(self._find_repeated(dismissed))
        if self._stale:
            self._recount()
        ledger_rows.rebuild_hours(self._connection, sorted(self._files))
        self._first, self._is_first = self._next, self._is_first and not self._rows
        self._rows, self._merged, self._relayed = [], [], []
        self._stale, self._files = {}, set()

    def _add_row(self, row: MessageRow, file_id: int) -> None:
        if row.late_5m or row.late_1h:
            self._stale[row.message_id] = None
        if row.is_relayed:
            self._relayed.append(len(self._rows))
        self._rows.append(to_values(row, self._next, file_id, self._names))
        self._next += 1

    def _merge_row(self, row: MessageRow, file_id: int) -> None:
        """Add a row, merged with the row of the same message in the file."""
        known = ledger_rows.find_message(
            self._connection,
            file_id,
            row.message_id,
            row.request_id,
            self._names.number(row.model),
            is_relayed=row.is_relayed,
        )
        if known is None:
            self._add_row(row, file_id)
            return
        merged = self._rule.merge_pair(from_stored(known, self._names), row)
        self._merged.append(to_values(merged, known.id, file_id, self._names))
        self._stale[row.message_id] = None

    def _recount_later(self, message_ids: Iterable[str]) -> None:
        self._stale.update(dict.fromkeys(message_ids))

    def _find_repeated(self, dismissed: Iterable[str]) -> list[str]:
        """Return the messages of new rows that have other rows too, except `dismissed` ones."""
        if not self._is_first:
            return ledger_rows.find_shared_from(self._connection, self._first)
        rows = Counter(map(_get_message_id, self._rows))
        rows.subtract(dismissed)
        return [message_id for message_id, count in rows.items() if count > 1]

    def _dismiss_relayed(self) -> list[str]:
        """Discount messages from progress records if the same request was read elsewhere.

        This covers nearly all of them quickly. Returns the message of each row that does not count.
        """
        if not self._relayed:
            return []
        relayed = {at: _get_request(self._rows[at]) for at in self._relayed}
        requests = set(relayed.values())
        own = {
            request
            for at, values in enumerate(self._rows)
            if (request := _get_request(values)) in requests and request[1] and at not in relayed
        }
        dismissed = [at for at, request in relayed.items() if request in own]
        for at in dismissed:
            self._rows[at] = (*self._rows[at][:-1], False)
        return [relayed[at][0] for at in dismissed]

    def _recount(self) -> None:
        """Decide again which copies of changed messages count, and write the result."""
        origins = catalog.load_origins(self._connection)
        flags: list[tuple[bool, int]] = []
        corrections: list[ledger_rows.Correction] = []
        numbers: list[int] = []
        for found in ledger_rows.iter_copies(self._connection, list(self._stale)):
            numbers += [each.id for each in found]
            for each, is_counted, correction in self._count(found, origins):
                if each.counted != is_counted:
                    flags.append((is_counted, each.id))
                if correction is not None:
                    corrections.append(correction)
        ledger_rows.drop_corrections(self._connection, numbers)
        ledger_rows.set_counted(self._connection, flags)
        ledger_rows.insert_corrections(self._connection, corrections)

    def _count(
        self, found: list[ledger_rows.StoredMessage], origins: Mapping[int, catalog.FileOrigin]
    ) -> Iterator[tuple[ledger_rows.StoredMessage, bool, ledger_rows.Correction | None]]:
        """Yield whether each row of a message counts, with its correction if needed."""
        rows = [from_stored(each, self._names) for each in found]
        for each in found:
            self._check(each.file_id)
            if each.file_id not in origins:
                raise DamagedIndex(f"Message {each.id} of the index belongs to no file.")
        copies = [Copy(row, *origins[each.file_id]) for row, each in zip(rows, found, strict=True)]
        for counted in self._rule.count_group(copies):
            owner = counted.owner
            number = found[owner].id
            correction = to_correction(number, rows[owner], counted, self._names)
            yield found[owner], True, correction
            yield from ((found[other], False, None) for other in counted.members if other != owner)

    def _check(self, file_id: int) -> None:
        """Check the rows of a file before they are changed."""
        if file_id not in self._files:
            ledger_rows.check_messages(self._connection, [file_id])
            self._files.add(file_id)


def update_ledger(
    directory: Path,
    rule: CountingRule,
    work: Callable[[LedgerWriter], T],
    *,
    replaces_newer: bool = False,
) -> T:
    """Return the result of `work` on the index in `directory`; see `database.update`."""
    return database.update(
        directory,
        lambda access: work(LedgerWriter(access.connection, rule, access.lock, access.directory)),
        replaces_newer=replaces_newer,
    )
