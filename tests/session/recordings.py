"""Records from literals, and transcripts of the real client by the scenario that made them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Raw

from recollect.reader.transcript_reader import read_transcript
from recollect.records.blocks import ToolResult
from recollect.records.decoding import decode_record
from recollect.records.envelope import Record
from recollect.records.tools import canonical_name, split_mcp_name
from recollect.session.session_records import Log
from recollect.session.tool_calls import PENDING, SUCCESS, Outcome, ToolCall

NOON = "2026-01-01T12:00:00.000Z"
LATER = "2026-01-01T12:00:05.000Z"


def make_log(*lines: Mapping[str, object]) -> Log:
    """Return a log that has read `lines`."""
    log = Log()
    log.extend(map(decode, lines))
    return log


def decode(line: Mapping[str, object]) -> Record:
    """Return the record on `line`."""
    record = decode_record(json.dumps(line).encode())
    assert record is not None
    return record


def make_call(
    name: str,
    wanted: Mapping[str, object],
    result: object = None,
    *,
    call_id: str = "t1",
    text: str = "done",
    outcome: Outcome = SUCCESS,
) -> ToolCall:
    """A call at `NOON`, answered at `LATER` unless it is pending."""
    is_open = outcome is PENDING
    mcp_name = split_mcp_name(name)
    return ToolCall(
        id=call_id,
        name=canonical_name(name),
        recorded_name=name,
        mcp_server=mcp_name[0] if mcp_name else None,
        raw_input=Raw(json.dumps(wanted).encode()),
        message_id="m1",
        call_uuid="c1",
        status=outcome.status,
        rejected_by=outcome.rejected_by,
        block=None if is_open else ToolResult(tool_use_id=call_id, content=text),
        raw_result=Raw() if result is None else Raw(json.dumps(result).encode()),
        started=NOON,
        ended=None if is_open else LATER,
    )


def read_scenario(shared: Path, version: str, name: str) -> Log:
    """Return the session that client `version` wrote in scenario `name`."""
    folder = shared / "real_cli" / version
    scenarios = json.loads((folder / "scenarios.json").read_bytes())
    session_id = next(item["session_id"] for item in scenarios if item["name"] == name)
    (path,) = folder.glob(f"config/projects/*/{session_id}.jsonl")
    return read_log(path)


def iter_recorded(shared: Path, version: str) -> Iterator[Path]:
    """Yield the sessions that client `version` wrote, those in the terminal included."""
    folder = shared / "real_cli" / version
    return iter(sorted(folder.glob("config*/projects/*/*.jsonl")))


def read_log(path: Path) -> Log:
    """Return a log that has read the file at `path`."""
    log = Log()
    log.extend(read_transcript(path))
    return log
