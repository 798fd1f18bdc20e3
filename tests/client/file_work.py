"""Work on thirty files that the real client is led through, with its true course known.

A model of the directory decides every step, says which calls the scripted API has to make, and
knows who wrote each line. After every prompt the directory must be as the model says.
"""

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from recollect.versions.file_texts import decode_file
from tests.client.client_sandbox import ALLOWED, ClientSandbox
from tests.client.file_scenes import edit, edit_cell, multi_edit, read, write
from tests.client.scenes import Block, Reply, bash, call, save_scenes, say
from tests.versions.ground_truth import BASE, PROJECT, Client, File, Name, find_strings

ACCEPT: Final = ("--permission-mode", "acceptEdits", "--allowedTools=MultiEdit")
"""1.0.128 loses the edits of a MultiEdit that only the mode permits."""
NOTEBOOK: Final = f"{PROJECT}/notes.ipynb"
SESSIONS: Final = 4
PROMPTS: Final = 6
STEPS: Final = 9
PART: Final = 20
"""Lines that are read of a large file."""

_WEIGHTS: Final = {
    "edit": 46,
    "two edits": 10,
    "write": 9,
    "create": 4,
    "notebook": 5,
    "shell": 8,
    "rename": 3,
    "subagent": 5,
    "read": 5,
}


