"""What keys do to the picker, without a terminal."""

from recollect.cli.picker.picker_state import (
    PickerRow,
    PickerScope,
    PickerState,
    add_found,
    is_in_project,
    move,
    open_state,
    switch_scope,
    type_query,
)
from recollect.documents.session_listing import SessionListing


def _listing(name: str, cwd: str, title: str) -> SessionListing:
    return SessionListing(
        id=name, project="p", path=f"/x/{name}.jsonl", size=1, modified=0, activity=0, cwd=cwd,
        title=title,
    )  # fmt: skip


FLAKY = _listing("a1", "/home/m/tide", "Fix the flaky test")
TIDES = _listing("b2", "/home/m/tide/sub", "Tides in Kiel")
PRESS = _listing("c3", "/home/m/press", "Flaky paper")
ALL = (FLAKY, TIDES, PRESS)


def _ids(state: PickerState) -> list[str]:
    return [row.listing.id for row in state.rows]


def test_the_first_screen_is_that_of_the_project() -> None:
    """Sessions of the directory and below it; all sessions when there are none."""
    assert (open_state(ALL, "/home/m/tide").scope, _ids(open_state(ALL, "/home/m/tide"))) == (
        PickerScope.PROJECT,
        ["a1", "b2"],
    )
    assert _ids(open_state(ALL, "/home/other")) == ["a1", "b2", "c3"]


def test_a_neighbour_with_the_same_beginning_is_another_project() -> None:
    """`tide` is not `tidepool`; Windows paths count as well, and the root is no project."""
    assert [
        is_in_project(FLAKY, "/home/m/ti"),
        is_in_project(_listing("d", "C:\\work\\tide\\x", ""), "C:\\work\\tide"),
        is_in_project(FLAKY, "/"),
    ] == [False, True, False]


def test_every_word_has_to_be_there() -> None:
    """Titles, directories and ids are looked at, in any case of letters."""
    state = open_state(ALL, "/nowhere")
    assert [_ids(type_query(state, query)) for query in ("FLAKY", "flaky press", "c3", "zzz")] == [
        ["a1", "c3"],
        ["c3"],
        ["c3"],
        [],
    ]


def test_the_scope_switches_and_keeps_the_words() -> None:
    """From this project to everywhere and back."""
    state = type_query(open_state(ALL, "/home/m/tide"), "flaky")
    wide = switch_scope(state)
    assert [_ids(state), _ids(wide), _ids(switch_scope(wide))] == [["a1"], ["a1", "c3"], ["a1"]]


def test_the_ends_of_the_list_hold() -> None:
    """Moving goes to the list, and no further than it is long."""
    state = open_state(ALL, "/nowhere")
    down = move(state, 10)
    assert [down.selected, down.is_choosing, move(down, -99).selected] == [2, True, 0]
    assert move(type_query(state, "zzz"), 1).current is None


def test_typing_goes_back_to_the_search() -> None:
    """Letters are words again, and the best row is chosen."""
    typed = type_query(move(open_state(ALL, "/nowhere"), 2), "f")
    assert (typed.is_choosing, typed.selected) == (False, 0)


def test_texts_that_were_found_come_behind_titles() -> None:
    """Each session once, only those of the scope, with the words around the hit."""
    state = type_query(open_state(ALL, "/nowhere"), "flaky")
    found = add_found(state, "flaky", {"a1": "x", "b2": "so flaky", "gone": "y"})
    assert found.rows == (PickerRow(FLAKY), PickerRow(PRESS), PickerRow(TIDES, "so flaky"))


def test_an_answer_that_comes_too_late_changes_nothing() -> None:
    """Somebody has typed on."""
    state = type_query(open_state(ALL, "/nowhere"), "flaky p")
    assert add_found(state, "flaky", {"b2": "so flaky"}) is state
