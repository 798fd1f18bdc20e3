"""Sessions to export: those of the demo data, and one with a secret in every field."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from recollect.demo import CLAUDE_DIRECTORY
from recollect.export.export_content import SessionPart
from recollect.export.export_options import ExportOptions
from recollect.export.exporter import Exporter
from recollect.library.opening import open_session
from recollect.session.session import Session

WITH_SUBAGENT: Final = "7aa5fa93"
PROJECT: Final = "-home-mina-projects-vault"
ENCODINGS: Final[Mapping[str, Any]] = {
    "plain": lambda text: text,
    "JSON": lambda text: json.dumps(json.dumps({"out": text})),
    "base64": lambda text: base64.b64encode(f"token: {text}\n".encode()).decode(),
    "percent": lambda text: quote(text, safe=""),
    "hexadecimal": lambda text: text.encode().hex(),
    "coloured": lambda text: f"\x1b[33m{text[:9]}\x1b[0m\x1b[1m{text[9:]}\x1b[0m",
}


def open_demo(name: str = WITH_SUBAGENT) -> Session:
    """Open a session of the demo data."""
    return open_session(name, root=CLAUDE_DIRECTORY)


def export(session: Session, options: ExportOptions, turns: tuple[int, ...] | None = None) -> str:
    """Return what an export writes."""
    pieces = Exporter(options).stream(SessionPart(session, turns))
    return b"".join(pieces).decode("utf-8", "surrogateescape")


def export_masked(path: Path, options: ExportOptions) -> str:
    """Return what an export of a transcript writes whose records are masked while they are read."""
    exporter = Exporter(options)
    session = exporter.open_masked(lambda: open_session(path))
    pieces = exporter.stream(SessionPart(session, is_masked=True))
    return b"".join(pieces).decode("utf-8", "surrogateescape")


def write_session(root: Path, records: list[dict[str, Any]], session_id: str = "s1") -> Path:
    """Write records as a transcript below a Claude directory, each the child of the one before."""
    path = root / "projects" / PROJECT / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines, last = [], None
    for number, record in enumerate(records):
        uuid = record.get("uuid", f"u{number}")
        common = {
            "uuid": uuid,
            "parentUuid": last,
            "sessionId": session_id,
            "timestamp": f"2026-11-12T10:00:{number:02}.000Z",
            "cwd": "/home/mina/projects/vault",
        }
        lines.append(json.dumps({**common, **record}))
        last = uuid
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def say(text: str) -> dict[str, Any]:
    """Return a prompt."""
    return {"type": "user", "message": {"role": "user", "content": text}}


def reply(*blocks: dict[str, Any], message_id: str = "m1") -> dict[str, Any]:
    """Return a reply."""
    message = {
        "id": message_id,
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": list(blocks),
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    return {"type": "assistant", "message": message}


def answer(call_id: str, text: str, result: Any = None) -> dict[str, Any]:
    """Return the result of a tool call."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return {
        "type": "user",
        "message": {"role": "user", "content": [block]},
        "toolUseResult": text if result is None else result,
    }


def call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    """Return a tool call as a block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def plant(secret: str, hint: str) -> list[dict[str, Any]]:
    """Return records with a secret in every field and encoding; `hint` makes it recognisable."""
    written = "\n".join(f"{name}: {encode(secret)}" for name, encode in ENCODINGS.items())
    picture = {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": base64.b64encode(f"{hint}{secret}".encode()).decode(),
        },
    }
    edited = {"filePath": "/v/.env", "oldString": "a", "newString": f"{hint}{secret}"}
    return [
        # Here nothing tells that it is a secret; only a later record does.
        say(f"why is {secret} not accepted?\n{written}"),
        {"type": "ai-title", "aiTitle": f"about {secret}"},
        reply(
            {"type": "thinking", "thinking": f"they use {secret}", "signature": "x"},
            {"type": "text", "text": f"Set `{secret}`:\n\n```sh\nexport {hint}{secret}\n```"},
            call("t1", "Bash", command=f"curl -H '{secret}' x", description=written),
            call("t2", "Edit", file_path="/v/.env", old_string="a", new_string=f"{hint}{secret}"),
            call("t3", "mcp__vault__store", api_key=secret, nested={"password": secret}),
            call("t4", "TodoWrite", todos=[{"content": f"rotate {secret}", "status": "pending"}]),
            call("t5", "Grep", pattern=secret, path="/v"),
        ),
        answer("t1", written, {"stdout": written, "stderr": f"bad {secret}", "interrupted": False}),
        answer("t2", "ok", edited),
        answer("t3", json.dumps({"stored": secret})),
        answer("t4", "ok"),
        answer("t5", f"/v/.env:1:{hint}{secret}"),
        {"type": "user", "message": {"role": "user", "content": [picture]}},
        {"type": "strange-kind", "field": f"{hint}{secret}"},
    ]
