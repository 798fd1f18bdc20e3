"""Turn the script of a session into the records that a client of that version would write.

Knows envelopes, ids, times and the order of records; the scripts contain only the conversation. Ids
are hashes and times come from the script, so that the output is deterministic.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tools.demo_stories.meter import Context, Json, Meter, count_tokens

Files = dict[str, bytes]

HOME = "/home/mina"
NO_LEAF = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True)
class Call:
    """A pending tool call: its id and its record."""

    id: str
    uuid: str


def think(text: str) -> Json:
    """Return a thinking block, with a signature like those of the API."""
    signature = hashlib.sha512(text.encode()).hexdigest()
    return {"type": "thinking", "thinking": text, "signature": signature}


def say(text: str) -> Json:
    """Return a text block."""
    return {"type": "text", "text": text}


def call(name: str, **arguments: object) -> Json:
    """Return a tool call; its id is set when it is written."""
    return {"type": "tool_use", "id": "", "name": name, "input": arguments}


@dataclass
class Session:
    """One session: its records, its subagents and the files beside it."""

    name: str
    cwd: str
    version: str
    start: str
    branch: str = "main"
    entrypoint: str = "cli"
    lines: list[Json] = field(default_factory=list)
    sidecars: Files = field(default_factory=dict)
    typed: list[tuple[str, int]] = field(default_factory=list)
    meter: Meter = field(default_factory=Meter)

    def __post_init__(self) -> None:
        """Set the clock and the id of the session."""
        self._count = 0
        self._snapshot = ""
        self.began = self.clock = datetime.fromisoformat(self.start).replace(tzinfo=UTC)
        self.id = self.make_uuid()

    @property
    def is_modern(self) -> bool:
        """Whether the client is a 2.1 one."""
        return self.version.startswith("2.1.")

    @property
    def project(self) -> str:
        """Name of the session's directory below `projects`."""
        units = self.cwd.encode("utf-16-le")
        characters = [
            chr(low | high << 8) for low, high in zip(units[::2], units[1::2], strict=True)
        ]
        return re.sub("[^A-Za-z0-9]", "-", "".join(characters))

    def wait(self, seconds: float) -> str:
        """Advance the clock; return the new time as a client writes it."""
        self.clock += timedelta(seconds=seconds, milliseconds=self._draw("time")[0])
        return self.clock.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def make_uuid(self) -> str:
        """Return the next id of a record."""
        return str(uuid.UUID(bytes=self._draw("uuid")[:16], version=4))

    def make_id(self, prefix: str, length: int = 22) -> str:
        """Return the next id in the format of the API."""
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
        drawn = self._draw(prefix)
        return prefix + "".join(letters[byte % len(letters)] for byte in drawn[:length])

    def make_agent_id(self, length: int) -> str:
        """Return the next id of a subagent."""
        return "a" + self._draw("agent").hex()[: length - 1]

    def note(self, kind: str, **fields: object) -> None:
        """Write a record about the session."""
        self.lines.append({"type": kind, **fields, "sessionId": self.id})

    def note_cost(self, *, added: int = 0, removed: int = 0, tools_ms: int = 0) -> None:
        """Write the client's own totals."""
        passed = self.clock - self.began
        self.note(
            "cost-state",
            totalCostUSD=self.meter.cost,
            totalAPIDuration=int(passed.total_seconds() * 400),
            totalAPIDurationWithoutRetries=int(passed.total_seconds() * 390),
            totalToolDuration=tools_ms,
            totalLinesAdded=added,
            totalLinesRemoved=removed,
            totalDuration=int(passed.total_seconds() * 1000),
            startTime=int(self.began.timestamp() * 1000),
            modelUsage=self.meter.totals,
            hasUnknownModelCost=False,
        )

    def open(self, *tools: str) -> None:
        """Write what a current client writes before the first prompt."""
        self.note("mode", mode="normal")
        self.note("permission-mode", permissionMode="default")
        self.note("tools-used", tools=sorted(tools))

    def back_up(self, message: str, file: str, before: str | None) -> None:
        """Write the record and the backup for the first change of `file`."""
        name = None
        if before is not None:
            name = f"{hashlib.sha256(file.encode()).hexdigest()[:16]}@v1"
            self.sidecars[f"file-history/{self.id}/{name}"] = before.encode()
        backup = {"backupFileName": name, "version": 1, "backupTime": self.wait(0)}
        fields = {"messageId": message, "snapshotMessageId": self._snapshot, "trackingPath": file}
        self.lines.append(
            {"type": "file-history-delta", **fields, "backup": backup, "timestamp": self.wait(0)}
        )

    def take_snapshot(self, message: str) -> None:
        """Write the state of the tracked files at a prompt."""
        self._snapshot = message
        snapshot = {"messageId": message, "trackedFileBackups": {}, "timestamp": self.wait(0)}
        self.lines.append(
            {
                "type": "file-history-snapshot",
                "messageId": message,
                "snapshot": snapshot,
                "isSnapshotUpdate": False,
            }
        )

    def add_sidecar(self, path: str, text: str) -> str:
        """Add a file beside the transcript; return its path on the fictional machine."""
        self.sidecars[f"projects/{self.project}/{self.id}/{path}"] = text.encode()
        return f"{HOME}/.claude/projects/{self.project}/{self.id}/{path}"

    def add_root_file(self, path: str, value: object) -> None:
        """Add a JSON file below the root."""
        self.sidecars[path] = json.dumps(value, ensure_ascii=False, indent=2).encode()

    def files(self) -> Files:
        """Return the transcript and all files beside it."""
        return {f"projects/{self.project}/{self.id}.jsonl": to_lines(self.lines), **self.sidecars}

    def _draw(self, purpose: str) -> bytes:
        self._count += 1
        return hashlib.sha256(f"{self.name}/{purpose}/{self._count}".encode()).digest()


