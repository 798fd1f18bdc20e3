"""A Messages API that plays scenes, for the real client to talk to.

It keeps no state: the conversation in the request says which scene is played and how far it is, so
that resuming, forking, subagents and several clients at once need nothing. Requests that are not
part of a conversation (titles, probes) get a word that costs nothing. Standard library only.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

from tests.client.file_scenes import FILE_SCENES, WORK
from tests.client.scenes import SCENES, SENT, SUMMARY, Block, Reply, find_reply, load_scenes, say

TAG = re.compile(r"\bplay:([a-z0-9_]+)")
COMPACTION = "detailed summary"
"""Words that only the request for a summary ends with."""

REQUESTS_VARIABLE = "FAKE_API_REQUESTS"
"""Environment variable: the file to which every request is appended."""

STATES_VARIABLE = "FAKE_API_STATES"
"""Environment variable: the directory for the states before every reply."""

SCENES_VARIABLE = "FAKE_API_SCENES"
"""Environment variable: a file with more scenes, which a test writes while the API runs."""

STATES = "states.jsonl"

PIECE = 12
_numbers = count(1)


def choose(body: dict[str, Any]) -> Reply:
    """Return the reply to a request."""
    messages = body.get("messages", [])
    asked = [_read_text(each) for each in messages if each.get("role") == "user"]
    if asked and COMPACTION in asked[-1]:
        return Reply((say(f"<analysis>Short.</analysis>\n<summary>{SUMMARY}</summary>"),), 81)
    if not body.get("tools") or body.get("max_tokens") == 1:
        return Reply((say("ok"),), 0)
    for place in range(len(messages) - 1, -1, -1):
        tags = TAG.findall(_read_text(messages[place]))
        if messages[place].get("role") == "user" and tags:
            later = messages[place + 1 :]
            step = sum(each.get("role") == "assistant" for each in later)
            return find_reply(SCENES | FILE_SCENES | _read_scenes(), tags[-1], step)
    return Reply((say("(no scene)"),), 1)


def _read_scenes() -> dict[str, tuple[Reply, ...]]:
    path = os.environ.get(SCENES_VARIABLE)
    return load_scenes(Path(path)) if path and Path(path).exists() else {}


def _read_text(message: dict[str, Any]) -> str:
    """Return the text of a message without tool results, which may quote anything."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(each.get("text", "") for each in content or () if each["type"] == "text")


def iter_events(reply: Reply, body: dict[str, Any]) -> Iterator[tuple[float, dict[str, Any]]]:
    """Yield the events of a streamed reply, with the time to wait before each."""
    sent = SENT if reply.output else dict.fromkeys(SENT, 0) | {"cache_creation": None}
    offered = {each.get("name") for each in body.get("tools", ())}
    message: dict[str, Any] = {
        "id": f"msg_{time.time_ns()}{next(_numbers)}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**sent, "output_tokens": min(reply.output, 1)},
    }
    yield 0, {"type": "message_start", "message": message}
    for index, block in enumerate(reply.blocks):
        begun, pieces = _split(block, offered)
        yield 0, {"type": "content_block_start", "index": index, "content_block": begun}
        for piece in pieces:
            yield reply.pause, {"type": "content_block_delta", "index": index, "delta": piece}
        yield 0, {"type": "content_block_stop", "index": index}
    is_call = any(block.kind == "tool_use" for block in reply.blocks)
    stop = {"stop_reason": "tool_use" if is_call else "end_turn", "stop_sequence": None}
    used = {name: value for name, value in sent.items() if isinstance(value, int)}
    usage = {**used, "output_tokens": reply.output}
    yield 0, {"type": "message_delta", "delta": stop, "usage": usage}
    yield 0, {"type": "message_stop"}


