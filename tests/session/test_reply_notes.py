"""Facts about replies: thinking, compactions, errors and repeated requests."""

import json
from typing import Any

import pytest

from recollect.records.decoding import decode_record
from recollect.session.client_reports import ReplyNote, list_reply_notes


def read(*lines: dict[str, Any]) -> tuple[ReplyNote, ...]:
    """Return the facts of a transcript with these lines."""
    records = (decode_record(json.dumps(line).encode()) for line in lines)
    return list_reply_notes(record for record in records if record is not None)


def reply(
    message_id: str, *blocks: dict[str, Any], parent: str = "", output: int = 100, **usage: object
) -> dict[str, Any]:
    """A line of a reply."""
    return {
        "type": "assistant",
        "uuid": f"{message_id}-line",
        "parentUuid": parent or f"before-{message_id}",
        "message": {
            "id": message_id,
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": list(blocks),
            "usage": {"output_tokens": output, **usage},
        },
    }


THOUGHT = {"type": "thinking", "thinking": "x" * 30, "signature": "s"}
SEALED = {"type": "thinking", "thinking": "", "signature": "s"}
SAID = {"type": "text", "text": "y" * 10}


@pytest.mark.parametrize(
    ("lines", "tokens"),
    [
        ((reply("m", SAID),), None),
        ((reply("m", THOUGHT), reply("m", SAID)), 75),
        ((reply("m", SEALED), reply("m", SAID)), 97),
        ((reply("m", THOUGHT, output_tokens_details={"thinking_tokens": 12}),), 12),
        ((reply("m", THOUGHT, output_tokens_details={"thinking_tokens": 900}),), 100),
    ],
)
def test_thinking_is_counted_or_estimated(
    lines: tuple[dict[str, Any], ...], tokens: int | None
) -> None:
    """As reported by the API, else by length; without text, what the visible text leaves."""
    assert read(*lines) == (() if tokens is None else (ReplyNote("m", tokens),))


def test_what_came_before_a_reply() -> None:
    """Only the first reply after a compaction or a failed request is marked."""
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "c"}
    failed = {"type": "system", "subtype": "api_error", "uuid": "e", "retryAttempt": 1}
    assert read(
        reply("a", SAID), boundary, reply("b", SAID), reply("c", SAID), failed, reply("d", SAID)
    ) == (
        ReplyNote("b", follows_compaction=True),
        ReplyNote("d", follows_error=True),
    )


def test_a_request_that_was_made_again() -> None:
    """Of two replies to the same record, the first was discarded."""
    assert read(reply("a", SAID, parent="u"), reply("b", SAID, parent="u")) == (
        ReplyNote("a", is_superseded=True),
    )
