"""Turns: everything from one opening record to the next."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.kinds import Context, ContextKind, InputKind
from recollect.records.envelope import Chain
from recollect.session.messages import build_messages
from recollect.session.prompts import Command, Prompt
from recollect.session.turns import RoundKind, Turn, build_turns, classify_round
from tests.session.chains import (
    attachment,
    boundary,
    in_a_row,
    reply,
    result,
    summary,
    system,
    use,
    user,
)


def turns_of(chain: Sequence[Chain], main_path: Sequence[str] = ()) -> tuple[Turn, ...]:
    """Return the turns of a session that is not a subagent."""
    messages = build_messages(chain, (), is_subagent=False)
    return build_turns(chain, messages, main_path)


def ids_of(*chain: Chain) -> list[tuple[InputKind | None, list[str]]]:
    """Return the opening record of each turn, and the ids of its messages."""
    return [(turn.kind, [message.id for message in turn.messages]) for turn in turns_of(chain)]


def test_nothing_has_no_turns() -> None:
    """A session without messages has no turns, whatever its attachments."""
    assert ids_of() == []
    assert ids_of(attachment("a", "date"), system("b", "informational", "a")) == []


def test_a_turn_has_all_that_its_prompt_led_to() -> None:
    """Prompt, calls, results and reply are one turn, with times and mode."""
    chain = in_a_row(
        user(
            "a",
            "fix it",
            promptId="p1",
            permissionMode="plan",
            timestamp="2026-01-01T12:00:00Z",
        ),
        attachment("b", "date"),
        reply("c", use("t1")),
        result("d", "t1", promptId="p1"),
        reply("e", "fixed", timestamp="2026-01-01T12:00:03Z"),
    )
    (turn,) = turns_of(chain, ["a", "c"])
    assert turn == Turn(
        index=0,
        number=1,
        prompt_id="p1",
        prompt=Prompt(InputKind.TYPED, "fix it"),
        kind=InputKind.TYPED,
        words="fix it",
        is_by_person=True,
        messages=build_messages(chain, (), is_subagent=False),
        is_on_main_path=True,
        permission_mode="plan",
        start="2026-01-01T12:00:00Z",
        end="2026-01-01T12:00:03Z",
        active_ms=3000,
    )
    assert (turn.words, turn.contexts, turn.command, turn.is_by_person) == (
        "fix it",
        (),
        None,
        True,
    )


def test_the_clients_own_time_counts_first() -> None:
    """If the client recorded the duration, idle time between records is excluded."""
    chain = in_a_row(
        user("a", timestamp="2026-01-01T12:00:00Z"),
        reply("b", timestamp="2026-01-01T12:30:00Z"),
        system("c", "turn_duration", durationMs=1500),
        system("d", "turn_duration", durationMs=500),
    )
    assert [turn.active_ms for turn in turns_of(chain)] == [2000]


def test_a_turn_without_times_has_no_duration() -> None:
    """Records without times give no duration."""
    (turn,) = turns_of([user("a")])
    assert (turn.start, turn.end, turn.active_ms) == (None, None, None)


def test_without_ids_each_opening_starts_a_turn() -> None:
    """Old clients gave no ids: prompts, commands, notices and summaries open turns."""
    chain = in_a_row(
        user("a", "one"),
        reply("b", use("t1")),
        result("c", "t1"),
        user("d", "[Request interrupted by user]"),
        user("e", "<command-name>/cost</command-name>"),
        user("f", "<local-command-stdout>$1</local-command-stdout>"),
        user("g", "<bash-input>ls</bash-input>"),
        user("h", "<bash-stdout>a.py</bash-stdout>"),
        user("i", "<task-notification>done</task-notification>"),
        reply("j", "noted"),
        boundary("k"),
        summary("l"),
        user("m", "injected", isMeta=True),
    )
    assert ids_of(*chain) == [
        (InputKind.TYPED, ["a", "msg_b", "c", "d"]),
        (InputKind.COMMAND, ["e", "f"]),
        (InputKind.SHELL, ["g", "h"]),
        (InputKind.TASK_NOTIFICATION, ["i", "msg_j"]),
        (InputKind.COMPACTION_SUMMARY, ["l", "m"]),
    ]


def test_records_before_any_prompt_are_a_turn_without_one() -> None:
    """A file may begin in the middle of a turn."""
    (first, second) = turns_of(in_a_row(reply("a", "and so"), user("b", "next")))
    assert (first.prompt, first.kind, first.words, first.contexts, first.command) == (
        None,
        None,
        "",
        (),
        None,
    )
    assert (first.is_by_person, second.index, second.words) == (False, 1, "next")


def test_woven_conversations_stay_apart() -> None:
    """If two clients write to one file, each record follows its own parent."""
    chain = [
        user("a", "one", promptId="p1"),
        user("b", "two", promptId="p2"),
        reply("c", use("t1"), parent="a"),
        reply("d", "two done", parent="b"),
        result("e", "t1", parent="c", promptId="p1"),
        reply("f", "one done", parent="e"),
    ]
    assert ids_of(*chain) == [
        (InputKind.TYPED, ["a", "msg_c", "e", "msg_f"]),
        (InputKind.TYPED, ["b", "msg_d"]),
    ]


def test_a_fork_gives_one_id_to_all_that_it_copies() -> None:
    """Prompts that share an id are separate turns, with their own results."""
    chain = in_a_row(
        user("a", "one", promptId="p1"),
        reply("b", use("t1")),
        result("c", "t1", promptId="p1"),
        user("d", "two", promptId="p1"),
        reply("e", use("t2")),
        result("f", "t2", promptId="p1"),
    )
    assert ids_of(*chain) == [
        (InputKind.TYPED, ["a", "msg_b", "c"]),
        (InputKind.TYPED, ["d", "msg_e", "f"]),
    ]


def test_a_command_may_have_the_id_of_the_prompt_before() -> None:
    """Some clients use new ids only for prompts; the command is still a turn."""
    chain = in_a_row(
        user("a", "one", promptId="p1"),
        reply("b", "done"),
        user("c", "<command-name>/exit</command-name>", promptId="p1"),
        user("d", "<local-command-stdout>Bye!</local-command-stdout>", promptId="p1"),
    )
    assert ids_of(*chain) == [
        (InputKind.TYPED, ["a", "msg_b"]),
        (InputKind.COMMAND, ["c", "d"]),
    ]


def test_a_compaction_in_the_middle_belongs_to_the_running_turn() -> None:
    """The summary of an automatic compaction has the id of the turn that continues."""
    chain = [
        *in_a_row(user("a", "one", promptId="p1"), reply("b", use("t1"))),
        *in_a_row(
            boundary("c", "b"),
            user("d", "so far", isCompactSummary=True, promptId="p1"),
            reply("e", "done"),
        ),
    ]
    assert ids_of(*chain) == [(InputKind.TYPED, ["a", "msg_b", "d", "msg_e"])]


def test_the_compact_command_follows_its_summary() -> None:
    """The echo of `/compact` has the id of the summary, and both are one turn."""
    chain = in_a_row(
        boundary("a"),
        user("b", "so far", isCompactSummary=True, promptId="p1"),
        user("c", "<command-name>/compact</command-name>", promptId="p1"),
        user("d", "<local-command-stdout>Compacted</local-command-stdout>", promptId="p1"),
        user("e", "next", promptId="p1"),
    )
    assert ids_of(*chain) == [
        (InputKind.COMPACTION_SUMMARY, ["b", "c", "d"]),
        (InputKind.TYPED, ["e"]),
    ]


def test_a_queued_prompt_is_part_of_the_turn_that_takes_it_up() -> None:
    """A prompt delivered into a running turn does not start one."""
    chain = in_a_row(
        user("a", "one"),
        reply("b", use("t1")),
        result("c", "t1"),
        attachment("d", "queued_command", prompt="and the docs"),
        reply("e", "both done"),
    )
    assert ids_of(*chain) == [(InputKind.TYPED, ["a", "msg_b", "c", "d", "msg_e"])]


def test_a_turn_has_the_facts_of_its_prompt() -> None:
    """Text, contexts and command of a turn are those of its prompt."""
    command = user("a", "<command-name>/review</command-name><command-args>it</command-args>")
    typed = user("b", "<system-reminder>brief</system-reminder>go")
    assert [(turn.words, turn.contexts, turn.command) for turn in turns_of([command, typed])] == [
        ("it", (), Command("/review", "it")),
        ("go", (Context(ContextKind.REMINDER, "brief"),), None),
    ]


def test_dead_turns_are_there_but_not_on_the_path() -> None:
    """A turn is on the main path if any of its records is."""
    chain = [user("a", "one"), user("b", "two"), reply("c", "two done", parent="b")]
    assert [turn.is_on_main_path for turn in turns_of(chain, ["c"])] == [False, True]


LINKS = st.lists(
    st.tuples(
        st.sampled_from(["prompt", "command", "result", "reply", "queued", "notice", "summary"]),
        st.none() | st.integers(0, 9).map(str),
        st.none() | st.sampled_from(["p1", "p2"]),
    ),
    max_size=10,
)


@given(LINKS)
def test_turns_share_out_the_messages(
    links: list[tuple[str, str | None, str | None]],
) -> None:
    """Each message is in exactly one turn, turns are numbered, and none is empty."""
    chain: list[Chain] = []
    for number, (kind, parent, prompt_id) in enumerate(links):
        uuid = str(number)
        made: dict[str, Chain] = {
            "prompt": user(uuid, "words", parent, promptId=prompt_id),
            "command": user(uuid, "<command-name>/x</command-name>", parent, promptId=prompt_id),
            "result": result(uuid, "t1", "done", parent, promptId=prompt_id),
            "reply": reply(uuid, "words", parent=parent, message={"id": prompt_id}),
            "queued": attachment(uuid, "queued_command", parent, prompt="words"),
            "notice": system(uuid, "turn_duration", parent, durationMs=1),
            "summary": user(uuid, "so far", parent, promptId=prompt_id, isCompactSummary=True),
        }
        chain.append(made[kind])
    messages = build_messages(chain, (), is_subagent=False)
    turns = build_turns(chain, messages, ())
    shared = [message.id for turn in turns for message in turn.messages]
    assert sorted(shared) == sorted(message.id for message in messages)
    assert [turn.index for turn in turns] == list(range(len(turns)))
    assert [turn for turn in turns if not turn.messages] == []


@pytest.mark.parametrize(
    ("before", "record", "is_copy", "expected"),
    [
        ([], user("a"), False, RoundKind.NEW_SESSION),
        ([], user("a"), True, RoundKind.RESUME),
        ([], user("a", forkedFrom={"sessionId": "s0"}), False, RoundKind.RESUME),
        ([], summary("a", "so far"), False, RoundKind.RESUME),
        ([user("0")], user("a"), False, RoundKind.NEW_ROUND),
        ([user("0")], user("a"), True, RoundKind.NEW_ROUND),
        ([user("0")], summary("a", "so far"), False, RoundKind.NEW_ROUND),
        ([user("0")], user("a", permissionMode="plan"), False, RoundKind.NEW_ROUND),
        ([user("0", "hook", isMeta=True)], user("a", parent="0"), False, RoundKind.NEW_SESSION),
        ([result("0", "t0")], user("a"), False, RoundKind.NEW_SESSION),
        ([user("0")], result("a", "t1"), False, RoundKind.CONTINUE),
        ([], result("a", "t1"), True, RoundKind.CONTINUE),
        ([user("0")], user("a", "injected", isMeta=True), False, RoundKind.CONTINUE),
        ([user("0")], reply("a", "hello"), False, None),
    ],
)
def test_what_a_message_means_for_the_session(
    before: list[Chain], record: Chain, is_copy: bool, expected: RoundKind | None
) -> None:
    """A message starts a session, a round or a resumed round, or continues one."""
    messages = build_messages([*before, record], (), is_subagent=False)
    assert classify_round(messages[-1], messages, is_copy=is_copy) is expected


def test_records_before_the_first_prompt_are_not_a_turn() -> None:
    """A caveat, whatever its prompt id, belongs to the turn that it is written for."""
    caveat = user("a", "<local-command-caveat>…</local-command-caveat>", isMeta=True, promptId="p")
    command = user("b", "<command-name>/clear</command-name>", promptId="q")
    assert ids_of(*in_a_row(caveat, command)) == [(InputKind.COMMAND, ["a", "b"])]
    assert ids_of(*in_a_row(caveat, user("b", "fix it"), reply("c"))) == [
        (InputKind.TYPED, ["a", "b", "msg_c"])
    ]
    between = [*in_a_row(user("x", "one", promptId="o"), reply("y")), caveat, command]
    assert [ids for _, ids in ids_of(*between)] == [["x", "msg_y"], ["a", "b"]]


def test_a_turn_begins_with_its_prompt() -> None:
    """Hooks that ran long before the first prompt do not make its turn longer."""
    chain = in_a_row(
        system("a", "informational", timestamp="2026-01-01T08:00:00Z"),
        user("b", "hook", isMeta=True, timestamp="2026-01-01T08:00:00Z"),
        user("c", "fix it", timestamp="2026-01-01T12:00:00Z"),
        reply("d", "fixed", timestamp="2026-01-01T12:00:01Z"),
    )
    (turn,) = turns_of(chain)
    assert (turn.start, turn.active_ms) == ("2026-01-01T12:00:00Z", 1000)


def test_a_reply_without_a_prompt_is_a_turn() -> None:
    """Messages before the first prompt are a turn of their own."""
    chain = in_a_row(reply("a", "hello"), user("b", "fix it"))
    assert ids_of(*chain) == [(None, ["msg_a"]), (InputKind.TYPED, ["b"])]


def test_what_has_no_name_was_not_left_behind() -> None:
    """A turn without uuids cannot be off the main path."""
    assert [turn.is_on_main_path for turn in turns_of([user("", "one")], ["c"])] == [True]