def _split(block: Block, offered: set[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the start of a block, and its deltas."""
    if block.kind == "tool_use":
        name = next((each for each in block.tools if each in offered), block.tools[0])
        begun = {"type": "tool_use", "id": f"toolu_{time.time_ns()}{next(_numbers)}"}
        data = json.dumps(block.input).replace(WORK, os.getcwd())  # noqa: PTH109 - as JSON
        deltas = [{"type": "input_json_delta", "partial_json": each} for each in _cut(data)]
        return begun | {"name": name, "input": {}}, deltas
    if block.kind == "thinking":
        thought = [{"type": "thinking_delta", "thinking": each} for each in _cut(block.text)]
        signed = {"type": "signature_delta", "signature": "c2lnbmVk"}
        return {"type": "thinking", "thinking": "", "signature": ""}, [*thought, signed]
    deltas = [{"type": "text_delta", "text": each} for each in _cut(block.text)]
    return {"type": "text", "text": ""}, deltas


def _cut(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def assemble(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the complete message, for a client that does not stream."""
    message: dict[str, Any] = events[0]["message"]
    blocks: list[dict[str, Any]] = []
    for event in events:
        match event["type"]:
            case "content_block_start":
                blocks.append(dict(event["content_block"]))
            case "content_block_delta" if event["delta"]["type"] == "text_delta":
                blocks[-1]["text"] += event["delta"]["text"]
            case "message_delta":
                message |= event["delta"]
                message["usage"] |= event["usage"]
    return message | {"content": blocks}


def _keep(body: dict[str, Any]) -> None:
    path = os.environ.get(REQUESTS_VARIABLE)
    if path:
        # One write of one line: several connections append to the file.
        with open(path, "ab", buffering=0) as file:  # noqa: PTH123 - unbuffered
            file.write(json.dumps(body).encode() + b"\n")


def _keep_state(body: dict[str, Any]) -> None:
    """Note what the directory contains, and the prompts and ended calls so far.

    Contents are in files that are named by their digest: most stay the same from reply to reply.
    """
    directory = os.environ.get(STATES_VARIABLE)
    if not directory or not body.get("tools") or body.get("max_tokens") == 1:
        return
    contents = [each.get("content") for each in body["messages"]]
    blocks = [block for each in contents if isinstance(each, list) for block in each]
    ended = [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
    asked = [text for each in body["messages"] if TAG.search(text := _read_text(each))]
    files = {}
    for each in sorted(Path.cwd().rglob("*")):
        name = each.relative_to(Path.cwd())
        if each.is_file() and not name.parts[0].startswith("."):
            data = each.read_bytes()
            files[str(name)] = digest = hashlib.sha256(data).hexdigest()
            (Path(directory) / digest).write_bytes(data)
    noted = json.dumps({"ended": ended, "asked": asked, "files": files}).encode()
    with open(Path(directory) / STATES, "ab", buffering=0) as file:  # noqa: PTH123 - unbuffered
        file.write(noted + b"\n")


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: requests can be seen in the transcripts."""

    def do_HEAD(self) -> None:
        """Answer the check whether the server is reachable."""
        self._send_json(200, {})

    def do_GET(self) -> None:
        """Answer that only messages are supported."""
        self._send_json(404, {"type": "error", "error": {"type": "not_found_error"}})

    def do_POST(self) -> None:
        """Answer a request of the client."""
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(data or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._send_json(200, {"input_tokens": 100})
        elif path != "/v1/messages":
            self.do_GET()
        else:
            self._answer(body)

    def _answer(self, body: dict[str, Any]) -> None:
        _keep(body)
        _keep_state(body)
        reply = choose(body)
        if reply.status != 200:
            error = {"type": "invalid_request_error", "message": "The scene says no."}
            self._send_json(reply.status, {"type": "error", "error": error})
        elif body.get("stream"):
            self._stream(reply, body)
        else:
            self._send_json(200, assemble([event for _, event in iter_events(reply, body)]))

    def _stream(self, reply: Reply, body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for pause, event in iter_events(reply, body):
                time.sleep(pause)
                self._send_chunk(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n")
            self._send_chunk("")
        except (BrokenPipeError, ConnectionResetError):
            # The client was interrupted.
            self.close_connection = True

    def _send_chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _send_json(self, status: int, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("x-should-retry", "false")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


class Server(ThreadingHTTPServer):
    """Listens on a free port of this machine, and on no other."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """The URL of the API."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore broken connections of clients that have exited."""
