"""The records that a resume would load."""

from collections.abc import Sequence

import pytest

from recollect.records.conversation_records import Assistant, User
from recollect.records.envelope import Chain
from recollect.session.api_messages import PlainMessage, find_loaded_links, select_loaded, simplify
from recollect.session.messages import build_messages
from recollect.session.tree import build_tree, find_leaf, find_path
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


def loaded(chain: Sequence[Chain]) -> list[str | None]:
    """Return the uuids that a resume of `chain` loads."""
    tree = build_tree(chain)
    path = find_path(tree, find_leaf(tree))
    links = find_loaded_links(tree, path)
    return [link.uuid for link in links if isinstance(link, User | Assistant)]


def test_nothing_loads_nothing() -> None:
    """An empty session has nothing to resume."""
    assert loaded([]) == []


def test_a_session_without_compaction_loads_whole() -> None:
    """Everything on the main path is loaded, and nothing of an abandoned branch."""
    chain = [
        *in_a_row(user("a"), attachment("b", "date"), reply("c"), system("d", "turn_duration")),
        *in_a_row(user("e", "dead", "d"), reply("f")),
        *in_a_row(user("g", "alive", "d"), reply("h")),
    ]
    assert loaded(chain) == ["a", "c", "g", "h"]


def test_parallel_calls_are_loaded_with_all_their_results() -> None:
    """The model is never given a call without its result."""
    same = {"id": "m1"}
    chain = [
        user("a"),
        reply("b", use("t1"), parent="a", message=same),
        reply("c", use("t2"), parent="b", message=same),
        result("d", "t2", parent="c"),
        result("e", "t1", parent="b"),
        reply("f", "done", parent="e"),
    ]
    assert loaded(chain) == ["a", "b", "c", "d", "e", "f"]


def test_the_last_compaction_is_the_start() -> None:
    """Of a session that was compacted twice, the last summary and what follows are loaded."""
    chain = [
        *in_a_row(user("a"), reply("b")),
        *in_a_row(boundary("c", "b"), summary("d"), user("e"), reply("f")),
        *in_a_row(boundary("g", "f"), summary("h"), user("i"), reply("j")),
    ]
    assert loaded(chain) == ["h", "i", "j"]


def partly_compacted(**metadata: object) -> list[Chain]:
    """A session of two rounds, a compaction that keeps some of it, and a third round."""
    return [
        *in_a_row(user("a"), reply("b"), user("c"), attachment("d", "date"), reply("e")),
        *in_a_row(boundary("f", "e", **metadata), summary("g"), user("h"), reply("i")),
    ]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, "ghi"),
        ({"preservedMessages": {"anchorUuid": "g", "uuids": ["c", "d", "e"]}}, "gcehi"),
        ({"preservedMessages": {"anchorUuid": "f", "uuids": ["c", "d", "e"]}}, "ceghi"),
        ({"preservedMessages": {"anchorUuid": "g", "uuids": ["gone", "e"]}}, "gehi"),
        ({"preservedMessages": {"anchorUuid": "gone", "uuids": ["e"]}}, "eghi"),
        ({"preservedMessages": {"anchorUuid": "g", "uuids": []}}, "ghi"),
        ({"preservedMessages": {"anchorUuid": "g", "uuids": ["h"]}}, "ghi"),
        (
            {"preservedSegment": {"headUuid": "c", "anchorUuid": "g", "tailUuid": "e"}},
            "gcehi",
        ),
        (
            {"preservedSegment": {"headUuid": "gone", "anchorUuid": "g", "tailUuid": "e"}},
            "ghi",
        ),
        (
            {"preservedSegment": {"headUuid": "c", "anchorUuid": "g", "tailUuid": "gone"}},
            "ghi",
        ),
    ],
)
def test_what_a_compaction_kept_hangs_behind_its_anchor(
    metadata: dict[str, object], expected: str
) -> None:
    """Kept records stay where they are in the file, and are loaded after their anchor."""
    assert loaded(partly_compacted(**metadata)) == list(expected)


def test_a_fork_has_what_was_kept_in_its_place() -> None:
    """A copy attaches the kept records to the summary, so they are not loaded twice."""
    kept = {"anchorUuid": "b", "uuids": ["c"]}
    chain = in_a_row(
        boundary("a", "c", preservedMessages=kept), summary("b"), reply("c"), user("d")
    )
    assert loaded(chain) == ["b", "c", "d"]


def test_a_circle_or_a_lost_parent_ends_the_history() -> None:
    """Everything reachable is loaded, where the client itself would load nothing."""
    assert loaded([user("a", parent="b"), reply("b", "x", parent="a"), user("c", parent="b")]) == [
        "a",
        "b",
        "c",
    ]
    assert loaded([user("a"), reply("b", "x", parent="gone"), user("c", parent="b")]) == ["b", "c"]


def test_plain_messages_are_what_a_person_would_call_messages() -> None:
    """Each visible message with text occurs once, in loading order."""
    chain = [
        *in_a_row(
            user("a", "old"),
            reply("b", {"type": "thinking", "thinking": "hm"}, message={"id": "m1"}),
            reply("c", "kept", message={"id": "m1"}),
        ),
        *in_a_row(
            boundary("d", "c", preservedMessages={"anchorUuid": "e", "uuids": ["b", "c"]}),
            summary("e", "so far"),
            user("f", "injected", isMeta=True),
            user("g", "go on"),
            reply("h", use("t1")),
            result("i", "t1", "output"),
            reply("j", "done"),
        ),
    ]
    tree = build_tree(chain)
    links = find_loaded_links(tree, find_path(tree, find_leaf(tree)))
    messages = build_messages(chain, (), is_subagent=False)
    assert simplify(select_loaded(messages, links)) == (
        PlainMessage("user", "so far"),
        PlainMessage("assistant", "kept"),
        PlainMessage("user", "go on"),
        PlainMessage("assistant", "done"),
    )
