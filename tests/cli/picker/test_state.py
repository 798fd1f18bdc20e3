"""State changes of the picker by keys, without a terminal."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from recollect.cli.picker_state import (
    DateFilter,
    FoundHits,
    PickerRow,
    PickerScope,
    PickerState,
    Sources,
    add_failures,
    add_found,
    is_in_project,
    list_unread,
    move,
    open_state,
    switch_branch,
    switch_dates,
    switch_errors,
    switch_scope,
    type_query,
)
from recollect.cli.picker_text import (
    HINTS,
    measure_title,
    render_hints,
    render_preview,
    render_rows,
    render_status,
)
from recollect.documents.search_results import Hit, Snippet
from recollect.documents.session_listing import SessionListing
from recollect.render.terminal import measure
from recollect.workspace.session_queries import count_failures
from recollect.workspace.workspace import Workspace
from tests.library.claude_root import FIRST, SECOND, call, prompt, reply, result, title
from tests.search.made_index import make_index


def _listing(name: str, cwd: str, title: str) -> SessionListing:
    return SessionListing(
        id=name, project="p", path=f"/x/{name}.jsonl", size=1, modified=0, activity=0, cwd=cwd,
        title=title,
    )  # fmt: skip


def _hit(name: str) -> Hit:
    return Hit(
        session_id=name, uuid="u", link=f"{name}#u", project="p", path="", offset=0, part="reply",
        tool=None, time=None, is_error=False, is_subagent=False, more_in_session=0,
        snippet=Snippet("so flaky", ((3, 8),)),
    )  # fmt: skip


FLAKY = _listing("a1", "/home/m/tide", "Fix the flaky test")
TIDES = _listing("b2", "/home/m/tide/sub", "Tides in Kiel")
PRESS = _listing("c3", "/home/m/press", "Flaky paper")
ALL = (FLAKY, TIDES, PRESS)


def _ids(state: PickerState) -> list[str]:
    return [row.listing.id for row in state.rows]


def test_the_first_screen_is_that_of_the_project() -> None:
    """Sessions of the directory and below it, or all sessions if there are none."""
    assert (open_state(ALL, "/home/m/tide").scope, _ids(open_state(ALL, "/home/m/tide"))) == (
        PickerScope.PROJECT,
        ["a1", "b2"],
    )
    assert _ids(open_state(ALL, "/home/other")) == ["a1", "b2", "c3"]


def test_a_neighbour_with_the_same_beginning_is_another_project() -> None:
    """`tide` is not `tidepool`; Windows paths work too, and the root is not a project."""
    assert [
        is_in_project(FLAKY, "/home/m/ti"),
        is_in_project(_listing("d", "C:\\work\\tide\\x", ""), "C:\\work\\tide"),
        is_in_project(FLAKY, "/"),
    ] == [False, True, False]


def test_every_word_has_to_be_there() -> None:
    """Titles, directories and ids are searched, ignoring case."""
    state = open_state(ALL, "/nowhere")
    assert [_ids(type_query(state, query)) for query in ("FLAKY", "flaky press", "c3", "zzz")] == [
        ["a1", "c3"],
        ["c3"],
        ["c3"],
        [],
    ]


def test_the_scope_switches_and_keeps_the_words() -> None:
    """Switching the scope keeps the query."""
    state = type_query(open_state(ALL, "/home/m/tide"), "flaky")
    wide = switch_scope(state)
    assert [_ids(state), _ids(wide), _ids(switch_scope(wide))] == [["a1"], ["a1", "c3"], ["a1"]]


def test_the_ends_of_the_list_hold() -> None:
    """The selection stops at the ends of the list."""
    state = open_state(ALL, "/nowhere")
    down = move(state, 10)
    assert [down.selected, move(down, -99).selected] == [2, 0]
    assert move(type_query(state, "zzz"), 1).current is None


def test_failures_are_counted_when_they_are_asked_for(tmp_path: Path) -> None:
    """Sessions that were not read completely are left out, with a note, until they are."""
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True}
    failed = result("", given="Error", message={"role": "user", "content": [block]})
    made = make_index(tmp_path, [prompt("drain it"), call("Bash", {"command": "x"}), failed])
    made.write(prompt("fill it"), session=SECOND)
    workspace = Workspace(roots=[made.root], data_directory=made.data)
    listings = workspace.sessions().sessions
    assert [each.error_count for each in listings] == [None, None]
    state = switch_errors(open_state((*listings, PRESS), "/nowhere"))
    assert render_status(state, 80)[0][1].endswith("with errors, 3 not read yet")
    counts = Sources(workspace, made.transcripts()).count_failures(list_unread(state), 60)
    counted = add_failures(state, counts)
    assert _ids(counted) == [FIRST]
    assert render_status(counted, 80)[0][1].endswith("1 of 3 sessions, everywhere, with errors")
    assert list_unread(switch_errors(counted)) == []


def test_counting_failures_stops_after_a_large_session(tmp_path: Path) -> None:
    """A user who quits the picker waits for that one, not for those after it."""
    made = make_index(tmp_path, [prompt("x" * (9 << 20))])
    made.write(prompt("fill it"), session=SECOND)
    workspace = Workspace(roots=[made.root], data_directory=made.data)
    large, small = sorted(made.transcripts(), key=lambda each: -each.size)
    assert count_failures(workspace, [large, small], 0) == {large.file: 0}
    assert count_failures(workspace, [small, large], 0) == {small.file: 0, large.file: 0}


def test_the_selected_session_stays_selected_while_failures_are_counted() -> None:
    """Sessions appear above it, and Enter must not open another one."""
    failed = (FLAKY, *(replace(each, error_count=1) for each in (TIDES, PRESS)))
    state = move(switch_errors(open_state(failed, "/nowhere")), 1)
    counted = add_failures(state, {FLAKY.path: 2})
    assert [_ids(state), _ids(counted)] == [["b2", "c3"], ["a1", "b2", "c3"]]
    assert state.current == counted.current


def test_a_snippet_gets_the_room_beside_age_and_project() -> None:
    """Without the project where all sessions are of this one."""
    state = open_state(ALL, "/nowhere")
    project = replace(state, scope=PickerScope.PROJECT)
    assert [measure_title(each, 80) for each in (state, project)] == [48, 66]
    head = render_rows(state, 80, 1, datetime.now(UTC))[0][1]
    assert measure(head) + measure_title(state, 80) == 80
    assert measure_title(state, 20) == 8


def test_typing_goes_back_to_the_best_row() -> None:
    """A new query selects the first row."""
    assert type_query(move(open_state(ALL, "/nowhere"), 2), "f").selected == 0


def test_filters_are_switched_on_and_off() -> None:
    """The branch of the selected session, failures, and ranges of dates; each can be undone."""
    now = datetime(2026, 11, 13, 12, tzinfo=UTC)
    day = 24 * 60 * 60
    old = replace(FLAKY, git_branch="main", activity=now.timestamp() - 20 * day)
    new = replace(PRESS, git_branch="next", activity=now.timestamp(), error_count=2)
    state = open_state((new, old), "/nowhere")
    branch = switch_branch(move(state, 1))
    failed = switch_errors(state)
    assert [_ids(branch), _ids(switch_branch(branch))] == [["a1"], ["c3", "a1"]]
    assert [_ids(failed), _ids(switch_errors(failed))] == [["c3"], ["c3", "a1"]]
    seen = []
    for _ in DateFilter:
        state = switch_dates(state, now)
        seen.append((state.dates.value, _ids(state)))
    assert seen == [
        ("today", ["c3"]),
        ("last 7 days", ["c3"]),
        ("last 30 days", ["c3", "a1"]),
        ("", ["c3", "a1"]),
    ]


def test_a_filter_that_is_not_possible_says_why() -> None:
    """A session without a branch cannot be filtered by branch."""
    state = switch_branch(open_state(ALL, "/nowhere"))
    assert (state.message, len(state.rows)) == ("The selected session has no git branch.", 3)


@pytest.mark.parametrize("columns", [1, 10, 19, 40, 80, 200])
def test_hints_and_help_fit_any_width(columns: int) -> None:
    """No hint is cut, and the help is wrapped."""
    hints = render_hints(columns)
    assert measure(hints) <= columns
    assert {hint for hint in hints.split("  ") if hint} <= set(HINTS)
    state = replace(open_state(ALL, "/nowhere"), is_help_shown=True)
    text = "".join(words for _, words in render_preview(state, None, max(columns, 30), 50))
    assert [line for line in text.split("\n") if measure(line) > max(columns, 30)] == []


def test_texts_that_were_found_come_behind_titles() -> None:
    """Each session is listed once, only those in scope, with the context of the match."""
    state = type_query(open_state(ALL, "/nowhere"), "flaky")
    hits = {name: _hit(name) for name in ("a1", "b2", "gone")}
    matches = FoundHits(hits, "Not found: flakey.")
    found = add_found(state, "flaky", matches)
    assert found.rows == (
        PickerRow(FLAKY, hits["a1"]),
        PickerRow(PRESS),
        PickerRow(TIDES, hits["b2"], is_titled=False),
    )
    assert add_found(found, "flaky", matches) == found
    ((_, status),) = render_status(found, 80)
    assert status == "3 of 3 sessions, everywhere. Not found: flakey."
    assert type_query(found, "flak").note == ""


def test_the_selected_session_stays_selected_when_more_are_found() -> None:
    """Unless it is the first: then the best match is."""
    state = type_query(open_state(ALL, "/nowhere"), "heron")
    few = FoundHits({name: _hit(name) for name in ("b2", "c3")})
    more = FoundHits({name: _hit(name) for name in ("c3", "a1", "b2")})
    found = add_found(state, "heron", few)
    assert _ids(add_found(found, "heron", more)) == ["c3", "a1", "b2"]
    assert add_found(found, "heron", more).selected == 0
    assert add_found(move(found, 1), "heron", more).selected == 0
    assert add_found(move(found, 1), "heron", FoundHits({"a1": _hit("a1")})).selected == 0


def test_an_index_that_is_not_complete_is_labelled() -> None:
    """Only where it matters: not before anything is searched for."""
    state = replace(open_state(ALL, "/nowhere"), is_indexing=True)
    ((_, unlabelled),) = render_status(state, 80)
    ((_, labelled),) = render_status(type_query(state, "flaky"), 80)
    assert unlabelled == "3 of 3 sessions, everywhere"
    assert labelled == "2 of 3 sessions, everywhere. Still indexing: more may be found."


def test_an_answer_that_comes_too_late_changes_nothing() -> None:
    """Results of an outdated query are dropped."""
    state = type_query(open_state(ALL, "/nowhere"), "flaky p")
    assert add_found(state, "flaky", FoundHits({"b2": _hit("b2")})) is state


def test_a_session_is_read_where_its_text_matches(tmp_path: Path) -> None:
    """It opens at the text rather than the title, unless only the title matches."""
    made = make_index(tmp_path, [prompt("drain it"), reply("The heron left."), title("Heron pond")])
    made.write(prompt("fill it"), title("Heron lake"), session=SECOND)
    assert made.index()
    sources = Sources(Workspace(data_directory=made.data), made.transcripts())
    found = {name: hit.part for name, hit in sources.find("heron", 40).hits.items()}
    assert found == {FIRST: "reply", SECOND: "title"}
