"""Tests of recollect.render.terminal.terminal_turns and of the steps that turns consist of."""

import pytest
from msgspec.structs import replace

from recollect.documents.kinds import Context, ContextKind, InputKind, SubagentKind, ToolStatus
from recollect.documents.turn_documents import (
    CheckItem,
    Checklist,
    CheckState,
    Diff,
    Hunk,
    NoticeKind,
    NoticeStep,
    Picture,
    Plain,
    Prose,
    Step,
    SubagentReference,
    TextStep,
    ThinkingStep,
    TurnView,
)
from recollect.records.token_usage import Tokens
from recollect.render.terminal.canvas import Canvas, RenderOptions, ToolDetail
from recollect.render.terminal.terminal_turns import render_turn
from recollect.session.session import Session
from tests.render import turns
from tests.render.turns import CALL

TURN = replace(
    turns.TURN,
    number=3,
    tokens=Tokens(input=1200),
    model="m",
    active_ms=1500.0,
    permission_mode="default",
)
EDIT = replace(
    CALL,
    tool="Edit",
    title="/home/mina/pond/a.py",
    input=(Diff("/home/mina/pond/a.py", (Hunk(new_start=1, lines=("+x",) * 12),)),),
    output=(),
)


def draw(view: TurnView, **options: object) -> list[str]:
    """Return the lines of a turn below its rule."""
    canvas = Canvas(replace(RenderOptions(columns=60, directory="/home/mina/pond"), **options))
    _, *lines = (line.rstrip() for line in render_turn(view, Session(), canvas, 60))
    return lines


def render_steps(*steps: Step, **options: object) -> list[str]:
    """Return the lines of steps below their prompt."""
    return draw(replace(TURN, steps=steps), **options)[2:]


def render_rule(view: TurnView, columns: int) -> str:
    """Return the first line of a turn."""
    rule, *_ = render_turn(view, Session(), Canvas(RenderOptions(columns=columns)), columns)
    return rule


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        (60, "── 3 ──────────────────────────── m · 1.5 s · 1,200 tokens ─"),
        (34, "── 3 ────── 1.5 s · 1,200 tokens ─"),
        (24, "── 3 ─────────── 1.5 s ─"),
        (12, "── 3 ───────"),
    ],
)
def test_a_rule_shows_as_much_as_fits(columns: int, rule: str) -> None:
    """The number of a turn comes first; the model is dropped first, then the tokens."""
    assert render_rule(TURN, columns) == rule


def test_a_rule_names_what_is_unusual() -> None:
    """The author if it was not typed, the mode, and that the branch was abandoned."""
    view = replace(
        TURN,
        kind=InputKind.TASK_NOTIFICATION,
        permission_mode="plan",
        is_on_main_path=False,
        active_ms=None,
        tokens=Tokens(),
        model=None,
    )
    rule = render_rule(view, 60).replace("─", "").strip()
    assert rule == "3  task notification · plan mode · abandoned"


def test_a_prompt_has_a_bar_and_its_contexts_below() -> None:
    """The user's text is highlighted; each context from an editor is one line."""
    contexts = (
        Context(ContextKind.IDE_SELECTION, "x = 1", "/home/mina/pond/a.py", 3, 5),
        Context(ContextKind.REMINDER, "Be careful.\nReally."),
    )
    view = replace(TURN, words="Fix\nit", contexts=contexts, media=(Picture("image/png", ""),))
    assert draw(view) == [
        "▌ Fix",
        "▌ it",
        "  [image/png, not in the transcript]",
        "  + ide selection  a.py:3-5",
        "  + reminder  Be careful. …",
    ]
    assert draw(view, tools=ToolDetail.FULL)[-3:] == [
        "  + reminder  Be careful. …",
        "  │ Be careful.",
        "  │ Really.",
    ]


@pytest.mark.parametrize(
    ("view", "line"),
    [
        (replace(TURN, kind=InputKind.COMMAND, command="/compact", words="now"), "▌ /compact now"),
        (replace(TURN, kind=InputKind.SHELL, words="ls"), "▌ ! ls"),
        (replace(TURN, kind=InputKind.AUTOMATIC, is_by_person=False), "▌ Fix it"),
    ],
)
def test_prompts_of_every_kind(view: TurnView, line: str) -> None:
    """Commands are shown as they are typed."""
    assert draw(view) == [line]


def test_long_input_that_nobody_typed_is_cut() -> None:
    """Only the start of a summary or notification is shown, except in full output."""
    view = replace(TURN, is_by_person=False, words="\n".join("abcdefghijklmn"))
    assert draw(view)[-1] == "▌ … 4 more lines"
    assert draw(view, tools=ToolDetail.FULL)[-1] == "▌ n"


def test_texts_are_separated_and_calls_grouped() -> None:
    """Consecutive calls form one block; text has blank lines around it."""
    said = TextStep(uuid="a", message_id="m", role="assistant", parts=(Prose("Hello."),))
    asked = TextStep(uuid="b", message_id="n", role="user", parts=(Plain("wait"),))
    lines = render_steps(said, CALL, CALL, said, asked)
    assert lines == [
        "  Hello.",
        "",
        "● Bash  make test  ✓ 2 lines · 1.2 s",
        "● Bash  make test  ✓ 2 lines · 1.2 s",
        "",
        "  Hello.",
        "",
        "▌ wait",
    ]


