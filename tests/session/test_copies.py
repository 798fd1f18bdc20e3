"""Conversations that a client wrote into their file a second time."""

from recollect.records.envelope import Chain
from recollect.session.session import Session
from recollect.session.session_records import find_copies
from tests.session.chains import in_a_row, reply, result, text, use, user

ORIGINAL = in_a_row(
    user("a", [text("about this"), text("fix it")]),
    reply("b", "on it", message={"usage": {"output_tokens": 7}}),
    reply("c", use("t1"), message={"id": "msg_b", "usage": {"output_tokens": 7}}),
    result("d", "t1"),
    reply("e", "fixed"),
    user("f", "thanks"),
    reply("g", "welcome"),
)
COPY = in_a_row(
    user("A", "about this"),
    user("A2", "fix it"),
    reply("B", "on it", message={"id": "msg_b"}),
    reply("C", use("t1"), message={"id": "msg_b"}),
    result("D", "t1"),
    reply("E", "fixed", message={"id": "msg_e"}),
    user("F", "thanks"),
    reply("G", "welcome", message={"id": "msg_g"}),
)


def behind(uuid: str, *records: Chain) -> list[Chain]:
    """Return `records` in a row that follows the record `uuid`."""
    return in_a_row(user(uuid), *records)[1:]


def test_a_copied_beginning_is_read_once() -> None:
    """The continuation of a copy is attached to the original, as a single conversation."""
    session = Session([*ORIGINAL, *COPY, *behind("G", user("h", "next"), reply("i", "sure"))])
    assert [turn.words for turn in session.turns] == ["about this\nfix it", "thanks", "next"]
    assert session.main_path == ("a", "b", "c", "d", "e", "f", "g", "h", "i")
    assert (session.tree.gaps, session.branches) == (frozenset(), ())
    assert session.messages[1].text == "on it"
    assert session.metrics.tokens.output == 7


def test_copies_know_what_they_repeat() -> None:
    """Links to a copy lead to its original; a prompt of several lines has one original."""
    assert find_copies([*ORIGINAL, *COPY]) == dict(
        zip(["A", "A2", "B", "C", "D", "E", "F", "G"], "aabcdefg", strict=True)
    )


def test_a_second_copy_repeats_what_came_after_the_first() -> None:
    """A session may be resumed twice; nothing of it is shown twice."""
    own = behind("G", user("h", "next"), reply("i", "sure"))
    again = in_a_row(user("1", "thanks"), reply("2", "welcome", message={"id": "msg_g"}))
    more = behind("2", user("3", "next"), reply("4", "sure", message={"id": "msg_i"}))
    copies = find_copies([*ORIGINAL, *COPY, *own, *again, *more])
    assert [copies[uuid] for uuid in "1234"] == ["f", "g", "h", "i"]


def test_the_same_words_in_another_chain_are_no_copy() -> None:
    """Only ids prove a copy: users may start twice with the same text."""
    again = in_a_row(user("h", "thanks"), reply("i", "welcome"))
    assert find_copies([*ORIGINAL, *again]) == {}


def test_another_picture_is_no_copy() -> None:
    """A prompt without an id is part of a copy only if its content occurred before."""
    first, second = ({"type": "image", "source": {"data": data}} for data in ("AA", "BB"))
    chain = in_a_row(user("a", [first]), reply("b", "a cat"))
    again = in_a_row(user("c", [second]), reply("d", "a dog"))
    copied = in_a_row(user("e", [first]), reply("f", "a cat", message={"id": "msg_b"}))
    assert find_copies([*chain, *again]) == {}
    assert find_copies([*chain, *in_a_row(user("c", [first]), reply("d", "a dog"))]) == {}
    assert find_copies([*chain, *copied]) == {"e": "a", "f": "b"}
