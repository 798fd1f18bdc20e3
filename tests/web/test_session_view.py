"""The session of a conversation continues where its file ended."""

import msgspec
from msgspec.structs import replace

from recollect.records.decoding import decode_record
from recollect.records.envelope import Record, Span
from recollect.web.conversations.hosted_conversation import SessionView


def make_record(role: str, uuid: str, parent: str | None, span: Span | None) -> Record:
    """Return a prompt or a reply with its own name as text."""
    content = uuid if role == "user" else [{"type": "text", "text": uuid}]
    message = {"id": uuid, "role": role, "model": "claude-a", "content": content}
    line = {"type": role, "uuid": uuid, "parentUuid": parent, "message": message}
    record = decode_record(msgspec.json.encode(line))
    assert record is not None
    return replace(record, span=span)


def read_history() -> list[Record]:
    """Return a file whose second turn was taken back: another prompt follows the first reply."""
    lines = [
        ("user", "p1", None),
        ("assistant", "r1", "p1"),
        ("user", "p2", "r1"),
        ("assistant", "r2", "p2"),
        ("user", "p3", "r1"),
        ("assistant", "r3", "p3"),
    ]
    return [
        make_record(role, uuid, parent, Span("session.jsonl", 1000 * number, 1000))
        for number, (role, uuid, parent) in enumerate(lines)
    ]


def test_a_conversation_continues_after_the_chosen_branch() -> None:
    """New turns are on the main path, although a stream counts its bytes from 0 again."""
    view = SessionView(read_history())
    view.add(None, make_record("user", "p4", None, None))
    with view.use() as session:
        assert session.main_path == ("p1", "r1", "p3", "r3", "p4")
    view.add(None, make_record("assistant", "r4", "p4", Span("", 10, 50)))
    view.add(None, make_record("user", "p5", "r4", None))
    view.add(None, make_record("assistant", "r5", "p5", Span("", 0, 50)))
    with view.use() as session:
        assert session.main_path == ("p1", "r1", "p3", "r3", "p4", "r4", "p5", "r5")
        reached = {turn.words: turn.is_on_main_path for turn in session.turns}
    assert reached == {"p1": True, "p2": False, "p3": True, "p4": True, "p5": True}
