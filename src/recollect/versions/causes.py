"""What a shell command may have done to files, as a hint: by its words, never by its effect.

A command that moves one file is read too, so that a file keeps its history under a new name.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

from recollect.versions.evidence import CauseKind
from recollect.versions.recorded_paths import last_component, normalize_path

_FORMATTER: Final = re.compile(
    r"\b(?:prettier|eslint\b.*--fix|ruff (?:format|check\b.*--fix)|black|isort|gofmt|goimports"
    r"|rustfmt|cargo fmt|clang-format|shfmt|biome|autopep8|yapf|dprint|stylua|pre-commit"
    r"|(?:npm|pnpm|yarn|bun)(?: run)? (?:format|lint|fix)|mise run (?:fmt|lint)"
    r"|make (?:fmt|format|lint))\b"
)
_GIT: Final = re.compile(
    r"\bgit\b(?:\s+-\S+(?:\s+\S+)?)*\s+(?:checkout|restore|stash|reset|rebase|merge|pull|cherry-pick"
    r"|revert|switch|apply|am|mv|rm|clean|worktree)\b"
)
_READING: Final = frozenset(
    "ls cat head tail grep rg find wc stat file pwd echo which type tree du df env printenv date "
    "whoami hostname uname true false test [ cd sleep diff cmp sort uniq cut tr jq ps id".split()
)
_READING_GIT: Final = frozenset(
    "status diff log show branch rev-parse blame ls-files remote describe shortlog".split()
)
_SEPARATOR: Final = re.compile(r"&&|\|\||[;|\n]")
_REDIRECTION: Final = re.compile(
    r"(?<![0-9&])>{1,2}(?!&|\s*/dev/null)|\b1>|\btee\b|\bxargs\b|-exec\b"
)

_PATTERN: Final = frozenset("*?$[{")


def classify_command(command: str) -> CauseKind | None:
    """Return what kind of change a command may have made; None if it only reads."""
    if _FORMATTER.search(command):
        return CauseKind.FORMATTER
    if _GIT.search(command):
        return CauseKind.GIT
    return None if _only_reads(command) else CauseKind.SHELL


def _only_reads(command: str) -> bool:
    if _REDIRECTION.search(command) or "$(" in command or "`" in command:
        return False
    return all(_is_reading(part.split()) for part in _SEPARATOR.split(command) if part.strip())


def _is_reading(words: list[str]) -> bool:
    if words[0] == "git":
        return len(words) > 1 and words[1] in _READING_GIT
    return words[0] in _READING and "-delete" not in words


def find_renames(command: str, cwd: str | None) -> Iterator[tuple[str, str]]:
    """Yield the old and the new path of each file that a command moves, as far as it says so."""
    directory = cwd
    for part in _SEPARATOR.split(command):
        try:
            words = shlex.split(part)
        except ValueError:
            return
        if words[:1] == ["git"]:
            words = words[1:]
        match [word for word in words if not word.startswith("-")]:
            case ["cd", name]:
                directory = normalize_path(name, directory)
            case ["mv", first, second] if _PATTERN.isdisjoint(first + second):
                old, new = normalize_path(first, directory), normalize_path(second, directory)
                yield old, new
                yield old, f"{new}/{last_component(old)}"
