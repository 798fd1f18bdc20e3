"""The context that each turn added: parts add up, and unrecorded parts are never shown as known."""

from collections.abc import Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from recollect.documents.kinds import ContextPartKind as Kind
from recollect.documents.turn_documents import ContextGrowth, ContextPart
from recollect.records.conversation_records import Assistant
from recollect.records.envelope import Chain
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session
from tests.session.chains import (
    attachment,
    boundary,
    in_a_row,
    reply,
    result,
    summary,
    system,
    text,
    use,
    user,
)

Row = tuple[Kind, str, int, bool]


def answer(
    uuid: str, context: int, output: int, *content: object, thinking: int | None = None
) -> Assistant:
    """Return a reply to a request of `context` tokens."""
    usage: dict[str, object] = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 2,
        "cache_read_input_tokens": context - 3,
        "output_tokens": output,
    }
    if thinking is not None:
        usage["output_tokens_details"] = {"thinking_tokens": thinking}
    blocks = [text(part) if isinstance(part, str) else part for part in content]
    return reply(uuid, message={"usage": usage, "content": blocks})


def grow(chain: Iterable[Chain]) -> list[ContextGrowth | None]:
    """Return the context growth of each turn of a session."""
    return [turn.context_growth for turn in build_turn_views(Session(chain))]


def show(growth: ContextGrowth | None) -> list[Row]:
    """Return the parts as tuples."""
    assert growth is not None
    assert sum(part.tokens for part in growth.parts) == growth.tokens
    return [(part.kind, part.name, part.tokens, part.is_estimate) for part in growth.parts]


OPENING = (user("a", "x" * 360), answer("b", 20_000, 30, "Hello."))


def test_the_first_request_is_mostly_not_in_the_transcript() -> None:
    """The system prompt and the tools are sent, but not recorded: only texts are named."""
    (growth,) = grow(in_a_row(*OPENING))
    assert growth == ContextGrowth(
        tokens=20_000,
        before=None,
        parts=(
            ContextPart(kind=Kind.UNRECORDED, tokens=19_900, is_estimate=True),
            ContextPart(kind=Kind.PROMPT, tokens=100, is_estimate=True),
        ),
    )


def test_instructions_at_the_start_are_named_as_claude_code_names_them() -> None:
    """Attachments at the start have the categories of Claude Code's own `/context`."""
    attached = (
        attachment("i", "instructions", files=[{"content": "y" * 4_000}]),
        attachment("s", "skill_listing", content="z" * 400),
        attachment("h", "hook_success", hookEvent="PostToolUse", content="not read"),
    )
    (growth,) = grow(in_a_row(user("a", "hi"), *attached, answer("b", 20_000, 30, "Hello.")))
    kinds = [row[0] for row in show(growth)]
    assert kinds == [Kind.UNRECORDED, Kind.MEMORY_FILES, Kind.SKILLS, Kind.PROMPT]


def test_tokens_are_shared_among_tools_by_size() -> None:
    """Two results between two requests are estimates; the reply before them is exact."""
    chain = in_a_row(
        *OPENING,
        user("c", "now read"),
        answer("d", 20_050, 40, use("1", "Read"), use("2", "Bash")),
        result("e", "1", "r" * 2_960),
        result("f", "2", "s" * 960),
        answer("g", 20_050 + 40 + 1_000, 7, "Done."),
    )
    _, growth = grow(chain)
    assert show(growth) == [
        (Kind.TOOL, "Read", 750, True),
        (Kind.TOOL, "Bash", 250, True),
        (Kind.REPLY, "", 70, False),
        (Kind.PROMPT, "", 20, False),
    ]


def test_a_single_result_between_two_requests_is_exact() -> None:
    """There is nothing to divide."""
    calls = (answer("d", 20_050, 40, use("1", "mcp__db__query")), result("e", "1", "r" * 4_000))
    chain = in_a_row(*OPENING, user("c", "now"), *calls, answer("g", 21_090, 7, "Done."))
    assert show(grow(chain)[1])[0] == (Kind.TOOL, "mcp__db__query", 1_000, False)


def test_the_answer_of_a_subagent_is_not_a_tool_result() -> None:
    """Only the answer of a subagent is in the context of its parent."""
    calls = (answer("d", 20_050, 40, use("1", "Task")), result("e", "1", "r" * 4_000))
    chain = in_a_row(*OPENING, user("c", "now"), *calls, answer("g", 21_090, 7, "Done."))
    assert show(grow(chain)[1])[0] == (Kind.SUBAGENTS, "", 1_000, False)


