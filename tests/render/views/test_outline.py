"""The outline of a session."""

from recollect.documents.api_documents import OutlineEntry
from recollect.documents.kinds import InputKind
from recollect.render.views.overview import build_outline
from recollect.session.session import Session
from tests.session.chains import boundary, in_a_row, reply, result, summary, use, user


def test_prompts_with_their_figures() -> None:
    """Each turn is a line with its first words, its calls and what went wrong in it."""
    records = in_a_row(
        user("p", "fix it\nplease", timestamp="2026-01-01T12:00:00Z"),
        reply("r", use("t1"), use("t2")),
        result("q", "t1", is_error=True),
        user("c", "<command-name>/cost</command-name><command-args>all</command-args>"),
    )
    entry = OutlineEntry(
        number=1,
        uuid="p",
        kind=InputKind.TYPED,
        line="fix it …",
        is_by_person=True,
        is_on_main_path=True,
        is_branch=False,
        segment=0,
        start="2026-01-01T12:00:00Z",
        tool_calls=2,
        errors=1,
        trace="y9x1c1",
    )
    first, second = build_outline(Session(records))
    assert first == entry
    assert (second.line, second.kind, second.tool_calls) == ("/cost all", InputKind.COMMAND, 0)


def test_branches_are_marked() -> None:
    """Both continuations of a rewound conversation are marked, and one is on the main path."""
    records = [
        *in_a_row(user("p"), reply("r", "one")),
        *(user("a", "left", "r"), reply("b", "two", parent="a")),
        *(user("c", "right", "r"), reply("d", "three", parent="c")),
    ]
    outline = build_outline(Session(records))
    assert [(entry.line, entry.is_branch, entry.is_on_main_path) for entry in outline] == [
        ("words", False, True),
        ("left", True, False),
        ("right", True, True),
    ]


def test_compactions_are_named() -> None:
    """A compaction opens a segment; its summary is too long for a line."""
    records = [
        *in_a_row(user("p"), reply("r", "one")),
        boundary("b", "r"),
        summary("s", "This session is being continued", "b"),
    ]
    outline = build_outline(Session(records))
    assert [(entry.line, entry.segment) for entry in outline] == [
        ("words", 0),
        ("The conversation was compacted", 1),
    ]
