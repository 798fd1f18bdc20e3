"""Find the author of each line, given the versions of a file.

Labels are carried from version to version along a patience diff. A line is assigned to a prompt
only if a recorded change of that prompt added it; every other line was there before, came from
outside, or is unknown.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct

from recollect.versions import evidence, file_texts, replay


class AuthorKind(StrEnum):
    """The kind of a line's author."""

    CLAUDE = "claude"
    BEFORE = "before"
    """The line was there before the first recorded change."""
    OUTSIDE = "outside"
    """The line appeared between two recorded versions, or after the last one."""
    UNKNOWN = "unknown"


class Author(Struct, frozen=True):
    """The author of a line, and the version in which the line appeared."""

    kind: AuthorKind
    version: replay.Version | None = None
    needs_verification: bool = False
    """Unrecorded commands of Claude Code may have written the line."""

    @property
    def by(self) -> str:
        """Return `claude`, `other`, or `unknown` if a Claude Code command may have written it."""
        match self.kind:
            case AuthorKind.CLAUDE:
                return "claude"
            case AuthorKind.BEFORE:
                return "other"
            case AuthorKind.OUTSIDE:
                causes = self.version.causes if self.version else ()
                is_ours = self.needs_verification or any(each.kind in OUR_CAUSES for each in causes)
                return "unknown" if is_ours else "other"
        return "unknown"


OUR_CAUSES: Final = frozenset(
    {
        evidence.CauseKind.FORMATTER,
        evidence.CauseKind.GIT,
        evidence.CauseKind.SHELL,
        evidence.CauseKind.HOOK,
        evidence.CauseKind.SUBAGENT,
        evidence.CauseKind.TOOL,
        evidence.CauseKind.SESSION,
    }
)
"""Causes that may be actions of Claude Code itself."""

_FEW: Final = 8
"""Maximum number of texts to search for one by one."""

BEFORE: Final = Author(AuthorKind.BEFORE)
OUTSIDE: Final = Author(AuthorKind.OUTSIDE)
UNCERTAIN: Final = Author(AuthorKind.OUTSIDE, needs_verification=True)
UNKNOWN: Final = Author(AuthorKind.UNKNOWN)


def find_authors(
    versions: Sequence[replay.Version],
    text: str,
    base: str | None = None,
    *,
    later: Author = OUTSIDE,
    ignore_space: bool = False,
) -> list[Author]:
    """Return the author of each line of `text`, the content after the last version.

    `base` is the content before the first version, from git: without it, lines that a person
    changed before the first record look as if they had always been there. `later` is the author of
    changes after the last version.
    """
    labels = _Labels(ignore_space=ignore_space)
    if base is not None:
        labels.start(base)
    for version in versions:
        labels.take(version)
    return labels.finish(text, later)


