"""Attribute lines where the content in between is not known."""

import pytest

from recollect.records.tools import PatchHunk
from recollect.records.tools.file_tools import EditStep
from recollect.versions.evidence import Change, Evidence, Origin, Rename, Sighting, SightingKind
from recollect.versions.line_authors import find_authors
from recollect.versions.replay import Grade, VersionKind, replay

PATH = "/p/app.py"
FIRST, SECOND, THIRD = "first_value = 1111", "second_value = 2222", "third_value = 3333"


def origin(turn: int) -> Origin:
    """Return the origin of a change in this turn."""
    return Origin(session_id="s", turn=turn, time=f"2026-03-02T10:0{turn}:00Z")


def seen(turn: int, *lines: str) -> Sighting:
    """The whole file, read in a turn."""
    text = "".join(f"{line}\n" for line in lines)
    return Sighting(path=PATH, origin=origin(turn), kind=SightingKind.READ, text=text)


def edit(turn: int, old: str, new: str) -> Change:
    """An edit of which only the two strings are known."""
    step = EditStep(old_string=old, new_string=new, replace_all=False)
    return Change(path=PATH, origin=origin(turn), steps=(step,), has_result=False)


def blame(evidence: list[Evidence], *lines: str, base: str | None = None) -> list[str]:
    """The turn or kind of author of each line of the present file."""
    versions = replay(PATH, evidence).versions
    text = "".join(f"{line}\n" for line in lines)
    authors = find_authors(versions, text, base)
    return [
        str(each.version.origin.turn) if each.by == "claude" and each.version else each.kind.value
        for each in authors
    ]


def test_a_repeated_line_is_found_beside_a_unique_one() -> None:
    """Of an edit in an unknown file, lines that are everywhere are found by their neighbours."""
    evidence: list[Evidence] = [edit(1, FIRST, f"{FIRST}\n{SECOND}\n}}")]
    assert blame(evidence, "}", FIRST, SECOND, "}", THIRD, base=f"}}\n{FIRST}\n{THIRD}\n") == [
        "before",
        "before",
        "1",
        "1",
        "before",
    ]


def test_the_source_of_a_cell_is_found_in_its_notebook() -> None:
    """An edit of a notebook whose content is not recorded has written the lines of its cell."""
    change = Change(path=PATH, origin=origin(1), cell=f"{FIRST}\n{SECOND}")
    as_text = f'   "source": "{FIRST}\\n{SECOND}"'
    as_lines = [f'    "{FIRST}\\n",', f'    "{SECOND}"']
    base = ' {\n   "source": ""\n }\n'
    assert blame([change], " {", as_text, " }", base=base) == ["before", "1", "before"]
    assert blame([change], " {", *as_lines, " }", base=base) == ["before", "1", "1", "before"]


def test_lines_that_come_back_keep_their_author() -> None:
    """Lines that git or a rewind restores belong to whoever wrote them first."""
    evidence: list[Evidence] = [
        seen(1, FIRST),
        edit(1, FIRST, f"{FIRST}\n{SECOND}"),
        edit(2, SECOND, THIRD),
        seen(3, "added by hand", FIRST, SECOND),
    ]
    lines = ("added by hand", FIRST, SECOND)
    assert blame(evidence, *lines) == ["outside", "before", "1"]
    assert blame(evidence, SECOND, "added by hand", FIRST) == ["1", "outside", "before"]


def test_a_file_that_was_moved_twice_in_a_row_keeps_its_history() -> None:
    """A name that no tool used is followed too."""
    evidence: list[Evidence] = [
        Change(path="/p/a.py", origin=origin(1), after=f"{FIRST}\n", is_new=True),
        Rename(path="/p/b.py", old_path="/p/a.py", origin=origin(2)),
        Rename(path=PATH, old_path="/p/b.py", origin=origin(3)),
    ]
    assert blame(evidence, FIRST, SECOND) == ["1", "outside"]


@pytest.mark.parametrize("indent", ["", "\t"])
def test_the_patch_of_a_write_shows_what_changed_before_it(indent: str) -> None:
    """A Write whose patch removes unknown lines makes an outside version of what it replaced."""
    added, removed = f"{indent}{SECOND}", f"{indent}{THIRD}"
    shown = "  " if indent else ""
    hunk = PatchHunk(
        old_start=1,
        old_lines=2,
        new_start=1,
        new_lines=2,
        lines=(f" {FIRST}", f"-{shown}{THIRD}", f"+{shown}{SECOND}"),
    )
    write = Change(path=PATH, origin=origin(2), after=f"{FIRST}\n{added}\n", hunks=(hunk,))
    changed = replay(PATH, [seen(1, FIRST, "another line"), write]).versions
    assert [(each.kind, each.known) for each in changed] == [
        (VersionKind.SEEN, Grade.EXACT),
        (VersionKind.OUTSIDE, Grade.INFERRED),
        (VersionKind.WRITE, Grade.EXACT),
    ]
    same = replay(PATH, [seen(1, FIRST, removed), write]).versions
    assert [each.kind for each in same] == [VersionKind.SEEN, VersionKind.WRITE]


def test_a_first_write_gets_only_the_lines_of_its_patch() -> None:
    """Lines that differ from git but are not in the first Write's patch were changed before it."""
    hunk = PatchHunk(
        old_start=1, old_lines=1, new_start=1, new_lines=2, lines=(f" {FIRST}", f"+{SECOND}")
    )
    lines = (FIRST, SECOND, THIRD)
    text = "".join(f"{line}\n" for line in lines)
    write = Change(path=PATH, origin=origin(2), after=text, hunks=(hunk,))
    assert blame([write], *lines, base=f"{FIRST}\n") == ["before", "2", "outside"]


@pytest.mark.parametrize("count", [2, 40])
@pytest.mark.parametrize("indent", ["", "\t\t"])
def test_lines_without_a_patch_are_found_by_their_text(count: int, indent: str) -> None:
    """Few or many, repeated or not, and with the tabs that edits leave out."""
    lines = [f"{indent}number_{at} = {at}" for at in range(count)]
    body = "\n".join([*lines, *lines])
    evidence: list[Evidence] = [seen(1, FIRST, THIRD), edit(2, FIRST, f"{FIRST}\n{body}")]
    assert blame(evidence, FIRST, *lines, *lines, THIRD) == [
        "before",
        *["2"] * (2 * count),
        "before",
    ]
