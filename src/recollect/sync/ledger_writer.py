"""Write what was read to the usage ledger: files, messages, which of them count, and totals.

Within one transaction files are added one by one, and `update_totals` does the rest: afterwards the
index is as if everything had been read at once. Before the figures of a file are changed they are
checked against its messages, so that damage on the disk is found instead of added up. Also converts
rows of messages between what a reader makes and what the index has, where texts that repeat are
numbers.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import astuple, replace

from recollect.locations.claude_directories import encode_id
from recollect.store import catalog, ledger_rows
from recollect.store.database import Connection
from recollect.store.schema import DamagedIndex
from recollect.store.usage_queries import open_in_memory
from recollect.sync import usage_counting
from recollect.sync.index_access import ReadTask, find_price_fingerprint
from recollect.sync.message_lines import MessageRow

_NAMED = MessageRow.__struct_fields__[-7:]
"""The fields that are numbers in the index, because their texts repeat."""
_PLAIN = len(MessageRow.__struct_fields__) - len(_NAMED)
_FLAGS = [
    index for index, name in enumerate(MessageRow.__struct_fields__) if name.startswith("is_")
]


_get_message_id = itemgetter(ledger_rows.MESSAGE_COLUMNS.index("message_id"))
_get_request = itemgetter(*map(ledger_rows.MESSAGE_COLUMNS.index, ("message_id", "request_id")))


def to_values(
    row: MessageRow, number: int, file_id: int, names: catalog.Names
) -> ledger_rows.MessageValues:
    """Return a row as the index has it; it counts until it turns out to be a copy."""
    numbers = names.numbers
    return (
        number,
        file_id,
        *astuple(row)[:_PLAIN],
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
    """Return the row that `to_values` was given; raises `DamagedIndex` for what cannot be one."""
    fields: list[Any] = [*stored[2:-1]]
    fields[_PLAIN:] = map(names.text, fields[_PLAIN:])
    for index in _FLAGS:
        fields[index] = bool(fields[index])
    try:
        return msgspec.convert(fields, MessageRow)
    except msgspec.ValidationError as error:
        raise DamagedIndex(f"Row {stored.id} of the index is not a message: {error}.") from error


def count_apart(
    connection: Connection, files: Mapping[int, catalog.FileRow], prices: Path | None
) -> Connection:
    """Return an index in memory that counts these files of another one as if there were no others.

    Which copy of a message counts, and with which figures, depends on all files that have one.
    """
    alone = open_in_memory()
    fingerprint = find_price_fingerprint(prices)
    writer = LedgerWriter(
        alone, catalog.Names(alone), prices, fingerprint=fingerprint, is_first=True
    )
    names = catalog.Names(connection)
    for number, row in files.items():
        stored = ledger_rows.select_of_file(connection, number)
        writer.add_known(row, (from_stored(each, names) for each in stored))
    for path, problem in catalog.load_problems(connection).items():
        writer.note_problem(path, problem)
    writer.update_totals()
    return alone


def to_correction(
    number: int, row: MessageRow, counted: usage_counting.Counted, names: catalog.Names
) -> ledger_rows.Correction | None:
    """Return what counts instead of the figures of the row itself; None if they are the same."""
    own = (usage_counting.find_tokens(row), row.cost, row.time, row.tools)
    if own == (counted.tokens, counted.cost, counted.time, counted.tools):
        return None
    tools = names.number(counted.tools)
    figures = (*astuple(counted.tokens), counted.cost, counted.time, tools)
    return ledger_rows.Correction._make((number, *figures))


def to_file_row(task: ReadTask, read: usage_counting.Extract) -> catalog.FileRow:
    """What the index keeps of a file that was read."""
    transcript = task.transcript
    return catalog.FileRow(
        path=transcript.file,
        project=transcript.project,
        kind=transcript.kind.value,
        session_id=transcript.session_id or encode_id(read.session_id or ""),
        agent_id=transcript.agent_id,
        # The small file with the type may be deleted before the transcript is.
        agent_type=read.agent_type or (task.known.agent_type if task.known else None),
        began=read.began,
        device=read.state.device,
        # Compared with what the next listing tells, which is nothing on some systems.
        inode=read.state.inode if transcript.inode else 0,
        size=read.state.size,
        mtime_ns=read.state.mtime_ns,
        position=read.state.position,
        head_hash=read.state.head_hash,
        tail_hash=read.state.tail_hash,
        is_racy=read.state.is_racy,
    )


class LedgerWriter:
    """Adds extracts; `update_totals` has to be called before the transaction ends."""

    def __init__(
        self,
        connection: Connection,
        names: catalog.Names,
        prices: Path | None = None,
        *,
        fingerprint: str = "",
        is_first: bool = False,
    ) -> None:
        """Write to `connection`; `is_first` means that it has no messages yet."""
        self._connection = connection
        self._names = names
        self._costs = usage_counting.load_costs(str(prices) if prices else None, fingerprint)
        self._is_first = is_first
        self._first = self._next = ledger_rows.next_message_number(connection)
        self._problems = catalog.load_problems(connection)
        self._rows: list[ledger_rows.MessageValues] = []
        self._merged: list[ledger_rows.MessageValues] = []
        self._relayed: list[int] = []
        """Where in `_rows` those are that progress records repeat."""
        self._stale: dict[str, None] = {}
        """Messages to be counted again, in the order in which they were found to be."""
        self._files: set[int] = set()
        """Files whose sums are to be rebuilt, and whose rows were sound before."""

    def add(self, task: ReadTask, read: usage_counting.Extract) -> None:
        """Add what is in one file; a file that could not be read keeps what was known of it."""
        self.note_problem(task.transcript.file, read.problem)
        if read.problem is not None or read.is_gone:
            return
        if task.number is not None:
            self._check(task.number)
        row = to_file_row(task, read)
        file_id = catalog.save_file(self._connection, row, task.number)
        catalog.save_naming_lines(self._connection, file_id, read.start, read.naming)
        self._files.add(file_id)
        if task.known is not None and task.known.began != row.began:
            # Between copies that are alike it is the beginning of their files that decides.
            self._recount_later(ledger_rows.find_shared(self._connection, file_id))
        if task.number is not None:
            self._recount_later(ledger_rows.delete_messages(self._connection, file_id, read.start))
        add_row = self._merge_row if read.start else self._add_row
        for message in read.rows:
            add_row(message, file_id)

    def note_problem(self, path: str, problem: str | None) -> None:
        """Record what is wrong with a file, or that nothing is."""
        if self._problems.get(path) != problem:
            catalog.save_problem(self._connection, path, problem)

    def add_known(self, row: catalog.FileRow, rows: Iterable[MessageRow]) -> None:
        """Add what another index knows of a file."""
        file_id = catalog.save_file(self._connection, row)
        self._files.add(file_id)
        for message in rows:
            self._add_row(message, file_id)

    def move(self, task: ReadTask) -> None:
        """Record that a file was moved."""
        transcript, known = task.transcript, task.known
        if known is None or task.number is None:
            return
        row = replace(
            known,
            path=transcript.file,
            project=transcript.project,
            kind=transcript.kind.value,
            session_id=transcript.session_id or known.session_id,
            agent_id=transcript.agent_id,
            is_gone=False,
        )
        catalog.save_file(self._connection, row, task.number)
        # Between equal copies the path decides.
        self._recount_later(ledger_rows.find_shared(self._connection, task.number))

    def mark(self, numbers: Iterable[int], *, is_gone: bool) -> None:
        """Record that files are gone, or are there again."""
        for number in numbers:
            catalog.mark_gone(self._connection, number, is_gone=is_gone)
            self._recount_later(ledger_rows.find_shared(self._connection, number))

    def reprice(self) -> None:
        """Compute the cost of every message again, by the current prices."""
        for chunk in ledger_rows.iter_chunks(self._connection):
            costs = []
            for stored in chunk:
                row = from_stored(stored, self._names)
                cost = usage_counting.find_cost(row, row.time, self._costs)
                if cost != row.cost:
                    self._check(stored.file_id)
                    costs.append((cost, stored.id))
            ledger_rows.set_costs(self._connection, costs)
        self._recount_later(ledger_rows.find_corrected(self._connection))

    def update_totals(self) -> None:
        """Decide what counts, and update the totals."""
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
        """Add a row, united with the one that the file already has of the same message."""
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
        merged = usage_counting.merge_pair(from_stored(known, self._names), row, self._costs)
        self._merged.append(to_values(merged, known.id, file_id, self._names))
        self._stale[row.message_id] = None

    def _recount_later(self, message_ids: Iterable[str]) -> None:
        self._stale.update(dict.fromkeys(message_ids))

    def _find_repeated(self, dismissed: Iterable[str]) -> list[str]:
        """Messages of new rows that have other rows too, without those that were `dismissed`."""
        if not self._is_first:
            return ledger_rows.find_shared_from(self._connection, self._first)
        rows = Counter(map(_get_message_id, self._rows))
        rows.subtract(dismissed)
        return [message_id for message_id, count in rows.items() if count > 1]

    def _dismiss_relayed(self) -> list[str]:
        """Let what progress records repeat not count, where the same request was read elsewhere.

        That is nearly always so, and need not be found out message by message. Returns the message
        of each row that does not count.
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
        """Decide again what counts of the messages that may have changed, and write it at once."""
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
        """Yield whether each row with one message id counts, and its correction if it needs one."""
        rows = [from_stored(each, self._names) for each in found]
        for each in found:
            self._check(each.file_id)
            if each.file_id not in origins:
                raise DamagedIndex(f"Message {each.id} of the index belongs to no file.")
        copies = [
            usage_counting.Copy(row, *origins[each.file_id])
            for row, each in zip(rows, found, strict=True)
        ]
        for counted in usage_counting.count_group(copies, self._costs):
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
