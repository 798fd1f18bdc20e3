"""Texts of files as recorded in transcripts (normal form, edits, patches and windows), and the
patience diff of their lines, which finds common parts by lines that occur once in each.

Transcripts have nearly all text without byte order mark and with `\\n` line ends, whatever the file
has on disk, so texts are compared in that form. Line ends, byte order mark and encoding are a
`TextForm`, which comes from bytes: a backup, a git blob or the file itself.

A diff first matches long lines that occur once in the whole texts, then shorter ones, then those
that occur once between two matches: there a `}` or an empty line may be unique, and would pull
blocks apart. The rest is compared by `difflib`.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence, Set
from difflib import SequenceMatcher
from itertools import islice, pairwise
from operator import eq
from typing import Final, NamedTuple

from msgspec import Struct

from recollect.records.tools import PatchHunk
from recollect.records.tools.file_tools import EditStep

BOM: Final = "\ufeff"
REPLACEMENT: Final = "\ufffd"
_QUOTES: Final = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def normalize(text: str) -> str:
    """Return `text` without byte order mark and with `\\n` line ends."""
    return text.removeprefix(BOM).replace("\r\n", "\n")


def split_lines(text: str) -> list[str]:
    """Return the lines with their `\\n`, the only line end; the last line may have none."""
    return text.splitlines(keepends=True) if text.isascii() and _is_plain(text) else _split(text)


def _is_plain(text: str) -> bool:
    return not any(each in text for each in "\r\v\f\x1c\x1d\x1e")


def _split(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


class TextForm(Struct, frozen=True):
    """The line ends, byte order mark and encoding of a text on disk."""

    encoding: str = "utf-8"
    has_bom: bool = False
    line_end: str = "\n"


class FileText(Struct, frozen=True):
    """The text of a file in normal form, and its form on disk."""

    text: str
    form: TextForm = TextForm()


def decode_file(data: bytes) -> FileText | None:
    """Return the text of a file as Claude Code reads it; None if it is not text."""
    encoding, mark = _find_encoding(data)
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    is_crlf = text.count("\r\n") * 2 > text.count("\n")
    return FileText(normalize(text), TextForm(encoding, bool(mark), "\r\n" if is_crlf else "\n"))


def encode_file(text: str, form: TextForm) -> bytes:
    """Return `text` as bytes in that form."""
    mark = BOM if form.has_bom else ""
    return (mark + text.replace("\n", form.line_end)).encode(form.encoding)


def _find_encoding(data: bytes) -> tuple[str, bytes]:
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            return encoding, mark
    return "utf-8", b""


def apply_steps(text: str, steps: Sequence[EditStep]) -> str | None:
    """Apply replacements in order, as the client does; None if one of them does not fit."""
    for step in steps:
        changed = _apply_step(text, step)
        if changed is None:
            return None
        text = changed
    return text


def _apply_step(text: str, step: EditStep) -> str | None:
    old, new = normalize_step(step)
    if not old:
        return new if not text else None
    if not new and not old.endswith("\n") and f"{old}\n" in text:
        # The client also removes the line end of a line that becomes empty.
        return text.replace(f"{old}\n", "", -1 if step.replace_all else 1)
    count = text.count(old)
    if not count or (count > 1 and not step.replace_all):
        return None
    return text.replace(old, new)


def normalize_step(step: EditStep) -> tuple[str, str]:
    """Return the old and the new string of a replacement in normal form."""
    return step.old_string.replace("\r\n", "\n"), step.new_string.replace("\r\n", "\n")


def revert_steps(text: str, steps: Sequence[EditStep]) -> str | None:
    """Undo replacements, last one first; None if the earlier text is ambiguous."""
    for step in reversed(steps):
        old, new = normalize_step(step)
        if not new or not old or step.replace_all or text.count(new) != 1:
            return None
        before = text.replace(new, old)
        if _apply_step(before, step) != text:
            return None
        text = before
    return text


def reconcile_with_patch(text: str, hunks: Sequence[PatchHunk]) -> str | None:
    """Check the text after an edit against the client's patch; None if they contradict.

    The patch has two spaces for each leading tab. Unlike the strings of the edit, it has the quotes
    as written, so they are taken from it.
    """
    lines = text.split("\n")
    is_changed = False
    for hunk in hunks:
        wanted = [line[1:] for line in hunk.lines if line[:1] in ("+", " ")]
        start = hunk.new_start - 1
        if not wanted:
            continue
        found = lines[start : start + len(wanted)] if start >= 0 else []
        if len(found) != len(wanted):
            return None
        for at, (have, want) in enumerate(zip(found, wanted, strict=True), start):
            if have == want or shrink_tabs(have) == want:
                continue
            if shrink_tabs(have).translate(_QUOTES) != want.translate(_QUOTES):
                return None
            lines[at] = have[: len(have) - len(have.lstrip())] + want.lstrip()
            is_changed = True
    return "\n".join(lines) if is_changed else text


def revert_patch(text: str, hunks: Sequence[PatchHunk]) -> str | None:
    """Return the text before a change, with removed lines from the patch; None if they differ."""
    if not hunks or reconcile_with_patch(text, hunks) != text:
        return None
    lines = text.split("\n")
    for hunk in reversed(hunks):
        start = max(hunk.new_start - 1, 0)
        signed = [line for line in hunk.lines if line[:1] in ("+", "-", " ")]
        kept = iter(lines[start:])
        before: list[str] = []
        for line in signed:
            present = line[1:] if line[0] == "-" else next(kept)
            if line[0] != "+":
                before.append(present)
        lines[start : start + sum(line[0] != "-" for line in signed)] = before
    return "\n".join(lines)


def fits_patch_before(text: str, hunks: Sequence[PatchHunk]) -> bool:
    """Return whether the text before an edit contains the lines that a patch expects."""
    lines = text.split("\n")
    for hunk in hunks:
        wanted = [line[1:] for line in hunk.lines if line[:1] in ("-", " ")]
        start = max(hunk.old_start - 1, 0)
        found = lines[start : start + len(wanted)]
        if wanted and [shrink_tabs(line) for line in found] != [
            shrink_tabs(line) for line in wanted
        ]:
            return False
    return True


def shrink_tabs(line: str) -> str:
    """Return a line with two spaces for each leading tab, as in the client's patches."""
    bare = line.lstrip("\t")
    return "  " * (len(line) - len(bare)) + bare


