"""Tests of recollect.cli.statusline_figures."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.cli.statusline_figures import StatusInput, parse_status

FULL = {
    "session_id": "0b2e",
    "transcript_path": "/home/mina/.claude/projects/-home-mina/0b2e.jsonl",
    "model": {"id": "claude-opus-4-5", "display_name": "Opus 4.5"},
    "cost": {"total_cost_usd": 1.25},
    "context_window": {"used_percentage": 41.5},
    "rate_limits": {
        "five_hour": {"used_percentage": 12.5, "resets_at": 1_794_481_200},
        "seven_day": {"used_percentage": 41.2, "resets_at": 1_794_900_000},
    },
}
NAMES = st.sampled_from(
    "session_id transcript_path model id display_name cost total_cost_usd context_window "
    "used_percentage current_usage context_window_size input_tokens rate_limits five_hour "
    "seven_day resets_at".split()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=12,
)


def parse(document: object) -> StatusInput:
    """Return the status in a document."""
    return parse_status(json.dumps(document).encode())


def test_every_field_is_taken() -> None:
    """All fields that the client sends are used."""
    assert parse(FULL) == StatusInput(
        model="Opus 4.5",
        context_percent=41.5,
        cost=1_250_000,
        session_id="0b2e",
        transcript="/home/mina/.claude/projects/-home-mina/0b2e.jsonl",
        limit_percent=12.5,
        limit_end=1_794_481_200,
        week_percent=41.2,
        week_end=1_794_900_000,
    )


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"nonsense", b"\xff\xfe", b"[" * 100_000])
def test_anything_else_is_an_empty_status(data: bytes) -> None:
    """Input that is not a JSON object gives an empty status."""
    assert parse_status(data) == StatusInput()


@given(VALUES)
def test_no_value_is_believed(document: object) -> None:
    """Any input gives a status with the right types."""
    status = parse(document)
    numbers = (status.context_percent, status.limit_percent, status.cost, status.limit_end)
    assert all(number is None or abs(number) <= 1e19 for number in numbers)
    assert isinstance(status.root, str | None)


def test_the_moment_of_a_limit_may_be_text() -> None:
    """Client versions wrote it as seconds or as a timestamp."""
    limits = {"rate_limits": {"five_hour": {"resets_at": "2026-11-12T11:00:00Z"}}}
    assert parse(limits).limit_end == 1_794_481_200


def test_a_model_may_have_an_id_only() -> None:
    """Its id is used as its name."""
    assert parse({"model": {"id": "claude-opus-4-5"}}).model == "claude-opus-4-5"


def test_the_context_is_counted_where_it_is_not_stated() -> None:
    """Tokens of the last request against the size of the window."""
    usage = {"input_tokens": 1_000, "cache_read_input_tokens": 49_000, "output_tokens": 9}
    window = {"context_window_size": 200_000, "current_usage": usage}
    assert parse({"context_window": window}).context_percent == 25.0


@pytest.mark.parametrize(
    ("transcript", "root"),
    [
        ("/home/mina/.claude/projects/-home-mina/a.jsonl", "/home/mina/.claude"),
        ("/home/mina/a.jsonl", None),
        ("projects/-home-mina/a.jsonl", None),
        ("", None),
    ],
)
def test_the_root_is_that_of_the_transcript(transcript: str, root: str | None) -> None:
    """Three levels above it, if the layout is that of a Claude directory."""
    assert StatusInput(transcript=transcript).root == root
