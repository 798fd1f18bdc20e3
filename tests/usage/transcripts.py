"""Small Claude directories for the tests of usage, one line of a transcript at a time."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from recollect.sync.index_access import find_transcripts
from recollect.usage.ledger_access import UsageLedger, count_in_memory

OPUS = "claude-opus-5-5"
HAIKU = "claude-haiku-4-5-20251001"
FIRST = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"
LONG_AGO = 1_700_000_000


def reply(message_id: str, **changes: object) -> dict[str, object]:
    """An assistant record; `usage` and `tools` go where they belong, the rest is of the record."""
    usage = changes.pop("usage", {})
    assert isinstance(usage, Mapping)
    tools = changes.pop("tools", ())
    assert isinstance(tools, tuple)
    model = changes.pop("model", OPUS)
    content = [{"type": "tool_use", "id": f"t{at}", "name": name} for at, name in enumerate(tools)]
    message = {
        "id": message_id,
        "model": model,
        "role": "assistant",
        "content": content,
        "usage": {"input_tokens": 10, "output_tokens": 100, **usage},
    }
    record: dict[str, object] = {
        "type": "assistant",
        "uuid": f"u-{message_id}",
        "requestId": f"r-{message_id}",
        "timestamp": "2026-11-15T10:20:30.000Z",
        "cwd": "/w/app",
        "version": "2.1.200",
        "gitBranch": "main",
        "entrypoint": "cli",
        "message": message,
    }
    return {name: value for name, value in {**record, **changes}.items() if value is not None}


def write_lines(path: Path, *records: Mapping[str, object]) -> list[int]:
    """Write a transcript that was finished long ago, and give the offset of each line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    path.write_bytes(b"".join(lines))
    # A file that was just written is read again at the next look.
    os.utime(path, (LONG_AGO, LONG_AGO))
    return [sum(map(len, lines[:at])) for at in range(len(lines))]


def session_path(root: Path, session_id: str, project: str = "-w-app") -> Path:
    """Return the path of a session's transcript."""
    return root / "projects" / project / f"{session_id}.jsonl"


def agent_path(root: Path, session_id: str, agent_id: str, project: str = "-w-app") -> Path:
    """Return the path of a subagent's transcript."""
    directory = root / "projects" / project / session_id / "subagents"
    return directory / f"agent-{agent_id}.jsonl"


def count(root: Path) -> UsageLedger:
    """The ledger of what is there, without an index."""
    return UsageLedger(count_in_memory(find_transcripts([root])), [root])
