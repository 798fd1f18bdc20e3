"""Rows of messages as the index keeps them, with numbers for names, and back."""

import msgspec

from recollect.store.catalogue import FileRow, Names
from recollect.store.failures import DamagedIndex
from recollect.store.messages import MessageValues
from recollect.sync.changes import Task
from recollect.sync.extract import Extract
from recollect.sync.ledger import Counted
from recollect.sync.rows import MessageRow


def to_values(row: MessageRow, number: int, file_id: int, names: Names) -> MessageValues:
    """The values of a row, in the order of the columns; it counts until it proves to be a copy."""
    numbers = names.numbers
    return (
        number,
        file_id,
        row.position,
        row.message_id,
        row.request_id,
        numbers[row.model],
        numbers[row.branch],
        numbers[row.version],
        numbers[row.entrypoint],
        numbers[row.cwd],
        numbers[row.tools],
        numbers[row.terms],
        row.is_sidechain,
        row.time,
        row.input,
        row.output,
        row.cache_read,
        row.cache_write_5m,
        row.cache_write_1h,
        row.web_searches,
        row.late_5m,
        row.late_1h,
        row.usage,
        row.cost,
        True,
    )


def from_values(values: MessageValues, names: Names) -> MessageRow:
    """The row that `to_values` was given; raises `DamagedIndex` for what cannot be one."""
    named = map(names.text, values[5:12])
    is_sidechain, *rest = values[12:-1]
    fields = (*values[2:5], *named, bool(is_sidechain), *rest)
    try:
        return msgspec.convert(fields, MessageRow)
    except msgspec.ValidationError as error:
        raise DamagedIndex(f"Row {values[0]} of the index is no message: {error}.") from error


def to_correction(
    number: int, row: MessageRow, counted: Counted, names: Names
) -> tuple[object, ...] | None:
    """What counts instead of the figures of the row itself; None when they are the same."""
    tokens = counted.tokens
    figures = (
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write_5m,
        tokens.cache_write_1h,
        tokens.web_searches,
        counted.cost,
    )
    own = (
        row.input,
        row.output,
        row.cache_read,
        row.cache_write_5m,
        row.cache_write_1h,
        row.web_searches,
        row.cost,
    )
    if (counted.time, counted.tools, figures) == (row.time, row.tools, own):
        return None
    return (number, counted.time, names.number(counted.tools), *figures)


def to_file_row(task: Task, read: Extract) -> FileRow:
    """What the index keeps of a file that was read."""
    transcript = task.transcript
    return FileRow(
        path=str(transcript.path),
        project=transcript.project_dir.name,
        kind=transcript.kind.value,
        session_id=transcript.session_id or read.session_id or "",
        agent_id=transcript.agent_id,
        device=read.device,
        # Compared with what the next listing tells, which is nothing on some systems.
        inode=read.inode if transcript.inode else 0,
        size=read.size,
        mtime_ns=read.mtime_ns,
        position=read.position,
        head_hash=read.head_hash,
        tail_hash=read.tail_hash,
        is_racy=read.is_racy,
    )