class _Labels:
    """Tracks the authors of lines from version to version."""

    def __init__(self, *, ignore_space: bool) -> None:
        self._ignore_space = ignore_space
        self._lines: list[str] | None = None
        self._authors: list[Author] = []
        self._pending: list[replay.Version] = []
        self._earlier: dict[str, list[Author]] = {}
        self._gone: dict[str, Author] = {}

    def start(self, text: str) -> None:
        self._lines = file_texts.split_lines(text)
        self._authors = [BEFORE] * len(self._lines)

    def take(self, version: replay.Version) -> None:
        if not version.exists:
            self._lines, self._authors = [], []
            self._pending.clear()
        elif version.text is None:
            self._pending.append(version)
        else:
            if self._lines is None and version.change is not None:
                self._start_at_change(version, version.change)
            elif version.change is not None and version.change.before is None:
                self._catch_up(version.text, version.change)
            self._move_to(version.text, self._name(version), version)
            self._earlier[version.text] = self._authors

    def _start_at_change(self, version: replay.Version, change: evidence.Change) -> None:
        """Treat lines that a change did not add as older, as far as the change shows them."""
        lines = file_texts.split_lines(version.text or "")
        if change.is_new:
            self._lines, self._authors = [], []
        elif change.hunks:
            added = _find_added(change, lines)
            earlier = _place_added(self._pending, lines)
            kept = [at for at in range(len(lines)) if at not in added]
            self._lines = [lines[at] for at in kept]
            self._authors = [earlier.get(at, BEFORE) for at in kept]
        else:
            self._lines, self._authors = lines, [UNKNOWN] * len(lines)

    def _catch_up(self, text: str, change: evidence.Change) -> None:
        """Find the authors of unseen lines that, as a patch shows, are older than the change."""
        if change.after is None or not change.hunks or self._pending:
            return
        lines = file_texts.split_lines(text)
        added = _find_added(change, lines)
        kept = [line for at, line in enumerate(lines) if at not in added]
        if Counter(self._fold(kept)) - Counter(self._fold(self._lines or [])):
            self._move_to("".join(kept), OUTSIDE, None)

    def _name(self, version: replay.Version) -> Author:
        if version.change is not None:
            return Author(AuthorKind.CLAUDE, version)
        if version.kind is replay.VersionKind.OUTSIDE or self._lines is not None:
            return Author(AuthorKind.OUTSIDE, version)
        return BEFORE

    def finish(self, text: str, later: Author) -> list[Author]:
        if self._lines is None and not self._pending:
            return [UNKNOWN] * len(file_texts.split_lines(text))
        self._move_to(text, later if self._lines is not None else BEFORE, None)
        return self._authors

    def _move_to(self, text: str, author: Author, version: replay.Version | None) -> None:
        change = version.change if version else None
        known = self._earlier.get(text) if change is None else None
        new = file_texts.split_lines(text)
        if known is not None:
            # The content was restored by a rewind, or by git.
            self._lines, self._authors = new, known
        else:
            is_certain = version is None or version.known is not replay.Grade.INFERRED
            authors = self._name_new(new, author, change, is_certain=is_certain)
            self._carry_over(new, authors, is_change=change is not None)
            self._lines, self._authors = new, authors
        self._pending.clear()

    def _carry_over(self, new: list[str], authors: list[Author], *, is_change: bool) -> None:
        """Keep the authors of lines that were there before."""
        old = self._lines or []
        gone: list[int] = []
        come: list[int] = []
        before, after = 0, 0
        matches = file_texts.match_lines(self._fold(old), self._fold(new))
        for match in (*matches, file_texts.Match(len(old), len(new), 0)):
            stop = match.old + match.length
            authors[match.new : match.new + match.length] = self._authors[match.old : stop]
            gone += range(before, match.old)
            come += range(after, match.new)
            before, after = stop, match.new + match.length
        self._gone |= {
            old[at]: self._authors[at] for at in gone if file_texts.is_distinctive(old[at])
        }
        if not is_change:
            # The line was moved, or brought back by a rewind or by git.
            for at in come:
                authors[at] = self._gone.get(new[at], authors[at])

    def _name_new(
        self, new: list[str], author: Author, change: evidence.Change | None, *, is_certain: bool
    ) -> list[Author]:
        """Return the authors that the lines have if they are new."""
        if not self._pending and (is_certain or change is None):
            return [author] * len(new)
        added = _place_added(self._pending, new)
        other = author if change is None else UNKNOWN
        if not all(each.change is None or _has_lines(each.change) for each in self._pending):
            other = UNKNOWN
        elif change is not None and _has_lines(change):
            # No recorded change has it, so it comes from the unseen state in between.
            unseen = [each for each in self._pending if each.change is None]
            other = Author(AuthorKind.OUTSIDE, unseen[-1]) if unseen else UNCERTAIN
        authors = [other] * len(new)
        if other is UNCERTAIN:
            changes = [*(each.change for each in self._pending), change]
            texts = _list_added(each for each in changes if each)
            for at in _find_texts(new, texts):
                authors[at] = UNKNOWN
        for at, each in added.items():
            authors[at] = each
        for at in _find_added(change, new) if change else ():
            authors[at] = author
        return authors

    def _fold(self, lines: Sequence[str]) -> Sequence[str]:
        """Return the lines in the form for comparison: adding a final newline changes none."""
        if self._ignore_space:
            return ["".join(line.split()) for line in lines]
        return [*lines[:-1], lines[-1].rstrip("\n") + "\n"] if lines else lines


