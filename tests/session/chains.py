"""Chain records in short notation, for tests of what records mean together.

Fields have their wire names and go through the decoder, like those of a transcript.
"""

import json
from collections.abc import Mapping
from typing import TypeVar

from msgspec.structs import replace

from recollect.records.attachments import Attachment
from recollect.records.conversation_records import Assistant, User
from recollect.records.decoding import decode_record
from recollect.records.envelope import Chain, Record
from recollect.records.state import QueueOperation
from recollect.records.system_records import Progress, System

R = TypeVar("R", bound=Record)
Json = Mapping[str, object]

MODEL = "claude-opus-4-5"


def make(kind: type[R], line: Json) -> R:
    """Return the record on `line`, which must be of `kind`."""
    record = decode_record(json.dumps(line).encode())
    assert isinstance(record, kind), record
    return record


def user(uuid: str, content: object = "words", parent: str | None = None, **fields: object) -> User:
    """Return a user record with this content."""
    message = {"role": "user", "content": content}
    line = {"type": "user", "uuid": uuid, "parentUuid": parent, "message": message, **fields}
    return make(User, line)


def reply(
    uuid: str,
    *content: str | Json,
    parent: str | None = None,
    message: Json | None = None,
    **fields: object,
) -> Assistant:
    """Return a line of a reply; `message` adds to a message whose id is made from the uuid."""
    body = {
        "id": f"msg_{uuid}",
        "model": MODEL,
        "content": [text(part) if isinstance(part, str) else part for part in content],
        **(message or {}),
    }
    line = {"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": body, **fields}
    return make(Assistant, line)


def result(
    uuid: str,
    call_id: str,
    content: object = "done",
    parent: str | None = None,
    *,
    is_error: bool | None = None,
    **fields: object,
) -> User:
    """Return a user record that answers one call."""
    return user(uuid, [answer(call_id, content, is_error=is_error)], parent, **fields)


def answer(call_id: str, content: object = "done", *, is_error: bool | None = None) -> Json:
    """A tool result block."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return block if is_error is None else {**block, "is_error": is_error}


def use(call_id: str, name: str = "Bash", **wanted: object) -> Json:
    """A tool use block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": wanted}


def text(words: str) -> Json:
    """A text block."""
    return {"type": "text", "text": words}


def system(uuid: str, subtype: str, parent: str | None = None, **fields: object) -> System:
    """A notice of the client."""
    line = {"type": "system", "subtype": subtype, "uuid": uuid, "parentUuid": parent, **fields}
    return make(System, line)


def boundary(uuid: str, before: str | None = None, **metadata: object) -> System:
    """A compaction after the record `before`."""
    return system(uuid, "compact_boundary", logicalParentUuid=before, compactMetadata=metadata)


def summary(uuid: str, words: str = "so far", parent: str | None = None) -> User:
    """The summary that a compaction leaves."""
    return user(uuid, words, parent, isCompactSummary=True)


def attachment(uuid: str, kind: str, parent: str | None = None, **fields: object) -> Attachment:
    """An attachment of `kind`."""
    body = {"type": kind, **fields}
    line = {"type": "attachment", "uuid": uuid, "parentUuid": parent, "attachment": body}
    return make(Attachment, line)


def progress(uuid: str, kind: str, parent: str | None = None, **fields: object) -> Progress:
    """Return a progress record of a running tool."""
    body = {"type": kind, **fields}
    return make(Progress, {"type": "progress", "uuid": uuid, "parentUuid": parent, "data": body})


def queue(operation: str, content: object = None, **fields: object) -> QueueOperation:
    """A prompt that enters or leaves the queue."""
    line = {"type": "queue-operation", "operation": operation, **fields}
    return make(QueueOperation, line if content is None else {**line, "content": content})


def in_a_row(*records: Chain) -> list[Chain]:
    """Return `records`, each the child of the one before."""
    row: list[Chain] = []
    for record in records:
        row.append(replace(record, parent_uuid=row[-1].uuid) if row else record)
    return row