def equals_ignoring_tabs(one: str, other: str) -> bool:
    """Return whether two texts are equal except for leading tabs, which patches do not have."""
    if one == other:
        return True
    return [shrink_tabs(line) for line in one.split("\n")] == [
        shrink_tabs(line) for line in other.split("\n")
    ]


def fits_window(text: str, start: int, lines: Sequence[str], total: int | None) -> bool:
    """Return whether the text has `lines` from line `start` on, and `total` lines in all."""
    have = text.split("\n")
    if total is not None and len(have) != total:
        return False
    return have[start - 1 : start - 1 + len(lines)] == list(lines)


_MAX_QUADRATIC = 4_000_000
"""Maximum product of line counts for which regions without unique lines are compared in full."""
_DISTINCTIVE: Final = re.compile(r"(?:\w\W*){12}")


class Match(NamedTuple):
    """A run of `length` equal lines, starting at `old` and `new`."""

    old: int
    new: int
    length: int


def is_distinctive(line: str) -> bool:
    """Return whether a line is long enough to be distinctive, unlike `}` or `return None`."""
    return _DISTINCTIVE.search(line) is not None


def match_lines(old: Sequence[str], new: Sequence[str]) -> list[Match]:
    """Return the runs of equal lines, in order."""
    runs: list[Match] = []
    for found in sorted(_iter_matches(old, new)):
        last = runs[-1] if runs else None
        if last and (found.old, found.new) == (last.old + last.length, last.new + last.length):
            runs[-1] = Match(last.old, last.new, last.length + found.length)
        else:
            runs.append(found)
    return runs


def count_changes(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return the number of lines that were added and removed."""
    same = sum(match.length for match in match_lines(old, new))
    return len(new) - same, len(old) - same


def _iter_matches(old: Sequence[str], new: Sequence[str]) -> Iterator[Match]:
    pending = [(0, len(old), 0, len(new))]
    rare: Set[str] | None = None
    while pending:
        low, high, start, stop = pending.pop()
        head = count_equal(islice(old, low, high), islice(new, start, stop))
        if head:
            yield Match(low, start, head)
            low, start = low + head, start + head
        tail = count_equal(reversed(old[low:high]), reversed(new[start:stop]))
        if tail:
            high, stop = high - tail, stop - tail
            yield Match(high, stop, tail)
        if set(old[low:high]).isdisjoint(new[start:stop]):
            continue
        if rare is None:
            rare = _find_unique(old, 0, len(old)).keys() & _find_unique(new, 0, len(new)).keys()
        anchors = _find_anchors(old, new, (low, high, start, stop), rare)
        if not anchors:
            yield from _compare_plainly(old, new, (low, high, start, stop))
            continue
        edges = [(low - 1, start - 1), *anchors, (high, stop)]
        yield from (Match(*each, 1) for each in anchors)
        pending += [
            (before[0] + 1, after[0], before[1] + 1, after[1]) for before, after in pairwise(edges)
        ]


def count_equal(one: Iterable[str], other: Iterable[str]) -> int:
    """Return the number of equal items before the first difference."""
    same = list(map(eq, one, other))
    return same.index(False) if False in same else len(same)


def _find_anchors(
    old: Sequence[str], new: Sequence[str], area: tuple[int, int, int, int], rare: Set[str]
) -> list[tuple[int, int]]:
    """Return the longest increasing run of lines that occur once in both, `rare` ones first."""
    low, high, start, stop = area
    first, second = _find_unique(old, low, high), _find_unique(new, start, stop)
    shared = first.keys() & second.keys()
    distinctive = {line for line in shared if is_distinctive(line)}
    chosen = distinctive & rare or shared & rare or distinctive or shared
    return _find_longest_run(sorted((first[line], second[line]) for line in chosen))


def _find_longest_run(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of sorted pairs whose second numbers increase too."""
    tops: list[int] = []
    chain: list[tuple[tuple[int, int], int]] = []
    ends: list[int] = []
    for pair in pairs:
        place = bisect_left(tops, pair[1])
        chain.append((pair, ends[place - 1] if place else -1))
        if place == len(tops):
            tops.append(pair[1])
            ends.append(len(chain) - 1)
        else:
            tops[place], ends[place] = pair[1], len(chain) - 1
    result: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        pair, at = chain[at]
        result.append(pair)
    return result[::-1]


def _find_unique(lines: Sequence[str], start: int, stop: int) -> dict[str, int]:
    places: dict[str, int] = {}
    for at in range(start, stop):
        line = lines[at]
        places[line] = -1 if line in places else at
    return {line: at for line, at in places.items() if at >= 0}


def _compare_plainly(
    old: Sequence[str], new: Sequence[str], area: tuple[int, int, int, int]
) -> Iterator[Match]:
    low, high, start, stop = area
    if (high - low) * (stop - start) > _MAX_QUADRATIC:
        return
    matcher = SequenceMatcher(None, old[low:high], new[start:stop], autojunk=False)
    for block in matcher.get_matching_blocks():
        if block.size:
            yield Match(low + block.a, start + block.b, block.size)