def test_thoughts_are_folded() -> None:
    """The first line of thinking is shown, or all of it, or a note if it was not recorded."""
    thought = ThinkingStep(uuid="a", message_id="m", text="one\ntwo\nthree")
    empty = replace(thought, text="")
    assert render_steps(thought, empty) == ["∴ one  2 more lines"]
    assert render_steps(thought, thinking=True) == ["∴ one", "  two", "  three"]
    assert render_steps(empty, thinking=True) == ["∴ (thinking, not kept in the transcript)"]


def test_calls_at_every_level_of_detail() -> None:
    """Only a count, one line each, or all input and output."""
    assert render_steps(CALL, EDIT, CALL, tools=ToolDetail.NONE) == [
        "● 3 tool calls · Bash 2, Edit"
    ]
    assert render_steps(CALL) == ["● Bash  make test  ✓ 2 lines · 1.2 s"]
    assert render_steps(CALL, tools=ToolDetail.FULL) == [
        "● Bash  make test  ✓ 2 lines · 1.2 s",
        "  │ make test",
        "  │ ────────────────────",
        "  │ one",
        "  │ two",
    ]


def test_changes_are_truncated_and_failures_shown() -> None:
    """In brief output, a change shows its first lines and a failure its reason."""
    assert render_steps(EDIT)[0] == "● Edit  a.py  ✓ 2 lines · 1.2 s"
    assert render_steps(EDIT)[-2:] == ["  │ 10 + x", "  │ … 2 more lines"]
    failed = replace(CALL, status=ToolStatus.FAILED, summary="failed with exit code 2: one …")
    assert render_steps(failed) == [
        "● Bash  make test  ✗ failed with exit code 2 · 1.2 s",
        "  │ one",
        "  │ two",
    ]


def test_lists_are_shown_whole() -> None:
    """A to-do list is shown completely."""
    call = replace(CALL, input=(Checklist((CheckItem("one", CheckState.DONE),)),), output=())
    assert render_steps(call)[1:] == ["  │ ✓ one"]


def test_a_long_title_gives_way() -> None:
    """In brief output a call takes one line; full output has its whole title."""
    call = replace(CALL, title="echo " + "x" * 80, mcp_server="pond", input=(), output=())
    (line,) = render_steps(call)
    assert len(line) == 60
    full = "".join(line.strip() for line in render_steps(call, tools=ToolDetail.FULL))
    assert "x" * 80 in full


def test_the_name_of_a_file_is_never_cut() -> None:
    """The line of a call wraps if it has to."""
    path = "/home/mina/pond/src/a_name_of_more_than_thirty_letters.py"
    lines = draw(replace(TURN, steps=(replace(EDIT, title=path, summary="+12 -0", input=()),)))
    assert lines[-2].startswith("● Edit  a_name_of_more_than_thirty_letters.py  ✓ +12 -0")


def test_a_subagent_is_described_once() -> None:
    """Not in the line of its call as well, whose figures are those that the client reported."""
    agent = SubagentReference(
        agent_id="a1", kind=SubagentKind.FILE, agent_type="Explore", description=None, tool_calls=3
    )
    call = replace(CALL, tool="Agent", title="Look", summary="9 tool calls", subagents=(agent,))
    assert "9 tool calls" not in "\n".join(draw(replace(TURN, steps=(call,))))
    failed = replace(call, status=ToolStatus.FAILED, summary="failed: no")
    assert "failed" in "\n".join(draw(replace(TURN, steps=(failed,))))
    full = draw(replace(TURN, steps=(call,)), tools=ToolDetail.FULL)
    assert "9 tool calls" in "\n".join(full)


def test_notices_have_signs_and_compactions_a_rule() -> None:
    """Notices are shown in place; routine ones only with `--tools full`."""
    error = NoticeStep(
        uuid="a", kind=NoticeKind.API_ERROR, title="529", parts=(Plain("Overloaded"),)
    )
    cut = NoticeStep(uuid="b", kind=NoticeKind.COMPACTION, title="compacted")
    hook = NoticeStep(uuid="c", kind=NoticeKind.HOOK, title="hook ran", is_routine=True)
    rule = "╌" * 24 + " compacted " + "╌" * 25
    assert render_steps(error, cut, hook) == ["! 529", "  │ Overloaded", rule]
    assert render_steps(hook, tools=ToolDetail.FULL) == ["◇ hook ran"]


def test_notices_that_repeat_are_one_line() -> None:
    """The line has their number and each text once; all are shown in full output, or if marked."""
    tried = [
        NoticeStep(
            uuid=f"r{number}",
            kind=NoticeKind.RETRY,
            title=f"The request failed · attempt {number} of 3",
            parts=(Plain("Connection refused"),),
        )
        for number in (1, 2, 3)
    ]
    hook = NoticeStep(uuid="h", kind=NoticeKind.HOOK, title="hook ran", is_routine=True)
    shown = render_steps(tried[0], hook, *tried[1:])
    assert shown == ["! The request failed ×3", "  │ Connection refused"]
    full = render_steps(*tried, tools=ToolDetail.FULL)
    assert full[::2] == [f"! {each.title}" for each in tried]
    canvas = Canvas(RenderOptions(columns=60, at="r2"))
    turn = replace(TURN, steps=tuple(tried))
    marked = [line.rstrip() for line in render_turn(turn, Session(()), canvas, 60)][3:]
    assert [line for line in marked if "failed" in line] == [
        "! The request failed · attempt 1 of 3",
        "▶ ! The request failed · attempt 2 of 3",
        "! The request failed · attempt 3 of 3",
    ]
