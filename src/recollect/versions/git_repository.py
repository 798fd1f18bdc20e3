"""Commits of a git repository and the notes on them, including git-ai's (`refs/notes/ai`,
authorship 3.0.0): the session that wrote each line of a commit.

Git is run with a fixed list of arguments and never lets the repository run a program: no hooks, no
file-system monitor, pager, external diff, text conversion, signature check or download of missing
objects. Only `write_note` writes, and only a note.

A note of git-ai has lines of the form `  KEY RANGES` below the path of a file, then `---`, then
JSON about the keys. A session's key is a hash of its id; the second half of a key identifies the
prompt.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from shutil import which
from typing import Final, NamedTuple

import msgspec

from recollect.errors import RecollectError
from recollect.session.times import parse_time

NOTES: Final = "ai"
_CHECKPOINTS: Final = "entire/checkpoints/v1"
_MAX_COMMITS: Final = 2000
_TIMEOUT: Final = 30
_SETTINGS: Final = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "log.showSignature": "false",
    "commit.gpgSign": "false",
    "protocol.allow": "never",
    "diff.external": "",
    "core.quotePath": "false",
}
_SAFE: Final = tuple(
    word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")
)
_ENVIRONMENT: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
}
_ID: Final = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_CHECKPOINT: Final = re.compile("[0-9a-f]{12}")
_HUNK: Final = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_FORMAT: Final = "%x1e%H%x1f%cI%x1f%an%x1f%s%x1f%(trailers:unfold,separator=%x1f)"
_FIELDS: Final = 4


class FileBlob(NamedTuple):
    """A file in a commit: its path in the repository and the id of its content."""

    path: str
    blob: str


class Commit(NamedTuple):
    """A commit and the files that it added or changed."""

    id: str
    time: datetime
    author: str
    subject: str
    trailers: tuple[str, ...] = ()
    files: tuple[FileBlob, ...] = ()


class Repository:
    """A git worktree."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find_commit(self, revision: str) -> str | None:
        """Return the id of a revision's commit; None if there is none."""
        found = run_git(
            self.root,
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            f"{revision}^{{commit}}",
        )
        text = (found or b"").decode().strip()
        return text if _ID.fullmatch(text) else None

    def read_commit(self, commit: str) -> Commit | None:
        """Return a commit by its id."""
        return next(iter(self._log("--max-count=1", commit)), None)

    def list_commits(self, since: datetime, until: datetime) -> list[Commit]:
        """Return the commits of all branches between two times, newest first."""
        return self._log(*_limit(since, until), "--all", f"--max-count={_MAX_COMMITS}")

    def list_branch(self, branch: str, since: datetime, until: datetime) -> set[str]:
        """Return the ids of the commits of a branch between two times."""
        name = f"refs/heads/{branch}"
        found = run_git(
            self.root, "log", *_limit(since, until), "--format=%H", "--end-of-options", name, "--"
        )
        return set((found or b"").decode().split())

    def _log(self, *arguments: str) -> list[Commit]:
        options = ("--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv")
        output = run_git(self.root, "log", *options, f"--format={_FORMAT}", *arguments, "--")
        chunks = (output or b"").decode("utf-8", "replace").split("\x1e")
        return [commit for commit in map(_parse_commit, chunks) if commit is not None]

    def read_added_lines(self, commit: str, path: str) -> set[int]:
        """Return the numbers of the lines that a commit added to a file."""
        output = run_git(
            self.root, "diff-tree", "-p", "--unified=0", "--root", "--no-ext-diff", "--no-textconv",
            "--no-renames", "--no-color", "--first-parent", "-m", commit, "--", path,
        )  # fmt: skip
        added: set[int] = set()
        for line in (output or b"").decode("utf-8", "replace").split("\n"):
            if match := _HUNK.match(line):
                start, count = int(match[1]), int(match[2]) if match[2] is not None else 1
                added |= set(range(start, start + count))
        return added

    def list_files(self, directory: Path) -> list[str]:
        """Return the tracked files below a directory, by path in the repository."""
        output = run_git(self.root, "ls-files", "-z", "--full-name", "--", str(directory))
        return [each for each in os.fsdecode(output or b"").split("\0") if each]

    def list_noted(self) -> set[str]:
        """Return the ids of the commits with a note of git-ai."""
        output = run_git(self.root, "notes", f"--ref={NOTES}", "list")
        return {line.split()[1] for line in (output or b"").decode().splitlines() if " " in line}

    def read_note(self, commit: str) -> str | None:
        """Return the note of git-ai on a commit."""
        output = run_git(self.root, "notes", f"--ref={NOTES}", "show", commit)
        return output.decode("utf-8", "replace") if output is not None else None

    def write_note(self, commit: str, text: str) -> None:
        """Add a note of git-ai to a commit that has none; raise RecollectError if git refuses."""
        arguments = ("notes", f"--ref={NOTES}", "add", "--file=-", commit)
        if run_git(self.root, *arguments, given=text.encode()) is None:
            raise RecollectError(
                f"Git could not add a note to {commit[:12]}: it may have one already, or git does "
                "not know your name and e-mail address."
            )

    def iter_checkpoint_sessions(self, commit: Commit) -> Iterator[str]:
        """Yield the sessions in Entire's metadata for the checkpoints in a commit's trailers."""
        for trailer in commit.trailers:
            name, _, value = trailer.partition(":")
            checkpoint = value.strip().lower()
            if name.lower() != "entire-checkpoint" or not _CHECKPOINT.fullmatch(checkpoint):
                continue
            place = f"{checkpoint[:2]}/{checkpoint[2:]}"
            names = run_git(
                self.root, "ls-tree", "-r", "-z", "--name-only", _CHECKPOINTS, f"{place}/"
            )
            for each in os.fsdecode(names or b"").split("\0"):
                if each.endswith("metadata.json"):
                    found = run_git(self.root, "cat-file", "blob", f"{_CHECKPOINTS}:{each}")
                    yield (found or b"").decode("utf-8", "replace")