def test_thinking_is_separate_where_it_is_recorded() -> None:
    """Thinking is part of the output, and separate if its tokens are known."""
    calls = (answer("d", 20_050, 400, use("1"), thinking=300), result("e", "1", "r" * 4_000))
    chain = in_a_row(*OPENING, user("c", "now"), *calls, answer("g", 21_450, 7, "Done."))
    rows = show(grow(chain)[1])
    assert (Kind.THINKING, "", 300, False) in rows
    assert (Kind.REPLY, "", 130, False) in rows


def test_thinking_that_is_not_sent_again_is_taken_out() -> None:
    """A context that grew by less than the reply no longer has all of it."""
    before = (user("a", "x" * 360), answer("b", 20_000, 900, "Hello.", thinking=880))
    chain = in_a_row(*before, user("c", "y" * 360), answer("d", 20_120, 5, "So."))
    assert show(grow(chain)[1]) == [
        (Kind.THINKING, "", 880, False),
        (Kind.REMOVED, "", -880, True),
        (Kind.PROMPT, "", 100, True),
        (Kind.REPLY, "", 20, False),
    ]


def test_more_than_the_texts_can_be_is_not_in_the_transcript() -> None:
    """A prompt of two letters does not get thousands of tokens."""
    chain = in_a_row(*OPENING, user("c", "go"), answer("d", 25_030, 5, "So."))
    assert show(grow(chain)[1]) == [
        (Kind.UNRECORDED, "", 4_990, True),
        (Kind.REPLY, "", 30, False),
        (Kind.PROMPT, "", 10, True),
    ]


def test_a_compaction_takes_out_what_is_no_longer_there() -> None:
    """The context after a compaction is smaller, and contains the summary."""
    chain = [
        *in_a_row(*OPENING),
        *in_a_row(boundary("c", "b"), summary("d", "s" * 1_960), answer("e", 6_000, 5, "Yes.")),
    ]
    assert show(grow(chain)[1]) == [
        (Kind.COMPACTION, "", -14_530, True),
        (Kind.SUMMARY, "", 500, True),
        (Kind.REPLY, "", 30, False),
    ]


def test_a_microcompaction_in_the_middle_of_a_turn() -> None:
    """Cleared results shrink the context between two requests of one turn."""
    calls = (answer("d", 20_050, 40, use("1")), system("m", "microcompact_boundary"))
    chain = in_a_row(
        *OPENING, user("c", "go"), *calls, result("e", "1", "r" * 360), answer("f", 9_000, 5, "So.")
    )
    rows = show(grow(chain)[1])
    assert rows[0] == (Kind.COMPACTION, "", 9_000 - 20_050 - 40 - 100, True)
    assert (Kind.TOOL, "Bash", 100, True) in rows


def test_a_reply_without_usage_is_estimated_with_what_follows() -> None:
    """A request without usage is skipped, and counted with the next one."""
    chain = in_a_row(
        *OPENING,
        user("c", "y" * 360),
        reply("d", "t" * 360),
        user("e", "z" * 360),
        answer("f", 20_330, 5, "So."),
    )
    _, unknown, known = grow(chain)
    assert unknown is None
    assert show(known) == [
        (Kind.PROMPT, "", 200, True),
        (Kind.REPLY, "", 130, True),
    ]


def test_the_placeholder_of_a_stream_is_not_the_size_of_a_reply() -> None:
    """Some clients recorded one token for a long reply; its length is used instead."""
    chain = in_a_row(
        user("a", "x" * 360),
        answer("b", 20_000, 1, "w" * 3_560),
        user("c", "y" * 360),
        answer("d", 21_000, 1, "So."),
    )
    assert show(grow(chain)[1]) == [
        (Kind.REPLY, "", 900, True),
        (Kind.PROMPT, "", 100, True),
    ]


def test_chinese_takes_more_tokens_for_each_character() -> None:
    """Shares are by bytes: 360 English characters equal 120 Chinese ones."""
    calls = (answer("d", 20_050, 40, use("1", "Read"), use("2", "Bash")),)
    results = (result("e", "1", "字" * 120), result("f", "2", "x" * 360))
    chain = in_a_row(*OPENING, user("c", "go"), *calls, *results, answer("g", 20_290, 5, "So."))
    assert {row for row in show(grow(chain)[1]) if row[0] is Kind.TOOL} == {
        (Kind.TOOL, "Read", 100, True),
        (Kind.TOOL, "Bash", 100, True),
    }