def _find_added(change: evidence.Change, lines: Sequence[str]) -> set[int]:
    """Return the positions of the lines that a change added, by its patch or else by their text."""
    if not change.hunks:
        return set(_find_texts(lines, _list_added([change])))
    added: set[int] = set()
    for hunk in change.hunks:
        signs = [line[:1] for line in hunk.lines if line[:1] in ("+", " ")]
        added |= {hunk.new_start - 1 + at for at, sign in enumerate(signs) if sign == "+"}
    return {at for at in added if 0 <= at < len(lines)}


def _list_added(changes: Iterable[evidence.Change]) -> set[str]:
    """Return the lines that changes added, at any position."""
    blocks = (block for change in changes for block in _iter_blocks(change))
    return {line.text for block in blocks for line in block if line.is_added}


def _find_texts(lines: Sequence[str], texts: Set[str]) -> list[int]:
    """Return the positions of lines that are among texts in the form of patches."""
    wanted = {*texts, *(f"{text}\n" for text in texts)}
    if _has_leading_tabs("".join(lines)):
        plain = [file_texts.shrink_tabs(line) if line[0] == "\t" else line for line in lines]
        return [at for at, line in enumerate(plain) if line in wanted]
    known = wanted.intersection(lines)
    if len(known) > _FEW:
        return [at for at, line in enumerate(lines) if line in known]
    return [at for line in known for at in _iter_places(lines, line)]


def _has_leading_tabs(text: str) -> bool:
    return text.startswith("\t") or "\n\t" in text


def _iter_places(lines: Sequence[str], line: str) -> Iterator[int]:
    """Yield the positions of a line; takes a tenth of the time of a loop over all lines."""
    at = -1
    for _ in range(lines.count(line)):
        at = lines.index(line, at + 1)
        yield at


def _has_lines(change: evidence.Change) -> bool:
    return bool(change.hunks or change.steps)


def _place_added(versions: Sequence[replay.Version], lines: Sequence[str]) -> dict[int, Author]:
    """Return the authors of those of `lines` that changes of unknown texts added.

    A line that occurs once shows where a change is; adjacent lines are found from there.
    """
    added: dict[int, Author] = {}
    if not versions:
        return added
    plain = [file_texts.shrink_tabs(line.rstrip("\n")) for line in lines]
    counts = Counter(plain)
    places = {line: at for at, line in enumerate(plain) if counts[line] == 1}
    for version in versions:
        if version.change is not None:
            author = Author(AuthorKind.CLAUDE, version)
            for block in _iter_blocks(version.change):
                added |= dict.fromkeys(_find_block(block, plain, places), author)
            added |= dict.fromkeys(_find_cell(version.change.cell, places), author)
    return added


def _find_block(
    block: Sequence[_SignedLine], lines: Sequence[str], places: Mapping[str, int]
) -> Iterator[int]:
    """Yield the positions of a block's added lines, in both directions from each unique line."""
    for anchor, (_, text) in enumerate(block):
        if text not in places:
            continue
        for step in (1, -1):
            at, place = anchor, places[text]
            while (
                0 <= at < len(block) and 0 <= place < len(lines) and block[at].text == lines[place]
            ):
                if block[at].is_added:
                    yield place
                at, place = at + step, place + step


def _find_cell(source: str | None, places: Mapping[str, int]) -> Iterator[int]:
    """Yield the positions of the lines of a notebook that are the source of a cell."""
    if not source:
        return
    parts = (source, *file_texts.split_lines(source))
    wanted = {json.dumps(part, ensure_ascii=False) for part in parts}
    for line, place in places.items():
        if line.strip().removesuffix(",").removeprefix('"source": ') in wanted:
            yield place


class _SignedLine(NamedTuple):
    is_added: bool
    text: str


def _iter_blocks(change: evidence.Change) -> Iterator[list[_SignedLine]]:
    """Yield the lines after a change around each of its positions, without leading tabs."""
    for hunk in change.hunks:
        yield [
            _SignedLine(line[0] == "+", line[1:]) for line in hunk.lines if line[:1] in ("+", " ")
        ]
    for step in () if change.hunks else change.steps:
        old = [file_texts.shrink_tabs(line) for line in step.old_string.split("\n")]
        new = [file_texts.shrink_tabs(line) for line in step.new_string.split("\n")]
        kept = {
            match.new + at
            for match in file_texts.match_lines(old, new)
            for at in range(match.length)
        }
        yield [_SignedLine(at not in kept, line) for at, line in enumerate(new)]