def _limit(since: datetime, until: datetime) -> tuple[str, str]:
    return f"--since={since.isoformat()}", f"--until={until.isoformat()}"


def _parse_commit(chunk: str) -> Commit | None:
    head, _, rest = chunk.partition("\0")
    names = head.split("\x1f")
    moment = parse_time(names[1]) if len(names) > _FIELDS else None
    if moment is None or not _ID.fullmatch(names[0]):
        return None
    trailers = tuple(each.strip() for each in names[_FIELDS:] if each.strip())
    return Commit(names[0], moment, names[2], names[3], trailers, tuple(_iter_blobs(rest)))


def _iter_blobs(raw: str) -> Iterator[FileBlob]:
    """Yield the files of `--raw -z`; deleted files have no blob."""
    tokens = iter(raw.lstrip("\n").split("\0"))
    for token in tokens:
        words = token.strip("\n").split()
        if token.strip("\n").startswith(":"):
            path = next(tokens, "")
            if words[3].strip("0"):
                yield FileBlob(path, words[3])


def run_git(root: Path, *arguments: str, given: bytes = b"") -> bytes | None:
    """Return the output of a git command; None if it fails or git is not installed."""
    program = which("git")
    if program is None:
        return None
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    words: Sequence[str] = [program, *_SAFE, "--no-pager", *arguments]
    try:
        done = subprocess.run(
            words,
            cwd=root,
            env=kept | _ENVIRONMENT,
            input=given,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None


SCHEMA_VERSION: Final = "authorship/3.0.0"
TOOL: Final = "claude"
_LENGTH: Final = 14
_SEPARATOR: Final = "---"
_RANGE: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_MAX_NOTE: Final = 8 << 20


class NoteAgent(msgspec.Struct, frozen=True):
    """The author of something: the tool, its session and its model."""

    tool: str = ""
    id: str = ""
    model: str = ""


class NoteSession(msgspec.Struct, frozen=True):
    """A session in a note."""

    agent_id: NoteAgent = NoteAgent()


class _NoteDetails(msgspec.Struct, frozen=True):
    schema_version: str = ""
    base_commit_sha: str = ""
    prompts: dict[str, NoteSession] = {}
    sessions: dict[str, NoteSession] = {}


class NotedLines(msgspec.Struct, frozen=True):
    """The lines of a file in the commit that belong to a key."""

    path: str
    key: str
    lines: frozenset[int]


class AuthorshipNote(msgspec.Struct, frozen=True):
    """The content of a note: lines by key, and the Claude Code sessions of the keys."""

    lines: tuple[NotedLines, ...] = ()
    sessions: tuple[NoteAgent, ...] = ()


def parse_note(text: str) -> AuthorshipNote | None:
    """Parse a note; None if it is not a note of git-ai."""
    head, separator, tail = text[:_MAX_NOTE].partition(f"\n{_SEPARATOR}\n")
    if not separator:
        head, tail = "", text.removeprefix(f"{_SEPARATOR}\n")
    try:
        details = msgspec.json.decode(tail, type=_NoteDetails)
    except msgspec.MsgspecError:
        return None
    agents = [each.agent_id for each in (*details.sessions.values(), *details.prompts.values())]
    return AuthorshipNote(
        lines=tuple(_iter_lines(head)),
        sessions=tuple(dict.fromkeys(each for each in agents if each.tool.startswith(TOOL))),
    )


def _iter_lines(head: str) -> Iterable[NotedLines]:
    path = ""
    for line in head.split("\n"):
        if line.startswith("  "):
            key, _, ranges = line.strip().partition(" ")
            yield NotedLines(path, key, frozenset(_parse_ranges(ranges)))
        elif line:
            path = line.strip('"')


def _parse_ranges(text: str) -> Iterable[int]:
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match:
            first = int(match[1])
            yield from range(first, min(int(match[2] or first), first + _MAX_NOTE) + 1)


class WrittenLines(msgspec.Struct, frozen=True):
    """Lines of a file in a commit that were written in one turn of a session."""

    path: str
    session_id: str
    turn: int | None
    model: str | None
    lines: tuple[int, ...]


def format_note(commit: str, written: Sequence[WrittenLines]) -> str:
    """Return a note that assigns the lines of a commit to the sessions that wrote them."""
    by_path: dict[str, list[WrittenLines]] = {}
    for each in written:
        by_path.setdefault(each.path, []).append(each)
    head: list[str] = []
    for path, entries in sorted(by_path.items()):
        head.append(f'"{path}"' if re.search(r"\s", path) else path)
        head += [f"  {_make_key(each)} {_format_ranges(each.lines)}" for each in entries]
    sessions = {_hash("s", f"{TOOL}:{each.session_id}"): _describe(each) for each in written}
    details: Mapping[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "base_commit_sha": commit,
        "prompts": {},
        "sessions": sessions,
    }
    body = msgspec.json.format(msgspec.json.encode(details), indent=2).decode()
    return "\n".join([*head, _SEPARATOR, body, ""])


def _describe(written: WrittenLines) -> Mapping[str, object]:
    agent = {"tool": TOOL, "id": written.session_id, "model": written.model or "unknown"}
    return {"agent_id": agent}


def _make_key(written: WrittenLines) -> str:
    session = _hash("s", f"{TOOL}:{written.session_id}")
    return f"{session}::{_hash('t', f'{written.session_id}:{written.turn}')}"


def _hash(kind: str, text: str) -> str:
    return f"{kind}_{hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]}"


def _format_ranges(lines: Iterable[int]) -> str:
    ranges: list[list[int]] = []
    for line in sorted(lines):
        if ranges and ranges[-1][1] == line - 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    return ",".join(f"{first}-{last}" if first != last else f"{first}" for first, last in ranges)