def test_a_picture_is_not_measured_by_its_bytes() -> None:
    """A megabyte of base64 is about as many tokens as any other picture."""
    picture = {"type": "image", "source": {"type": "base64", "data": "A" * 1_000_000}}
    calls = (answer("d", 20_050, 40, use("1", "Read")), result("e", "1", [picture]))
    chain = in_a_row(*OPENING, user("c", "now"), *calls, answer("g", 21_590, 7, "Done."))
    assert show(grow(chain)[1])[0] == (Kind.TOOL, "Read", 1_500, False)


def test_a_rewound_turn_is_compared_with_the_turn_that_it_continues() -> None:
    """Text on an abandoned branch is not in the context of the other branch."""
    prompt, again = user("c", "y" * 360, "b"), user("e", "z" * 360, "b")
    first, second = answer("d", 90_000, 5, "So."), answer("f", 20_130, 5, "So.")
    rewound = (*in_a_row(prompt, first), *in_a_row(again, second))
    chain = [*in_a_row(*OPENING), *(replace(prompt, parent_uuid="b"), *rewound[1:])]
    growths = grow(chain)
    assert [growth.before for growth in growths if growth] == [None, 20_000, 20_000]


def test_a_copied_history_is_continued() -> None:
    """The first own turn of a fork adds to the context of its copied turns."""
    copied = [replace(record, session_id="old") for record in in_a_row(*OPENING)]
    own = in_a_row(user("c", "y" * 360), answer("d", 20_130, 5, "So."))
    chain = [*copied, replace(own[0], parent_uuid="b", session_id="new"), own[1]]
    growth = grow(chain)[1]
    assert growth is not None
    assert (growth.before, growth.tokens) == (20_000, 130)


def test_a_session_that_starts_with_a_summary() -> None:
    """The summary of another file is all that is known at the start of this one."""
    (growth,) = grow(in_a_row(summary("a", "s" * 3_960), answer("b", 8_000, 5, "Yes.")))
    assert show(growth) == [(Kind.UNRECORDED, "", 7_000, True), (Kind.SUMMARY, "", 1_000, True)]


def test_a_message_of_the_client_changes_nothing() -> None:
    """A synthetic reply is not a request."""
    made_up = reply("d", "API Error", message={"model": "<synthetic>", "usage": {}})
    assert grow(in_a_row(*OPENING, user("c", "go"), made_up))[1] is None


def test_a_subagent_has_a_context_of_its_own() -> None:
    """Its first request is not compared with one of its parent."""
    records = [replace(each, is_sidechain=True) for each in in_a_row(*OPENING)]
    (growth,) = grow(records)
    assert growth is not None
    assert growth.before is None


_CONTEXT = st.integers(0, 200_000)
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("prompt"), st.integers(0, 3_000)),
        st.tuples(st.just("reply"), _CONTEXT, st.integers(0, 5_000), st.integers(0, 6_000)),
        st.tuples(st.just("call"), _CONTEXT, st.integers(0, 5_000), st.integers(0, 9_000)),
        st.tuples(st.just("compaction"), st.integers(0, 3_000)),
    ),
    max_size=25,
)


def _write(steps: Sequence[tuple[str, *tuple[int, ...]]]) -> list[Chain]:
    chain: list[Chain] = []
    for number, (kind, *sizes) in enumerate(steps):
        match kind, sizes:
            case "prompt", [size]:
                chain.append(user(f"p{number}", "x" * size))
            case "reply", [context, output, size]:
                chain.append(answer(f"r{number}", context, output, "x" * size))
            case "call", [context, output, size]:
                call = use(f"c{number}", "Read" if number % 2 else "Task")
                chain.append(answer(f"r{number}", context, output, call))
                chain.append(result(f"t{number}", f"c{number}", "x" * size))
            case _, [size]:
                chain += (boundary(f"b{number}"), summary(f"s{number}", "x" * size))
    return in_a_row(*chain)


@given(_STEPS)
def test_the_parts_add_up_to_the_growth(
    steps: Sequence[tuple[str, *tuple[int, ...]]],
) -> None:
    """For any transcript, parts add up to the growth, and growth to the context."""
    context = 0
    for turn in build_turn_views(Session(_write(steps))):
        growth = turn.context_growth
        if growth is None:
            assert not turn.context_tokens
            continue
        assert growth.before == (context or None)
        assert sum(part.tokens for part in growth.parts) == growth.tokens
        assert context + growth.tokens == turn.context_tokens
        assert all(part.tokens for part in growth.parts)
        context = turn.context_tokens
