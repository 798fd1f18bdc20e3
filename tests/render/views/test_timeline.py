"""The timeline: the position of each record in a session."""

from msgspec.structs import replace

from recollect.records.envelope import Damaged, Span
from recollect.render.views.timeline import build_timeline, find_turn_index
from recollect.session.session import Session
from tests.session.chains import attachment, in_a_row, reply, system, user


def test_every_record_has_a_turn() -> None:
    """A record that is not a message belongs to the turn of the record that it follows."""
    records = in_a_row(
        attachment("a", "date"), user("p"), reply("r", "x"), user("q"), system("d", "turn_duration")
    )
    late = attachment("l", "date", "r")
    session = Session([*records, late])
    found = {uuid: find_turn_index(session, uuid) for uuid in ("a", "p", "r", "q", "d", "l", "z")}
    assert found == {"a": 0, "p": 0, "r": 0, "q": 1, "d": 1, "l": 0, "z": None}


def test_places_are_found_once_per_state_of_a_session() -> None:
    """The timeline is cached while the session stays the same, and rebuilt when it grows."""
    session = Session([user("p")])
    before = build_timeline(session)
    assert build_timeline(session) is before
    session.extend([user("q")])
    assert build_timeline(session) is not before


def test_line_written_again_does_not_move_damage() -> None:
    """Damage stays after the line before it, even if an earlier line was written again."""
    first, second = in_a_row(user("p"), user("q"))
    again = replace(first, span=Span("f", 90, 5))
    session = Session(
        [
            replace(first, span=Span("f", 0, 5)),
            Damaged(span=Span("f", 5, 5)),
            replace(second, span=Span("f", 10, 5)),
            again,
        ]
    )
    kinds = [[type(item.what).__name__ for item in row] for row in build_timeline(session).entries]
    assert kinds == [["User", "Damaged"], ["User"]]


def test_lines_without_a_uuid_keep_their_order() -> None:
    """Files without links are shown in the order of their lines."""
    nameless = [replace(record, uuid=None) for record in (user("a", "one"), reply("b", "two"))]
    rows = build_timeline(Session(nameless)).entries
    assert [[item.what for item in row] for row in rows] == [nameless]


def test_reports_without_a_uuid_are_placed_by_time() -> None:
    """A notice that has only a time is at the end of the turn of that time."""
    first = user("p", timestamp="2026-01-01T12:00:00Z")
    second = user("q", parent="p", timestamp="2026-01-01T13:00:00Z")
    notice = replace(
        system("n", "informational", content="x", timestamp="2026-01-01T12:30:00Z"), uuid=None
    )
    rows = build_timeline(Session([first, notice, second])).entries
    assert [len(row) for row in rows] == [2, 1]
