"""Readability of a conversation: file names are never cut, and each turn has its figures."""

import re

import pytest
from msgspec.structs import replace

from recollect.documents.kinds import ToolStatus
from recollect.documents.turn_documents import Diff, Hunk, ToolStep
from recollect.render.html.html_text import render_markdown
from recollect.render.html.html_turns import TurnChanges, count_changes, render_context, split_path
from recollect.render.views.part_builders import fold_progress, name_tool
from tests.render.turns import CALL, TURN


@pytest.mark.parametrize(
    ("title", "tool", "parts"),
    [
        ("src/pond/frog.py", "Edit", ("src/pond/", "frog.py")),
        ("C:\\w\\frog.py", "Read", ("C:\\w\\", "frog.py")),
        ("frog.py", "Write", ("", "frog.py")),
        ("make a/b", "Bash", ("", "make a/b")),
    ],
)
def test_the_name_of_a_file_is_never_cut(title: str, tool: str, parts: tuple[str, str]) -> None:
    """It is separate from its folder, which is shortened first; commands are not shortened."""
    assert split_path(title, tool) == parts


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("one\ntwo\n", "one\ntwo\n"),
        ("10 %\r55 %\r100 %\ndone", "100 %\ndone"),
        ("lines\r\nof Windows\r\n", "lines\nof Windows\n"),
        ("all\r", "all"),
        ("\r\r", ""),
        ("downloading\r   \r", "downloading"),
    ],
)
def test_progress_is_folded_to_its_last_state(printed: str, shown: str) -> None:
    """Lines that a terminal would have overwritten are left out."""
    assert fold_progress(printed) == shown


def test_lines_are_broken_where_they_were_broken() -> None:
    """A line break in a prompt or a reply is kept."""
    assert render_markdown("one\ntwo") == "<p>one<br>\ntwo</p>\n"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("is $x^2$ so", '<p>is <code class="language-latex">$x^2$</code> so</p>\n'),
        ("from $5 to $6 in $HOME", "<p>from $5 to $6 in $HOME</p>\n"),
        ("$<b>$", '<p><code class="language-latex">$&lt;b&gt;$</code></p>\n'),
    ],
)
def test_formulas_are_shown_as_their_source(written: str, shown: str) -> None:
    """No script renders them; prices and variables are not formulas."""
    assert render_markdown(written) == shown


@pytest.mark.parametrize(
    ("language", "source", "classes"),
    [
        (
            "mermaid",
            'graph TD\n  A["one"] --> B %% end',
            {"hl-kd", "hl-k", "hl-s", "hl-o", "hl-n", "hl-c1"},
        ),
        ("latex", "\\frac{a}{b}", {"hl-k", "hl-nb"}),
        ("math", "\\frac{a}{b}", {"hl-k", "hl-nb"}),
    ],
)
def test_diagrams_are_highlighted_as_source(language: str, source: str, classes: set[str]) -> None:
    """Each kind of token has a colour, and no character is lost."""
    drawn = render_markdown(f"```{language}\n{source}\n```")
    assert set(re.findall(r'class="(hl-\w+)"', drawn)) == classes
    assert drawn.striptags() == " ".join(source.split())


def test_a_formula_of_its_own_is_a_block() -> None:
    """It can be copied like other code."""
    drawn = render_markdown("$$\na\n$$")
    assert (drawn.startswith('<pre class="code"><code>'), drawn.striptags()) == (True, "$$ a $$")


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("git_hub", "create_issue", "git hub: create issue"),
        ("linear", "_", "linear: _"),
        (None, "Bash", "Bash"),
        (None, "my_tool", "my_tool"),
    ],
)
def test_tools_of_servers_have_readable_names(server: str | None, tool: str, name: str) -> None:
    """Underscores become spaces, unless there is nothing else."""
    assert name_tool(replace(make_edit("a"), mcp_server=server, tool=tool)) == name


def make_edit(path: str, *lines: str, status: ToolStatus = ToolStatus.SUCCESS) -> ToolStep:
    """Return a call that changed a file."""
    changes = (Diff(path, (Hunk(lines=lines),)),)
    return replace(CALL, tool="Edit", title=path, status=status, input=changes, output=())


def test_changes_of_a_turn_are_counted() -> None:
    """A file counts once, and failed calls do not count."""
    steps = (
        make_edit("a", "+x", "-y", " z"),
        make_edit("a", "+x"),
        make_edit("b", "-x"),
        make_edit("c", "+x", status=ToolStatus.FAILED),
    )
    assert count_changes(replace(TURN, steps=steps)) == TurnChanges(files=2, added=2, removed=2)


@pytest.mark.parametrize(
    ("tokens", "share"), [(50_000, 25), (200_000, 100), (500_000, 50), (3_000_000, 100)]
)
def test_context_is_drawn_in_its_window(tokens: int, share: int) -> None:
    """The window is the smallest known one that fits it."""
    assert f'class="used" width="{share}%"' in render_context(tokens)


@pytest.mark.parametrize(("added", "before"), [(0, 25), (10_000, 20), (-10_000, 25), (50_000, 0)])
def test_what_a_turn_added_is_drawn(added: int, before: int) -> None:
    """The rest of the context is covered by another colour."""
    assert f'class="before" width="{before}%"' in render_context(50_000, added)
