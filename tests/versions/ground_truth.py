"""A made-up client that writes transcripts of work whose true course is known.

It follows what was measured of real clients: which results have the whole file, when a patch is
all there is, when an edit of a file that changed meanwhile is refused, and when backups are made.
Every call and prompt remembers what the files contained and who wrote their lines.
"""

import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final, NamedTuple

PROJECT: Final = "/srv/truth/project"
LIMIT: Final = 10_000
"""Characters above which newer clients leave the whole file out of a result."""

BASE: Final = "base"
OUTSIDE: Final = "outside"
BOILERPLATE: Final = ("}", "", "    return None", "\t}", "    pass")
START: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)


@dataclass
class File:
    """A file on the made-up disk: lines, the author of each, and its form."""

    lines: list[str]
    authors: list[str]
    has_final_newline: bool = True
    is_crlf: bool = False
    has_bom: bool = False
    mtime: int = 0

    @property
    def text(self) -> str:
        """The content as transcripts have it."""
        return "\n".join(self.lines) + ("\n" if self.has_final_newline and self.lines else "")

    @property
    def data(self) -> bytes:
        """The bytes on disk."""
        text = self.text.replace("\n", "\r\n") if self.is_crlf else self.text
        return (b"\xef\xbb\xbf" if self.has_bom else b"") + text.encode()

    def copy(self) -> "File":
        """A copy that later changes do not reach."""
        return File(
            list(self.lines),
            list(self.authors),
            self.has_final_newline,
            self.is_crlf,
            self.has_bom,
            self.mtime,
        )


class Name(NamedTuple):
    """A name that a file had until it was moved, after so many prompts."""

    path: str
    prompts: int


@dataclass
class Truth:
    """The contents of the files before and after each call and at each prompt."""

    before: dict[str, str | None] = field(default_factory=dict)
    after: dict[str, str | None] = field(default_factory=dict)
    at_prompt: dict[str, dict[str, str]] = field(default_factory=dict)
    at_touch: dict[tuple[str, str], str | None] = field(default_factory=dict)
    turns: dict[str, str] = field(default_factory=dict)
    """The author label of each call."""
    names: dict[str, "Name"] = field(default_factory=dict)
    """The earlier name of each file that was moved."""
    counts: dict[str, int] = field(default_factory=dict)


