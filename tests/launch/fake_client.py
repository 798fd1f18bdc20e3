"""Install a client that plays a script, and build messages for such scripts."""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

PLAYER = Path(__file__).with_name("playing_client.py")
SESSION = "5e551011-0000-4000-8000-000000000001"

Step = dict[str, Any] | str | list[Any]

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="runs a script by its first line")


def make_client(directory: Path, script: Iterable[Step]) -> str:
    """Write a `claude` that plays `script` to `directory`; return a PATH that begins with it."""
    directory.mkdir(parents=True, exist_ok=True)
    client = directory / "claude"
    client.write_text(f"#!{sys.executable}\n{PLAYER.read_text(encoding='utf-8')}", encoding="utf-8")
    client.chmod(0o755)
    (directory / "claude.json").write_text(json.dumps(list(script)), encoding="utf-8")
    return f"{directory}{os.pathsep}{os.environ['PATH']}"


def read_call(directory: Path) -> dict[str, Any]:
    """Return how the client was called."""
    called: dict[str, Any] = json.loads((directory / "called.json").read_text(encoding="utf-8"))
    return called


def assistant(
    block: dict[str, Any], *, uuid: str, message: str = "msg_1", agent: str | None = None
) -> dict[str, Any]:
    """Return one complete block of a reply."""
    said = {"id": message, "role": "assistant", "model": "m", "content": [block]}
    return {
        "type": "assistant",
        "uuid": uuid,
        "session_id": SESSION,
        "parent_tool_use_id": agent,
        "message": said | {"usage": {"input_tokens": 4, "output_tokens": 1}},
    }


def text(words: str, *, uuid: str, message: str = "msg_1") -> dict[str, Any]:
    """Return text of the model."""
    return assistant({"type": "text", "text": words}, uuid=uuid, message=message)


def call(name: str, wanted: object, *, uuid: str, agent: str | None = None) -> dict[str, Any]:
    """Return a tool call, whose id is derived from `uuid`."""
    block = {"type": "tool_use", "id": f"toolu_{uuid}", "name": name, "input": wanted}
    return assistant(block, uuid=uuid, message=f"msg_{uuid}", agent=agent)


def answer(words: str, *, to: str, agent: str | None = None) -> dict[str, Any]:
    """Return the result of a tool."""
    block = {"type": "tool_result", "tool_use_id": f"toolu_{to}", "content": words}
    return {
        "type": "user",
        "uuid": f"answer-{to}",
        "session_id": SESSION,
        "parent_tool_use_id": agent,
        "message": {"role": "user", "content": [block]},
    }


def event(kind: str, **more: object) -> dict[str, Any]:
    """Return a stream event of a reply in progress."""
    return {
        "type": "stream_event",
        "session_id": SESSION,
        "parent_tool_use_id": None,
        "event": {"type": kind, **more},
    }


def begin_text() -> dict[str, Any]:
    """Return the start of a text block."""
    return event("content_block_start", index=0, content_block={"type": "text", "text": ""})


def piece(words: str) -> dict[str, Any]:
    """Return more text of the model."""
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": words})


def init() -> dict[str, Any]:
    """Return the start of a turn."""
    return {"type": "system", "subtype": "init", "session_id": SESSION, "model": "m", "cwd": "/w"}


def result(**more: object) -> dict[str, Any]:
    """Return the end of a turn."""
    used = {"inputTokens": 8, "outputTokens": 30, "costUSD": 0.0123}
    return {
        "type": "result",
        "subtype": "success",
        "session_id": SESSION,
        "is_error": False,
        "duration_ms": 1500,
        "num_turns": 2,
        "total_cost_usd": 0.0123,
        "usage": {"input_tokens": 8, "output_tokens": 30},
        "modelUsage": {"m": used},
        **more,
    }
