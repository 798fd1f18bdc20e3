"""Generated sessions: a long one, and one that grows as a client writes it."""

import json
import os
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

LONG = "11111111-2222-4333-8444-555555555555"
GROWING = "99999999-2222-4333-8444-555555555555"
TURNS = 150
FAR_TURN = 120
"""The turn with a unique word."""
FAR_WORD = "cormorant"

Record = dict[str, Any]


def write_session(root: Path, session_id: str, turns: int, failed: Container[int] = ()) -> Path:
    """Write a session with this many turns, some of which fail; return its transcript."""
    path = root / "projects" / "-home-mina-harbour" / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    made = (make_turn(session_id, turn, is_failed=turn in failed) for turn in range(turns))
    append_records(path, [each for records in made for each in records])
    return path


def append_records(path: Path, records: Iterable[Record]) -> None:
    """Append records, and return once they are in the file."""
    with path.open("ab") as file:
        file.write(b"".join(json.dumps(each).encode() + b"\n" for each in records))
        file.flush()
        os.fsync(file.fileno())


def make_turn(session_id: str, turn: int, *, is_failed: bool = False) -> list[Record]:
    """Return a prompt, a command with its output, and a reply."""
    rare = f" A {FAR_WORD} sat there; the {FAR_WORD} left." if turn == FAR_TURN else ""
    call: Record = {"type": "tool_use", "id": f"call-{turn}", "name": "Bash"}
    call["input"] = {"command": f"count-boats --pier {turn}", "description": "Count the boats"}
    text = f"Pier {turn} has {turn * 3} boats.{rare}\n\n" + "The tide was low. " * 30
    result: Record = {"type": "tool_result", "tool_use_id": f"call-{turn}"}
    result |= {"content": f"{turn * 3} boats"} | ({"is_error": True} if is_failed else {})
    said = [
        ("user", "prompt", f"How many boats lie at pier {turn}?"),
        ("assistant", "call", [call]),
        ("user", "result", [result]),
        ("assistant", "answer", [{"type": "text", "text": text}]),
    ]
    return [_make_record(session_id, turn, *each) for each in said]


def make_uuid(turn: int, step: str) -> str:
    """Return the uuid of a step of a turn."""
    return f"{step}-{turn:04d}"


def _make_record(session_id: str, turn: int, role: str, step: str, content: object) -> Record:
    order = ("prompt", "call", "result", "answer")
    place = order.index(step)
    before = (turn, order[place - 1]) if place else (turn - 1, "answer")
    message: Record = {"role": role, "content": content}
    if role == "assistant":
        usage = {"input_tokens": 10, "output_tokens": 20}
        message |= {"id": f"msg-{turn}-{step}", "model": "claude-opus-5-5", "usage": usage}
    return {
        "type": role,
        "uuid": make_uuid(turn, step),
        "parentUuid": None if before[0] < 0 else make_uuid(*before),
        "sessionId": session_id,
        "cwd": "/home/mina/harbour",
        "version": "2.1.0",
        "gitBranch": "main",
        "timestamp": f"2026-11-13T{10 + turn // 60:02d}:{turn % 60:02d}:{place * 10:02d}.000Z",
        "message": message,
    }
