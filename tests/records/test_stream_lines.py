"""Stream messages in a transcript."""

import json

import msgspec
import pytest

from recollect.records.decoding import decode_record
from recollect.records.envelope import StreamLine
from recollect.records.state import JournalResult

RESULT = {"type": "result", "subtype": "success", "uuid": "a", "result": "all done"}
INIT = {"type": "system", "subtype": "init", "cwd": "/srv/p", "model": "claude-opus-4-5"}


@pytest.mark.parametrize("line", [RESULT, INIT])
def test_what_a_client_only_prints_is_kept_whole(line: dict[str, str]) -> None:
    """It is kept completely, with its type."""
    record = decode_record(json.dumps(line).encode())
    assert isinstance(record, StreamLine)
    assert (record.record_type, record.subtype) == (line["type"], line["subtype"])
    assert (record.uuid, record.cwd) == (line.get("uuid"), line.get("cwd"))
    assert msgspec.json.decode(record.raw) == line


def test_a_result_in_a_journal_is_a_row_of_it() -> None:
    """Workflows record the end of a subagent under the same type."""
    row = {"type": "result", "key": "k", "agentId": "b", "result": {"answer": 42}}
    assert isinstance(decode_record(json.dumps(row).encode()), JournalResult)
