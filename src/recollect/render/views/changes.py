"""Two texts → what differs between them, for edits of which the client kept no patch.

Comparing takes quadratic time on hostile text, so that there is a limit; beyond it there is no
diff, and whoever asked shows both texts.
"""

from difflib import SequenceMatcher

from recollect.records.tools.patch import PatchHunk

MAX_COMPARISONS = 100_000
"""Lines of the one text times lines of the other."""

_CONTEXT = 3


def compare(before: str, after: str) -> tuple[PatchHunk, ...] | None:
    """The hunks that make `after` of `before`; None when there is too much to compare."""
    removed, added = split_lines(before), split_lines(after)
    if len(removed) * len(added) > MAX_COMPARISONS:
        return None
    groups = SequenceMatcher(None, removed, added, autojunk=False).get_grouped_opcodes(_CONTEXT)
    return tuple(_make_hunk(group, removed, added) for group in groups)


def show_addition(text: str) -> tuple[PatchHunk, ...]:
    """The hunk of a file that was not there before."""
    lines = tuple(f"+{line}" for line in split_lines(text))
    return (PatchHunk(new_start=1, new_lines=len(lines), lines=lines),) if lines else ()


def split_lines(text: str) -> list[str]:
    """The lines of `text`; only a line feed ends one, as in the client's own patches."""
    return text.removesuffix("\n").split("\n") if text else []


def _make_hunk(
    group: list[tuple[str, int, int, int, int]], removed: list[str], added: list[str]
) -> PatchHunk:
    lines: list[str] = []
    for tag, first, last, new_first, new_last in group:
        if tag == "equal":
            lines += [f" {line}" for line in removed[first:last]]
        else:
            lines += [f"-{line}" for line in removed[first:last]]
            lines += [f"+{line}" for line in added[new_first:new_last]]
    return PatchHunk(
        old_start=group[0][1] + 1,
        old_lines=group[-1][2] - group[0][1],
        new_start=group[0][3] + 1,
        new_lines=group[-1][4] - group[0][3],
        lines=tuple(lines),
    )