class Work:
    """A client at work, and a model of its directory."""

    def __init__(self, sandbox: ClientSandbox, version: str, seed: int) -> None:
        self.sandbox = sandbox
        self.version = tuple(map(int, version.split(".")))
        self.model = Client(sandbox.root, version, seed, with_backups=False)
        self.counts: dict[str, int] = {}
        self.prompts: list[str] = []
        self.changed: list[File] = []
        """Files as tools of the client have left them."""
        self.rewound: list[str] = []
        """Files that a rewind brought back or deleted."""
        self._random = self.model.random
        self._earlier: dict[str, list[File]] = {}
        self._read: dict[tuple[str, str], int] = {}
        self._scenes: dict[str, list[Block]] = {}
        self._actor = ""

    def begin(self) -> None:
        """Create the files and commit them."""
        self.model.make_files(29)
        self.model.files[NOTEBOOK] = _make_notebook(6)
        self.model.first[NOTEBOOK] = self.model.files[NOTEBOOK].text
        for path in self.model.files:
            self._save(path)
        identity = ("-c", "user.name=Mina", "-c", "user.email=mina@example.com")
        for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "First")):
            subprocess.run(["git", *words], cwd=self.sandbox.work, check=True)

    def run(self) -> None:
        """Work for several sessions, with manual changes in between."""
        self.begin()
        session: str | None = None
        for number in range(SESSIONS):
            session = None
            for prompt in range(PROMPTS):
                for _ in range(self._random.choice([0, 1, 2])):
                    self.change_by_hand(self._choose())
                session = self._ask(session)
                if number % 2 == 0 and prompt == 3 and self.version >= (2,):
                    self._rewind(session)
        self._fork(session or "")
        self.change_by_hand(self._choose())

    def _ask(self, session: str | None) -> str:
        words = self._prepare()
        options = ("--resume", session) if session else ()
        found: str = self.sandbox.ask(words, *options, *ACCEPT)[-1]["session_id"]
        self.check()
        return found

    def _prepare(self) -> str:
        """Plan the steps of a prompt; return its text."""
        self._actor = f"work_{len(self.prompts) + 1}"
        self.prompts.append(self._actor)
        self._read.clear()
        for _ in range(STEPS):
            self._do_step()
        replies = {
            name: [*(Reply((block,), 1) for block in blocks), Reply((say("Done."),), 1)]
            for name, blocks in self._scenes.items()
        }
        save_scenes(self.sandbox.scenes, replies)
        return f"play:{self._actor} please"

    def _fork(self, session: str) -> None:
        """Continue a copy of a session that ends at its second prompt."""
        words = ("-p", "--output-format", "json", ALLOWED, *ACCEPT, "--", self._prepare())
        done = self.sandbox.recollect("resume", session, "--at", "2", "--", *words)
        assert done.code == 0, done
        self.check()
        self._count("fork")

    def _rewind(self, session: str) -> None:
        """Have the client restore the files to the last prompt."""
        turns = [turn for turn in self.sandbox.open(session).turns if turn.is_by_person]
        uuid = turns[-1].messages[0].uuids[0]
        self.sandbox.rewind_files(session, uuid)
        self._adopt()
        self.check()
        self._count("rewind")

    def check(self) -> None:
        """Assert that the directory equals the model."""
        on_disk = self._read_directory()
        expected = {path: file.text for path, file in self.model.files.items()}
        wrong = {path for path in on_disk | expected if on_disk.get(path) != expected.get(path)}
        assert wrong == set(), (self._actor, wrong)

    def _read_directory(self) -> dict[str, str]:
        found = {}
        for each in self.sandbox.work.rglob("*"):
            name = each.relative_to(self.sandbox.work)
            if each.is_file() and not name.parts[0].startswith("."):
                content = decode_file(each.read_bytes())
                assert content is not None
                found[f"{PROJECT}/{name}"] = content.text
        return found

    def _adopt(self) -> None:
        """Update the model after a rewind: every file is as it was at some time, or deleted."""
        on_disk = self._read_directory()
        for path in self.model.files.keys() - on_disk.keys():
            self.rewound.append(path)
            del self.model.files[path]
        for path, text in on_disk.items():
            now = self.model.files.get(path)
            if now is None or now.text != text:
                self.rewound.append(path)
                same = [each for each in self._earlier[path] if each.text == text]
                self.model.files[path] = same[-1].copy()

    def _keep(self, path: str) -> None:
        self._earlier.setdefault(path, []).append(self.model.files[path].copy())

    def _locate(self, path: str) -> Path:
        return self.sandbox.work / _name(path)

    def _save(self, path: str) -> None:
        target = self._locate(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(self.model.files[path].data)
        self._keep(path)

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def change_by_hand(self, path: str) -> None:
        """Change a file as a user would."""
        self.model.edit_outside(path)
        self._save(path)
        self._count("person")

    def _choose(self) -> str:
        names = [path for path in sorted(self.model.files) if path != NOTEBOOK]
        # A few files get most of the work, as in life.
        favourites = names[: len(names) // 3]
        return self._random.choice(favourites if self._random.random() < 0.7 else names)

    def _do_step(self) -> None:
        path = self._choose()
        steps: dict[str, Callable[[], None]] = {
            "edit": lambda: self._edit(path),
            "two edits": lambda: self._edit_twice(path),
            "write": lambda: self._write(path),
            "create": self._create,
            "notebook": self._edit_notebook,
            "shell": lambda: self._run_shell(path),
            "rename": lambda: self._rename(path),
            "subagent": self._run_subagent,
            "read": lambda: self._look(path, is_whole=self._random.random() < 0.5),
        }
        steps[self._random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]]()

    def _call(self, block: Block) -> None:
        self._scenes.setdefault(self._scene, []).append(block)

    @property
    def _scene(self) -> str:
        return self._agent or self._actor

    _agent = ""

    def _look(self, path: str, *, is_whole: bool) -> None:
        file = self.model.files[path]
        limits = {}
        if not is_whole and len(file.lines) > PART + 10:
            limits = {"offset": self._random.randint(1, len(file.lines) - PART), "limit": PART}
        self._call(read(_name(path), **limits))
        self._mark_read(path)

    def _mark_read(self, path: str) -> None:
        if self.version < (2, 1):
            # 2.0.77 forgets that it has read a file, sometimes.
            self._read.clear()
        self._read[self._scene, path] = self.model.files[path].mtime

    def _look_first(self, path: str) -> None:
        """Read a file that changed since the client has read it; the newest edits it anyway."""
        known = self._read.get((self._scene, path))
        if known == self.model.files[path].mtime:
            return
        if known is None or self.version < (2, 1, 300) or self._random.random() < 0.5:
            is_small = len(self.model.files[path].text) < 10_000
            self._look(path, is_whole=is_small or self._random.random() < 0.4)

    def _replace(self, path: str) -> tuple[str, str] | None:
        """Change some lines; return the texts of the edit, or None if nothing changed."""
        before = self.model.files[path].text
        at, gone, come = self.model.change_lines(path, self._actor)
        after = self.model.files[path].text
        return None if before == after else find_strings(before, after, at, gone, come)

    def _done(self, path: str, name: str) -> None:
        self.changed.append(self.model.files[path].copy())
        self._mark_read(path)
        self._keep(path)
        self._count(name)

    def _edit(self, path: str) -> None:
        self._look_first(path)
        strings = self._replace(path)
        if strings:
            self._call(edit(_name(path), *strings))
            self._done(path, "Edit")

    def _edit_twice(self, path: str) -> None:
        if self.version >= (2,):
            self._edit(path)
            self._edit(path)
            return
        self._look_first(path)
        before = self.model.files[path].text
        pairs = [each for each in (self._replace(path), self._replace(path)) if each]
        if _can_be_one_call(before, pairs):
            self._call(multi_edit(_name(path), *pairs))
            self._done(path, "MultiEdit")
            return
        for pair in pairs:
            self._call(edit(_name(path), *pair))
            self._done(path, "Edit")

    def _write(self, path: str) -> None:
        self._look_first(path)
        for _ in range(3):
            self.model.change_lines(path, self._actor)
        self._call(write(_name(path), self.model.files[path].text))
        self._done(path, "Write")
        if self.version < (2, 1):
            # They want a file that they wrote to be read before it is written again.
            del self._read[self._scene, path]

    def _create(self) -> None:
        path = f"{PROJECT}/src/new_{len(self._earlier)}.py"
        lines = [self.model.new_line() for _ in range(self._random.choice([3, 30]))]
        lines.append(f"last_line = {len(self._earlier)}")
        self.model.files[path] = File(lines, [self._actor] * len(lines))
        self.model.touch(path)
        self._call(write(_name(path), self.model.files[path].text))
        self._done(path, "create")
        if self.version < (2, 1):
            del self._read[self._scene, path]

    def _edit_notebook(self) -> None:
        file = self.model.files[NOTEBOOK]
        if self._read.get((self._scene, NOTEBOOK)) != file.mtime:
            self._look(NOTEBOOK, is_whole=True)
        number = self._random.randrange(6)
        source = "\n".join(self.model.new_line() for _ in range(3)) + f"\nx = {len(self.prompts)}"
        places = [at for at, line in enumerate(file.lines) if line.startswith('   "source"')]
        place = places[number]
        file.lines[place] = f'   "source": {json.dumps(source)}'
        file.authors[place] = self._actor
        self.model.touch(NOTEBOOK)
        self._call(edit_cell(_name(NOTEBOOK), f"c{number}", source))
        self._done(NOTEBOOK, "NotebookEdit")

    def _run_shell(self, path: str) -> None:
        """Change lines with a shell command, which requires its own line endings."""
        file = self.model.files[path]
        if file.is_crlf or not file.has_final_newline or len(file.lines) < 5:
            return
        at, gone, come = self.model.change_lines(path, "outside")
        name, copy = _name(path), "lines.txt"
        new = " ".join(f"'{line}'" for line in file.lines[at : at + come])
        added = f"printf '%s\\n' {new}; " if come else ""
        parts = f"head -n {at} {name}; {added}tail -n +{at + gone + 1} {name};"
        self._call(bash(f"{{ {parts} }} > {copy} && cat {copy} > {name} && rm {copy}"))
        self._keep(path)
        self._count("Bash")

    def _rename(self, path: str) -> None:
        target = f"{path[: path.rindex('.')]}_{len(self._earlier)}{path[path.rindex('.') :]}"
        self._call(bash(f"mv {_name(path)} {_name(target)}"))
        self.model.files[target] = self.model.files.pop(path)
        self.model.truth.names[target] = Name(path, len(self.prompts))
        if path in self.model.first:
            self.model.first[target] = self.model.first[path]
        self._keep(target)
        self._count("rename")

    def _run_subagent(self) -> None:
        if self._agent:
            return
        agent = f"agent_{len(self._scenes)}"
        task = {"description": "Help", "prompt": f"play:{agent} and report"}
        self._call(call("Agent", "Task", **task, subagent_type="general-purpose"))
        self._agent = agent
        self._edit(self._choose())
        self._edit(self._choose())
        self._agent = ""
        self._count("subagent")


def _name(path: str) -> str:
    return path.removeprefix(f"{PROJECT}/")


def _can_be_one_call(text: str, pairs: Sequence[tuple[str, str]]) -> bool:
    """Return whether MultiEdit accepts these edits: all in the text, none inside another."""
    if len(pairs) < 2 or any(each.endswith("\n") for pair in pairs for each in pair):
        return False
    (_, first), (old, _) = pairs
    return text.count(old) == 1 and old not in first


def _make_notebook(cells: int) -> File:
    """Return a notebook in the client's format."""
    value = {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"c{at}",
                "metadata": {},
                "outputs": [],
                "source": f"cell_{at} = {at}",
            }
            for at in range(cells)
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    lines = json.dumps(value, indent=1).split("\n")
    return File(lines, [BASE] * len(lines), has_final_newline=False)