class Client:
    """Writes the records of one version of the client, over several sessions."""

    def __init__(self, root: Path, version: str, seed: int, *, with_backups: bool) -> None:
        self.root = root
        self.version = version
        self.with_backups = with_backups
        self.random = random.Random(seed)
        self.files: dict[str, File] = {}
        self.first: dict[str, str] = {}
        """The content of each file before the first session."""
        self.truth = Truth()
        self._now = START
        self._clock = 0
        self.ids = 0
        self._words = 0

    def make_files(self, count: int) -> None:
        """Make the files that exist before the first session, with every odd form among them."""
        for number in range(count):
            size = self.random.choice([5, 20, 60, 60, 400, 700])
            suffix = self.random.choice([".py", ".go", ".txt"])
            path = f"{PROJECT}/src/file{number}{suffix}"
            lines = [self.new_line(is_tabbed=suffix == ".go") for _ in range(size)]
            self.files[path] = File(
                lines,
                [BASE] * size,
                has_final_newline=number % 7 != 3,
                is_crlf=number % 9 == 4,
                has_bom=number % 11 == 5,
            )
            self.first[path] = self.files[path].text

    def new_line(self, *, is_tabbed: bool = False) -> str:
        """A line: every fourth one is of those that repeat everywhere, the others are unique."""
        if self.random.random() < 0.25:
            return self.random.choice(BOILERPLATE)
        self._words += 1
        indent = (
            "\t" * self.random.randint(0, 3) if is_tabbed else "    " * self.random.randint(0, 2)
        )
        return f"{indent}value_{self._words} = compute({self._words})"

    def touch(self, path: str) -> None:
        """Give a file a new time of modification."""
        self._clock += 1
        self.files[path].mtime = self._clock

    def change_lines(self, path: str, author: str) -> tuple[int, int, int]:
        """Change some lines; return the first one, how many went and how many came."""
        file = self.files[path]
        at = self.random.randrange(len(file.lines) + 1)
        gone = min(self.random.choice([0, 1, 1, 2, 4]), len(file.lines) - at)
        come = self.random.choice([0, 1, 2, 3]) if gone else self.random.randint(1, 4)
        new = [self.new_line(is_tabbed=path.endswith(".go")) for _ in range(come)]
        authors = [author] * come
        for block in SequenceMatcher(None, file.lines[at : at + gone], new).get_matching_blocks():
            # Replaced by itself: nobody can say that it was written again.
            first = at + block.a
            kept = file.authors[first : first + block.size]
            authors[block.b : block.b + block.size] = kept
        file.lines[at : at + gone] = new
        file.authors[at : at + gone] = authors
        if not file.lines:
            file.lines, file.authors, come = [self.new_line()], [author], come + 1
        if not file.has_final_newline and not file.lines[-1]:
            # An empty last line is a final newline.
            del file.lines[-1], file.authors[-1]
            file.has_final_newline = True
        self.touch(path)
        return at, gone, come

    def edit_outside(self, path: str) -> None:
        """A person, a formatter or a command changes a file."""
        self.change_lines(path, OUTSIDE)

    def new_id(self, prefix: str = "") -> str:
        """An id that no other record has."""
        self.ids += 1
        return f"{prefix}{self.ids:08x}-0000-4000-8000-000000000000"

    def tick(self) -> str:
        """The time of the next record."""
        self._now += timedelta(seconds=7)
        return f"{self._now:%Y-%m-%dT%H:%M:%S}.000Z"

    def add_commit_gap(self) -> None:
        """Advance the clock by an hour."""
        self._now += timedelta(hours=1)


