"""Tests of recollect.render.terminal.terminal_parts: one for each kind of part."""

import pytest

from recollect.documents.turn_documents import (
    CheckItem,
    Checklist,
    CheckState,
    Choice,
    Code,
    Diff,
    Entries,
    Entry,
    Fields,
    Hunk,
    Json,
    Output,
    Part,
    Picture,
    Plain,
    Question,
)
from recollect.render.terminal import measure
from recollect.render.terminal.canvas import Canvas, RenderOptions, ToolDetail
from tests.render.terminal.rendering import COLOURED, render

HUNK = Hunk(
    old_start=9,
    new_start=9,
    lines=(" def f():", "-    return 1", "+    return 2", "\\ No newline at end of file"),
)
CASES: dict[str, tuple[Part, list[str]]] = {
    "plain": (Plain("two\n  lines"), ["two", "  lines"]),
    "code": (Code("a\tb\nc", first_line=9), [" 9 a   b", "10 c"]),
    "output": (Output("\x1b[31mred\x1b[0m\r\nnext\x1b[2K\n"), ["red", "next␛[2K"]),
    "diff": (
        Diff("a.py", (HUNK,)),
        [
            "a.py  +1 -1",
            " 9   def f():",
            "10 -     return 1",
            "10 +     return 2",
            "     \\ No newline at end of file",
        ],
    ),
    "new file": (
        Diff("a.py", (Hunk(new_start=1, lines=("+x",)),), is_new_file=True),
        ["a.py  new file, +1 -0", "1 + x"],
    ),
    "fragment": (
        Diff(None, (HUNK, Hunk(lines=("+y",))), is_fragment=True),
        [
            "(unnamed)  +2 -1",
            "  def f():",
            "-     return 1",
            "+     return 2",
            "  \\ No newline at end of file",
            "⋮",
            "+ y",
        ],
    ),
    "checklist": (
        Checklist(
            (
                CheckItem("one", CheckState.DONE),
                CheckItem("two", CheckState.ACTIVE, "now"),
                CheckItem("three", CheckState.PENDING),
                CheckItem("four", CheckState.DROPPED),
            )
        ),
        ["✓ one", "▶ two  now", "☐ three", "✗ four"],
    ),
    "entries": (
        Entries(
            (
                Entry("src/a.py", path="src/a.py"),
                Entry("x = 1", path="src/a.py", line=3),
                Entry("A page", url="http://x", note="fresh"),
            ),
            omitted=1200,
        ),
        ["src/a.py", "src/a.py:3  x = 1", "http://x  A page  fresh", "… and 1,200 more"],
    ),
    "fields": (
        Fields((("name", "a\nb"), ("a name that is far too long for it", "c"))),
        [
            "name           a",
            "               b",
            "a name that is far too long for it",
            "               c",
        ],
    ),
    "question": (
        Question("Which?", "Unit", (Choice("m", "metres", is_chosen=True), Choice("ft")), "yards"),
        ["Unit  Which?", "● m  metres", "○ ft", "> yards"],
    ),
    "picture": (Picture("image/png", "aGVsbG8="), ["[image/png, 5 bytes]"]),
    "picture elsewhere": (
        Picture("image/png", "", "a"),
        ["[image/png, not in the transcript, a]"],
    ),
    "picture that is none": (
        Picture("image/png", "a"),
        ["[image/png, 1 character, not base64]"],
    ),
    "json": (Json('{\n  "a": 1\n}'), ["{", '  "a": 1', "}"]),
}


@pytest.mark.parametrize("name", CASES)
def test_parts_are_drawn(name: str) -> None:
    """The lines of each kind of part."""
    part, lines = CASES[name]
    assert render(part) == lines


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("columns", [12, 40])
def test_parts_fit(name: str, columns: int) -> None:
    """No line is wider than the given width, however narrow."""
    assert [line for line in render(CASES[name][0], columns) if measure(line) > columns] == []


def test_long_lines_of_code_keep_their_spaces() -> None:
    """Code is wrapped at the width, not between words, because spaces matter."""
    assert render(Code("a  b  c", first_line=1), 6) == ["1 a  b", "    c"]


def test_wide_characters_count_twice() -> None:
    """Chinese text is wrapped before a character that would not fit."""
    assert render(Code("麻婆豆腐"), 5) == ["麻婆", "豆腐"]


def test_code_has_the_colours_of_the_terminal() -> None:
    """Colours are palette names, readable in any theme."""
    (line,) = render(Code("return 1", path="a.py"), canvas=COLOURED)
    assert line == "\x1b[35mreturn\x1b[0m \x1b[36m1\x1b[0m"


def test_long_code_is_not_highlighted() -> None:
    """A lexer may take seconds for a minified line."""
    assert render(Code(f"return {'1' * 3000}", language="python"), 5000, COLOURED) == [
        f"return {'1' * 3000}"
    ]


def test_what_changed_in_a_line_is_pointed_out() -> None:
    """In two similar lines, the difference is reversed."""
    _, _, old, new, _ = render(Diff("a.py", (HUNK,)), canvas=COLOURED)
    assert old.endswith("\x1b[31m    return \x1b[0m\x1b[7;31m1\x1b[0m")
    assert new.endswith("\x1b[32m    return \x1b[0m\x1b[7;32m2\x1b[0m")


def test_errors_are_red_where_they_have_no_colour() -> None:
    """Standard error is red, unless the program set a colour itself."""
    lines = render(Output("bad \x1b[32mgood", is_error=True), canvas=COLOURED)
    assert lines == ["\x1b[31mbad \x1b[0m\x1b[32mgood\x1b[0m"]


def test_listed_paths_are_relative_to_the_directory() -> None:
    """Unless everything is shown."""
    listed = Entries((Entry("/m/a.py", path="/m/a.py"), Entry("x", path="/m/b.py", line=3)))
    brief = RenderOptions(columns=80, directory="/m")
    full = RenderOptions(columns=80, directory="/m", tools=ToolDetail.FULL)
    assert render(listed, canvas=Canvas(brief)) == ["a.py", "b.py:3  x"]
    assert render(listed, canvas=Canvas(full)) == ["/m/a.py", "/m/b.py:3  x"]