class Chain:
    """A conversation: linked records, in the session's file or in another."""

    def __init__(
        self, session: Session, model: str, *, agent: str = "", inline: bool = False
    ) -> None:
        self.session = session
        self.model = model
        self.agent = agent
        self.lines = [] if agent else session.lines
        self.leaf: str | None = None
        self.is_sidechain = bool(agent) or inline
        self.context = Context()
        self._prompt_id = session.make_uuid()
        self._prompts = 0

    def prompt(self, content: str | list[Json], *, gap: float = 45, **fields: object) -> str:
        """Write a prompt of the user, or of the conversation that started this one."""
        self.session.wait(gap)
        text = content if isinstance(content, str) else str(content[-1]["text"])
        self.context.add(text)
        if self.is_sidechain:
            return self._write("user", {"message": {"role": "user", "content": content}})
        self._prompts += 1
        self._prompt_id = self.session.make_uuid()
        record = {"message": {"role": "user", "content": content}, **self._typed(text), **fields}
        return self._write("user", record)

    def inject(self, text: str, **fields: object) -> str:
        """Write text of the client as a user record."""
        self.context.add(text)
        return self._write("user", {"message": {"role": "user", "content": text}, **fields})

    def answer(self, *blocks: Json, seconds: float = 4) -> list[Call]:
        """Write one reply of the model, a record per block; return the calls in it."""
        calls: list[Call] = []
        message = self._message(blocks)
        request = self.session.make_id("req_01")
        for index, block in enumerate(blocks):
            self.session.wait(seconds / len(blocks))
            content = {**block}
            if block["type"] == "tool_use":
                content["id"] = self.session.make_id("toolu_01")
            record = {"message": {**message, "content": [content]}, "requestId": request}
            written = self._write("assistant", {**record, **self._about(block, index)})
            if block["type"] == "tool_use":
                calls.append(Call(content["id"], written))
        return calls

    def result(
        self,
        asked: Call,
        content: object,
        detail: object = None,
        *,
        seconds: float = 1,
        **fields: object,
    ) -> str:
        """Write the result of a call; a string as `detail` is an error message."""
        self.session.wait(seconds)
        self.context.add(content if isinstance(content, str) else json.dumps(content)[:4000])
        block: Json = {"tool_use_id": asked.id, "type": "tool_result", "content": content}
        if isinstance(detail, str):
            block["is_error"] = True
        record: Json = {"message": {"role": "user", "content": [block]}}
        if detail is not None and not (self.agent and self.session.is_modern):
            record["toolUseResult"] = detail
        if not self.session.version.startswith("1."):
            record["sourceToolAssistantUUID"] = asked.uuid
        self.leaf = asked.uuid
        return self._write("user", {**record, **fields})

    def use(self, tool: Json, content: object, detail: object = None, *words: Json) -> Call:
        """Write a call, preceded by `words`, and its result."""
        (asked,) = self.answer(*words, tool)
        self.result(asked, content, detail)
        return asked

    def system(self, subtype: str, **fields: object) -> str:
        """Write a system message of the client."""
        return self._write("system", {"subtype": subtype, **fields})

    def attach(self, kind: str, **fields: object) -> str:
        """Write an attachment."""
        return self._write("attachment", {"attachment": {"type": kind, **fields}})

    def set_scene(self) -> None:
        """Write the context that a current client adds to the first prompt."""
        snapshot = {
            "workingDirectory": self.session.cwd,
            "isWorktree": False,
            "isGitRepo": True,
            "additionalWorkingDirectories": [],
            "platform": "linux",
            "shell": "bash",
        }
        self.attach("environment", snapshot=snapshot)
        self.attach("date", date=self.session.clock.date().isoformat())

    def end_turn(self, last_prompt: str) -> None:
        """Write what a current client writes when the model has finished."""
        passed = int((self.session.clock - self.session.began).total_seconds() * 1000)
        self.system(
            "turn_duration", durationMs=passed % 600_000, messageCount=len(self.lines), isMeta=False
        )
        self.session.note("last-prompt", lastPrompt=last_prompt, leafUuid=self.leaf)

    def _write(self, kind: str, fields: Json) -> str:
        session = self.session
        record: Json = {"parentUuid": self.leaf, "isSidechain": self.is_sidechain}
        if session.is_modern and kind == "user":
            record["promptId"] = self._prompt_id
        if self.agent:
            record["agentId"] = self.agent
        record |= {
            "type": kind,
            **fields,
            "uuid": session.make_uuid(),
            "timestamp": session.wait(0),
        }
        record |= {"userType": "external"}
        if session.is_modern:
            record["entrypoint"] = session.entrypoint
        record |= {"cwd": session.cwd, "sessionId": session.id, "version": session.version}
        record["gitBranch"] = session.branch
        self.lines.append(record)
        self.leaf = str(record["uuid"])
        return self.leaf

    def _typed(self, text: str) -> Json:
        self.session.typed.append((text, int(self.session.clock.timestamp() * 1000)))
        if not self.session.is_modern:
            return {}
        position = {"promptIndex": self._prompts, "turnIndex": self._prompts}
        origin: Json = {"promptSource": "sdk", "turnOrigin": "sdk"}
        if self.session.entrypoint == "cli":
            origin = {"origin": {"kind": "human"}, "promptSource": "typed", "turnOrigin": "human"}
        return {"permissionMode": "default", **origin, "turnPosition": position}

    def _message(self, blocks: tuple[Json, ...]) -> Json:
        texts = [json.dumps(block, ensure_ascii=False) for block in blocks]
        thinking = sum(count_tokens(block["thinking"]) for block in blocks if "thinking" in block)
        output = sum(map(count_tokens, texts)) + thinking
        is_call = any(block["type"] == "tool_use" for block in blocks)
        usage = self.session.meter.count(self.model, self.context, output, thinking)
        if self.session.is_modern:
            usage |= {
                "output_tokens_details": {"thinking_tokens": thinking},
                "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
                "inference_geo": "",
                "iterations": [],
                "speed": "standard",
            }
        return {
            "id": self.session.make_id("msg_01"),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": "tool_use" if is_call else "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }

    def _about(self, block: Json, index: int) -> Json:
        if not self.session.is_modern:
            return {}
        about: Json = {
            "apiBlockIndex": index,
            "requestedModel": self.model,
            "promptCacheRequested": "5m",
        }
        if block["type"] == "thinking":
            about |= {
                "thinkingDurationMs": 900 + len(block["thinking"]),
                "thinkingDisplay": "summarized",
            }
        if block["type"] == "tool_use":
            about |= {"toolInputStreamMs": 120}
        if self.agent:
            about |= {"attributionAgent": "Explore"}
        return {**about, "effort": "medium", "madeBy": "model"}


def to_lines(records: Iterable[Json]) -> bytes:
    """Format records as a client does: one line each, compact, without escapes."""
    lines = [json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records]
    return "".join(f"{line}\n" for line in lines).encode()


def write_history(sessions: Iterable[Session]) -> bytes:
    """Return the history of typed prompts that a client keeps for all projects."""
    rows = [
        {
            "display": text,
            "pastedContents": {},
            "timestamp": time,
            "project": session.cwd,
            "sessionId": session.id,
        }
        for session in sessions
        if session.entrypoint == "cli"
        for text, time in session.typed
    ]
    return to_lines(sorted(rows, key=lambda row: str(row["timestamp"])))
