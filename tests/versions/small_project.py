"""A project on disk with a session that worked on it, for tests of the program."""

import json
import os
from pathlib import Path
from typing import Any

from recollect.locations import encode_project_path

SESSION = "5e551011-aaaa-4bbb-8ccc-dddddddddddd"


class Project:
    """A directory, and the transcript of a session in it."""

    def __init__(self, directory: Path, session: str = SESSION) -> None:
        self.directory = directory
        self.session = session
        self._lines: list[dict[str, Any]] = []
        self._count = 0
        self._last: str | None = None
        directory.mkdir(parents=True, exist_ok=True)

    def path(self, name: str) -> Path:
        """The path of a file of the project."""
        return self.directory / name

    def _id(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count:04d}-{self.session[:4]}"

    def _add(self, kind: str, **fields: Any) -> str:
        parent, self._last = self._last, self._id("u")
        self._lines.append(
            {
                "type": kind,
                "uuid": self._last,
                "parentUuid": parent,
                "sessionId": self.session,
                "cwd": str(self.directory),
                "version": "2.1.112",
                "timestamp": f"2026-11-0{1 + self._count // 60}T10:{self._count % 60:02d}:00.000Z",
                "isSidechain": False,
                "userType": "external",
                **fields,
            }
        )
        return self._last

    def prompt(self, words: str) -> str:
        """Send a prompt."""
        return self._add("user", message={"role": "user", "content": words})

    def call(
        self, name: str, given: dict[str, Any], result: Any, text: str = "ok", **fields: Any
    ) -> str:
        """A tool is called and answers, with more fields beside its result."""
        call_id = self._id("toolu_")
        block = {"type": "tool_use", "id": call_id, "name": name, "input": given}
        self._add(
            "assistant",
            message={
                "id": self._id("msg_"),
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [block],
            },
        )
        answer = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        message = {"role": "user", "content": [answer]}
        self._add("user", message=message, toolUseResult=result, **fields)
        return call_id

    def write(self, name: str, content: str, *, recorded: str | None = None) -> None:
        """Claude writes a whole file, on disk too unless another path is recorded."""
        path = recorded or str(self.path(name))
        is_new = recorded is not None or not self.path(name).exists()
        result: dict[str, Any] = {
            "type": "create" if is_new else "update",
            "filePath": path,
            "content": content,
            "structuredPatch": [],
            "originalFile": None if is_new else self.path(name).read_text("utf-8"),
        }
        self.call("Write", {"file_path": path, "content": content}, result)
        if recorded is None:
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
            self.path(name).write_text(content, "utf-8")

    def edit(self, name: str, old: str, new: str, *, original: bool = True) -> None:
        """Claude edits a file, on disk too; newer clients leave a large original out."""
        path = self.path(name)
        before = path.read_text("utf-8")
        after = before.replace(old, new)
        line = before[: before.index(old)].count("\n") + 1
        hunk = {
            "oldStart": line,
            "oldLines": 1,
            "newStart": line,
            "newLines": new.count("\n") + 1,
            "lines": [f"-{old}", *(f"+{each}" for each in new.split("\n"))],
        }
        result = {
            "filePath": str(path),
            "oldString": old,
            "newString": new,
            "originalFile": before if original else None,
            "structuredPatch": [hunk],
            "userModified": False,
            "replaceAll": False,
        }
        given = {"file_path": str(path), "old_string": old, "new_string": new}
        self.call("Edit", given, result)
        path.write_text(after, "utf-8")

    def snapshot(self, uuid: str, backups: dict[str, str | None]) -> None:
        """The client notes the state of files at a prompt, by the names of backups."""
        tracked = {
            path: {"backupFileName": name, "version": int((name or "@v1").rpartition("v")[2])}
            for path, name in backups.items()
        }
        snapshot = {"messageId": uuid, "trackedFileBackups": tracked}
        self._lines.append(
            {
                "type": "file-history-snapshot",
                "messageId": uuid,
                "snapshot": snapshot,
                "isSnapshotUpdate": False,
            }
        )

    def save(self, root: Path | None = None) -> None:
        """Write the transcript below a Claude directory, the one of the test by default."""
        root = root or Path(os.environ["CLAUDE_CONFIG_DIR"])
        path = (
            root / "projects" / encode_project_path(str(self.directory)) / f"{self.session}.jsonl"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in self._lines), "utf-8")
