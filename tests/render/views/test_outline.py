"""Tests of the outline of a session."""

from recollect.documents.kinds import InputKind, SubagentOutcome
from recollect.documents.session_documents import OutlineEntry, OutlineFailure, OutlineSubagent
from recollect.render.views.overview import build_outline
from recollect.session.session import Session
from recollect.session.subagents import Child, SubagentMeta, attach_subagents
from tests.session.chains import boundary, in_a_row, reply, result, summary, use, user


def test_prompts_with_their_figures() -> None:
    """Each turn is a line with its first words, its calls and its failures."""
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
        line="fix it please",
        is_by_person=True,
        is_on_main_path=True,
        is_branch=False,
        segment=0,
        start="2026-01-01T12:00:00Z",
        tool_calls=2,
        errors=1,
        failures=(OutlineFailure(uuid="r", tool="Bash", line="failed: done"),),
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
    """A compaction starts a segment; its summary is too long for a line."""
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


def test_subagents_are_a_tree() -> None:
    """A prompt lists the subagents that it started, and each of them its own."""
    wanted = {"description": "look", "prompt": "look", "subagent_type": "Explore"}
    inner = {"description": "deeper", "prompt": "deeper"}
    session = Session(in_a_row(user("p"), reply("r", use("t1", "Agent", **wanted))))
    outer = Session(in_a_row(user("a", "look"), reply("b", use("t2", "Agent", **inner), use("t3"))))
    last = Session(in_a_row(user("c", "deeper"), reply("d", "done")))
    children = [
        Child(agent_id="a1", session=outer, meta=SubagentMeta(tool_use_id="t1")),
        Child(agent_id="a2", session=last, meta=SubagentMeta(tool_use_id="t2")),
    ]
    attach_subagents(session, children)
    (entry,) = build_outline(session)
    deeper = OutlineSubagent(
        agent_id="a2",
        call_uuid="b",
        turn=1,
        agent_type=None,
        description="deeper",
        outcome=SubagentOutcome.RUNNING,
        tool_calls=0,
    )
    assert entry.subagents == (
        OutlineSubagent(
            agent_id="a1",
            call_uuid="r",
            turn=1,
            agent_type="Explore",
            description="look",
            outcome=SubagentOutcome.RUNNING,
            tool_calls=2,
            subagents=(deeper,),
        ),
    )


def test_the_context_of_a_turn_is_that_of_its_last_reply() -> None:
    """It includes cache reads, but not the output."""
    read = {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 50}
    more = {"input_tokens": 7, "cache_creation_input_tokens": 200, "output_tokens": 50}
    records = in_a_row(
        user("p"),
        reply("r", "one", message={"usage": read}),
        reply("s", "two", message={"usage": more}),
        user("q"),
    )
    outline = build_outline(Session(records))
    assert [entry.context_tokens for entry in outline] == [207, 0]
