"""One made-up session, record by record, with usage known from generating it.

Knows the record shapes that clients write and their sizes in real histories. The random numbers and
the pool of text are passed in, so that one seed determines a whole corpus.
"""

import base64
import json
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.text import WORDS, Text, draw_size
from benchmarks.totals import Totals

_TOOLS = ("Read", "Bash", "Edit", "Write", "Grep")
_TOOL_WEIGHTS = (34, 34, 16, 5, 11)
_MODELS = ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001")
_MAX_CONTEXT = 190_000

Json = dict[str, Any]


class Session:
    """A session that grows record by record; `lines` are its files, the main one under ""."""

    def __init__(self, rng: random.Random, text: Text, number: int, copied: list[bytes]) -> None:
        self._rng = rng
        self._pool = text
        self._clock = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(hours=number * 7 % 5000)
        self._cwd = f"/home/dev/work/project-{number % 12:02d}"
        self._id = self._uuid()
        self._parent: str | None = None
        self._writes_placeholders = rng.random() < 0.5
        self._context = rng.randrange(12_000, 24_000)
        self.totals = Totals()
        self.lines: dict[str, list[bytes]] = {"": list(copied)}
        self.size = sum(len(line) + 1 for line in copied)

    def grow(self, quota: int) -> None:
        """Add turns until the files together have `quota` bytes."""
        self._write(
            {
                "type": "queue-operation",
                "operation": "dequeue",
                "timestamp": self._now(),
                "sessionId": self._id,
                "content": self._text(60),
            }
        )
        while self.size < quota:
            self._turn()
        self._write({"type": "ai-title", "aiTitle": self._text(40), "sessionId": self._id})

    def save(self, root: Path) -> None:
        """Write the files where Claude Code would."""
        project = root / "projects" / re.sub(r"[^A-Za-z0-9]", "-", self._cwd)
        for agent, lines in self.lines.items():
            path = project / f"{self._id}.jsonl"
            if agent:
                path = project / self._id / "subagents" / f"agent-{agent}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\n".join(lines) + b"\n")

    def _turn(self) -> None:
        self._snapshot()
        self._link("user", {"message": {"role": "user", "content": self._text(self._size(200))}})
        for _ in range(self._rng.randrange(1, 9)):
            calls = self._rng.choice((1, 1, 2))
            self._respond("", self._rng.choices(_TOOLS, _TOOL_WEIGHTS, k=calls))
        if self._rng.random() < 0.12:
            self._delegate()
        if self._rng.random() < 0.02:
            self._fail()
        self._respond("", [])
        took = self._rng.randrange(90_000)
        self._link("system", {"subtype": "turn_duration", "durationMs": took})
        reminder = {"type": "todo_reminder", "content": [], "itemCount": 0}
        self._link("attachment", {"attachment": reminder})

    def _respond(self, agent: str, tools: list[str]) -> None:
        """Write one response of the model, a line per block, then the results of its tools."""
        head = {
            "model": self._rng.choice(_MODELS),
            "id": f"msg_{self._hex(24)}",
            "type": "message",
            "role": "assistant",
        }
        usage, blocks = self._spend(), self._blocks(tools)
        for block in blocks:
            is_placeholder = self._writes_placeholders and block is not blocks[-1]
            shown = usage | {"output_tokens": 1} if is_placeholder else usage
            message = head | {"content": [block], "stop_reason": None, "usage": shown}
            self._link("assistant", {"message": message, "requestId": f"req_{head['id']}"}, agent)
        for block in blocks:
            if block["type"] == "tool_use":
                self._return(block, agent)

    def _blocks(self, tools: list[str]) -> list[Json]:
        blocks: list[Json] = []
        if self._rng.random() < 0.4:
            signature = self._hex(self._rng.randrange(200, 900))
            thinking = self._text(self._size(700))
            blocks.append({"type": "thinking", "thinking": thinking, "signature": signature})
        blocks.append({"type": "text", "text": self._text(self._size(350))})
        for tool in tools:
            call = {"id": f"toolu_{self._hex(24)}", "name": tool, "input": self._input(tool)}
            blocks.append({"type": "tool_use"} | call)
        return blocks

    def _spend(self) -> Json:
        """Return the usage of one response, and add it to the totals."""
        rng = self._rng
        fresh, out, write = rng.randrange(1, 900), self._size(300), self._size(900)
        long_lived = rng.random() < 0.3
        five, hour = (0, write) if long_lived else (write, 0)
        self.totals += Totals(1, fresh, out, self._context, five, hour)
        usage = {
            "input_tokens": fresh,
            "cache_creation_input_tokens": write,
            "cache_read_input_tokens": self._context,
            "output_tokens": out,
            "cache_creation": {
                "ephemeral_5m_input_tokens": five,
                "ephemeral_1h_input_tokens": hour,
            },
            "service_tier": "standard",
        }
        self._context = min(self._context + write + out, _MAX_CONTEXT)
        return usage

    def _input(self, tool: str) -> Json:
        path = f"{self._cwd}/src/{self._rng.choice(WORDS)}.py"
        match tool:
            case "Bash":
                return {"command": f"pytest -q {path}", "description": self._text(40)}
            case "Edit":
                return {
                    "file_path": path,
                    "old_string": self._text(self._size(300)),
                    "new_string": self._text(self._size(400)),
                    "replace_all": False,
                }
            case "Write":
                return {"file_path": path, "content": self._text(self._size(3000))}
            case "Grep":
                return {"pattern": self._rng.choice(WORDS), "output_mode": "content", "-n": True}
            case _:
                return {"file_path": path}

    def _return(self, call: Json, agent: str) -> None:
        """Write the result of a tool: once for the model, and once for the client itself."""
        text = self._text(self._size(1200, 1.5))
        if self._rng.random() < 0.005:
            text += " \ud83d"
        content: str | list[Json] = text
        twin: Json = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        if call["name"] == "Edit":
            content, twin = "The file has been updated.\n" + text[:400], self._edit(call["input"])
        elif call["name"] == "Read" and self._rng.random() < 0.012:
            content, twin = self._picture()
        elif call["name"] == "Read":
            content = re.sub("^", "     1\u2192", text, flags=re.MULTILINE)
            twin = {"type": "text", "file": {"content": text} | call["input"]}
        block = {"tool_use_id": call["id"], "type": "tool_result", "content": content}
        body = {"message": {"role": "user", "content": [block]}, "toolUseResult": twin}
        self._link("user", body, agent)

    def _edit(self, asked: Json) -> Json:
        return {
            "filePath": asked["file_path"],
            "oldString": asked["old_string"],
            "newString": asked["new_string"],
            "originalFile": self._text(self._size(3600)),
            "structuredPatch": [],
            "userModified": False,
        }

    def _picture(self) -> tuple[list[Json], Json]:
        data = base64.b64encode(self._rng.randbytes(self._size(60_000))).decode()
        source = {"type": "base64", "media_type": "image/png", "data": data}
        twin = {"type": "image", "file": {"base64": data, "type": "image/png"}}
        return [{"type": "image", "source": source}], twin

    def _delegate(self) -> None:
        """Write a subagent with its own file; some of its messages are repeated in the main one."""
        agent, parent, self._parent = f"a{self._hex(16)}", self._parent, None
        self._link("user", {"message": {"role": "user", "content": self._text(900)}}, agent)
        for _ in range(self._rng.randrange(2, 10)):
            self._respond(agent, [self._rng.choice(_TOOLS)])
        self._parent = parent
        for line in self.lines[agent][1::3]:
            said = json.loads(line)
            echo = {name: said[name] for name in ("type", "message", "uuid", "timestamp")}
            data = {"type": "agent_progress", "message": echo, "prompt": "", "agentId": agent}
            self._link("progress", {"data": data, "toolUseID": f"agent_{said['uuid']}"})

    def _fail(self) -> None:
        zero = {"input_tokens": 0, "output_tokens": 0}
        message = {
            "id": self._uuid(),
            "model": "<synthetic>",
            "role": "assistant",
            "usage": zero,
            "content": [{"type": "text", "text": "API Error: 529"}],
        }
        self._link("assistant", {"message": message, "isApiErrorMessage": True})

    def _snapshot(self) -> None:
        name, now = self._uuid(), self._now()
        backups = {
            f"src/{word}.py": {
                "backupFileName": f"{self._hex(16)}@v1",
                "version": 1,
                "backupTime": now,
            }
            for word in self._rng.sample(WORDS, k=4)
        }
        snapshot = {"messageId": name, "trackedFileBackups": backups, "timestamp": now}
        self._write(
            {
                "type": "file-history-snapshot",
                "messageId": name,
                "snapshot": snapshot,
                "isSnapshotUpdate": False,
            }
        )

    def _link(self, kind: str, body: Json, agent: str = "") -> None:
        """Write a linked record; `type` comes after the message, as clients write it."""
        envelope: Json = {
            "parentUuid": self._parent,
            "isSidechain": bool(agent),
            "userType": "external",
            "cwd": self._cwd,
            "sessionId": self._id,
            "version": "2.1.45",
            "gitBranch": "main",
        }
        if agent:
            envelope["agentId"] = agent
        self._parent = self._uuid()
        tail = {"type": kind, "uuid": self._parent, "timestamp": self._now()}
        self._write(envelope | body | tail, agent)

    def _write(self, record: Json, agent: str = "") -> None:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        # A lone surrogate becomes \udXXX, which is how JavaScript writes it.
        line = text.encode("utf-8", "backslashreplace")
        self.lines.setdefault(agent, []).append(line)
        self.size += len(line) + 1

    def _now(self) -> str:
        self._clock += timedelta(milliseconds=self._rng.randrange(100, 9000))
        return self._clock.strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def _size(self, median: int, sigma: float = 1.0) -> int:
        return draw_size(self._rng, median, sigma, median // 6, 200_000)

    def _text(self, size: int) -> str:
        return self._pool.draw(self._rng, size)

    def _hex(self, length: int) -> str:
        return f"{self._rng.getrandbits(4 * length):0{length}x}"

    def _uuid(self) -> str:
        return "-".join(self._hex(length) for length in (8, 4, 4, 4, 12))
