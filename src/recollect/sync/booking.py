"""Books what was read: rows of files and messages, which of them count, and their sums.

Within one transaction files are taken in one by one, and `settle` makes the sums right: afterwards
the index is as if everything had been read at once. Before the figures of a file are changed they
are checked against its messages, so that damage on the disk is found instead of added up.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from recollect.store.catalogue import (
    FileRow,
    Names,
    load_places,
    load_problems,
    mark_gone,
    save_file,
    save_problem,
)
from recollect.store.database import Connection
from recollect.store.failures import DamagedIndex
from recollect.store.hours import check_messages, rebuild_hours
from recollect.store.messages import (
    MESSAGE_COLUMNS,
    MessageValues,
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
    set_costs,
    set_counted,
)
from recollect.sync.changes import Task
from recollect.sync.extract import Extract, load_costs
from recollect.sync.ledger import Copy, count_group, find_cost, merge_pair
from recollect.sync.rows import MessageRow
from recollect.sync.values import from_values, to_correction, to_file_row, to_values

_MESSAGE_ID = MESSAGE_COLUMNS.index("message_id")
_Place = tuple[str, bool, int | None]


class Booking:
    """Takes extracts in; `settle` makes the sums right before a transaction ends."""

    def __init__(
        self,
        connection: Connection,
        names: Names,
        prices: Path | None = None,
        *,
        edition: str = "",
        is_first: bool = False,
    ) -> None:
        """Book into `connection`; `is_first` says that it holds no message yet."""
        self._connection = connection
        self._names = names
        self._costs = load_costs(str(prices) if prices else None, edition)
        self._is_first = is_first
        self._first = self._next = next_message_number(connection)
        self._problems = load_problems(connection)
        self._rows: list[MessageValues] = []
        self._merged: list[MessageValues] = []
        self._stale: dict[str, None] = {}
        """Messages to be counted anew, in the order in which they were found to be."""
        self._files: set[int] = set()
        """Files whose sums are to be made anew, and whose rows were sound before."""

    def add(self, task: Task, read: Extract) -> None:
        """Book what one file holds; a file that could not be read keeps what was known of it."""
        self.note_problem(task.transcript.file, read.problem)
        if read.problem is not None or read.is_gone:
            return
        if task.number is not None:
            self._check(task.number)
        row = to_file_row(task, read)
        file_id = save_file(self._connection, row, task.number)
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
        """Book what is wrong with a file, or that nothing is."""
        if self._problems.get(path) != problem:
            save_problem(self._connection, path, problem)

    def add_vanished(self, row: FileRow, rows: Iterable[MessageRow]) -> None:
        """Book what is known of a file that is no longer there."""
        file_id = save_file(self._connection, replace(row, is_gone=True))
        self._files.add(file_id)
        for message in rows:
            self._add_row(message, file_id)

    def move(self, task: Task) -> None:
        """Book that a file is elsewhere now."""
        transcript, known = task.transcript, task.known
        if known is None or task.number is None:
            return
        row = replace(
            known,
            path=transcript.file,
            project=transcript.project_dir.name,
            kind=transcript.kind.value,
            session_id=transcript.session_id or known.session_id,
            agent_id=transcript.agent_id,
            is_gone=False,
        )
        save_file(self._connection, row, task.number)
        # Between equal copies it is the place that decides.
        self._recount_later(find_shared(self._connection, task.number))

    def mark(self, numbers: Iterable[int], *, is_gone: bool) -> None:
        """Book that files are no longer there, or are there again."""
        for number in numbers:
            mark_gone(self._connection, number, is_gone=is_gone)
            self._recount_later(find_shared(self._connection, number))

    def reprice(self) -> None:
        """Give every message the cost that it has by the present prices."""
        for chunk in iter_chunks(self._connection):
            costs = []
            for values in chunk:
                row = from_values(values, self._names)
                cost = find_cost(row, row.time, self._costs)
                if cost != row.cost:
                    self._check(values[1])
                    costs.append((cost, values[0]))
            set_costs(self._connection, costs)
        self._recount_later(find_corrected(self._connection))

    def settle(self) -> None:
        """Decide what counts and add it up."""
        insert_messages(self._connection, self._rows)
        replace_messages(self._connection, self._merged)
        self._recount_later(self._find_repeated())
        if self._stale:
            places = load_places(self._connection)
            for copies in iter_copies(self._connection, list(self._stale)):
                self._recount(copies, places)
        rebuild_hours(self._connection, sorted(self._files))
        self._rows, self._merged, self._stale, self._files = [], [], {}, set()
        self._first, self._is_first = self._next, False

    def _add_row(self, row: MessageRow, file_id: int) -> None:
        if row.late_5m or row.late_1h:
            self._stale[row.message_id] = None
        self._rows.append(to_values(row, self._next, file_id, self._names))
        self._next += 1

    def _merge_row(self, row: MessageRow, file_id: int) -> None:
        """Add a row, united with the one that the file already has of the same message."""
        message_id, request_id, model = row.key
        number = self._names.number(model)
        known = find_message(self._connection, file_id, message_id, request_id, number)
        if known is None:
            self._add_row(row, file_id)
            return
        merged = merge_pair(from_values(known, self._names), row, self._costs)
        self._merged.append(to_values(merged, known[0], file_id, self._names))
        self._stale[row.message_id] = None

    def _recount_later(self, message_ids: Iterable[str]) -> None:
        self._stale.update(dict.fromkeys(message_ids))

    def _find_repeated(self) -> list[str]:
        """Messages of new rows that have other rows too."""
        if not self._is_first:
            return find_shared_from(self._connection, self._first)
        rows = Counter(values[_MESSAGE_ID] for values in self._rows)
        return [message_id for message_id, count in rows.items() if count > 1]

    def _recount(self, found: list[MessageValues], places: Mapping[int, _Place]) -> None:
        numbers = [values[0] for values in found]
        rows = [from_values(values, self._names) for values in found]
        for values in found:
            self._check(values[1])
            if values[1] not in places:
                raise DamagedIndex(f"Message {values[0]} of the index belongs to no file.")
        copies = [Copy(row, *places[values[1]]) for row, values in zip(rows, found, strict=True)]
        drop_corrections(self._connection, numbers)
        for counted in count_group(copies, self._costs):
            owner = counted.owner
            flags = ((member == owner, numbers[member]) for member in counted.members)
            set_counted(self._connection, flags)
            correction = to_correction(numbers[owner], rows[owner], counted, self._names)
            if correction is not None:
                insert_corrections(self._connection, [correction])

    def _check(self, file_id: int) -> None:
        """See that the rows of a file are sound before they are changed."""
        if file_id not in self._files:
            check_messages(self._connection, [file_id])
            self._files.add(file_id)
