"""Rows of messages as the index keeps them, with numbers for names, and back."""

import msgspec
from msgspec.structs import astuple

from recollect.store.catalogue import FileRow, Names
from recollect.store.failures import DamagedIndex
from recollect.store.messages import MessageValues
from recollect.sync.changes import Task
from recollect.sync.extract import Extract
from recollect.sync.ledger import Counted, find_tokens
from recollect.sync.rows import MessageRow

_NAMED = MessageRow.__struct_fields__[-7:]
"""The fields that are numbers in the index, because their texts repeat."""
_PLAIN = len(MessageRow.__struct_fields__) - len(_NAMED)
_SIDECHAIN = MessageRow.__struct_fields__.index("is_sidechain")


def to_values(row: MessageRow, number: int, file_id: int, names: Names) -> MessageValues:
    """The values of a row, in the order of the columns; it counts until it proves to be a copy."""
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


def from_values(values: MessageValues, names: Names) -> MessageRow:
    """The row that `to_values` was given; raises `DamagedIndex` for what cannot be one."""
    _, _, *fields, _ = values
    fields[_PLAIN:] = map(names.text, fields[_PLAIN:])
    for place in (_SIDECHAIN, _SIDECHAIN + 1):
        fields[place] = bool(fields[place])
    try:
        return msgspec.convert(fields, MessageRow)
    except msgspec.ValidationError as error:
        raise DamagedIndex(f"Row {values[0]} of the index is no message: {error}.") from error


def to_correction(
    number: int, row: MessageRow, counted: Counted, names: Names
) -> tuple[object, ...] | None:
    """What counts instead of the figures of the row itself; None when they are the same."""
    own = (find_tokens(row), row.cost, row.time, row.tools)
    if own == (counted.tokens, counted.cost, counted.time, counted.tools):
        return None
    tools = names.number(counted.tools)
    return (number, *astuple(counted.tokens), counted.cost, counted.time, tools)


def to_file_row(task: Task, read: Extract) -> FileRow:
    """What the index keeps of a file that was read."""
    transcript = task.transcript
    return FileRow(
        path=transcript.file,
        project=transcript.project_dir.name,
        kind=transcript.kind.value,
        session_id=transcript.session_id or read.session_id or "",
        agent_id=transcript.agent_id,
        # The small file that tells it may be gone before the transcript is.
        agent_type=read.agent_type or (task.known.agent_type if task.known else None),
        began=read.began,
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
