"""A copied text is found in the session that usage counts its message for."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.documents.usage_groups import Group
from recollect.sync.sync_engine import sync
from recollect.usage.ledger_access import UsageLedger, count_in_memory, load_rows, query_ledger
from recollect.usage.reports import UsageQuery, make_report
from recollect.usage.zones import load_zone
from tests.library.claude_root import FIRST, SECOND, THIRD, Line
from tests.search.made_index import MadeIndex

MESSAGE = "msg_01FPKrXHfvmDAMvsNLe83qaK"
EARLY, LATER, COPIED = (f"2026-03-01T{hour}:00:00.000Z" for hour in ("06", "07", "08"))


def prompt(**changes: object) -> Line:
    """Return a prompt."""
    message = {"role": "user", "content": "where do herons nest"}
    return {"type": "user", "uuid": "u1", "timestamp": EARLY, "message": message, **changes}


def answer(**changes: object) -> Line:
    """Return a reply."""
    record: dict[str, object] = {
        "type": "assistant",
        "uuid": "a1",
        "requestId": "req_1",
        "timestamp": EARLY,
        "message": {
            "id": MESSAGE,
            "model": "claude-opus-5-5",
            "role": "assistant",
            "content": [{"type": "text", "text": "in tall reeds"}],
            "usage": {"input_tokens": 10, "output_tokens": 20},
        },
        **changes,
    }
    return {name: value for name, value in record.items() if value is not None}


def queued(time: str) -> Line:
    """Return the first record of a current fork, which has a different time."""
    return {"type": "queue-operation", "operation": "dequeue", "timestamp": time}


ORIGINAL = (prompt(), answer())
COPIES: dict[str, Sequence[Line]] = {
    "fork": (queued(LATER), *ORIGINAL),
    "fork that says so": (
        prompt(uuid="u2", forkedFrom={"sessionId": FIRST}),
        answer(uuid="a2", forkedFrom={"sessionId": FIRST}),
    ),
    "resume by an old client": (
        prompt(uuid="u3", timestamp=COPIED),
        answer(uuid="a3", timestamp=COPIED, requestId=None),
    ),
    "fork of a subagent's parent": (queued(LATER), answer(isSidechain=True)),
}
NAMES = [FIRST, SECOND, THIRD]
"""Being first by name does not make a file the original."""


def find_owner(made: MadeIndex, *, is_fresh: bool = False) -> str | None:
    """Return the session that usage counts the message for."""
    question = UsageQuery(group=Group.SESSION, zone=load_zone("UTC"))
    roots = [made.root]
    if is_fresh:
        rows = load_rows(UsageLedger(count_in_memory(made.transcripts()), roots), question)
    else:
        rows, _ = query_ledger(
            made.data,
            made.transcripts(),
            lambda queries: load_rows(UsageLedger(queries, roots), question),
        )
    (row,) = make_report(rows, question).rows
    return row.key


def find_hits(made: MadeIndex) -> list[str]:
    """Return the sessions in which the reply is found."""
    return [hit.session_id for hit in made.search("reeds").hits]


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("names", list(permutations(NAMES[:2])))
@pytest.mark.parametrize("is_original_first", [True, False])
def test_a_copy_is_no_second_hit(
    tmp_path: Path, copy: str, names: tuple[str, str], is_original_first: bool
) -> None:
    """Independent of the order of files and of their names."""
    made = MadeIndex(tmp_path)
    writings = [(names[0], ORIGINAL), (names[1], COPIES[copy])]
    for name, lines in writings if is_original_first else reversed(writings):
        made.write(*lines, session=name)
        sync(made.data, made.transcripts())
        made.index()
    assert (find_owner(made), find_hits(made)) == (names[0], [names[0]])
    fresh = MadeIndex(tmp_path / "fresh")
    for name, lines in writings:
        fresh.write(*lines, session=name)
    fresh.index()
    assert (find_owner(fresh, is_fresh=True), find_hits(fresh)) == (names[0], [names[0]])


@settings(max_examples=25, deadline=None)
@given(
    st.permutations(NAMES),
    st.permutations(range(3)),
    st.lists(st.sampled_from(sorted(COPIES)), min_size=2, max_size=2),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_usage_and_search_name_one_session_in_any_order(
    tmp_path_factory: pytest.TempPathFactory,
    names: list[str],
    order: list[int],
    copies: list[str],
    stops: list[bool],
) -> None:
    """An original and two copies, one by one or together, with or without indexing in between."""
    made = MadeIndex(tmp_path_factory.mktemp("copies"))
    writings = [ORIGINAL, *(COPIES[copy] for copy in copies)]
    for number, is_stop in zip(order, stops, strict=True):
        made.write(*writings[number], session=names[number])
        if is_stop:
            sync(made.data, made.transcripts())
            made.index()
    made.index()
    assert (find_owner(made), find_hits(made)) == (names[0], [names[0]])


def test_a_copy_that_is_left_alone_is_found(tmp_path: Path) -> None:
    """If the original is deleted, its texts are only in the copy."""
    made = MadeIndex(tmp_path)
    made.write(*ORIGINAL)
    made.write(*COPIES["fork"], session=SECOND)
    made.index()
    made.path(FIRST).unlink()
    made.index()
    assert find_hits(made) == [SECOND]


def test_the_same_words_under_a_numbered_id_are_two_texts(tmp_path: Path) -> None:
    """A proxy's `msg_2` in two sessions is found in both."""
    made = MadeIndex(tmp_path)
    for session, time in ((FIRST, EARLY), (SECOND, LATER)):
        message = {**answer()["message"], "id": "msg_2"}  # type: ignore[dict-item]
        made.write(prompt(timestamp=time), answer(timestamp=time, message=message), session=session)
    made.index()
    assert sorted(find_hits(made)) == [FIRST, SECOND]
