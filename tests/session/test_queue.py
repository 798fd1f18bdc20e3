"""Prompts that are only in queue records."""

from collections.abc import Sequence

import pytest

from recollect.documents.kinds import InputKind
from recollect.records.envelope import Record
from recollect.session.session import Session
from tests.session.chains import attachment, in_a_row, queue, reply, result, system, use, user

ASKED = in_a_row(user("a", "run the tests"), reply("b", use("t1")), result("c", "t1"))
ANSWERED = reply("d", "a test, too", parent="c")
ADDED = "add a test, please"


def list_inputs(*records: Record) -> list[tuple[InputKind, str]]:
    """Return the text of each message that is neither a reply nor a tool result."""
    return [
        (message.prompt.kind, message.prompt.words)
        for message in Session(records).messages
        if message.prompt and message.prompt.kind is not InputKind.TOOL_RESULT
    ]


def order_of(*records: Record) -> list[str]:
    """Return the messages in display order; the queued one is named by its text."""
    return [
        message.text if message.id.startswith("queue") else message.records[0].uuid or ""
        for message in Session(records).messages
    ]


def test_a_prompt_that_was_taken_up_in_mid_turn_is_a_message() -> None:
    """It is part of the turn, before the reply to it, and counts as a prompt."""
    session = Session([*ASKED, queue("enqueue", ADDED), queue("remove"), ANSWERED])
    (turn,) = session.turns
    assert [message.text for message in turn.messages] == [
        "run the tests",
        "",
        "",
        ADDED,
        "a test, too",
    ]
    assert turn.messages[3].prompt is not None
    assert turn.messages[3].prompt.kind is InputKind.QUEUED
    assert session.metadata.message_count == 4
    assert turn.messages[3].uuids[0] in session.main_path


def test_results_that_the_model_saw_with_it_come_before_it() -> None:
    """The client may write that a prompt left the queue before the result that it came with."""
    before = [*ASKED[:2], queue("enqueue", ADDED), queue("remove"), ASKED[2], ANSWERED]
    assert order_of(*before) == ["a", "b", "c", ADDED, "d"]


@pytest.mark.parametrize(
    "records",
    [
        [queue("enqueue", ADDED), queue("popAll", ADDED)],
        [queue("enqueue", ADDED), queue("popAll")],
        [queue("enqueue", ADDED), queue("dequeue")],
        [queue("enqueue", ADDED), queue("remove", ADDED, reason="cleared_on_cancel")],
        [queue("enqueue", ADDED)],
    ],
)
def test_a_prompt_that_never_reached_the_model_is_shown_as_such(records: Sequence[Record]) -> None:
    """A withdrawn, cancelled or waiting prompt is shown as not sent, and is not a prompt."""
    session = Session([*ASKED, *records, ANSWERED])
    assert list_inputs(*ASKED, *records, ANSWERED)[1:] == [(InputKind.UNSENT, ADDED)]
    assert session.metadata.message_count == 3
    assert all(message.is_visible for message in session.messages if message.text == ADDED)


@pytest.mark.parametrize(
    "record",
    [
        user("e", ADDED, "d"),
        user("e", [{"type": "text", "text": ADDED}], "d"),
        attachment("e", "queued_command", "d", prompt=f"one more\n{ADDED}"),
        attachment("e", "queued_command", "d", prompt=ADDED),
    ],
)
def test_a_prompt_that_is_recorded_is_no_second_one(record: Record) -> None:
    """If a newer client wrote an attachment or user record with the text, that is the prompt."""
    waiting = [queue("enqueue", "one more"), queue("enqueue", ADDED)]
    words = [words for _, words in list_inputs(*waiting, *ASKED, ANSWERED, record)]
    assert [text for text in words if ADDED in text] in ([ADDED], [f"one more\n{ADDED}"])


def test_each_record_belongs_to_one_prompt() -> None:
    """The same prompt sent twice, once in the middle of a turn, is two prompts."""
    records = [
        *ASKED,
        *(queue("enqueue", "continue"), queue("remove"), ANSWERED),
        *(queue("enqueue", "continue"), queue("dequeue"), user("e", "continue", "d")),
    ]
    assert list_inputs(*records)[1:] == [
        (InputKind.QUEUED, "continue"),
        (InputKind.TYPED, "continue"),
    ]


def test_words_that_another_prompt_contains_are_prompts_too() -> None:
    """A short prompt is not mistaken for a line of a longer one that it was not joined to."""
    longer = user("e", f"first this\n{ADDED}\nthen that", "d")
    found = list_inputs(*ASKED, queue("enqueue", ADDED), queue("remove"), ANSWERED, longer)
    assert found[1] == (InputKind.QUEUED, ADDED)


def test_a_command_may_be_recorded_under_another_name() -> None:
    """A command that the client ran for a queued one is matched to it."""
    ran = user("e", "<command-name>/usage</command-name>")
    noted = system("f", "local_command", "e", content="<command-name>/model</command-name>")
    records = [queue("enqueue", "/cost"), queue("dequeue"), ran, queue("enqueue", "/model"), noted]
    assert [kind for kind, _ in list_inputs(*records)] == [InputKind.COMMAND]


def test_a_notification_that_waited_is_no_prompt() -> None:
    """Background tasks use the same queue."""
    notice = "<task-notification><summary>done</summary></task-notification>"
    found = list_inputs(*ASKED, queue("enqueue", notice), queue("remove"), ANSWERED)
    assert [kind for kind, _ in found[1:]] == [InputKind.TASK_NOTIFICATION]
