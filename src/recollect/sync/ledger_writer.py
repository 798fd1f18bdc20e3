"""Write what was read to the usage ledger: files, messages, which of them count, and totals.

Within one transaction files are added one by one, and `update_totals` does the rest: afterwards the
index is as if everything had been read at once. Before the figures of a file are changed they are
checked against its messages, so that damage on the disk is found instead of added up. Also converts
rows of messages between what a reader makes and what the index has, where texts that repeat are
numbers.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import astuple, replace

from recollect.locations.project_names import encode_id
from recollect.store.catalog import (
    FileOrigin,
    FileRow,
    Names,
    load_origins,
    load_problems,
    mark_gone,
    save_file,
    save_naming_lines,
    save_problem,
)
from recollect.store.database import Connection
from recollect.store.hour_sums import check_messages, rebuild_hours
from recollect.store.integrity import DamagedIndex
from recollect.store.message_rows import (
    Correction,
    StoredMessage,
    delete_messages,
    drop_corrections,
    find_corrected,
    find_message,
    find_shared,
    find_shared_from,
    insert_corrections,
    insert_messages,
    iter_chunks,
    iter_copies,
    next_message_number,
    replace_messages,
    select_of_file,
    set_costs,
    set_counted,
)
from recollect.store.usage_queries import open_in_memory
from recollect.sync.counting import Copy, Counted, count_group, find_cost, find_tokens, merge_pair
from recollect.sync.file_changes import ReadTask
from recollect.sync.index_access import find_price_fingerprint
from recollect.sync.message_lines import MessageRow
from recollect.sync.usage_extract import Extract, load_costs

_NAMED = MessageRow.__struct_fields__[-7:]
"""The fields that are numbers in the index, because their texts repeat."""
_PLAIN = len(MessageRow.__struct_fields__) - len(_NAMED)
_FLAGS = [
    index for index, name in enumerate(MessageRow.__struct_fields__) if name.startswith("is_")
]


def to_stored(row: MessageRow, number: int, file_id: int, names: Names) -> StoredMessage:
    """Return a row as the index has it; it counts until it turns out to be a copy."""
    numbers = names.numbers
    # Not by keywords: there are thousands, and that would take three times as long.
    return StoredMessage._make(
        (
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
    )


def from_stored(stored: StoredMessage, names: Names) -> MessageRow:
    """Return the row that `to_stored` was given; raises `DamagedIndex` for what cannot be one."""
    fields: list[Any] = [*stored[2:-1]]
    fields[_PLAIN:] = map(names.text, fields[_PLAIN:])
    for index in _FLAGS:
        fields[index] = bool(fields[index])
    try:
        return msgspec.convert(fields, MessageRow)
    except msgspec.ValidationError as error:
        raise DamagedIndex(f"Row {stored.id} of the index is no message: {error}.") from error


def count_apart(
    connection: Connection, files: Mapping[int, FileRow], prices: Path | None
) -> Connection:
    """Return an index in memory that counts these files of another one as if there were no others.

    Which copy of a message counts, and with which figures, depends on all files that have one.
    """
    alone = open_in_memory()
    fingerprint = find_price_fingerprint(prices)
    writer = LedgerWriter(alone, Names(alone), prices, fingerprint=fingerprint, is_first=True)
    names = Names(connection)
    for number, row in files.items():
        stored = select_of_file(connection, number)
        writer.add_known(row, (from_stored(each, names) for each in stored))
    for path, problem in load_problems(connection).items():
        writer.note_problem(path, problem)
    writer.update_totals()
    return alone


def to_correction(
    number: int, row: MessageRow, counted: Counted, names: Names
) -> Correction | None:
    """Return what counts instead of the figures of the row itself; None if they are the same."""
    own = (find_tokens(row), row.cost, row.time, row.tools)
    if own == (counted.tokens, counted.cost, counted.time, counted.tools):
        return None
    tools = names.number(counted.tools)
    figures = (*astuple(counted.tokens), counted.cost, counted.time, tools)
    return Correction._make((number, *figures))


def to_file_row(task: ReadTask, read: Extract) -> FileRow:
    """What the index keeps of a file that was read."""
    transcript = task.transcript
    return FileRow(
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
        names: Names,
        prices: Path | None = None,
        *,
        fingerprint: str = "",
        is_first: bool = False,
    ) -> None:
        """Write to `connection`; `is_first` means that it has no messages yet."""
        self._connection = connection
        self._names = names
        self._costs = load_costs(str(prices) if prices else None, fingerprint)
        self._is_first = is_first
        self._first = self._next = next_message_number(connection)
        self._problems = load_problems(connection)
        self._rows: list[StoredMessage] = []
        self._merged: list[StoredMessage] = []
        self._stale: dict[str, None] = {}
        """Messages to be counted again, in the order in which they were found to be."""
        self._files: set[int] = set()
        """Files whose sums are to be rebuilt, and whose rows were sound before."""

    def add(self, task: ReadTask, read: Extract) -> None:
        """Add what is in one file; a file that could not be read keeps what was known of it."""
        self.note_problem(task.transcript.file, read.problem)
        if read.problem is not None or read.is_gone:
            return
        if task.number is not None:
            self._check(task.number)
        row = to_file_row(task, read)
        file_id = save_file(self._connection, row, task.number)
        save_naming_lines(self._connection, file_id, read.start, read.naming)
        self._files.add(file_id)
        if task.known is not None and task.known.began != row.began:
            # Between copies that are alike it is the beginning of their files that decides.
            self._recount_later(find_shared(self._connection, file_id))
        if task.number is not None:
            self._recount_later(delete_messages(self._connection, file_id, read.start))
        add_row = self._merge_row if read.start else self._add_row
        for message in read.rows:
            add_row(message, file_id)

    def note_problem(self, path: str, problem: str | None) -> None:
        """Record what is wrong with a file, or that nothing is."""
        if self._problems.get(path) != problem:
            save_problem(self._connection, path, problem)

    def add_known(self, row: FileRow, rows: Iterable[MessageRow]) -> None:
        """Add what another index knows of a file."""
        file_id = save_file(self._connection, row)
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
        save_file(self._connection, row, task.number)
        # Between equal copies the path decides.
        self._recount_later(find_shared(self._connection, task.number))

    def mark(self, numbers: Iterable[int], *, is_gone: bool) -> None:
        """Record that files are gone, or are there again."""
        for number in numbers:
            mark_gone(self._connection, number, is_gone=is_gone)
            self._recount_later(find_shared(self._connection, number))

    def reprice(self) -> None:
        """Compute the cost of every message again, by the current prices."""
        for chunk in iter_chunks(self._connection):
            costs = []
            for stored in chunk:
                row = from_stored(stored, self._names)
                cost = find_cost(row, row.time, self._costs)
                if cost != row.cost:
                    self._check(stored.file_id)
                    costs.append((cost, stored.id))
            set_costs(self._connection, costs)
        self._recount_later(find_corrected(self._connection))

    def update_totals(self) -> None:
        """Decide what counts, and update the totals."""
        self._dismiss_relayed()
        insert_messages(self._connection, self._rows)
        replace_messages(self._connection, self._merged)
        self._recount_later(self._find_repeated())
        if self._stale:
            self._recount()
        rebuild_hours(self._connection, sorted(self._files))
        self._rows, self._merged, self._stale, self._files = [], [], {}, set()
        self._first, self._is_first = self._next, False

    def _add_row(self, row: MessageRow, file_id: int) -> None:
        if row.late_5m or row.late_1h:
            self._stale[row.message_id] = None
        self._rows.append(to_stored(row, self._next, file_id, self._names))
        self._next += 1

    def _merge_row(self, row: MessageRow, file_id: int) -> None:
        """Add a row, united with the one that the file already has of the same message."""
        known = find_message(
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
        merged = merge_pair(from_stored(known, self._names), row, self._costs)
        self._merged.append(to_stored(merged, known.id, file_id, self._names))
        self._stale[row.message_id] = None

    def _recount_later(self, message_ids: Iterable[str]) -> None:
        self._stale.update(dict.fromkeys(message_ids))

    def _find_repeated(self) -> list[str]:
        """Messages of new rows that have other rows too."""
        if not self._is_first:
            return find_shared_from(self._connection, self._first)
        rows = Counter(row.message_id for row in self._rows if row.counted)
        return [message_id for message_id, count in rows.items() if count > 1]

    def _dismiss_relayed(self) -> None:
        """Let what progress records repeat not count, where the same request was read elsewhere.

        That is nearly always so, and need not be found out message by message.
        """
        relayed = [at for at, row in enumerate(self._rows) if row.is_relayed]
        ids = {self._rows[at].message_id for at in relayed}
        own = {
            (row.message_id, row.request_id)
            for row in (self._rows if ids else ())
            if row.message_id in ids and row.request_id and not row.is_relayed
        }
        for at in relayed:
            row = self._rows[at]
            if (row.message_id, row.request_id) in own:
                self._rows[at] = row._replace(counted=False)

    def _recount(self) -> None:
        """Decide again what counts of the messages that may have changed, and write it at once."""
        origins = load_origins(self._connection)
        flags: list[tuple[bool, int]] = []
        corrections: list[Correction] = []
        numbers: list[int] = []
        for found in iter_copies(self._connection, list(self._stale)):
            numbers += [each.id for each in found]
            for each, is_counted, correction in self._count(found, origins):
                if each.counted != is_counted:
                    flags.append((is_counted, each.id))
                if correction is not None:
                    corrections.append(correction)
        drop_corrections(self._connection, numbers)
        set_counted(self._connection, flags)
        insert_corrections(self._connection, corrections)

    def _count(
        self, found: list[StoredMessage], origins: Mapping[int, FileOrigin]
    ) -> Iterator[tuple[StoredMessage, bool, Correction | None]]:
        """Yield whether each row with one message id counts, and its correction if it needs one."""
        rows = [from_stored(each, self._names) for each in found]
        for each in found:
            self._check(each.file_id)
            if each.file_id not in origins:
                raise DamagedIndex(f"Message {each.id} of the index belongs to no file.")
        copies = [Copy(row, *origins[each.file_id]) for row, each in zip(rows, found, strict=True)]
        for counted in count_group(copies, self._costs):
            owner = counted.owner
            number = found[owner].id
            correction = to_correction(number, rows[owner], counted, self._names)
            yield found[owner], True, correction
            yield from ((found[other], False, None) for other in counted.members if other != owner)

    def _check(self, file_id: int) -> None:
        """Check the rows of a file before they are changed."""
        if file_id not in self._files:
            check_messages(self._connection, [file_id])
            self._files.add(file_id)