class SessionWriter:
    """One session of a client while it is written."""

    def __init__(self, client: Client, number: int) -> None:
        self.client = client
        self.id = f"{number:08x}-1111-4222-8333-444444444444"
        project = client.root / "projects" / "-srv-truth-project"
        self._path = project / f"{self.id}.jsonl"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._parent: str | None = None
        self._agent: str | None = None
        self._lines: dict[Path, list[str]] = {}
        self._read: dict[tuple[str | None, str], int] = {}
        self._tracked: dict[str, tuple[str | None, int]] = {}
        self._turn = 0
        self._prompt_uuid = ""
        self._checkpoints: list[tuple[dict[str, File], set[str]]] = []
        self._snapshot_time = ""

    @property
    def label(self) -> str:
        """The author of what is written now."""
        return f"{self.id}:{self._turn}"

    def close(self) -> None:
        """Write the files."""
        for path, lines in self._lines.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def _write(self, record: dict[str, Any]) -> None:
        path = self._path
        if self._agent:
            path = self._path.with_suffix("") / "subagents" / f"agent-{self._agent}.jsonl"
        self._lines.setdefault(path, []).append(json.dumps(record, ensure_ascii=False))

    def _chain(self, kind: str, **fields: Any) -> str:
        uuid = self.client.new_id()
        record = {
            "parentUuid": self._parent,
            "isSidechain": self._agent is not None,
            "userType": "external",
            "cwd": PROJECT,
            "sessionId": self.id,
            "version": self.client.version,
            "type": kind,
            "uuid": uuid,
            "timestamp": self.client.tick(),
            **fields,
        }
        if self._agent:
            record["agentId"] = self._agent
        self._write(record)
        self._parent = uuid
        return uuid

    def prompt(self, words: str) -> None:
        """Send a prompt; the client records the state of tracked files."""
        self._turn += 1
        uuid = self._chain(
            "user", message={"role": "user", "content": words}, promptId=self.client.new_id("p")
        )
        self._prompt_uuid = uuid
        files = self.client.files
        self.client.truth.at_prompt[uuid] = {path: each.text for path, each in files.items()}
        state = {path: each.copy() for path, each in files.items()}
        self._checkpoints.append((state, set(self._tracked)))
        if self.client.with_backups:
            self._snapshot(uuid)

    def _snapshot(self, uuid: str) -> None:
        for path, (_, number) in list(self._tracked.items()):
            self._back_up(path, number + 1)
        self._snapshot_time = self.client.tick()
        self._write(
            {
                "type": "file-history-snapshot",
                "messageId": uuid,
                "snapshot": {
                    "messageId": uuid,
                    "trackedFileBackups": self._describe_tracked(),
                    "timestamp": self._snapshot_time,
                },
                "isSnapshotUpdate": False,
            }
        )

    def _describe_tracked(self) -> dict[str, Any]:
        return {
            path.removeprefix(f"{PROJECT}/"): {
                "backupFileName": name,
                "version": number,
                "backupTime": self._snapshot_time,
            }
            for path, (name, number) in self._tracked.items()
        }

    def _back_up(self, path: str, number: int) -> None:
        """Copy a file if it changed since its last copy."""
        directory = self.client.root / "file-history" / self.id
        directory.mkdir(parents=True, exist_ok=True)
        known = self._tracked.get(path, (None, 0))[0]
        file = self.client.files.get(path)
        if file is None:
            self._tracked[path] = (None, number)
            return
        old = (directory / known).read_bytes() if known else None
        if old == file.data:
            return
        name = f"{hashlib.sha256(path.encode()).hexdigest()[:16]}@v{number}"
        (directory / name).write_bytes(file.data)
        self._tracked[path] = (name, number)

    def _track(self, path: str, uuid: str) -> None:
        """Record the state of a file before its first change in the session."""
        if not self.client.with_backups or self._agent or path in self._tracked:
            return
        file = self.client.files.get(path)
        self.client.truth.at_touch[uuid, path] = file.text if file else None
        self._back_up(path, 1)
        if path not in self._tracked:
            self._tracked[path] = (None, 1)
        if self.client.version >= "2.1.2":
            name, number = self._tracked[path]
            self._write(
                {
                    "type": "file-history-delta",
                    "messageId": uuid,
                    "snapshotMessageId": self._prompt_uuid,
                    "trackingPath": path.removeprefix(f"{PROJECT}/"),
                    "backup": {
                        "backupFileName": name,
                        "version": number,
                        "backupTime": self.client.tick(),
                    },
                }
            )
            return
        self._write(
            {
                "type": "file-history-snapshot",
                "messageId": uuid,
                "snapshot": {
                    "messageId": self._prompt_uuid,
                    "trackedFileBackups": self._describe_tracked(),
                    "timestamp": self._snapshot_time,
                },
                "isSnapshotUpdate": True,
            }
        )

    def _call(self, name: str, given: dict[str, Any]) -> tuple[str, str]:
        call_id = self.client.new_id("toolu_")
        uuid = self._chain(
            "assistant",
            message={
                "id": self.client.new_id("msg_"),
                "model": "claude-sonnet-4-5",
                "role": "assistant",
                "content": [{"type": "tool_use", "id": call_id, "name": name, "input": given}],
            },
        )
        self.client.truth.turns[call_id] = self.label
        return call_id, uuid

    def _result(self, call_id: str, text: str, result: Any, *, is_error: bool = False) -> None:
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": text,
            **({"is_error": True} if is_error else {}),
        }
        has_none = self._agent is not None and self.client.version >= "2.1"
        extra = {} if has_none else {"toolUseResult": result}
        self._chain("user", message={"role": "user", "content": [block]}, **extra)

    def _note(self, call_id: str, before: str | None, after: str | None) -> None:
        self.client.truth.before[call_id] = before
        self.client.truth.after[call_id] = after

    def read(self, path: str, *, whole: bool = True) -> None:
        """Read a file, or a part of it."""
        file = self.client.files[path]
        lines = file.text.split("\n")
        start, count = 1, len(lines)
        given: dict[str, Any] = {"file_path": path}
        if not whole and len(lines) > 30:
            start = self.client.random.randint(1, len(lines) - 20)
            count = 20
            given |= {"offset": start, "limit": count}
        call_id, _ = self._call("Read", given)
        shown = lines[start - 1 : start - 1 + count]
        numbered = "\n".join(f"{start + at}\t{line}" for at, line in enumerate(shown))
        result = {
            "type": "text",
            "file": {
                "filePath": path,
                "content": "\n".join(shown),
                "numLines": count,
                "startLine": start,
                "totalLines": len(lines),
            },
        }
        self._result(call_id, numbered, result)
        self._note(call_id, file.text, file.text)
        self._read[self._agent, path] = file.mtime

    def _prepare(self, path: str) -> bool:
        """Make the client accept an edit; return whether it is one of a file that changed."""
        file = self.client.files[path]
        known = self._read.get((self._agent, path))
        whole = len(file.text) < LIMIT or self.client.random.random() < 0.4
        if known is None:
            self.read(path, whole=whole)
            return False
        if known == file.mtime:
            return False
        if self.client.version >= "2.1.2":
            return True
        call_id, _ = self._call("Edit", {"file_path": path, "old_string": "x", "new_string": "y"})
        text = "File has been modified since read, either by the user or by a linter."
        self._result(call_id, text, f"Error: {text}", is_error=True)
        self.read(path, whole=whole)
        return False

    def edit(self, path: str) -> None:
        """Replace some lines by an Edit."""
        is_stale = self._prepare(path)
        file = self.client.files[path]
        before = file.text
        at, gone, come = self.client.change_lines(path, self.label)
        old, new = find_strings(before, file.text, at, gone, come)
        given = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
        call_id, uuid = self._call("Edit", given)
        self._rewind_disk(path, before, lambda: self._track(path, uuid))
        result: dict[str, Any] = {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "originalFile": self._show_original(before, file),
            "structuredPatch": _make_patch(before, file.text),
            "userModified": False,
            "replaceAll": False,
        }
        if is_stale:
            result["staleRecovered"] = True
        self._result(call_id, f"The file {path} has been updated successfully.", result)
        self._note(call_id, before, file.text)
        self._read[self._agent, path] = file.mtime
        self._count("Edit")

    def _rewind_disk(self, path: str, text: str, action: Callable[[], None]) -> None:
        """Run `action` while the file has its content before the change."""
        now = self.client.files[path]
        then = now.copy()
        then.lines = text.removesuffix("\n").split("\n") if text else []
        then.has_final_newline = text.endswith("\n")
        self.client.files[path] = then
        action()
        self.client.files[path] = now

    def _show_original(self, text: str, file: File) -> str | None:
        if self.client.version >= "2.1" and len(text) > LIMIT:
            return None
        return ("\ufeff" if file.has_bom else "") + text

    def multi_edit(self, path: str) -> None:
        """Replace lines in several places with one MultiEdit."""
        self._prepare(path)
        file = self.client.files[path]
        before = file.text
        edits = []
        for _ in range(2):
            step_before = file.text
            at, gone, come = self.client.change_lines(path, self.label)
            old, new = find_strings(step_before, file.text, at, gone, come)
            edits.append({"old_string": old, "new_string": new, "replace_all": False})
        call_id, _ = self._call("MultiEdit", {"file_path": path, "edits": edits})
        result = {
            "filePath": path,
            "edits": edits,
            "originalFileContents": before,
            "structuredPatch": _make_patch(before, file.text),
            "userModified": False,
        }
        self._result(call_id, f"Applied 2 edits to {path}", result)
        self._note(call_id, before, file.text)
        self._read[self._agent, path] = file.mtime
        self._count("MultiEdit")

    def write(self, path: str) -> None:
        """Write a whole file, new or over what is there."""
        file = self.client.files.get(path)
        before = file.text if file else None
        if file is None:
            lines = [self.client.new_line() for _ in range(self.client.random.choice([3, 30]))]
            file = File(lines, [self.label] * len(lines))
        else:
            self._prepare(path)
            for _ in range(3):
                self.client.change_lines(path, self.label)
        given = {"file_path": path, "content": file.text}
        call_id, uuid = self._call("Write", given)
        if before is None:
            self._track(path, uuid)
        else:
            self._rewind_disk(path, before, lambda: self._track(path, uuid))
        self.client.files[path] = file
        self.client.touch(path)
        result: dict[str, Any] = {
            "type": "create" if before is None else "update",
            "filePath": path,
            "content": file.text,
            "structuredPatch": [] if before is None else _make_patch(before, file.text),
        }
        if self.client.version >= "2.0":
            result["originalFile"] = None if before is None else self._show_original(before, file)
        verb = "File created" if before is None else "The file has been updated"
        self._result(call_id, f"{verb} successfully at: {path}", result)
        self._note(call_id, before, file.text)
        self._read[self._agent, path] = file.mtime
        self._count("Write")

    def edit_notebook(self, path: str) -> None:
        """Change a cell of a notebook."""
        file = self.client.files[path]
        before = file.text
        source = "\n".join(self.client.new_line() for _ in range(3))
        at = self.client.random.randrange(len(file.lines))
        file.lines[at], file.authors[at] = f'   "source": {json.dumps(source)},', self.label
        self.client.touch(path)
        given = {"notebook_path": path, "cell_id": f"cell-{at}", "new_source": source}
        call_id, uuid = self._call("NotebookEdit", given)
        self._rewind_disk(path, before, lambda: self._track(path, uuid))
        result: dict[str, Any] = {**given, "cell_type": "code"}
        if self.client.version >= "2.0":
            result |= {"original_file": before, "updated_file": file.text}
        self._result(call_id, "Updated cell", result)
        self._note(call_id, before, file.text)
        self._count("NotebookEdit")

    def bash(self, path: str) -> None:
        """Change a file by a shell command."""
        call_id, _ = self._call("Bash", {"command": f"sed -i s/a/b/ {path}"})
        self.client.edit_outside(path)
        self._result(call_id, "", {"stdout": "", "stderr": "", "interrupted": False})
        self._count("Bash")

    def rename(self, path: str, target: str) -> None:
        """Move a file by a shell command."""
        call_id, _ = self._call("Bash", {"command": f"mv {path} {target}"})
        self.client.files[target] = self.client.files.pop(path)
        self.client.truth.names[target] = Name(path, len(self.client.truth.at_prompt))
        if path in self.client.first:
            # A rewind brings the file back under its earlier name.
            self.client.first[target] = self.client.first[path]
        self._result(call_id, "", {"stdout": "", "stderr": "", "interrupted": False})
        self._count("rename")

    def run_subagent(self, paths: list[str]) -> None:
        """Have a subagent edit some files."""
        words = f"Take care of part {self.client.new_id()}"
        call_id, _ = self._call("Agent", {"description": "part", "prompt": words})
        parent, agent = self._parent, f"{self.client.ids:08x}"
        self._agent, self._parent = agent, None
        self._chain("user", message={"role": "user", "content": words})
        for path in paths:
            self.edit(path)
        self._agent, self._parent = None, parent
        result = {"status": "completed", "agentId": agent, "content": []}
        self._result(call_id, "Done.", result)
        self._count("subagent")

    def rewind_code(self) -> None:
        """Restore the code of the checkpoint before the last one; nothing is recorded."""
        if not self.client.with_backups or len(self._checkpoints) < 2:
            return
        state, _ = self._checkpoints[-1]
        for path in self._tracked:
            if path in state:
                restored, now = state[path].copy(), self.client.files.get(path)
                if now is None or restored.text != now.text:
                    self.client.files[path] = restored
                    self.client.touch(path)
            else:
                self.client.files.pop(path, None)
        self._count("rewind")

    def _count(self, name: str) -> None:
        counts = self.client.truth.counts
        counts[name] = counts.get(name, 0) + 1


