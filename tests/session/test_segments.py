"""Segments: the parts between compactions."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.records.envelope import Chain
from recollect.session.turns import Microcompaction, Segment, build_segments
from tests.session.chains import attachment, boundary, in_a_row, reply, summary, system, user

CONTINUED = "This session is being continued from a previous conversation that ran out."


def test_nothing_has_no_segment() -> None:
    """A session without records has no segment."""
    assert build_segments([]) == ()


def test_a_session_without_compaction_is_one_segment() -> None:
    """A session without compactions is segment 0, with no compaction metadata."""
    chain = in_a_row(user("a"), reply("b"), system("c", "turn_duration"))
    assert build_segments(chain) == (
        Segment(index=0, first_uuid="a", last_uuid="c", record_count=3),
    )


def test_each_compaction_opens_a_segment() -> None:
    """A segment has the facts of the compaction before it, and its summary."""
    chain = [
        *in_a_row(user("a"), reply("b")),
        *in_a_row(
            boundary("c", "b", trigger="manual", preTokens=900, postTokens=100, durationMs=1200),
            attachment("d", "instructions"),
            summary("e", "We fixed it."),
            user("f", "<command-name>/compact</command-name>"),
        ),
        *in_a_row(boundary("g", "f", trigger="auto"), summary("h", "And more."), user("i")),
    ]
    assert build_segments(chain) == (
        Segment(index=0, first_uuid="a", last_uuid="b", record_count=2),
        Segment(
            index=1,
            first_uuid="c",
            last_uuid="f",
            record_count=4,
            boundary_uuid="c",
            trigger="manual",
            tokens_before=900,
            tokens_after=100,
            duration_ms=1200,
            summary="We fixed it.",
        ),
        Segment(
            index=2,
            first_uuid="g",
            last_uuid="i",
            record_count=3,
            boundary_uuid="g",
            trigger="auto",
            summary="And more.",
        ),
    )


def test_a_boundary_may_be_newer_than_its_summary() -> None:
    """File order decides: a summary may have an earlier time than its boundary."""
    chain = [
        user("a", timestamp="2026-01-01T12:00:00Z"),
        system("b", "compact_boundary", timestamp="2026-01-01T12:00:09Z"),
        user("c", "so far", isCompactSummary=True, timestamp="2026-01-01T12:00:05Z"),
    ]
    assert [(s.first_uuid, s.last_uuid, s.summary) for s in build_segments(chain)] == [
        ("a", "a", None),
        ("b", "c", "so far"),
    ]


@pytest.mark.parametrize(
    ("mark", "text"), [(summary("c", "so far"), "so far"), (user("c", CONTINUED), CONTINUED)]
)
def test_without_a_boundary_the_summary_is_the_mark(mark: Chain, text: str) -> None:
    """Very old clients wrote only a summary, marked by a field or by its first words."""
    assert build_segments([user("a"), reply("b"), mark, user("d")]) == (
        Segment(index=0, first_uuid="a", last_uuid="b", record_count=2),
        Segment(index=1, first_uuid="c", last_uuid="d", record_count=2, summary=text),
    )


def test_a_second_summary_behind_one_boundary_is_a_compaction_of_its_own() -> None:
    """A boundary has one summary; another one is a compaction without boundary."""
    chain = [boundary("a"), summary("b", "first"), user("c"), summary("d", "second")]
    assert [(s.first_uuid, s.summary) for s in build_segments(chain)] == [
        ("a", "first"),
        ("d", "second"),
    ]


@pytest.mark.parametrize(
    "chain", [[boundary("a"), summary("b", "so far")], [summary("a", "so far"), user("b")]]
)
def test_a_copy_of_a_compacted_session_begins_with_its_compaction(chain: list[Chain]) -> None:
    """A fork copies from the last compaction on, so its segment 0 has a summary."""
    (segment,) = build_segments(chain)
    assert (segment.index, segment.summary) == (0, "so far")


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (
            {
                "preservedMessages": {"anchorUuid": "s", "uuids": ["x", "y", "z"]},
                "preservedSegment": {"headUuid": "x", "anchorUuid": "s", "tailUuid": "z"},
            },
            ("x", "y", "z"),
        ),
        ({"preservedSegment": {"headUuid": "x", "tailUuid": "z"}}, ("x", "z")),
        ({"preservedSegment": {"headUuid": "x"}}, ("x",)),
        ({}, ()),
    ],
)
def test_a_partial_compaction_keeps_records(
    metadata: dict[str, object], expected: tuple[str, ...]
) -> None:
    """All kept records are listed, or at least the first and the last."""
    (segment,) = build_segments([boundary("a", None, **metadata)])
    assert segment.preserved == expected


def test_microcompactions_open_no_segment() -> None:
    """Old tool results are cleared, and the conversation continues in the same segment."""
    facts = {
        "trigger": "auto",
        "preTokens": 900,
        "tokensSaved": 300,
        "compactedToolIds": ["t1", "t2"],
    }
    chain = [
        user("a"),
        system("b", "microcompact_boundary", microcompactMetadata=facts, timestamp="now"),
        system("c", "microcompact_boundary"),
        user("d"),
    ]
    assert build_segments(chain) == (
        Segment(
            index=0,
            first_uuid="a",
            last_uuid="d",
            record_count=4,
            microcompactions=(
                Microcompaction("b", "now", "auto", 900, 300, ("t1", "t2")),
                Microcompaction("c", None, None, None, None, ()),
            ),
        ),
    )


@given(st.lists(st.sampled_from("ursb")))
def test_segments_share_out_the_chain(kinds: list[str]) -> None:
    """Each record is in one segment, in order, and appending never moves a boundary."""
    made: dict[str, Callable[[str], Chain]]
    made = {"u": user, "r": reply, "s": summary, "b": boundary}
    chain: list[Chain] = [made[kind](str(number)) for number, kind in enumerate(kinds)]
    segments = build_segments(chain)
    assert sum(segment.record_count for segment in segments) == len(chain)
    assert [segment.index for segment in segments] == list(range(len(segments)))
    for before, behind in pairwise(segments):
        assert int(before.last_uuid or "") + 1 == int(behind.first_uuid or "")
    for length in range(len(chain)):
        starts = [segment.first_uuid for segment in build_segments(chain[:length])]
        assert starts == [segment.first_uuid for segment in segments][: len(starts)]
