"""Build Claude directories with small sessions of all client versions."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

Line = Mapping[str, object]

CWD = "/home/mina/pond"
PROJECT = "-home-mina-pond"
FIRST = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"
THIRD = "33333333-3333-4333-8333-333333333333"

_DAWN = datetime(2026, 3, 1, 6, tzinfo=UTC)


def at(seconds: float) -> str:
    """Return a time as in records, counted from the same morning."""
    moment = _DAWN + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_of(seconds: float) -> float:
    """Return the same time in seconds since 1970."""
    return (_DAWN + timedelta(seconds=seconds)).timestamp()


def prompt(text: object, *, uuid: str = "u1", seconds: float = 0, **more: object) -> Line:
    """Return a typed prompt."""
    return _link("user", uuid, seconds, {"role": "user", "content": text}, more)


def reply(text: str, *, uuid: str = "a1", seconds: float = 1, **more: object) -> Line:
    """Return a reply of the model."""
    content: list[object] = [{"type": "text", "text": text}]
    return _link("assistant", uuid, seconds, _message(uuid, content), more)


def call(
    name: str, wanted: object, *, call_id: str = "toolu_1", uuid: str = "c1", **more: object
) -> Line:
    """Return a tool call."""
    content: list[object] = [{"type": "tool_use", "id": call_id, "name": name, "input": wanted}]
    return _link("assistant", uuid, 2, _message(uuid, content), more)


def result(
    text: str, *, call_id: str = "toolu_1", uuid: str = "r1", given: object = None, **more: object
) -> Line:
    """Return the result of a tool; `given` is its structured form."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    answer = {"toolUseResult": given} if given is not None else {}
    return _link("user", uuid, 3, {"role": "user", "content": [block]}, {**answer, **more})


def title(text: str) -> Line:
    """Return a title given by the user."""
    return {"type": "custom-title", "customTitle": text}


def summary(text: str, leaf: str) -> Line:
    """Return a title for the session that has the record `leaf`."""
    return {"type": "summary", "summary": text, "leafUuid": leaf}


def encode(lines: Iterable[Line]) -> bytes:
    """Return the bytes of a transcript."""
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def _message(uuid: str, content: list[object]) -> Line:
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {"id": f"msg_{uuid}", "role": "assistant", "model": "m", "content": content} | {
        "usage": usage
    }


def _link(kind: str, uuid: str, seconds: float, message: Line, more: Line) -> Line:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": FIRST,
        "timestamp": at(seconds),
        "cwd": CWD,
        "version": "2.1.325",
        "gitBranch": "main",
        "message": message,
        **more,
    }


@dataclass(frozen=True)
class ClaudeRoot:
    """A Claude directory that tests fill."""

    path: Path

    def write(self, name: str, content: bytes, *, modified: float | None = None) -> Path:
        """Write any file below the root; `modified` counts from the same morning as records."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        moment = seconds_of(3600 if modified is None else modified)
        os.utime(path, (moment, moment))
        return path

    def session(
        self,
        session_id: str,
        *lines: Line,
        project: str = PROJECT,
        modified: float | None = None,
    ) -> Path:
        """Write the transcript of a session."""
        name = f"projects/{project}/{session_id}.jsonl"
        return self.write(name, encode(lines), modified=modified)

    def client(self, pid: object, session_id: str = FIRST, **more: object) -> Path:
        """Write the file of a running client that has a session open."""
        stated = {"pid": pid, "sessionId": session_id, **more}
        return self.write(f"sessions/{pid}.json", json.dumps(stated).encode())

    def agent(self, place: str, agent_id: str, *lines: Line) -> Path:
        """Write the transcript of a subagent; `place` is relative to the project."""
        marked = [{"agentId": agent_id, **line, "isSidechain": True} for line in lines]
        name = f"projects/{PROJECT}/{place}/agent-{agent_id}.jsonl"
        return self.write(name, encode(marked))