def find_strings(before: str, after: str, at: int, gone: int, come: int) -> tuple[str, str]:
    """The shortest texts around a change of lines of which the old one is unique."""
    old, new = before.split("\n"), after.split("\n")
    for context in range(1, len(old) + 2):
        low = max(at - context, 0)
        one = "\n".join(old[low : at + gone + context])
        two = "\n".join(new[low : at + come + context])
        if one and two and before.count(one) == 1 and before.replace(one, two) == after:
            return one, two
    return before, after


def _make_patch(before: str, after: str) -> list[dict[str, Any]]:
    """A patch with three lines around each change and two spaces for each leading tab."""
    old, new = before.split("\n"), after.split("\n")
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [_make_hunk(old, new, group) for group in matcher.get_grouped_opcodes(3)]


def _make_hunk(
    old: list[str], new: list[str], group: list[tuple[str, int, int, int, int]]
) -> dict[str, Any]:
    lines: list[str] = []
    for tag, low, high, start, stop in group:
        if tag == "equal":
            lines += [f" {_detab(line)}" for line in old[low:high]]
        else:
            lines += [f"-{_detab(line)}" for line in old[low:high]]
            lines += [f"+{_detab(line)}" for line in new[start:stop]]
    return {
        "oldStart": group[0][1] + 1,
        "oldLines": group[-1][2] - group[0][1],
        "newStart": group[0][3] + 1,
        "newLines": group[-1][4] - group[0][3],
        "lines": lines,
    }


def _detab(line: str) -> str:
    bare = line.lstrip("\t")
    return "  " * (len(line) - len(bare)) + bare


def play(client: Client, sessions: int = 4, prompts: int = 8, steps: int = 6) -> None:
    """Work on 30 files for some 200 steps."""
    client.make_files(28)
    notebook = f"{PROJECT}/notes.ipynb"
    lines = [f'   "source": "cell_{at}",' for at in range(30)]
    client.files[notebook] = File(lines, [BASE] * len(lines))
    client.first[notebook] = client.files[notebook].text
    for number in range(sessions):
        client.add_commit_gap()
        for path in client.random.sample(sorted(client.files), 3):
            client.edit_outside(path)
        writer = SessionWriter(client, number + 1)
        for at in range(prompts):
            if at and client.random.random() < 0.5:
                client.edit_outside(client.random.choice(sorted(client.files)))
            if at and client.random.random() < 0.15:
                writer.rewind_code()
            writer.prompt(f"Please do part {at + 1} of session {number + 1}")
            for _ in range(steps):
                _do_step(client, writer, notebook)
        writer.close()


def _do_step(client: Client, writer: SessionWriter, notebook: str) -> None:
    names = [path for path in sorted(client.files) if path != notebook]
    # A few files get most of the work, as in life.
    favourites = names[: len(names) // 3]
    path = client.random.choice(favourites if client.random.random() < 0.7 else names)
    name = client.random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
    actions: dict[str, Callable[[], None]] = {
        "edit": lambda: writer.edit(path),
        "several edits": lambda: _edit_twice(client, writer, path),
        "write": lambda: writer.write(path),
        "create": lambda: writer.write(f"{PROJECT}/src/new{client.ids}.py"),
        "notebook": lambda: writer.edit_notebook(notebook),
        "shell": lambda: writer.bash(path),
        "rename": lambda: writer.rename(path, f"{path[:-3]}_{client.ids}{path[-3:]}"),
        "subagent": lambda: writer.run_subagent(client.random.sample(names, 2)),
        "person": lambda: client.edit_outside(path),
        "read": lambda: writer.read(path, whole=client.random.random() < 0.5),
    }
    actions[name]()


_WEIGHTS: Final = {
    "edit": 50,
    "several edits": 10,
    "write": 10,
    "create": 4,
    "notebook": 4,
    "shell": 8,
    "rename": 2,
    "subagent": 5,
    "person": 3,
    "read": 4,
}


def _edit_twice(client: Client, writer: SessionWriter, path: str) -> None:
    if client.version < "2.0":
        writer.multi_edit(path)
    else:
        writer.edit(path)
        writer.edit(path)
